//! Sign-in and sign-out.

use crate::forms::{Field, too_many_attempts_text};
use crate::openid_connect::{providers_view, signed_out_view};
use crate::second_step::{SigningIn, continue_sign_in};
use crate::{AccountError, LocalAccounts, PasswordAccounts, SignedInUser, first_password, local_path};
use auth::AccountAction;
use auth::password::{Accounts, SignInAttempt, Subject, Throttled, credential_rules};
use axum::extract::Query;
use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use store::{StoredPassword, User};
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
    let refuse = |status, problem| form(&accounts, status, &sent, error_message(Some(problem)));
    let given = (sent.name.as_str(), sent.password.as_str());
    let Checked { user, password, attempt } =
        match check_password(&accounts, &asker, given, AccountAction::SignIn).await? {
            Ok(checked) => checked,
            Err(refusal) => return Ok(refused_page(refusal, refuse)),
        };
    if password.must_change {
        accounts.sign_in.throttle.succeeded(&attempt);
        return Ok(first_password::form_page(StatusCode::OK, &user.name, sent.next.as_deref(), None));
    }
    let entry = AccountAction::SignIn.success_entry(&user.id, asker.audit_address.as_deref(), Map::new());
    let entry = accounts.sign_in.row_within_budget(AccountAction::SignIn, entry);
    let signing_in = SigningIn { user: &user, hash: &password.hash, next: sent.next.as_deref(), entry };
    match continue_sign_in(&accounts, &asker, signing_in).await? {
        Some(response) => {
            accounts.sign_in.throttle.succeeded(&attempt);
            Ok(response)
        }
        // The user was disabled, or an administrator has set another password, in the meantime.
        None => Ok(refused_page(Refusal::Wrong, refuse)),
    }
}

/// A user whose name and password are right.
pub(crate) struct Checked {
    pub(crate) user: User,
    pub(crate) password: StoredPassword,
    /// The attempt, which counts as a failure until the throttle is told that it succeeded.
    pub(crate) attempt: SignInAttempt,
}

/// Why name and password are not accepted.
pub(crate) enum Refusal {
    /// The client must wait for this many seconds.
    TooMany(u64),
    /// One of them is wrong, or the user is disabled.
    Wrong,
}

/// Checks name and password of a user who signs in, slows down guessing, and records failures of the action in the
/// audit log.
pub(crate) async fn check_password(
    accounts: &Accounts,
    asker: &RequestContext,
    (name, password): (&str, &str),
    action: AccountAction,
) -> Result<Result<Checked, Refusal>, AccountError> {
    let key = credential_rules::name_key(name);
    // No user name is longer, and counted names stay in memory for a while.
    let counted: String = key.chars().take(64).collect();
    let address = asker.audit_address.as_deref();
    let attempt = match accounts.sign_in.throttle.begin(&counted, asker.address) {
        Ok(attempt) => attempt,
        Err(Throttled { seconds, limit }) => {
            let subject = match limit {
                "address" => Subject::Client(asker.audit_address.clone()),
                _ => Subject::name(&counted),
            };
            accounts.record_limited(action, (limit, subject), address);
            return Ok(Err(Refusal::TooMany(seconds)));
        }
    };
    let found = accounts.store.user_by_name(&key).await?;
    let kept = found.as_ref().map(|(_, password)| password.hash.clone());
    let is_right = credential_rules::is_possible_password(password)
        && accounts.sign_in.hasher.matches(password.to_owned(), kept).await?;
    match found {
        Some((user, password)) if is_right && user.disabled_at.is_none() => Ok(Ok(Checked { user, password, attempt })),
        found => {
            tracing::info!(?address, "a sign-in failed");
            let user = found.as_ref().map(|(user, _)| user.id.as_str()).ok_or(name);
            accounts.record_failure(action, user, address);
            Ok(Err(Refusal::Wrong))
        }
    }
}

/// Returns the page for a refusal; `page` renders it with a status and a message.
pub(crate) fn refused_page(refusal: Refusal, page: impl FnOnce(StatusCode, String) -> Response) -> Response {
    match refusal {
        Refusal::Wrong => page(StatusCode::UNAUTHORIZED, "The name or the password is wrong.".to_owned()),
        Refusal::TooMany(seconds) => {
            let page = page(StatusCode::TOO_MANY_REQUESTS, too_many_attempts_text(seconds));
            web::with_retry_after(page, seconds)
        }
    }
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
