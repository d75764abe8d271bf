//! The page of a trigger.

use super::list::{TriggerList, path, state_text};
use super::{
    TestResult, TriggerDetail, TriggerItem, deliver_again, delivery_body, detail, example, find, set_paused, test,
};
use crate::active::ActiveTrigger;
use crate::engine::Triggers;
use crate::store::{Delivery, DeliveryOutcome};
use axum::Router;
use axum::extract::{Path, RawForm, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use leptos::prelude::*;
use serde_json::Value;
use web::admin::list::List;
use web::admin::{Admin, PageError, UserNames, page};
use web::html::Heading::Text;
use web::html::{
    error_message, facts, link, name, row_button, short_id, success_message, table, text, text_area_content,
};
use web::times::minute;
use web::{SentFields, see_other};
use wire::UserError;

pub(super) fn routes() -> Router<Triggers> {
    Router::new()
        .route("/admin/triggers/{workflow}/{trigger}", get(show))
        .route("/admin/triggers/{workflow}/{trigger}/pause", post(pause))
        .route("/admin/triggers/{workflow}/{trigger}/resume", post(resume))
        .route("/admin/triggers/{workflow}/{trigger}/test", post(send_test))
        .route("/admin/triggers/{workflow}/{trigger}/deliveries/{id}", get(read))
        .route("/admin/triggers/{workflow}/{trigger}/deliveries/{id}/again", post(again))
}

/// The notices of the page after a test or a repeated delivery.
#[derive(Default)]
struct Said {
    done: Option<&'static str>,
    /// Why a test has failed.
    wrong: Option<String>,
    /// Why something was not delivered again.
    undelivered: Option<String>,
    /// The event in the form.
    event: Option<String>,
}

/// `GET /admin/triggers/{workflow}/{trigger}`
async fn show(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
) -> Result<Response, PageError> {
    let trigger = find(&triggers, &names)?;
    render(&admin, &triggers, &trigger, StatusCode::OK, Said::default()).await
}

/// `POST /admin/triggers/{workflow}/{trigger}/pause`
async fn pause(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
) -> Result<Response, PageError> {
    set_paused(&triggers, &admin, &find(&triggers, &names)?, true).await?;
    Ok(see_other(&format!("{}/{}/{}", TriggerList::PATH, names.0, names.1), None))
}

/// `POST /admin/triggers/{workflow}/{trigger}/resume`
async fn resume(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
) -> Result<Response, PageError> {
    set_paused(&triggers, &admin, &find(&triggers, &names)?, false).await?;
    Ok(see_other(&format!("{}/{}/{}", TriggerList::PATH, names.0, names.1), None))
}

/// `POST /admin/triggers/{workflow}/{trigger}/test`
async fn send_test(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path(names): Path<(String, String)>,
    RawForm(form): RawForm,
) -> Result<Response, PageError> {
    let trigger = find(&triggers, &names)?;
    let written = SentFields::parse(&form).first("event").to_owned();
    let tested = match serde_json::from_str::<Value>(&written) {
        Ok(event) => test(&triggers, &admin, &trigger, event).await,
        Err(error) => Err(UserError::invalid("/event", format!("The event is not valid JSON: {error}."))),
    };
    let (status, said) = message_about(tested);
    render(&admin, &triggers, &trigger, status, Said { event: Some(written), ..said }).await
}

/// `POST /admin/triggers/{workflow}/{trigger}/deliveries/{id}/again`
async fn again(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path((workflow, trigger, id)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let trigger = find(&triggers, &(workflow, trigger))?;
    let (status, Said { done, wrong, .. }) = message_about(deliver_again(&triggers, &admin, &trigger, &id).await);
    render(&admin, &triggers, &trigger, status, Said { done, undelivered: wrong, ..Said::default() }).await
}

fn message_about(result: Result<TestResult, UserError>) -> (StatusCode, Said) {
    match result {
        Ok(TestResult { outcome: DeliveryOutcome::Failed, detail, .. }) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Said { wrong: detail, ..Said::default() })
        }
        Ok(TestResult { outcome: DeliveryOutcome::Filtered, .. }) => (
            StatusCode::OK,
            Said { done: Some("The condition of the trigger is not true, so nothing was started."), ..Said::default() },
        ),
        Ok(_) => (StatusCode::OK, Said { done: Some("A run was started."), ..Said::default() }),
        Err(error) => {
            let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            (status, Said { wrong: Some(error.message), ..Said::default() })
        }
    }
}

/// `GET /admin/triggers/{workflow}/{trigger}/deliveries/{id}`
async fn read(
    admin: Admin,
    State(triggers): State<Triggers>,
    Path((workflow, trigger, id)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let back = format!("{}/{workflow}/{trigger}", TriggerList::PATH);
    let trigger = find(&triggers, &(workflow, trigger))?;
    let body = delivery_body(&triggers, &admin, &trigger, &id).await?;
    let content = view! {
        <section class="cw-account-part" aria-label="Body">
            {facts([("Media type", text(body.content_type.unwrap_or_default()))])}
            <pre class="cw-admin-pre" tabindex="0" aria-label="Body">{body.text}</pre>
        </section>
        <p class="cw-admin-links">{link(back, "The trigger and its deliveries")}</p>
    };
    Ok(page(&admin, TriggerList::PATH, StatusCode::OK, "Delivery", content))
}

async fn render(
    admin: &Admin,
    triggers: &Triggers,
    trigger: &ActiveTrigger,
    status: StatusCode,
    said: Said,
) -> Result<Response, PageError> {
    let TriggerDetail { item, deliveries } = detail(triggers, trigger).await?;
    let names = UserNames::load(&triggers.store, item.paused_by.as_deref().into_iter()).await?;
    let title = format!("{}: {}", item.workflow_title, item.id);
    let example = serde_json::to_string_pretty(&example(trigger)).unwrap_or_default();
    let path = path(&item);
    let content = view! {
        {success_message(said.done)}
        <section class="cw-account-part" aria-label="About">
            {about(&item, &names)}
            {pause_form(&item, &path)}
        </section>
        <section class="cw-account-part" aria-labelledby="test">
            <h2 id="test">"Test"</h2>
            <p class="cw-account-note">"Starts a run as if this event had occurred, even while the trigger is paused."</p>
            {error_message(said.wrong)}
            <form class="cw-account-form" method="post" action=format!("{path}/test")>
                <label class="cw-account-field">
                    <span>"Event (JSON)"</span>
                    <textarea class="cw-admin-code" name="event" rows="6" spellcheck="false" required inner_html=text_area_content(&said.event.unwrap_or(example))></textarea>
                </label>
                <button class="cw-button">"Send test"</button>
            </form>
        </section>
        <section class="cw-account-part" aria-labelledby="deliveries">
            <h2 id="deliveries">"Last deliveries"</h2>
            {error_message(said.undelivered)}
            {deliveries_table(&path, deliveries)}
        </section>
    };
    Ok(page(admin, TriggerList::PATH, status, &title, content))
}

fn about(item: &TriggerItem, names: &UserNames) -> AnyView {
    let mut about = vec![
        ("Workflow", text(item.workflow_title.clone())),
        ("Waits for", text(item.waits_for.clone())),
        ("State", text(state_text(item))),
        ("Failures in a row", item.failures.into_any()),
        ("Repeated deliveries", item.repeats.into_any()),
    ];
    if let Some(address) = &item.address {
        about.push(("Address", view! { <code>{name(address)}</code> }.into_any()));
    }
    if !item.next_times.is_empty() {
        let time = |time: &i64| view! { <li>{minute(*time)}</li> };
        let times = item.next_times.iter().map(time).collect_view();
        about.push(("Next times (UTC)", view! { <ul class="cw-account-list">{times}</ul> }.into_any()));
    }
    if let Some(by) = &item.paused_by {
        about.push(("Paused by", names.view(by)));
    }
    facts(about).into_any()
}

fn pause_form(item: &TriggerItem, path: &str) -> AnyView {
    let (action, label) = match item.paused_at {
        Some(_) => ("resume", "Resume"),
        None => ("pause", "Pause"),
    };
    view! {
        <form class="cw-admin-acts" method="post" action=format!("{path}/{action}")>
            <button class="cw-button">{label}</button>
        </form>
    }
    .into_any()
}

fn deliveries_table(path: &str, deliveries: Vec<Delivery>) -> AnyView {
    let columns =
        [Text("Received (UTC)"), Text("Id"), Text("Outcome"), Text("Cause"), Text("Run"), Text("Body"), Text("Action")];
    let line = |delivery: Delivery| {
        let outcome = if delivery.is_test {
            format!("{} (test)", delivery.outcome.name())
        } else {
            delivery.outcome.name().to_owned()
        };
        let again = delivery.can_come_again().then(|| again_form(path, &delivery));
        let body = if delivery.has_body { body_link(path, &delivery) } else { text("") };
        [
            text(minute(delivery.received_at)),
            text(delivery.key),
            text(outcome),
            text(delivery.detail.unwrap_or_default()),
            delivery.run_id.map_or_else(|| text(""), |run| link(format!("/admin/workflows/{run}"), short_id(&run))),
            body,
            again.into_any(),
        ]
    };
    table(columns, deliveries.into_iter().map(line), "None yet.")
}

fn again_form(path: &str, delivery: &Delivery) -> AnyView {
    let label = format!("Deliver again: {}", minute(delivery.received_at));
    row_button(format!("{path}/deliveries/{}/again", delivery.id), "Deliver again", label)
}

/// Renders the link to the body. Its label contains the time, because the text is the same in all rows.
fn body_link(path: &str, delivery: &Delivery) -> AnyView {
    let label = format!("Show the body of {}", minute(delivery.received_at));
    view! { <a href=format!("{path}/deliveries/{}", delivery.id) aria-label=label>"Show"</a> }.into_any()
}
