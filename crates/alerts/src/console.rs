//! The page and the API with which administrators see alerts, check them now, and send tests.

use crate::section::{Alert, alerts};
use crate::service::AlertService;
use crate::store::{self, Delivery, Event, StateRow};
use axum::Router;
use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::response::{NoContent, Response};
use axum::routing::{get, post};
use leptos::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use web::admin::{ADMINISTRATION, Admin, MenuEntry, MenuGroup, PageError, Section, UserNames, from_store_error, page};
use web::html::Heading::{Number, Text};
use web::html::{account_part, link, row_button, table, table_of, text};
use web::openapi::ApiRouter;
use web::times::{minute, now_millis};
use web::{HttpError, see_other};
use wire::{ErrorCode, UserError};

/// The page.
const PATH: &str = "/admin/alerts";
const TITLE: &str = "Alerts";
/// The number of messages that are shown.
const MAX_SHOWN: u32 = 50;

/// Returns the section of the console.
pub(crate) fn section(service: AlertService) -> Section {
    let pages = Router::new()
        .route(PATH, get(show))
        .route("/admin/alerts/check", post(check))
        .route("/admin/alerts/{id}/test", post(test));
    let routes = ApiRouter::new(&ADMINISTRATION)
        .get("/api/admin/alerts", list, "Get the alerts and the last messages")
        .post("/api/admin/alerts/check", check_now, "Check the alerts now")
        .post("/api/admin/alerts/{id}/test", send_test, "Send a test to the receivers of an alert")
        .with_pages(pages);
    Section {
        menu: vec![MenuEntry { group: MenuGroup::System, path: PATH, title: TITLE }],
        actions: vec!["admin:test_alert".to_owned()],
        routes: routes.map(|router| router.with_state(service)),
    }
}

/// The alerts and the last messages.
#[derive(Serialize, JsonSchema)]
struct AlertOverview {
    /// The alerts, in the order of the config. An alert about users has an item for each user who
    /// is measured.
    alerts: Vec<AlertItem>,
    /// The last messages, newest first.
    messages: Vec<MessageItem>,
}

/// An alert with its value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AlertItem {
    /// The id.
    id: String,
    /// The name.
    title: String,
    /// The user whom the value is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// The value with its unit; absent before the first check.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The limit with its unit.
    limit: String,
    /// Whether the alert is firing: a message was sent that the value is above the limit, and none
    /// yet that it is back.
    is_firing: bool,
    /// The time since which that is so; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    /// When the value was measured; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at: Option<i64>,
    /// The receivers.
    receivers: Vec<String>,
}

/// A message with its deliveries.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AlertMessage")]
struct MessageItem {
    #[serde(flatten)]
    event: Event,
    /// The deliveries to the receivers.
    deliveries: Vec<Delivery>,
}

fn items(all: &[Alert], states: &[StateRow]) -> Vec<AlertItem> {
    let item = |alert: &Alert, row: Option<&StateRow>| AlertItem {
        id: alert.id.0.clone(),
        title: alert.title(),
        user_id: row.map(|row| row.owner.clone()).filter(|owner| !owner.is_empty()),
        value: row.map(|row| alert.when.format(row.state.value)),
        limit: alert.when.format(alert.when.limit()),
        is_firing: row.is_some_and(|row| row.state.is_firing),
        since: row.map(|row| row.state.since),
        checked_at: row.map(|row| row.state.checked_at),
        receivers: alert.notify.iter().map(crate::section::Receiver::label).collect(),
    };
    let mut items = Vec::new();
    for alert in all {
        let condition = alert.when.fingerprint();
        let own = states.iter().filter(|row| row.alert_id == alert.id.0 && row.condition == condition);
        let before = items.len();
        items.extend(own.map(|row| item(alert, Some(row))));
        if items.len() == before {
            items.push(item(alert, None));
        }
    }
    items
}

async fn overview(service: &AlertService) -> Result<AlertOverview, UserError> {
    let store = &service.context.store;
    let states = store::states(store).await.map_err(from_store_error)?;
    let events = store::events(store, MAX_SHOWN).await.map_err(from_store_error)?;
    Ok(AlertOverview {
        alerts: items(alerts(&service.context.current.config()), &states),
        messages: events.into_iter().map(|(event, deliveries)| MessageItem { event, deliveries }).collect(),
    })
}

async fn run_check(service: &AlertService) -> Result<(), UserError> {
    service.check(now_millis()).await.map_err(|error| {
        tracing::error!(%error, "the alerts could not be checked");
        UserError::new(ErrorCode::Unavailable, "The alerts could not be checked. The server's log says why.")
    })
}

async fn run_test(service: &AlertService, admin: &Admin, id: &str) -> Result<(), UserError> {
    let config = service.context.current.config();
    let alert = alerts(&config).iter().find(|alert| alert.id.0 == id).ok_or_else(UserError::not_found)?;
    let audit = admin.audit_entry("test_alert", "", json!({ "alertId": id }));
    service.test(alert, audit, now_millis()).await.map_err(from_store_error)
}

/// `GET /api/admin/alerts`
async fn list(_: Admin, State(service): State<AlertService>) -> Result<Json<AlertOverview>, HttpError> {
    Ok(Json(overview(&service).await?))
}

/// `POST /api/admin/alerts/check`
async fn check_now(_: Admin, State(service): State<AlertService>) -> Result<Json<AlertOverview>, HttpError> {
    run_check(&service).await?;
    Ok(Json(overview(&service).await?))
}

/// `POST /api/admin/alerts/{id}/test`
async fn send_test(
    admin: Admin,
    State(service): State<AlertService>,
    Path(id): Path<String>,
) -> Result<NoContent, HttpError> {
    run_test(&service, &admin, &id).await?;
    Ok(NoContent)
}

/// `POST /admin/alerts/check`
async fn check(_: Admin, State(service): State<AlertService>) -> Result<Response, PageError> {
    run_check(&service).await?;
    Ok(see_other(PATH, None))
}

/// `POST /admin/alerts/{id}/test`
async fn test(
    admin: Admin,
    State(service): State<AlertService>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    run_test(&service, &admin, &id).await?;
    Ok(see_other(PATH, None))
}

/// `GET /admin/alerts`
async fn show(admin: Admin, State(service): State<AlertService>) -> Result<Response, PageError> {
    let AlertOverview { alerts, messages } = overview(&service).await?;
    let users = alerts.iter().filter_map(|item| item.user_id.as_deref());
    let names = UserNames::load(&service.context.store, users).await?;
    let content = if alerts.is_empty() {
        none_yet(messages)
    } else {
        view! {
            <form class="cw-admin-acts" method="post" action="/admin/alerts/check">
                <button class="cw-button">"Check now"</button>
            </form>
            {alerts_table(&alerts, &names)}
            {messages_part(messages)}
        }
        .into_any()
    };
    Ok(page(&admin, PATH, StatusCode::OK, TITLE, content))
}

fn none_yet(messages: Vec<MessageItem>) -> AnyView {
    view! {
        <p class="cw-account-note">
            "The config has no alerts. With the section "<code>"alerts"</code>
            ", an e-mail or a webhook reports when cost, failures, the queue or quotas exceed their limits: "
            {link("/docs/alerts", "how to set them up")}"."
        </p>
        {(!messages.is_empty()).then(|| messages_part(messages))}
    }
    .into_any()
}

fn alerts_table(alerts: &[AlertItem], names: &UserNames) -> AnyView {
    let has_users = alerts.iter().any(|item| item.user_id.is_some());
    let user = has_users.then_some(Text("User"));
    let others =
        [Number("Value"), Number("Limit"), Text("State"), Text("Checked (UTC)"), Text("Receivers"), Text("Test")];
    let columns: Vec<_> = [Text("Alert")].into_iter().chain(user).chain(others).collect();
    let line = |item: &AlertItem| {
        let state = match (item.is_firing, item.since) {
            (true, Some(since)) => {
                view! { <strong>{format!("above the limit since {}", minute(since))}</strong> }.into_any()
            }
            (_, None) => text("not checked yet"),
            (false, Some(_)) => text("within its limit"),
        };
        let label = format!("Send a test for {}", item.title);
        let user = item.user_id.as_deref().map_or_else(|| text(""), |user| names.view(user));
        let others = [
            text(item.value.clone().unwrap_or_default()),
            text(item.limit.clone()),
            state,
            text(item.checked_at.map(minute).unwrap_or_default()),
            text(item.receivers.join("; ")),
            row_button(format!("{PATH}/{}/test", item.id), "Send test", label),
        ];
        let cells = [text(item.title.clone())].into_iter().chain(has_users.then_some(user));
        cells.chain(others).collect()
    };
    table_of(&columns, alerts.iter().map(line), "")
}

fn messages_part(messages: Vec<MessageItem>) -> AnyView {
    let columns = [Text("Message"), Text("Time (UTC)"), Text("Text"), Text("Deliveries")];
    let line = |MessageItem { event, deliveries }: MessageItem| {
        let delivery = |Delivery { receiver, outcome, cause }: Delivery| {
            let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            view! { <div>{format!("{receiver}: {outcome}{cause}")}</div> }
        };
        let deliveries = view! { <div>{deliveries.into_iter().map(delivery).collect_view()}</div> }.into_any();
        [text(event.title), text(minute(event.at)), text(event.text), deliveries]
    };
    account_part("messages", "Last messages", table(columns, messages.into_iter().map(line), "None yet."))
}
