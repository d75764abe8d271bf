//! New accounts: the first administrator, and sign-ups where the config allows them.

use crate::forms::{Field, too_many_attempts_text};
use crate::{AccountError, PasswordAccounts, local_path};
use auth::password::{Accounts, Subject, credential_rules, now_millis};
use auth::{AccountAction, client_network};
use axum::extract::Query;
use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use store::{AddUserOutcome, NewUser};
use uuid::Uuid;
use web::html::error_message;
use web::{RequestContext, see_other};

/// The throttle's key for sign-ups; no user has such a name.
const SIGN_UP_THROTTLE_KEY: &str = " sign up";

/// The form for a new account.
#[derive(Default, Deserialize)]
pub(crate) struct NewAccountForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    token: String,
    next: Option<String>,
}

/// Which kind of account is created.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccountKind {
    FirstAdmin,
    SignUp,
}

/// `GET /auth/first-admin`
pub(crate) async fn first_admin_form(PasswordAccounts(accounts): PasswordAccounts) -> Result<Response, AccountError> {
    if accounts.store.has_users().await? {
        return Ok(web::html::not_found_page());
    }
    Ok(form(AccountKind::FirstAdmin, StatusCode::OK, &NewAccountForm::default(), None))
}

/// `GET /auth/sign-up`
pub(crate) async fn sign_up_form(
    PasswordAccounts(accounts): PasswordAccounts,
    Query(sent): Query<NewAccountForm>,
) -> Result<Response, AccountError> {
    if !accounts.settings.open_sign_up {
        return Ok(web::html::not_found_page());
    }
    let sent = NewAccountForm { next: sent.next, ..NewAccountForm::default() };
    Ok(form(AccountKind::SignUp, StatusCode::OK, &sent, None))
}

/// `POST /auth/first-admin`
pub(crate) async fn first_admin(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    if accounts.store.has_users().await? {
        return Ok(web::html::not_found_page());
    }
    create_account(&accounts, &asker, AccountKind::FirstAdmin, sent).await
}

/// `POST /auth/sign-up`
pub(crate) async fn sign_up(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    // The operator creates the first account, so nobody can sign up before an administrator exists.
    if !accounts.settings.open_sign_up || !accounts.store.has_users().await? {
        return Ok(web::html::not_found_page());
    }
    create_account(&accounts, &asker, AccountKind::SignUp, sent).await
}

async fn create_account(
    accounts: &Accounts,
    asker: &RequestContext,
    kind: AccountKind,
    sent: Result<Form<NewAccountForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else {
        let text = Some("The form could not be read. Try again.".to_owned());
        return Ok(form(kind, StatusCode::BAD_REQUEST, &NewAccountForm::default(), text));
    };
    let refuse = |status, text: String| Ok(form(kind, status, &sent, Some(text)));
    let name = sent.name.trim();
    let wrong =
        credential_rules::name_problem(name).or_else(|| credential_rules::password_problem(&sent.password, name));
    if let Some(wrong) = wrong {
        return refuse(StatusCode::UNPROCESSABLE_ENTITY, wrong.to_owned());
    }
    if let Some(seconds) = sign_up_delay(accounts, asker, kind) {
        let subject = Subject::Client(asker.audit_address.clone());
        accounts.record_limited(AccountAction::SignUp, ("address", subject), asker.audit_address.as_deref());
        let text = Some(too_many_attempts_text(seconds));
        return Ok(web::with_retry_after(form(kind, StatusCode::TOO_MANY_REQUESTS, &sent, text), seconds));
    }
    if kind == AccountKind::FirstAdmin && !accounts.sign_in.setup.accepts(&sent.token) {
        let text = "This is not the token that the server printed when it started. Each start prints a new token.";
        return refuse(StatusCode::FORBIDDEN, text.to_owned());
    }
    if accounts.has_lookalike(name).await? {
        return refuse(StatusCode::CONFLICT, credential_rules::NAME_TAKEN.to_owned());
    }
    let user = NewUser {
        id: Uuid::now_v7().to_string(),
        name: name.to_owned(),
        name_key: credential_rules::name_key(name),
        password: accounts.sign_in.hasher.hash(sent.password.clone()).await??,
        roles: match kind {
            AccountKind::FirstAdmin => config::OWNER_ROLES.map(str::to_owned).to_vec(),
            AccountKind::SignUp => accounts.settings.sign_up_roles.clone(),
        },
        now: now_millis(),
    };
    let id = user.id.clone();
    let action = if kind == AccountKind::FirstAdmin { AccountAction::FirstAccount } else { AccountAction::SignUp };
    let about = Map::from_iter([("roles".to_owned(), user.roles.clone().into())]);
    let entry = action.success_entry(&id, asker.audit_address.as_deref(), about);
    match accounts.store.add_user(user, kind == AccountKind::FirstAdmin, Some(entry)).await? {
        AddUserOutcome::NotTheFirst | AddUserOutcome::IdentityTaken => return Ok(web::html::not_found_page()),
        AddUserOutcome::NameTaken => return refuse(StatusCode::CONFLICT, credential_rules::NAME_TAKEN.to_owned()),
        AddUserOutcome::Done => accounts.sign_in.setup.clear(),
    }
    let cookie = accounts.begin_session(&id, &asker.credentials, asker.is_https, None).await?;
    Ok(see_other(local_path(sent.next.as_deref()), cookie))
}

/// Returns the seconds to wait before another attempt. Sign-ups are counted per client, whether
/// they succeed or not, so that nobody can block them for others; a proxy on this machine is not
/// one client. The token of the first account cannot be guessed, and checking it is cheap.
fn sign_up_delay(accounts: &Accounts, asker: &RequestContext, kind: AccountKind) -> Option<u64> {
    let client = asker.address.filter(|_| kind == AccountKind::SignUp).and_then(client_network)?;
    let refused = accounts.sign_in.throttle.begin(&format!("{SIGN_UP_THROTTLE_KEY} {client}"), Some(client)).err();
    refused.map(|refused| refused.seconds)
}

fn form(kind: AccountKind, status: StatusCode, sent: &NewAccountForm, text: Option<String>) -> Response {
    let (title, action, note) = match kind {
        AccountKind::FirstAdmin => (
            "Create the first account",
            "/auth/first-admin",
            "This account is an administrator. The server prints the token on its console when it starts.",
        ),
        AccountKind::SignUp => ("Sign up", "/auth/sign-up", "Choose a name and a password."),
    };
    let token = (kind == AccountKind::FirstAdmin).then(|| {
        let field = Field {
            name: "token",
            label: "Token",
            autocomplete: "off",
            autofocus: sent.token.is_empty(),
            ..Field::name(&sent.token, false)
        };
        field.view()
    });
    let next = local_path(sent.next.as_deref()).to_owned();
    let sign_in = (kind == AccountKind::SignUp).then(|| {
        view! {
            <p class="cw-account-note">
                "Already have an account? " <a href=format!("/auth/sign-in?next={}", web::query_encoded(&next))>"Sign in"</a>
            </p>
        }
    });
    let content = view! {
        <p class="cw-account-note">{note}</p>
        {error_message(text)}
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="next" value=next.clone() />
            {token}
            {Field::name(&sent.name, kind == AccountKind::SignUp).view()}
            {Field::new_password("Password").view()}
            <button class="cw-button cw-primary">"Create the account"</button>
        </form>
        {sign_in}
    };
    web::html::form_page(status, title, content)
}
