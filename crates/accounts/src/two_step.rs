//! Two-step sign-in on the account page: turning it on and off, another app, and new recovery codes.

use crate::account::{Unconfirmed, confirm_password, render, unconfirmed_page, unreadable_form_page};
use crate::account_page::FormNotice;
use crate::forms::{Field, too_many_attempts_text};
use crate::second_step::{
    CodeProblem, LOCKED, SetUpForm, StepForm, UNREADABLE, WRONG_CODE, check_code, expired_page, recovery_codes_page,
    seal, set_up_page,
};
use crate::{ACCOUNT_PATH, AccountError, AccountState, KeyOwner, PasswordAccounts, SignedInUser};
use auth::AccountAction;
use auth::password::{Accounts, PendingApp, PendingStep, StepKind, now_millis};
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Form, Router};
use config::SecondFactorMode;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::Map;
use std::sync::Arc;
use store::{AuditEntry, SecondFactor, SecondFactorChange, SecondFactorProof, User};
use web::html::{account_part, error_message};
use web::times::day;
use web::{RequestContext, see_other};

/// The page on which an app is set up, and the path that its form is sent to.
const PATH: &str = "/auth/two-step";

/// The message after a change of the account in the meantime.
const CHANGED: &str = "Your account was changed in the meantime. Try again.";

/// Returns the pages.
pub(crate) fn pages() -> Router<AccountState> {
    Router::new().route(PATH, get(begin).post(confirm)).route("/auth/two-step/{act}", post(apply_action))
}

/// Returns the audit entry for a successful action, if it gets one.
fn success_entry(accounts: &Accounts, action: AccountAction, member: &SignedInUser) -> Option<AuditEntry> {
    let entry = action.success_entry(&member.caller.user_id, member.recorded.as_deref(), Map::new());
    accounts.sign_in.row_within_budget(action, entry)
}

/// `GET /auth/two-step`. Each visit makes a new secret, which counts once it is confirmed.
async fn begin(
    PasswordAccounts(accounts): PasswordAccounts,
    member: SignedInUser,
    Extension(asker): Extension<RequestContext>,
) -> Result<Response, AccountError> {
    let user_id = &member.caller.user_id;
    let found = accounts.store.user_by_id(user_id).await?.filter(|(_, password)| !password.hash.is_empty());
    let Some((user, password)) = found.filter(|_| accounts.second_factors.is_available()) else {
        return Ok(web::html::not_found_page());
    };
    if accounts.store.second_factor(user_id).await?.is_some() {
        return Ok(see_other(ACCOUNT_PATH, None));
    }
    set_up(&accounts, &asker, (&user, &password.hash), PendingApp::random(None))
}

/// Returns the page on which a user whose password has this hash confirms a new app.
fn set_up(
    accounts: &Accounts,
    asker: &RequestContext,
    (user, password): (&User, &str),
    app: PendingApp,
) -> Result<Response, AccountError> {
    let step = PendingStep::new(&user.id, password, StepKind::SetUpInAccount(app.clone()));
    let token = seal(accounts, &step)?;
    Ok(set_up_page(StatusCode::OK, asker, (user, &app), form(&token, &app), None))
}

fn form<'a>(token: &'a str, app: &PendingApp) -> SetUpForm<'a> {
    // A user who replaces an app has just entered the password, and a code.
    SetUpForm { action: PATH, token, next: Some(ACCOUNT_PATH), asks_password: app.replaced.is_none() }
}

/// `POST /auth/two-step`. Stores the app and ends the user's other sessions. The response is the only page that shows the
/// recovery codes.
async fn confirm(
    PasswordAccounts(accounts): PasswordAccounts,
    member: SignedInUser,
    Extension(asker): Extension<RequestContext>,
    sent: Result<Form<StepForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(unreadable_form_page()) };
    let opened = accounts.open_step(&sent.token).await?;
    let opened = opened.filter(|(step, ..)| step.user_id == member.caller.user_id);
    let Some((PendingStep { kind: StepKind::SetUpInAccount(app), .. }, user, password)) = opened else {
        return Ok(expired_page());
    };
    let action = AccountAction::SetUpSecondFactor;
    let page = |status, text: String| set_up_page(status, &asker, (&user, &app), form(&sent.token, &app), Some(text));
    if app.replaced.is_none() {
        match confirm_password(&accounts, &member, &asker, (sent.password, action)).await? {
            Ok(_) => {}
            Err(Unconfirmed::Gone) => return Ok(expired_page()),
            Err(Unconfirmed::Wrong) => {
                return Ok(page(StatusCode::UNPROCESSABLE_ENTITY, "The password is wrong.".to_owned()));
            }
            Err(Unconfirmed::TooMany(seconds)) => {
                let page = page(StatusCode::TOO_MANY_REQUESTS, too_many_attempts_text(seconds));
                return Ok(web::with_retry_after(page, seconds));
            }
        }
    }
    let Some(confirmed) = accounts.confirm_app(&user.id, &app, &sent.code) else {
        return Ok(page(StatusCode::UNPROCESSABLE_ENTITY, WRONG_CODE.to_owned()));
    };
    let change = SecondFactorChange::Set {
        new: confirmed.new,
        replaced: app.replaced.clone(),
        session_id: member.session_id.clone(),
    };
    let (proved, entry) = ((user.id.as_str(), password.hash.as_str()), success_entry(&accounts, action, &member));
    if accounts.store.change_second_factor(proved, change, now_millis(), entry).await? {
        Ok(recovery_codes_page(&confirmed.recovery_codes, ACCOUNT_PATH, None))
    } else {
        Ok(expired_page())
    }
}

/// A change of an app that is set up.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TwoStepAction {
    /// New recovery codes.
    Codes,
    /// Another app.
    Replace,
    /// Turning it off.
    Remove,
}

/// `POST /auth/two-step/{act}`: with the password, and a code.
async fn apply_action(
    PasswordAccounts(accounts): PasswordAccounts,
    member: SignedInUser,
    State(state): State<AccountState>,
    Extension(asker): Extension<RequestContext>,
    Path(act): Path<TwoStepAction>,
    sent: Result<Form<StepForm>, FormRejection>,
) -> Result<Response, AccountError> {
    let Ok(Form(sent)) = sent else { return Ok(unreadable_form_page()) };
    let (mode, is_available) = (accounts.second_factors.mode, accounts.second_factors.is_available());
    let (action, is_possible) = match act {
        TwoStepAction::Codes => (AccountAction::ReplaceRecoveryCodes, mode != SecondFactorMode::Off),
        TwoStepAction::Replace => (AccountAction::SetUpSecondFactor, is_available),
        TwoStepAction::Remove => (AccountAction::RemoveSecondFactor, mode != SecondFactorMode::Required),
    };
    let Some(factor) = accounts.store.second_factor(&member.caller.user_id).await?.filter(|_| is_possible) else {
        return Ok(web::html::not_found_page());
    };
    let holder = || KeyOwner::from_session(&accounts, &member, &state);
    let (user, password) = match confirm_password(&accounts, &member, &asker, (sent.password, action)).await? {
        Ok(found) => found,
        Err(problem) => return unconfirmed_page(holder(), problem, FormNotice::SecondFactor).await,
    };
    let proof = match confirm_code(&accounts, (&user, &member, &asker), &factor, (&sent.code, action)).await? {
        Ok(proof) => proof,
        Err((status, text, wait)) => {
            let page = render(holder(), status, FormNotice::SecondFactor(text)).await?;
            return Ok(wait.into_iter().fold(page, web::with_retry_after));
        }
    };
    let (codes, hashes) = accounts.new_recovery_codes(&user.id);
    // Replacing the app is recorded when the new one is confirmed.
    let (change, is_recorded) = match act {
        TwoStepAction::Codes => (SecondFactorChange::RecoveryCodes(hashes, proof), true),
        TwoStepAction::Replace => (SecondFactorChange::Show(proof), false),
        TwoStepAction::Remove => (SecondFactorChange::Remove(proof), true),
    };
    let entry = is_recorded.then(|| success_entry(&accounts, action, &member)).flatten();
    if !accounts.store.change_second_factor((&user.id, &password), change, now_millis(), entry).await? {
        return render(holder(), StatusCode::CONFLICT, FormNotice::SecondFactor(CHANGED.to_owned())).await;
    }
    match act {
        TwoStepAction::Codes => Ok(recovery_codes_page(&codes, ACCOUNT_PATH, None)),
        TwoStepAction::Remove => Ok(see_other("/auth/account?done=two-step-off", None)),
        TwoStepAction::Replace => {
            let app = PendingApp::random(Some(factor.secret));
            set_up(&accounts, &asker, (&user, &password), app)
        }
    }
}

/// Why a code does not confirm a change: the status, what to tell the user, and how many seconds they must wait.
type Refusal = (StatusCode, String, Option<u64>);

/// Checks a code of the signed-in user. A wrong one counts as a wrong password does.
async fn confirm_code(
    accounts: &Arc<Accounts>,
    (user, member, asker): (&User, &SignedInUser, &RequestContext),
    factor: &SecondFactor,
    (code, action): (&str, AccountAction),
) -> Result<Result<SecondFactorProof, Refusal>, AccountError> {
    if accounts.second_factors.mode == SecondFactorMode::Off {
        return Ok(Ok(SecondFactorProof::NotAsked));
    }
    let checked = check_code(accounts, (user, asker, member.recorded.as_deref()), factor, (code, action)).await?;
    Ok(match checked {
        Ok((proof, attempt)) => {
            accounts.sign_in.throttle.succeeded(&attempt);
            Ok(proof)
        }
        Err(CodeProblem::Wrong) => Err((StatusCode::UNPROCESSABLE_ENTITY, WRONG_CODE.to_owned(), None)),
        Err(CodeProblem::Locked) => Err((StatusCode::FORBIDDEN, LOCKED.to_owned(), None)),
        Err(CodeProblem::Unreadable) => Err((StatusCode::SERVICE_UNAVAILABLE, UNREADABLE.to_owned(), None)),
        Err(CodeProblem::TooMany(seconds)) => {
            Err((StatusCode::TOO_MANY_REQUESTS, too_many_attempts_text(seconds), Some(seconds)))
        }
    })
}

/// Renders the section of the account page. Without a key only administrators see what to do about it.
pub(crate) fn two_step_view(
    accounts: &Accounts,
    factor: Option<SecondFactor>,
    problem: Option<String>,
    is_admin: bool,
) -> Option<AnyView> {
    let mode = accounts.second_factors.mode;
    let content = match factor {
        Some(factor) => on_view(&factor, mode).into_any(),
        None if accounts.second_factors.is_available() => {
            view! {
                <p class="cw-account-note">
                    "After your password, signing in asks for a code of an authenticator app on your phone. Turning it on signs you out everywhere else."
                </p>
                <div><a class="cw-button" href=PATH>"Turn on"</a></div>
            }
            .into_any()
        }
        None if is_admin && mode == SecondFactorMode::Optional => {
            view! {
                <p class="cw-account-note">
                    "Not available yet: name a key in the config, " <code>"auth: { secondFactorKeys: [{ _secret: SECOND_FACTOR_KEY }] }"</code> "."
                </p>
            }
            .into_any()
        }
        None => return None,
    };
    let content = view! {
        {error_message(problem)}
        {content}
    };
    Some(account_part("two-step", "Two-step sign-in", content))
}

fn on_view(factor: &SecondFactor, mode: SecondFactorMode) -> impl IntoView + use<> {
    let state = match mode {
        SecondFactorMode::Off => "Set up, but this server does not ask for codes.".to_owned(),
        _ => {
            let left = match factor.recovery_codes.len() {
                1 => "1 recovery code is left.".to_owned(),
                count => format!("{count} recovery codes are left."),
            };
            format!("On since {}. {left}", day(factor.created_at))
        }
    };
    let (is_asked, is_required) = (mode != SecondFactorMode::Off, mode == SecondFactorMode::Required);
    view! {
        <p class="cw-account-note">{state}</p>
        <form class="cw-account-form" method="post">
            {Field::password("password", "Your password", false).view()}
            {is_asked.then(|| Field::code(false).view())}
            <div class="cw-admin-acts">
                {is_asked.then(|| view! {
                    <button class="cw-button" formaction="/auth/two-step/codes">"New recovery codes"</button>
                    <button class="cw-button" formaction="/auth/two-step/replace">"Use another app"</button>
                })}
                {(!is_required).then(|| view! {
                    <button class="cw-button" formaction="/auth/two-step/remove">"Turn off"</button>
                })}
            </div>
        </form>
    }
}
