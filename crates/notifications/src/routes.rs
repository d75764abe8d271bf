//! The routes for the page's script and for programs.

use crate::page;
use crate::service::{BrowserSubscription, NotificationSettings, Service};
use auth::password::KeyScope;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::NoContent;
use axum::{Extension, Json};
use chat::Caller;
use schemars::JsonSchema;
use serde::Serialize;
use web::openapi::{Access, ApiRouter, Created, Tag};
use web::{HttpError, SentJson, signed_in, valid_json};

/// The group in the OpenAPI document.
const NOTIFICATIONS: Tag = Tag {
    name: "notifications",
    description: "The browsers that get notifications of the caller. Only for signed-in users; 404 without the section `notifications` of the config. Scope `conversations`.",
    access: Access::Users { scope: Some(KeyScope::Conversations) },
};

/// Returns the routes and the page.
pub(crate) fn routes(service: Service) -> ApiRouter {
    ApiRouter::new(&NOTIFICATIONS)
        .get("/api/notifications", show, "Get the browsers that get notifications of the caller")
        .post("/api/notifications/browsers", subscribe, "Send notifications to a browser (a PushSubscription as JSON)")
        .delete("/api/notifications/browsers/{id}", remove, "Remove a browser from the notifications")
        .post("/api/notifications/test", test, "Send a test to all browsers of the caller")
        .with_pages(page::routes())
        .map(|router| router.with_state(service))
}

/// The id of the browser.
#[derive(Serialize, JsonSchema)]
struct AddedBrowser {
    id: String,
}

/// The number of browsers to which a test is sent.
#[derive(Serialize, JsonSchema)]
struct SentTest {
    browsers: usize,
}

async fn show(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<NotificationSettings>, HttpError> {
    Ok(Json(service.show(&caller).await?))
}

async fn subscribe(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    sent: SentJson<BrowserSubscription>,
) -> Result<Created<AddedBrowser>, HttpError> {
    signed_in(&caller)?;
    let sent = valid_json(sent)?;
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    Ok(Created(AddedBrowser { id: service.subscribe(&caller, sent, agent).await? }))
}

async fn remove(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    service.remove(&caller, &id).await?;
    Ok(NoContent)
}

async fn test(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<SentTest>, HttpError> {
    Ok(Json(SentTest { browsers: service.test(&caller).await? }))
}
