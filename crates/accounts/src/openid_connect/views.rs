//! The views of sign-in with company accounts.

use super::SignInProblem;
use auth::openid_connect::Provider;
use auth::password::Accounts;
use axum::http::StatusCode;
use axum::response::Response;
use leptos::prelude::*;
use web::html::error_message;
use web::{SIGN_IN_PATH, query_encoded};

/// Renders the buttons of the sign-in page.
pub(crate) fn providers_view(accounts: &Accounts, next: &str) -> impl IntoView + use<> {
    let button = |provider: &Provider| {
        let path = format!("/auth/openid-connect/{}?next={}", provider.settings.id, query_encoded(next));
        view! { <a class="cw-button" href=path>{format!("Sign in with {}", provider.settings.label)}</a> }
    };
    let buttons: Vec<_> = accounts.providers.iter().map(button).collect();
    (!buttons.is_empty()).then(|| view! { <div class="cw-account-form">{buttons}</div> })
}

/// Renders the note for a user who has just signed out and may still be signed in at the provider.
pub(crate) fn signed_out_view(accounts: &Accounts, provider: Option<&str>) -> impl IntoView + use<> {
    let provider = provider.and_then(|id| accounts.provider(id));
    provider.map(|provider| {
        let path = format!("/auth/openid-connect/{}/sign-out", provider.settings.id);
        view! {
            <p class="cw-account-note" role="status">
                {format!("You are signed out here, but perhaps not at {}. ", provider.settings.label)}
                <a href=path>"Sign out there, too"</a>
            </p>
        }
    })
}

/// Renders the page that leads to the provider.
pub(super) fn continue_page(provider: &Provider, url: &str) -> Response {
    let label = &provider.settings.label;
    let content = view! {
        <p class="cw-account-note">{format!("Sign in at {label} with the account that you want to use here.")}</p>
        <a class="cw-button cw-primary" href=url.to_owned()>{format!("Continue to {label}")}</a>
        <a class="cw-button" href=crate::ACCOUNT_PATH>"Cancel"</a>
    };
    web::html::form_page(StatusCode::OK, "Link a company account", content)
}

/// Renders the page that says why a sign-in failed, and what to do next.
pub(super) fn problem_page(provider: &Provider, problem: &SignInProblem, next: &str) -> Response {
    let (status, text) = explain(problem, &provider.settings.label);
    let (path, again) = match next {
        crate::ACCOUNT_PATH => (next.to_owned(), "Back to your account"),
        next => (format!("{SIGN_IN_PATH}?next={}", query_encoded(next)), "Back to sign-in"),
    };
    let content = view! {
        {error_message(Some(text))}
        <a class="cw-button" href=path>{again}</a>
    };
    web::html::form_page(status, "Sign-in did not work", content)
}

/// Returns the status and the text for a problem. It is never 401: the server would lead the browser to the sign-in page,
/// which does not say what the problem is.
fn explain(problem: &SignInProblem, label: &str) -> (StatusCode, String) {
    match problem {
        SignInProblem::Expired => (
            StatusCode::BAD_REQUEST,
            "This sign-in has expired, or was begun in another browser or window. Start again.".to_owned(),
        ),
        SignInProblem::Declined => {
            (StatusCode::FORBIDDEN, format!("{label} did not let you in, or you have cancelled. You can try again."))
        }
        SignInProblem::Unreachable => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{label} cannot be reached right now. Try again in a moment; if that does not help, tell an administrator."),
        ),
        SignInProblem::Busy => {
            (StatusCode::SERVICE_UNAVAILABLE, "Many users are signing in right now. Try again in a moment.".to_owned())
        }
        SignInProblem::TooMany(seconds) => {
            (StatusCode::TOO_MANY_REQUESTS, crate::forms::too_many_attempts_text(*seconds))
        }
        SignInProblem::Invalid(_) => (
            StatusCode::FORBIDDEN,
            format!("The answer of {label} is not valid. Try again; if it happens again, tell an administrator."),
        ),
        SignInProblem::OtherDomain => (
            StatusCode::FORBIDDEN,
            "Your e-mail address is not verified, or not one of those that may be used here. Sign in with another account."
                .to_owned(),
        ),
        SignInProblem::NoAccount => (
            StatusCode::FORBIDDEN,
            format!("You have no account here yet. If you have one with a password, sign in with it and link {label} on your account page; otherwise ask an administrator."),
        ),
        SignInProblem::NoAdministrator => (
            StatusCode::FORBIDDEN,
            "This server has no administrator yet. An operator must create the first account before others can sign in."
                .to_owned(),
        ),
        SignInProblem::Disabled(_) => {
            (StatusCode::FORBIDDEN, "Your account is disabled. Ask an administrator.".to_owned())
        }
        SignInProblem::OtherUser => (
            StatusCode::CONFLICT,
            format!("This account at {label} is linked to another user. Sign in there with another account."),
        ),
        SignInProblem::TooManyIdentities => {
            (StatusCode::CONFLICT, "You have linked the most accounts that are possible. Unlink one first.".to_owned())
        }
        SignInProblem::NoSignOut => {
            (StatusCode::NOT_FOUND, format!("{label} offers no way to sign out from here. Sign out on its own page."))
        }
    }
}
