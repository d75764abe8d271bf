//! Sign-in and sign-out.

use crate::forms::{Field, too_many_attempts_text};
use crate::openid_connect::{providers_view, signed_out_view};
use crate::{AccountError, LocalAccounts, PasswordAccounts, SignedInUser, local_path};
use auth::AccountAction;
use auth::password::{Accounts, Subject, Throttled, credential_rules};
use axum::extract::Query;
use axum::extract::rejection::FormRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use web::html::error_message;
use web::{RequestContext, SIGN_IN_PATH, see_other};

/// The query of the sign-in page.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct NextQuery {
    /// The path to open afterwards.
    pub(crate) next: Option<String>,
    /// The provider of the session from which the user has just signed out.
    signed_out: Option<String>,
}

/// The sign-in form.
#[derive(Default, Deserialize)]
pub(crate) struct SignInForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    next: Option<String>,
}

/// `GET /auth/sign-in`
pub(crate) async fn sign_in_form(
    LocalAccounts(accounts): LocalAccounts,
    member: Option<SignedInUser>,
    Query(NextQuery { next, signed_out }): Query<NextQuery>,
) -> Result<Response, AccountError> {
    if member.is_some() {
        return Ok(see_other(local_path(next.as_deref()), None));
    }
    let lacks_users = accounts.settings.passwords && !accounts.store.has_users().await?;
    if lacks_users && accounts.providers.is_empty() {
        return Ok(see_other("/auth/first-admin", None));
    }
    let sent = SignInForm { next, ..SignInForm::default() };
    let notes = view! {
        {signed_out_view(&accounts, signed_out.as_deref())}
        {lacks_users.then(|| view! {
            <p class="cw-account-note">
                "This server has no account yet. " <a href="/auth/first-admin">"Create the first one"</a>
            </p>
        })}
    };
    Ok(form(&accounts, StatusCode::OK, &sent, notes))
}

/// `POST /auth/sign-in`. Takes as long and responds the same whether the name or the password is
/// wrong; the audit row is written after the response.
pub(crate) async fn sign_in(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<SignInForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else {
        let problem = "The form could not be read. Try again.".to_owned();
        return Ok(form(&accounts, StatusCode::BAD_REQUEST, &SignInForm::default(), error_message(Some(problem))));
    };
    let key = credential_rules::name_key(&sent.name);
    // No user name is longer, and counted names stay in memory for a while.
    let counted: String = key.chars().take(64).collect();
    let address = asker.audit_address.as_deref();
    let one = match accounts.sign_in.throttle.begin(&counted, asker.address) {
        Ok(one) => one,
        Err(Throttled { seconds, limit }) => {
            let subject = match limit {
                "address" => Subject::Client(asker.audit_address.clone()),
                _ => Subject::name(&counted),
            };
            accounts.record_limited(AccountAction::SignIn, (limit, subject), address);
            let problem = error_message(Some(too_many_attempts_text(seconds)));
            let mut response = form(&accounts, StatusCode::TOO_MANY_REQUESTS, &sent, problem);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            return Ok(response);
        }
    };
    let found = accounts.store.user_by_name(&key).await?;
    let kept = found.as_ref().map(|(_, password)| password.clone());
    let is_right = credential_rules::is_possible_password(&sent.password)
        && accounts.sign_in.hasher.matches(sent.password.clone(), kept).await?;
    let user_id = found.map(|(user, _)| user.id);
    if let Some(id) = user_id.as_deref().filter(|_| is_right) {
        let row = accounts
            .sign_in
            .row_within_budget(AccountAction::SignIn, AccountAction::SignIn.success_entry(id, address, Map::new()));
        if let Some(cookie) = accounts.begin_session(id, &asker.credentials, asker.is_https, row).await? {
            accounts.sign_in.throttle.succeeded(&one);
            return Ok(see_other(local_path(sent.next.as_deref()), Some(cookie)));
        }
    }
    tracing::info!(?address, "a sign-in failed");
    accounts.record_failure(AccountAction::SignIn, user_id.as_deref().ok_or(&sent.name), address);
    let problem = "The name or the password is wrong.".to_owned();
    Ok(form(&accounts, StatusCode::UNAUTHORIZED, &sent, error_message(Some(problem))))
}

/// `POST /auth/sign-out`. A user who has signed in at a provider can then sign out there as well.
pub(crate) async fn sign_out(
    LocalAccounts(accounts): LocalAccounts,
    Extension(asker): Extension<RequestContext>,
    member: Option<SignedInUser>,
) -> Result<Response, AccountError> {
    let mut path = SIGN_IN_PATH.to_owned();
    if let Some(SignedInUser { caller, session_id, recorded }) = member {
        let issuer = accounts.store.session_issuer(&caller.user_id, &session_id).await?;
        if let Some(provider) = issuer.and_then(|issuer| accounts.provider_of(&issuer)) {
            path = format!("{SIGN_IN_PATH}?signed-out={}", provider.settings.id);
        }
        let row = AccountAction::SignOut.success_entry(&caller.user_id, recorded.as_deref(), Map::new());
        let row = accounts.sign_in.row_within_budget(AccountAction::SignOut, row);
        accounts.store.end_session(&caller.user_id, &session_id, row).await?;
    }
    Ok(see_other(&path, Accounts::expired_cookie(asker.is_https)))
}

fn form(accounts: &Accounts, status: StatusCode, sent: &SignInForm, notes: impl IntoView + 'static) -> Response {
    let next = local_path(sent.next.as_deref()).to_owned();
    let has_name = !sent.name.is_empty();
    let sign_up = accounts.settings.open_sign_up.then(|| {
        view! {
            <p class="cw-account-note">
                "No account yet? " <a href=format!("/auth/sign-up?next={}", web::query_encoded(&next))>"Sign up"</a>
            </p>
        }
    });
    let providers = providers_view(accounts, &next);
    let password = accounts.settings.passwords.then(|| {
        view! {
            <form class="cw-account-form" method="post" action=SIGN_IN_PATH>
                <input type="hidden" name="next" value=next />
                {Field::name(&sent.name, !has_name).view()}
                {Field::password("password", "Password", has_name).view()}
                <button class="cw-button cw-primary">"Sign in"</button>
            </form>
        }
    });
    let content = view! {
        {notes}
        {password}
        {providers}
        {sign_up}
    };
    web::html::form_page(status, "Sign in", content)
}
