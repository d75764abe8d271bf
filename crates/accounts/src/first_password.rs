//! The replacement of a password that an administrator has set: who sets it knows it, so its user is not signed in
//! until they have chosen another one.

use crate::forms::Field;
use crate::second_step::{SigningIn, continue_sign_in};
use crate::sign_in::{Checked, check_password, refused_page};
use crate::{AccountError, PasswordAccounts, local_path};
use auth::AccountAction;
use auth::password::{credential_rules, now_millis};
use axum::extract::rejection::FormRejection;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Form};
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use web::html::error_message;
use web::{RequestContext, SIGN_IN_PATH, see_other};

/// The path that the form is sent to.
pub(crate) const NEW_PASSWORD_PATH: &str = "/auth/new-password";

/// The form.
#[derive(Default, Deserialize)]
pub(crate) struct NewPasswordForm {
    #[serde(default)]
    name: String,
    /// The password that the administrator has set.
    #[serde(default)]
    current: String,
    /// The new one.
    #[serde(default)]
    password: String,
    next: Option<String>,
}

/// `POST /auth/new-password`. Checks the first password again, replaces it, and signs the user in.
pub(crate) async fn replace(
    PasswordAccounts(accounts): PasswordAccounts,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<NewPasswordForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(see_other(SIGN_IN_PATH, None)) };
    let Checked { user, password: kept, attempt } =
        match check_password(&accounts, &asker, (&sent.name, &sent.current), AccountAction::ChangePassword).await? {
            Ok(checked) => checked,
            Err(refusal) => {
                let page = |status, problem| form_page(status, &sent.name, sent.next.as_deref(), Some(problem));
                return Ok(refused_page(refusal, page));
            }
        };
    accounts.sign_in.throttle.succeeded(&attempt);
    if !kept.must_change {
        return Ok(see_other(SIGN_IN_PATH, None));
    }
    let is_same = sent.password == sent.current;
    let same = is_same.then_some("This is the password that you were given. Choose another one.");
    if let Some(problem) = same.or_else(|| credential_rules::password_problem(&sent.password, &user.name)) {
        let problem = Some(problem.to_owned());
        return Ok(form_page(StatusCode::UNPROCESSABLE_ENTITY, &sent.name, sent.next.as_deref(), problem));
    }
    let hash = accounts.sign_in.hasher.hash(sent.password.clone()).await??;
    let entry = |action: AccountAction| {
        let entry = action.success_entry(&user.id, asker.audit_address.as_deref(), Map::new());
        accounts.sign_in.row_within_budget(action, entry)
    };
    let changed = entry(AccountAction::ChangePassword);
    if !accounts.store.set_password(&user.id, None, (&kept.hash, &hash), now_millis(), changed).await? {
        let problem = Some("The password was changed in the meantime. Ask for a new one.".to_owned());
        return Ok(form_page(StatusCode::CONFLICT, &sent.name, sent.next.as_deref(), problem));
    }
    let signed_in = entry(AccountAction::SignIn);
    let signing_in = SigningIn { user: &user, hash: &hash, next: sent.next.as_deref(), entry: signed_in };
    let response = continue_sign_in(&accounts, &asker, signing_in).await?;
    Ok(response.unwrap_or_else(|| see_other(SIGN_IN_PATH, None)))
}

/// Returns the page with the form, for a user who has signed in with a password that they must replace.
pub(crate) fn form_page(status: StatusCode, name: &str, next: Option<&str>, problem: Option<String>) -> Response {
    let content = view! {
        <p class="cw-account-note">"An administrator has set your password. Replace it by one that only you know."</p>
        {error_message(problem)}
        <form class="cw-account-form" method="post" action=NEW_PASSWORD_PATH>
            <input type="hidden" name="next" value=local_path(next).to_owned() />
            {Field { is_fixed: true, ..Field::name(name, false) }.view()}
            {Field::password("current", "The password that you were given", true).view()}
            {Field::new_password("New password").view()}
            <button class="cw-button cw-primary">"Save and sign in"</button>
        </form>
    };
    web::html::form_page(status, "Choose a password", content)
}
