//! Signing in and out.

use super::forms::{Field, problem, wait};
use super::{Door, Member, SIGN_IN, Trouble, layout, own_path, see_other};
use crate::auth::password::{Accounts, Refused, Subject, words};
use crate::auth::{AccountAction, Asker};
use axum::extract::Query;
use axum::extract::rejection::FormRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;

/// Where to go afterwards.
#[derive(Deserialize)]
pub(crate) struct After {
    next: Option<String>,
}

/// The form.
#[derive(Default, Deserialize)]
pub(crate) struct SignIn {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    next: Option<String>,
}

/// `GET /auth/sign-in`
pub(crate) async fn sign_in_form(
    Door(accounts): Door,
    member: Option<Member>,
    Query(After { next }): Query<After>,
) -> Result<Response, Trouble> {
    if member.is_some() {
        return Ok(see_other(own_path(next.as_deref()), None));
    }
    if !accounts.store.has_users().await? {
        return Ok(see_other("/auth/first-admin", None));
    }
    Ok(form(&accounts, StatusCode::OK, &SignIn { next, ..SignIn::default() }, None))
}

/// `POST /auth/sign-in`. Takes as long and says the same whether the name or the password is wrong; the row of the audit
/// log is written after the answer.
pub(crate) async fn sign_in(
    Door(accounts): Door,
    Extension(asker): Extension<Asker>,
    sent: Result<Form<SignIn>, FormRejection>,
) -> Result<Response, Trouble> {
    let Ok(Form(sent)) = sent else {
        let problem = "The form could not be read. Try again.".to_owned();
        return Ok(form(&accounts, StatusCode::BAD_REQUEST, &SignIn::default(), Some(problem)));
    };
    let key = words::key(&sent.name);
    // Nobody has a longer name, and what is counted is kept for a while.
    let counted: String = key.chars().take(64).collect();
    let address = asker.recorded.as_deref();
    let one = match accounts.desk.throttle.begin(&counted, asker.address) {
        Ok(one) => one,
        Err(Refused { seconds, limit }) => {
            let subject = match limit {
                "address" => Subject::Client(asker.recorded.clone()),
                _ => Subject::name(&counted),
            };
            accounts.record_limited(AccountAction::SignIn, (limit, subject), address);
            let mut response = form(&accounts, StatusCode::TOO_MANY_REQUESTS, &sent, Some(wait(seconds)));
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            return Ok(response);
        }
    };
    let found = accounts.store.user_by_name(&key).await?;
    let kept = found.as_ref().map(|(_, password)| password.clone());
    let is_right =
        words::may_be_password(&sent.password) && accounts.desk.hasher.is_right(sent.password.clone(), kept).await?;
    let user_id = found.map(|(user, _)| user.id);
    if let Some(id) = user_id.as_deref().filter(|_| is_right) {
        let row = accounts.desk.own_row(AccountAction::SignIn, AccountAction::SignIn.done(id, address, Map::new()));
        if let Some(cookie) = accounts.begin_session(id, &asker.sent, asker.is_https, row).await? {
            accounts.desk.throttle.succeeded(&one);
            return Ok(see_other(own_path(sent.next.as_deref()), Some(cookie)));
        }
    }
    tracing::info!(?address, "a sign-in failed");
    accounts.record_failure(AccountAction::SignIn, user_id.as_deref().ok_or(&sent.name), address);
    let problem = "The name or the password is wrong.".to_owned();
    Ok(form(&accounts, StatusCode::UNAUTHORIZED, &sent, Some(problem)))
}

/// `POST /auth/sign-out`
pub(crate) async fn sign_out(
    Door(accounts): Door,
    Extension(asker): Extension<Asker>,
    member: Option<Member>,
) -> Result<Response, Trouble> {
    if let Some(Member { caller, session_id, recorded }) = member {
        let row = AccountAction::SignOut.done(&caller.user_id, recorded.as_deref(), Map::new());
        let row = accounts.desk.own_row(AccountAction::SignOut, row);
        accounts.store.end_session(&caller.user_id, &session_id, row).await?;
    }
    Ok(see_other(SIGN_IN, Accounts::no_cookie(asker.is_https)))
}

fn form(accounts: &Accounts, status: StatusCode, sent: &SignIn, text: Option<String>) -> Response {
    let next = own_path(sent.next.as_deref()).to_owned();
    let has_name = !sent.name.is_empty();
    let sign_up = accounts.settings.open_sign_up.then(|| {
        view! {
            <p class="cw-account-note">
                "No account yet? " <a href=format!("/auth/sign-up?next={}", super::encoded(&next))>"Sign up"</a>
            </p>
        }
    });
    let content = view! {
        {problem(text)}
        <form class="cw-account-form" method="post" action=SIGN_IN>
            <input type="hidden" name="next" value=next />
            {Field::name(&sent.name, !has_name).view()}
            {Field::password("password", "Password", has_name).view()}
            <button class="cw-button cw-primary">"Sign in"</button>
        </form>
        {sign_up}
    };
    layout::sheet(status, "Sign in", content)
}
