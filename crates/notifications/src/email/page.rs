//! The part of the page `/account/notifications` about e-mail, and the pages that links in e-mails open.

use super::service::EmailStatus;
use super::store;
use super::text::{CONFIRM_PATH, STOP_PATH};
use crate::page::PATH;
use crate::service::Service;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use chat::Caller;
use leptos::prelude::*;
use serde::Deserialize;
use web::admin::from_store_error;
use web::html::{account_part, error_message, form_page, message_page};
use web::openapi::{Access, ApiRouter, Tag};
use web::{HttpError, query_encoded, require_signed_in, see_other};
use wire::{ErrorCode, UserError};

/// The tag of [`public_routes`], which the OpenAPI document leaves out.
const LINKS: Tag = Tag {
    name: "links in e-mails",
    description: "Pages that links in e-mails open, with a token.",
    access: Access::Senders,
};

/// Returns the routes of the forms, which the page's own layer protects.
pub(crate) fn forms() -> Router<Service> {
    Router::new().route("/account/notifications/email", post(ask)).route("/account/notifications/email/off", post(off))
}

/// Returns the page that confirms an address. Visitors sign in first, and come back.
pub(crate) fn confirm_routes() -> Router<Service> {
    Router::new()
        .route(&format!("{CONFIRM_PATH}/{{token}}"), get(show_confirm).post(confirm))
        .layer(from_fn(require_signed_in))
}

/// Returns the page that switches e-mails off for whoever has the link: mail programs ask for it without a session
/// (RFC 8058).
pub(crate) fn public_routes(service: Service) -> ApiRouter {
    let pages = Router::new().route(&format!("{STOP_PATH}/{{token}}"), get(show_stop).post(stop));
    ApiRouter::new(&LINKS).with_pages(pages).map(|router| router.with_state(service))
}

/// Renders the part of the page.
pub(crate) fn part(status: Option<EmailStatus>, wrong: Option<String>) -> Option<AnyView> {
    let EmailStatus { address, is_confirmed } = status?;
    let (note, has_address) = match (&address, is_confirmed) {
        (Some(address), true) => {
            (format!("Notifications that stay unread are sent to {address}, in one e-mail."), true)
        }
        (Some(address), false) => (
            format!("A link was sent to {address}. Open it to confirm the address; nothing else is sent before."),
            true,
        ),
        (None, _) => ("Off. Notifications that stay unread can be sent to you, in one e-mail.".to_owned(), false),
    };
    let label = if has_address { "Another address" } else { "E-mail address" };
    let off = has_address.then(|| {
        view! { <form method="post" action="/account/notifications/email/off"><button class="cw-button">"Turn off e-mail"</button></form> }
    });
    let content = view! {
        <p class="cw-account-note">{note}</p>
        {error_message(wrong)}
        <form class="cw-account-form" method="post" action="/account/notifications/email">
            <label class="cw-account-field">
                <span>{label}</span>
                <input class="cw-control" type="email" name="address" required maxlength="254" autocomplete="email" />
            </label>
            <button class="cw-button">"Send a link to confirm it"</button>
        </form>
        {off}
    };
    Some(account_part("email", "E-mail", content))
}

/// The form with an address.
#[derive(Deserialize)]
struct AddressForm {
    address: String,
}

async fn ask(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Form(form): Form<AddressForm>,
) -> Result<Response, HttpError> {
    match service.ask_for_email(&caller, &form.address).await {
        Ok(()) => Ok(see_other(&format!("{PATH}?done=asked"), None)),
        Err(error) if matches!(error.code, ErrorCode::Invalid | ErrorCode::RateLimited) => {
            let wrong = Some((web::status_of(&error), error.message));
            crate::page::render(&service, &caller, None, wrong).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn off(State(service): State<Service>, Extension(caller): Extension<Caller>) -> Result<Response, HttpError> {
    service.switch_off_email(&caller).await?;
    Ok(see_other(&format!("{PATH}?done=off"), None))
}

/// Asks for a click: programs that check links in e-mails open them, too.
async fn show_confirm(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(token): Path<String>,
) -> Result<Response, HttpError> {
    service.email(&caller).await?.ok_or_else(UserError::not_found)?;
    let content = view! {
        <p class="cw-account-note">"Notifications are sent to the address at which you got this link."</p>
        <form class="cw-account-form" method="post" action=format!("{CONFIRM_PATH}/{}", query_encoded(&token))>
            <button class="cw-button cw-primary">"Confirm the address"</button>
        </form>
    };
    Ok(form_page(StatusCode::OK, "Notifications by e-mail", content))
}

async fn confirm(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(token): Path<String>,
) -> Result<Response, HttpError> {
    let done = if service.confirm_email(&caller, &token).await? { "confirmed" } else { "expired" };
    Ok(see_other(&format!("{PATH}?done={done}"), None))
}

async fn show_stop(Path(token): Path<String>) -> Response {
    let content = view! {
        <p class="cw-account-note">"You will get no more notifications by e-mail. Those in browsers are not affected."</p>
        <form class="cw-account-form" method="post" action=format!("{STOP_PATH}/{}", query_encoded(&token))>
            <button class="cw-button cw-primary">"Turn off e-mail"</button>
        </form>
    };
    form_page(StatusCode::OK, "Notifications by e-mail", content)
}

/// The same answer whether or not the token is known: nobody learns which ones there are.
async fn stop(State(service): State<Service>, Path(token): Path<String>) -> Result<Response, HttpError> {
    store::switch_off_by_link(&service.context.store, &token).await.map_err(from_store_error)?;
    Ok(message_page(
        StatusCode::OK,
        "Notifications by e-mail are off",
        "You can turn them on again on your account page.",
    ))
}
