//! Changes to an account: its password, its sessions and its API keys.

use crate::account_page::{AccountView, FormNotice, UserSessions, show as show_page};
use crate::openid_connect::{Confirmation, SIGN_IN_AGAIN};
use crate::{AccountError, AccountState, KeyOwner, LocalAccounts, PasswordAccounts, SignedInUser};
use auth::password::{Accounts, KeyScope, MAX_DAYS, NewKey, Subject, Throttled, credential_rules, now_millis};
use auth::rates::rate_limit_message;
use auth::{AccountAction, ApiKeys};
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use chat::Caller;
use serde::Deserialize;
use serde_json::Map;
use store::{SecondFactorProof, User};
use web::{RequestContext, SIGN_IN_PATH, see_other};

/// Why the last way to sign in cannot be removed.
const LAST_WAY: &str = "This is your only way to sign in, so it cannot be unlinked. Link another account first, or ask an \
                        administrator for a password.";

/// The maximum length of a key's name, in characters.
const MAX_KEY_NAME: usize = 100;

/// `GET /auth/account`
pub(crate) async fn show(holder: KeyOwner, Query(what): Query<DoneQuery>) -> Result<Response, AccountError> {
    let notice = match what.done.as_deref() {
        Some("password") => FormNotice::Done("Your password was changed. You were signed out everywhere else."),
        Some("two-step-off") => FormNotice::Done("Two-step sign-in is off."),
        Some("linked") => FormNotice::Done("The company account was linked. You can now sign in with it."),
        Some("unlinked") => FormNotice::Done("The company account was unlinked."),
        Some("last-way") => FormNotice::Identity(LAST_WAY.to_owned()),
        Some("sign-in-again") => FormNotice::Identity(SIGN_IN_AGAIN.to_owned()),
        _ => FormNotice::None,
    };
    render(holder, StatusCode::OK, notice).await
}

/// The query of the account page: the change that was just made.
#[derive(Deserialize)]
pub(crate) struct DoneQuery {
    done: Option<String>,
}

/// The form that changes the password.
#[derive(Deserialize)]
pub(crate) struct PasswordForm {
    #[serde(default)]
    current: String,
    #[serde(default)]
    password: String,
}

/// `POST /auth/password`. Ends all other sessions and replaces this one.
pub(crate) async fn change_password(
    PasswordAccounts(accounts): PasswordAccounts,
    member: SignedInUser,
    State(state): State<AccountState>,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<PasswordForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(unreadable_form_page()) };
    let wrong = |text: String| FormNotice::Password(text);
    let page = async |status, notice| render(KeyOwner::from_session(&accounts, &member, &state), status, notice).await;
    let checked = (sent.current, AccountAction::ChangePassword);
    let (user, kept) = match confirm_password(&accounts, &member, &asker, checked).await? {
        Ok(found) => found,
        Err(problem) => {
            let holder = KeyOwner::from_session(&accounts, &member, &state);
            return unconfirmed_page(holder, problem, FormNotice::Password).await;
        }
    };
    let address = member.recorded.as_deref();
    if let Some(problem) = credential_rules::password_problem(&sent.password, &user.name) {
        return page(StatusCode::UNPROCESSABLE_ENTITY, wrong(problem.to_owned())).await;
    }
    let hash = accounts.sign_in.hasher.hash(sent.password).await??;
    let row = AccountAction::ChangePassword.success_entry(&user.id, address, Map::new());
    let row = accounts.sign_in.row_within_budget(AccountAction::ChangePassword, row);
    let (session, hashes) = (Some(member.session_id.as_str()), (kept.as_str(), hash.as_str()));
    if !accounts.store.set_password(&user.id, session, hashes, now_millis(), row).await? {
        let notice =
            wrong("The password was changed or you were signed out in the meantime. Sign in again.".to_owned());
        return page(StatusCode::CONFLICT, notice).await;
    }
    // The session in which the user is has passed the second step.
    let proved = (user.id.as_str(), hash.as_str(), SecondFactorProof::NotAsked);
    let cookie = accounts.begin_session(proved, &asker.credentials, asker.is_https, None).await?;
    Ok(see_other("/auth/account?done=password", cookie))
}

/// Why a password does not confirm who the user is.
pub(crate) enum Unconfirmed {
    /// The user was deleted.
    Gone,
    /// The password is wrong.
    Wrong,
    /// The user must wait for this many seconds.
    TooMany(u64),
}

/// Checks the password of the signed-in user, for an action. Returns the user and the password hash.
pub(crate) async fn confirm_password(
    accounts: &Accounts,
    member: &SignedInUser,
    asker: &RequestContext,
    (password, action): (String, AccountAction),
) -> Result<Result<(User, String), Unconfirmed>, AccountError> {
    let Some((user, kept)) = accounts.store.user_by_id(&member.caller.user_id).await? else {
        return Ok(Err(Unconfirmed::Gone));
    };
    let address = member.recorded.as_deref();
    let attempt = match accounts.sign_in.throttle.begin(&credential_rules::name_key(&user.name), asker.address) {
        Ok(attempt) => attempt,
        Err(Throttled { seconds, limit }) => {
            accounts.record_limited(action, (limit, Subject::User(user.id)), address);
            return Ok(Err(Unconfirmed::TooMany(seconds)));
        }
    };
    let is_right = credential_rules::is_possible_password(&password)
        && accounts.sign_in.hasher.matches(password, Some(kept.hash.clone())).await?;
    if !is_right {
        accounts.record_failure(action, Ok(&user.id), address);
        return Ok(Err(Unconfirmed::Wrong));
    }
    accounts.sign_in.throttle.succeeded(&attempt);
    Ok(Ok((user, kept.hash)))
}

/// Renders the account page for a user whose password was not confirmed.
pub(crate) async fn unconfirmed_page(
    holder: KeyOwner,
    problem: Unconfirmed,
    notice: fn(String) -> FormNotice,
) -> Result<Response, AccountError> {
    match problem {
        Unconfirmed::Gone => Ok(see_other(SIGN_IN_PATH, None)),
        Unconfirmed::Wrong => {
            let notice = notice("The current password is wrong.".to_owned());
            render(holder, StatusCode::UNPROCESSABLE_ENTITY, notice).await
        }
        Unconfirmed::TooMany(seconds) => {
            let notice = notice(crate::forms::too_many_attempts_text(seconds));
            let response = render(holder, StatusCode::TOO_MANY_REQUESTS, notice).await?;
            Ok(web::with_retry_after(response, seconds))
        }
    }
}

/// `POST /auth/sessions/{id}/end`
pub(crate) async fn end_session(
    LocalAccounts(accounts): LocalAccounts,
    member: SignedInUser,
    Extension(asker): Extension<RequestContext>,
    Path(id): Path<String>,
) -> Result<Response, AccountError> {
    let user_id = &member.caller.user_id;
    // An unknown session must not use up the user's share of audit rows.
    if !accounts.sessions(user_id).await?.iter().any(|session| session.id == id) {
        return Ok(web::html::not_found_page());
    }
    let about = Map::from_iter([("sessionId".to_owned(), id.clone().into())]);
    let row = AccountAction::EndSession.success_entry(user_id, member.recorded.as_deref(), about);
    let row = accounts.sign_in.row_within_budget(AccountAction::EndSession, row);
    if !accounts.store.end_session(user_id, &id, row).await? {
        return Ok(web::html::not_found_page());
    }
    Ok(if id == member.session_id {
        see_other(SIGN_IN_PATH, Accounts::expired_cookie(asker.is_https))
    } else {
        see_other(crate::ACCOUNT_PATH, None)
    })
}

/// The form for a new API key.
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

/// `POST /auth/keys`. The response is the only page that shows the key.
pub(crate) async fn make_key(
    holder: KeyOwner,
    sent: Result<Form<KeyForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(unreadable_form_page()) };
    let chosen = [&sent.agents, &sent.conversations, &sent.endpoints, &sent.admin];
    let scopes: Vec<_> = KeyScope::ALL.into_iter().zip(chosen).filter(|(_, chosen)| chosen.is_some()).collect();
    let scopes: Vec<_> = scopes.into_iter().map(|(scope, _)| scope).collect();
    let wanted = (sent.name.as_str(), scopes.as_slice(), sent.days);
    match create_key(&holder.keys, &holder.caller, wanted, holder.recorded.as_deref()).await? {
        Ok(key) => render(holder, StatusCode::OK, FormNotice::NewKey(key.key)).await,
        Err(NewKeyError::Invalid(problem)) => {
            render(holder, StatusCode::UNPROCESSABLE_ENTITY, FormNotice::Key(problem.to_owned())).await
        }
        Err(NewKeyError::TooMany(seconds)) => {
            let notice = FormNotice::Key(rate_limit_message(seconds));
            let response = render(holder, StatusCode::TOO_MANY_REQUESTS, notice).await?;
            Ok(web::with_retry_after(response, seconds.into()))
        }
    }
}

/// `POST /auth/keys/{id}/delete`
pub(crate) async fn delete_key(holder: KeyOwner, Path(id): Path<String>) -> Result<Response, AccountError> {
    Ok(if holder.keys.delete(&holder.caller.user_id, &id, holder.recorded.as_deref()).await? {
        see_other(crate::ACCOUNT_PATH, None)
    } else {
        web::html::not_found_page()
    })
}

/// Why a key was not created.
pub(crate) enum NewKeyError {
    /// An invalid name, scope or lifetime; a message for the user.
    Invalid(&'static str),
    /// The user has created too many keys today; the seconds to wait.
    TooMany(u32),
}

/// Creates a key with a name, scopes and a lifetime in days.
pub(crate) async fn create_key(
    keys: &ApiKeys,
    caller: &Caller,
    (name, scopes, days): (&str, &[KeyScope], u32),
    address: Option<&str>,
) -> Result<Result<NewKey, NewKeyError>, AccountError> {
    let name = name.trim();
    let problem = if name.is_empty() || name.chars().count() > MAX_KEY_NAME || name.chars().any(char::is_control) {
        Some("Give the key a name of up to 100 characters.")
    } else if scopes.is_empty() {
        Some("Choose at least one scope.")
    } else if !(1..=MAX_DAYS).contains(&days) {
        Some("A key is valid for 1 to 366 days.")
    } else {
        None
    };
    if let Some(problem) = problem {
        return Ok(Err(NewKeyError::Invalid(problem)));
    }
    if let Err(seconds) = keys.reserve(&caller.user_id, address) {
        return Ok(Err(NewKeyError::TooMany(seconds)));
    }
    let made = keys.create(caller, name, scopes, days, address).await?;
    Ok(made.ok_or(NewKeyError::Invalid("You already have 50 keys, which is the maximum. Delete one first.")))
}

pub(crate) fn unreadable_form_page() -> Response {
    web::html::message_page(StatusCode::BAD_REQUEST, "The form could not be read", "Go back and try again.")
}

/// Renders the account page.
pub(crate) async fn render(holder: KeyOwner, status: StatusCode, notice: FormNotice) -> Result<Response, AccountError> {
    let KeyOwner { caller, keys, session: member, chat, links, .. } = holder;
    let signed_in = match member {
        Some((accounts, session_id)) => {
            let sessions = accounts.sessions(&caller.user_id).await?;
            let identities = accounts.store.identities(&caller.user_id).await?;
            let has_password = accounts.has_password(&caller.user_id).await?;
            let second_factor = accounts.store.second_factor(&caller.user_id).await?.filter(|_| has_password);
            let session = sessions.iter().find(|session| session.id == session_id);
            let confirmation = Confirmation::find(&accounts, &caller.user_id, session).await?;
            Some(UserSessions { session_id, sessions, accounts, identities, confirmation, has_password, second_factor })
        }
        None => None,
    };
    let keys = keys.list(&caller.user_id).await?;
    let usage = chat.quota_usage(&caller).await.map_err(|error| AccountError::Failed(error.message))?;
    Ok(show_page(status, AccountView { caller, signed_in, usage, keys, notice, links }))
}
