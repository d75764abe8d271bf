//! Changes to an account: its password, its sessions, its API keys.

use super::account_page::{Notice, Shown, SignedIn, show as show_page};
use super::{Door, Holder, Member, SIGN_IN, Trouble, layout, see_other};
use crate::auth::password::{Accounts, MAX_DAYS, NewKey, Refused, Scope, Subject, now, words};
use crate::auth::rates::too_often_text;
use crate::auth::{AccountAction, Asker, Keys};
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use chat::Caller;
use serde::Deserialize;
use serde_json::Map;

/// Characters of a key's name.
const MAX_NAME: usize = 100;

/// `GET /auth/account`
pub(crate) async fn show(holder: Holder, Query(what): Query<What>) -> Result<Response, Trouble> {
    let notice = if what.done.as_deref() == Some("password") { Notice::PasswordChanged } else { Notice::None };
    page(holder, StatusCode::OK, notice).await
}

/// What was done just now.
#[derive(Deserialize)]
pub(crate) struct What {
    done: Option<String>,
}

/// The form for another password.
#[derive(Deserialize)]
pub(crate) struct Passwords {
    #[serde(default)]
    current: String,
    #[serde(default)]
    password: String,
}

/// `POST /auth/password`. All other sessions end, and this one becomes another.
pub(crate) async fn change_password(
    Door(accounts): Door,
    member: Member,
    Extension(asker): Extension<Asker>,
    sent: Result<Form<Passwords>, FormRejection>,
) -> Result<Response, Trouble> {
    let Ok(Form(sent)) = sent else { return Ok(unreadable()) };
    let wrong = |text: String| Notice::Password(text);
    let page = async |status, notice| page(Holder::of(&accounts, &member), status, notice).await;
    let Some((user, kept)) = accounts.store.user_by_id(&member.caller.user_id).await? else {
        return Ok(see_other(SIGN_IN, None));
    };
    let one = match accounts.desk.throttle.begin(&words::key(&user.name), asker.address) {
        Ok(one) => one,
        Err(Refused { seconds, limit }) => {
            let subject = Subject::User(user.id.clone());
            accounts.record_limited(AccountAction::ChangePassword, (limit, subject), member.recorded.as_deref());
            let notice = wrong(super::forms::wait(seconds));
            let response = page(StatusCode::TOO_MANY_REQUESTS, notice).await?;
            return Ok(super::retry_after(response, seconds));
        }
    };
    let address = member.recorded.as_deref();
    let is_right = words::may_be_password(&sent.current)
        && accounts.desk.hasher.is_right(sent.current, Some(kept.clone())).await?;
    if !is_right {
        accounts.record_failure(AccountAction::ChangePassword, Ok(&user.id), address);
        let notice = wrong("The current password is wrong.".to_owned());
        return page(StatusCode::UNPROCESSABLE_ENTITY, notice).await;
    }
    accounts.desk.throttle.succeeded(&one);
    if let Some(problem) = words::problem_of_password(&sent.password, &user.name) {
        return page(StatusCode::UNPROCESSABLE_ENTITY, wrong(problem.to_owned())).await;
    }
    let hash = accounts.desk.hasher.hash(sent.password).await??;
    let row = AccountAction::ChangePassword.done(&user.id, address, Map::new());
    let row = accounts.desk.own_row(AccountAction::ChangePassword, row);
    if !accounts.store.set_password(&user.id, &kept, &hash, now(), row).await? {
        let notice = wrong("The password was changed in the meantime. Sign in again.".to_owned());
        return page(StatusCode::CONFLICT, notice).await;
    }
    let cookie = accounts.begin_session(&user.id, &asker.sent, asker.is_https, None).await?;
    Ok(see_other("/auth/account?done=password", cookie))
}

/// `POST /auth/sessions/{id}/end`
pub(crate) async fn end_session(
    Door(accounts): Door,
    member: Member,
    Extension(asker): Extension<Asker>,
    Path(id): Path<String>,
) -> Result<Response, Trouble> {
    let user_id = &member.caller.user_id;
    // What is not there takes nothing of the user's rows.
    if !accounts.store.sessions(user_id, now(), accounts.life()).await?.iter().any(|session| session.id == id) {
        return Ok(layout::nothing());
    }
    let about = Map::from_iter([("sessionId".to_owned(), id.clone().into())]);
    let row = AccountAction::EndSession.done(user_id, member.recorded.as_deref(), about);
    let row = accounts.desk.own_row(AccountAction::EndSession, row);
    if !accounts.store.end_session(user_id, &id, row).await? {
        return Ok(layout::nothing());
    }
    Ok(match id == member.session_id {
        true => see_other(SIGN_IN, Accounts::no_cookie(asker.is_https)),
        false => see_other(super::ACCOUNT, None),
    })
}

/// The form for a key.
#[derive(Deserialize)]
pub(crate) struct KeyForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    days: u32,
    agents: Option<String>,
    conversations: Option<String>,
    endpoints: Option<String>,
    admin: Option<String>,
}

/// `POST /auth/keys`. The answer is the only page that shows the key.
pub(crate) async fn make_key(holder: Holder, sent: Result<Form<KeyForm>, FormRejection>) -> Result<Response, Trouble> {
    let Ok(Form(sent)) = sent else { return Ok(unreadable()) };
    let chosen = [&sent.agents, &sent.conversations, &sent.endpoints, &sent.admin];
    let scopes: Vec<_> = Scope::ALL.into_iter().zip(chosen).filter(|(_, chosen)| chosen.is_some()).collect();
    let scopes: Vec<_> = scopes.into_iter().map(|(scope, _)| scope).collect();
    let wanted = (sent.name.as_str(), scopes.as_slice(), sent.days);
    match new_key(&holder.keys, &holder.caller, wanted, holder.recorded.as_deref()).await? {
        Ok(key) => page(holder, StatusCode::OK, Notice::NewKey(key.key)).await,
        Err(KeyProblem::Wrong(problem)) => {
            page(holder, StatusCode::UNPROCESSABLE_ENTITY, Notice::Key(problem.to_owned())).await
        }
        Err(KeyProblem::TooMany(seconds)) => {
            let notice = Notice::Key(too_often_text(seconds));
            let response = page(holder, StatusCode::TOO_MANY_REQUESTS, notice).await?;
            Ok(super::retry_after(response, seconds.into()))
        }
    }
}

/// `POST /auth/keys/{id}/delete`
pub(crate) async fn delete_key(holder: Holder, Path(id): Path<String>) -> Result<Response, Trouble> {
    Ok(match holder.keys.delete(&holder.caller.user_id, &id, holder.recorded.as_deref()).await? {
        true => see_other(super::ACCOUNT, None),
        false => layout::nothing(),
    })
}

/// Why a key was not made.
pub(super) enum KeyProblem {
    /// What is wrong with it, in words for its user.
    Wrong(&'static str),
    /// Its user has created too many today; the seconds after which to try again.
    TooMany(u32),
}

/// Makes a key with a name, scopes and a number of days.
pub(super) async fn new_key(
    keys: &Keys,
    caller: &Caller,
    (name, scopes, days): (&str, &[Scope], u32),
    address: Option<&str>,
) -> Result<Result<NewKey, KeyProblem>, Trouble> {
    let name = name.trim();
    let problem = if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        Some("Give the key a name of up to 100 characters.")
    } else if scopes.is_empty() {
        Some("Choose at least one thing that the key may be used for.")
    } else if !(1..=MAX_DAYS).contains(&days) {
        Some("A key is valid for 1 to 366 days.")
    } else {
        None
    };
    if let Some(problem) = problem {
        return Ok(Err(KeyProblem::Wrong(problem)));
    }
    if let Err(seconds) = keys.take_one(&caller.user_id, address) {
        return Ok(Err(KeyProblem::TooMany(seconds)));
    }
    let made = keys.make(caller, name, scopes, days, address).await?;
    Ok(made.ok_or(KeyProblem::Wrong("You already have 50 keys, which is the maximum. Delete one first.")))
}

fn unreadable() -> Response {
    layout::message(StatusCode::BAD_REQUEST, "The form could not be read", "Go back and try again.")
}

async fn page(holder: Holder, status: StatusCode, notice: Notice) -> Result<Response, Trouble> {
    let Holder { caller, keys, member, .. } = holder;
    let signed_in = match member {
        Some((accounts, session_id)) => {
            let sessions = accounts.store.sessions(&caller.user_id, now(), accounts.life()).await?;
            Some(SignedIn { session_id, sessions })
        }
        None => None,
    };
    let keys = keys.of(&caller.user_id).await?;
    Ok(show_page(status, Shown { caller, signed_in, keys, notice }))
}
