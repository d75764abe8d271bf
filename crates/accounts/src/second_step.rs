//! The second step of a sign-in with a password: a code of the user's authenticator app, or the app's set-up where the
//! config requires one. The session begins only after it.

use crate::forms::{Field, too_many_attempts_text};
use crate::{AccountError, PasswordAccounts, local_path};
use auth::AccountAction;
use auth::password::{
    Accounts, CodeCheck, PendingApp, PendingStep, SecondStep, SignInAttempt, StepKind, Subject, Throttled,
    credential_rules,
};
use axum::extract::rejection::FormRejection;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use qrcode::{Color, QrCode};
use serde::Deserialize;
use serde_json::Map;
use store::{AuditEntry, SecondFactor, SecondFactorProof, User};
use web::html::{error_message, success_message};
use web::{RequestContext, SIGN_IN_PATH, see_other, with_cookie};

/// The path that the form with the code is sent to.
pub(crate) const CODE_PATH: &str = "/auth/second-step";
/// The path that the form with the code of a new app is sent to.
pub(crate) const SET_UP_PATH: &str = "/auth/second-step/set-up";

/// The message after a code that is not accepted.
pub(crate) const WRONG_CODE: &str = "This code is wrong or was used before. Wait for the next one, and check the clock of \
                                     your device.";
/// The message if codes cannot be checked.
pub(crate) const UNREADABLE: &str =
    "Codes of the app cannot be checked on this server right now. Use a recovery code, or ask an administrator.";

/// The message after too many wrong codes.
pub(crate) const LOCKED: &str = "Too many wrong codes were entered, so codes of your app are not accepted now. Sign in with a recovery code, or ask \
     an administrator to reset your second step. If it was not you, somebody knows your password: change it.";

/// A user whose password was checked.
pub(crate) struct SigningIn<'a> {
    pub(crate) user: &'a User,
    /// The hash of the password.
    pub(crate) hash: &'a str,
    /// The path to open afterwards.
    pub(crate) next: Option<&'a str>,
    /// The audit entry for a session that begins now.
    pub(crate) entry: Option<AuditEntry>,
}

/// Signs a user in, or returns the page for the second step. `None` if the password is no longer theirs, or they were
/// disabled.
pub(crate) async fn continue_sign_in(
    accounts: &Accounts,
    asker: &RequestContext,
    SigningIn { user, hash, next, entry }: SigningIn<'_>,
) -> Result<Option<Response>, AccountError> {
    let kind = match accounts.second_step(&user.id).await? {
        SecondStep::Nothing(proof) => {
            let proved = (user.id.as_str(), hash, proof);
            let cookie = accounts.begin_session(proved, &asker.credentials, asker.is_https, entry).await?;
            return Ok(cookie.map(|cookie| see_other(local_path(next), Some(cookie))));
        }
        SecondStep::Code => StepKind::EnterCode,
        SecondStep::SetUp => StepKind::SetUpToSignIn(PendingApp::random(None)),
    };
    let step = PendingStep::new(&user.id, hash, kind);
    let token = seal(accounts, &step)?;
    Ok(Some(match &step.kind {
        StepKind::EnterCode => code_page(StatusCode::OK, &token, next, None),
        StepKind::SetUpToSignIn(app) | StepKind::SetUpInAccount(app) => {
            let form = SetUpForm { action: SET_UP_PATH, token: &token, next, asks_password: false };
            set_up_page(StatusCode::OK, asker, (user, app), form, None)
        }
    }))
}

/// Returns an encrypted step, for a form.
pub(crate) fn seal(accounts: &Accounts, step: &PendingStep) -> Result<String, AccountError> {
    accounts.seal_step(step).ok_or_else(|| AccountError::Failed("a step cannot be encrypted".to_owned()))
}

/// The form of both pages.
#[derive(Default, Deserialize)]
pub(crate) struct StepForm {
    #[serde(default)]
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) code: String,
    /// For a user who is signed in.
    #[serde(default)]
    pub(crate) password: String,
    pub(crate) next: Option<String>,
}

/// `POST /auth/second-step`. A wrong code counts as a wrong password does.
pub(crate) async fn show_code(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<StepForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(see_other(SIGN_IN_PATH, None)) };
    let Some((PendingStep { kind: StepKind::EnterCode, .. }, user, password)) = accounts.open_step(&sent.token).await?
    else {
        return Ok(expired_page());
    };
    let page = |status, text: &str| code_page(status, &sent.token, sent.next.as_deref(), Some(text.to_owned()));
    let address = asker.audit_address.as_deref();
    // An administrator may have reset it in the meantime.
    let Some(factor) = accounts.store.second_factor(&user.id).await? else { return Ok(expired_page()) };
    match check_code(&accounts, (&user, &asker, address), &factor, (&sent.code, AccountAction::SignIn)).await? {
        Ok((proof, attempt)) => {
            let how = if matches!(proof, SecondFactorProof::RecoveryCode(_)) { "recoveryCode" } else { "app" };
            let about = Map::from_iter([("secondFactor".to_owned(), how.into())]);
            let entry = AccountAction::SignIn.success_entry(&user.id, address, about);
            let entry = accounts.sign_in.row_within_budget(AccountAction::SignIn, entry);
            let proved = (user.id.as_str(), password.hash.as_str(), proof);
            let cookie = accounts.begin_session(proved, &asker.credentials, asker.is_https, entry).await?;
            if let Some(cookie) = cookie {
                accounts.sign_in.throttle.succeeded(&attempt);
                return Ok(see_other(local_path(sent.next.as_deref()), Some(cookie)));
            }
            // Another sign-in has used the code in the meantime.
            accounts.record_failure(AccountAction::SignIn, Ok(&user.id), address);
        }
        Err(CodeProblem::TooMany(seconds)) => {
            let page = page(StatusCode::TOO_MANY_REQUESTS, &too_many_attempts_text(seconds));
            return Ok(web::with_retry_after(page, seconds));
        }
        Err(CodeProblem::Unreadable) => return Ok(page(StatusCode::SERVICE_UNAVAILABLE, UNREADABLE)),
        Err(CodeProblem::Locked) => return Ok(page(StatusCode::FORBIDDEN, LOCKED)),
        Err(CodeProblem::Wrong) => {}
    }
    tracing::info!(?address, "the second step of a sign-in failed");
    Ok(page(StatusCode::UNAUTHORIZED, WRONG_CODE))
}

/// Why a code is not accepted.
pub(crate) enum CodeProblem {
    /// It is wrong.
    Wrong,
    /// Codes of the app cannot be checked.
    Unreadable,
    /// Codes of the app are not accepted any more.
    Locked,
    /// The user must wait for this many seconds.
    TooMany(u64),
}

/// Checks a code of a user, for an action. A wrong one counts as a wrong password does; the caller clears the count once
/// the code has had its effect. `address` is that for the audit log.
pub(crate) async fn check_code(
    accounts: &Accounts,
    (user, asker, address): (&User, &RequestContext, Option<&str>),
    factor: &SecondFactor,
    (code, action): (&str, AccountAction),
) -> Result<Result<(SecondFactorProof, SignInAttempt), CodeProblem>, AccountError> {
    let attempt = match accounts.sign_in.throttle.begin(&credential_rules::name_key(&user.name), asker.address) {
        Ok(attempt) => attempt,
        Err(Throttled { seconds, limit }) => {
            accounts.record_limited(action, (limit, Subject::User(user.id.clone())), address);
            return Ok(Err(CodeProblem::TooMany(seconds)));
        }
    };
    let problem = match accounts.check_code(&user.id, factor, code).await? {
        CodeCheck::Right(proof) => return Ok(Ok((proof, attempt))),
        CodeCheck::Wrong => CodeProblem::Wrong,
        CodeCheck::Locked => CodeProblem::Locked,
        CodeCheck::Unreadable => return Ok(Err(CodeProblem::Unreadable)),
    };
    accounts.record_failure(action, Ok(&user.id), address);
    Ok(Err(problem))
}

/// `POST /auth/second-step/set-up`. Stores the app and signs the user in. The caller knows the app's secret already, so
/// attempts are not limited. The response is the only page that shows the recovery codes.
pub(crate) async fn set_up(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<StepForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(see_other(SIGN_IN_PATH, None)) };
    let Some((PendingStep { kind: StepKind::SetUpToSignIn(app), .. }, user, password)) =
        accounts.open_step(&sent.token).await?
    else {
        return Ok(expired_page());
    };
    let next = sent.next.as_deref();
    let Some(confirmed) = accounts.confirm_app(&user.id, &app, &sent.code) else {
        let form = SetUpForm { action: SET_UP_PATH, token: &sent.token, next, asks_password: false };
        return Ok(set_up_page(StatusCode::UNAUTHORIZED, &asker, (&user, &app), form, Some(WRONG_CODE.to_owned())));
    };
    let entry = |action: AccountAction| {
        let entry = action.success_entry(&user.id, asker.audit_address.as_deref(), Map::new());
        accounts.sign_in.row_within_budget(action, entry)
    };
    let entries = [entry(AccountAction::SetUpSecondFactor), entry(AccountAction::SignIn)];
    let proved = (user.id.as_str(), password.hash.as_str(), SecondFactorProof::SetUp(confirmed.new));
    let entries = entries.into_iter().flatten();
    let cookie = accounts.begin_session(proved, &asker.credentials, asker.is_https, entries).await?;
    Ok(match cookie {
        Some(cookie) => recovery_codes_page(&confirmed.recovery_codes, local_path(next), Some(cookie)),
        // Another one was set up, or the user was disabled, in the meantime.
        None => expired_page(),
    })
}

/// Returns the page for a sign-in that cannot be continued.
pub(crate) fn expired_page() -> Response {
    web::html::message_page(
        StatusCode::UNAUTHORIZED,
        "This step has expired",
        "It took longer than ten minutes, or your account was changed in the meantime. Start again.",
    )
}

fn code_page(status: StatusCode, token: &str, next: Option<&str>, problem: Option<String>) -> Response {
    let content = view! {
        <p class="cw-account-note">
            "Enter the code that your authenticator app shows, or one of your recovery codes."
        </p>
        {error_message(problem)}
        <form class="cw-account-form" method="post" action=CODE_PATH>
            <input type="hidden" name="next" value=local_path(next).to_owned() />
            <input type="hidden" name="token" value=token.to_owned() />
            {Field::code(true).view()}
            <button class="cw-button cw-primary">"Sign in"</button>
        </form>
        <p class="cw-account-note">"You have neither? An administrator can reset your second step."</p>
    };
    web::html::form_page(status, "Second step", content)
}

/// The form with which a new app is confirmed.
pub(crate) struct SetUpForm<'a> {
    /// The path that it is sent to.
    pub(crate) action: &'static str,
    /// The encrypted step.
    pub(crate) token: &'a str,
    /// The path to open afterwards.
    pub(crate) next: Option<&'a str>,
    /// Whether the user enters the password again.
    pub(crate) asks_password: bool,
}

/// Returns the page on which a user puts a new secret into their app, and confirms it with a code.
pub(crate) fn set_up_page(
    status: StatusCode,
    asker: &RequestContext,
    (user, app): (&User, &PendingApp),
    SetUpForm { action, token, next, asks_password }: SetUpForm<'_>,
    problem: Option<String>,
) -> Response {
    let Some(shown) = app.shown(&user.name, asker.credentials.host()) else { return expired_page() };
    let content = view! {
        <p class="cw-account-note">
            "Scan this code with an authenticator app on your phone, such as Aegis, Google Authenticator or 1Password. Then enter the code that the app shows."
        </p>
        {qr_code(&shown.uri)}
        <p class="cw-account-note">"Or type this secret into the app:"</p>
        <pre class="cw-account-key" tabindex="0" role="region" aria-label="Secret">{shown.secret}</pre>
        {error_message(problem)}
        <form class="cw-account-form" method="post" action=action>
            <input type="hidden" name="next" value=local_path(next).to_owned() />
            <input type="hidden" name="token" value=token.to_owned() />
            {asks_password.then(|| Field::password("password", "Your password", false).view())}
            {Field::code(false).view()}
            <button class="cw-button cw-primary">"Turn on two-step sign-in"</button>
        </form>
    };
    web::html::form_page(status, "Set up two-step sign-in", content)
}

/// Returns the page that shows new recovery codes, once.
pub(crate) fn recovery_codes_page(codes: &[String], next: &str, cookie: Option<HeaderValue>) -> Response {
    let content = view! {
        {success_message(Some("Two-step sign-in is on. Keep these recovery codes: they will not be shown again."))}
        <p class="cw-account-note">
            "Each of them signs you in once, in place of a code of your app. Store them where you find them without your phone."
        </p>
        <pre class="cw-account-key" tabindex="0" role="region" aria-label="Recovery codes">{codes.join("\n")}</pre>
        <a class="cw-button cw-primary" href=next.to_owned()>"I have stored them"</a>
    };
    with_cookie(web::html::form_page(StatusCode::OK, "Recovery codes", content), cookie)
}

/// Renders a QR code. It is dark on light in every theme: not every app reads the opposite.
fn qr_code(text: &str) -> Option<impl IntoView + use<>> {
    /// The quiet zone that the standard asks for, in modules.
    const MARGIN: usize = 4;
    let code = QrCode::new(text).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (at, color) in code.to_colors().into_iter().enumerate() {
        if color == Color::Dark {
            path.push_str(&format!("M{} {}h1v1h-1z", at % width + MARGIN, at / width + MARGIN));
        }
    }
    let size = width + 2 * MARGIN;
    Some(view! {
        <svg viewBox=format!("0 0 {size} {size}") width="240" height="240" role="img" aria-label="QR code" shape-rendering="crispEdges">
            <rect width=size height=size fill="#fff" />
            <path d=path fill="#000" />
        </svg>
    })
}
