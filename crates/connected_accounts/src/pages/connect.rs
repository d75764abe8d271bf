//! The way to an authorization server and back.

use super::view;
use crate::accounts::PATH;
use crate::connect::{Begun, ConnectProblem};
use crate::oauth::{Callback, OauthError};
use crate::pending::PendingConnection;
use crate::routes::RouteState;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use chat::Caller;
use web::{HttpError, Origin, RequestContext, SentQuery, see_other, with_cookie};

/// `POST /account/connections/{service}/connect`. The response is a page with a link to the authorization server: a form may
/// not lead to another site.
pub(super) async fn begin(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<RequestContext>,
    origin: Option<Extension<Origin>>,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    let Some(service) = state.services(&caller).remove(&name) else { return Ok(web::html::not_found_page()) };
    let Some(Extension(Origin(origin))) = origin else {
        let text = "This server does not know its own address. An administrator has to set it.";
        return problem_page(&state, &caller, text.to_owned()).await;
    };
    let begun = match state.accounts.begin(&service, &caller.user_id, &origin).await {
        Ok(begun) => begun,
        Err(problem) => return problem_page(&state, &caller, text(&name, &problem)).await,
    };
    let Begun { url, pending } = begun;
    match pending.cookie(&state.accounts.keys(), asker.is_https) {
        Ok(cookie) => Ok(with_cookie(view::continue_page(&name, &url, &pending.scopes), Some(cookie))),
        Err(problem) => problem_page(&state, &caller, text(&name, &ConnectProblem::Keys(problem))).await,
    }
}

/// `GET /auth/connected-accounts/callback`: the redirect URI. It ends the pending authorization, whatever its outcome.
pub(super) async fn finish(
    State(state): State<RouteState>,
    Extension(caller): Extension<Caller>,
    Extension(asker): Extension<RequestContext>,
    answer: SentQuery<Callback>,
) -> Result<Response, HttpError> {
    let pending = PendingConnection::find(&state.accounts.keys(), &asker.credentials, asker.is_https);
    let found = pending.and_then(|pending| Some((state.services(&caller).remove(&pending.service)?, pending)));
    let Some((service, pending)) = found else {
        // Reload or the button *Back*.
        let text = text("the service", &OauthError::Expired.into());
        return problem_page(&state, &caller, text).await;
    };
    let Query(answer) = answer.unwrap_or_default();
    let response = match state.accounts.finish(&service, &caller.user_id, &pending, &answer).await {
        Ok(()) => see_other(&format!("{PATH}?done=connected"), None),
        Err(problem) => problem_page(&state, &caller, text(&service.name, &problem)).await?,
    };
    Ok(with_cookie(response, PendingConnection::expired_cookie(asker.is_https)))
}

/// Returns the message about a problem for the user, and logs the cause for the operator.
fn text(service: &str, problem: &ConnectProblem) -> String {
    match problem {
        ConnectProblem::Oauth(OauthError::Declined) => format!("You have not connected your account at {service}."),
        ConnectProblem::Oauth(OauthError::Expired) => {
            "This was not begun in this browser, took too long, or is finished already. Connect the account again."
                .to_owned()
        }
        ConnectProblem::TooMany => "You have too many connected accounts. Disconnect one first.".to_owned(),
        problem => {
            tracing::warn!(service, %problem, "an account cannot be connected");
            format!("Your account at {service} cannot be connected now. Try again later, or tell an administrator.")
        }
    }
}

async fn problem_page(state: &RouteState, caller: &Caller, text: String) -> Result<Response, HttpError> {
    let notice = view::Notice { done: None, wrong: Some(text) };
    view::page(state, caller, StatusCode::UNPROCESSABLE_ENTITY, None, notice).await
}
