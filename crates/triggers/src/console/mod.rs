//! The pages and the API with which administrators see, pause, resume and test triggers.

mod api;
mod list;
mod page;

use crate::active::{ActiveTrigger, Source, TriggerKey};
use crate::engine::{ByAdministrator, Delivered, Incoming, Triggers};
use crate::routes::{signed_id, webhook_event};
use crate::store::{self, Delivery, DeliveryOutcome, PauseOutcome, ReceivedDelivery, StateRow};
use ::store::append_audit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use web::admin::{Admin, Section, from_store_error};
use wire::{ErrorCode, UserError};
use workflow_definition::TriggerKind;

/// The number of next times of a schedule that are shown.
const NEXT_TIMES: usize = 5;
/// Why something cannot be delivered again.
const NOT_UNSTARTED: &str = "Only a webhook that has failed without starting a run can be delivered again.";
/// The largest event of a test in bytes.
const MAX_TEST: usize = 256 * 1024;

/// Returns the section of the console.
pub(crate) fn section(triggers: Triggers) -> Section {
    let list = Section::list::<list::TriggerList>(triggers.clone());
    let own = api::routes().with_pages(page::routes()).map(|router| router.with_state(triggers));
    let actions =
        ["pause_trigger", "resume_trigger", "test_trigger", "deliver_again", "read_delivery", "trigger_paused_itself"];
    Section {
        actions: list.actions.into_iter().chain(actions.map(|action| format!("admin:{action}"))).collect(),
        routes: list.routes.merge(own),
        ..list
    }
}

/// A trigger as the console shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TriggerItem {
    /// The workflow.
    workflow_id: String,
    /// Its title.
    workflow_title: String,
    /// The trigger.
    id: String,
    /// The source of its events, in a few words.
    waits_for: String,
    /// The address of a webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// The next times of a schedule; Unix times in milliseconds.
    next_times: Vec<i64>,
    /// Up to when ticks and events were considered; Unix time in milliseconds. Absent before the server
    /// has looked for the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at: Option<i64>,
    /// How many runs have failed one after the other.
    failures: i64,
    /// How many deliveries came again.
    repeats: i64,
    /// When it was paused; Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<i64>,
    /// The administrator who has paused it; absent if it was paused after failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_by: Option<String>,
}

/// A trigger with its deliveries.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TriggerDetail {
    #[serde(flatten)]
    item: TriggerItem,
    /// The newest deliveries, newest first.
    deliveries: Vec<Delivery>,
}

/// An event of a test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TestBody {
    /// The value of `_event`: for a webhook, `{ "body": … }`.
    #[serde(default)]
    event: Value,
}

/// The result of a test, or of a repeated delivery.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestResult {
    /// The delivery.
    id: String,
    /// The outcome.
    outcome: DeliveryOutcome,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The run that it has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
}

/// The body of a delivery.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DeliveryBody {
    /// The media type that the sender gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    /// The body as text; bytes that are no text are replaced.
    text: String,
}

fn item(triggers: &Triggers, trigger: &ActiveTrigger, state: Option<&StateRow>) -> TriggerItem {
    let next_times = match &trigger.source {
        Source::Cron { schedule, .. } => schedule.next_times((triggers.clock)(), NEXT_TIMES),
        _ => Vec::new(),
    };
    let (waits_for, address) = match &trigger.trigger.kind {
        TriggerKind::Cron(cron) => (format!("{} ({})", cron.cron.0, cron.time_zone()), None),
        TriggerKind::Webhook(webhook) => {
            let TriggerKey { workflow_id, trigger_id } = &trigger.key;
            let address = format!("/api/hooks/{workflow_id}/{trigger_id}");
            (format!("webhook of {}", webhook.connection_id.0), Some(address))
        }
        TriggerKind::Event(event) => (format!("event {}", event.event.0), None),
    };
    TriggerItem {
        workflow_id: trigger.key.workflow_id.clone(),
        workflow_title: trigger.title.clone(),
        id: trigger.key.trigger_id.clone(),
        waits_for,
        address,
        next_times: next_times.into_iter().map(|time| time.as_millisecond()).collect(),
        checked_at: state.map(|state| state.checked_at),
        failures: state.map_or(0, |state| state.failures),
        repeats: state.map_or(0, |state| state.repeats),
        paused_at: state.and_then(|state| state.paused_at),
        paused_by: state.and_then(|state| state.paused_by.clone()),
    }
}

/// Returns all triggers, in the order of the config.
async fn items(triggers: &Triggers) -> Result<Vec<TriggerItem>, UserError> {
    let states = store::states(&triggers.store).await.map_err(from_store_error)?;
    let all = triggers.active.all();
    let item =
        |trigger: &Arc<ActiveTrigger>| item(triggers, trigger, states.iter().find(|state| state.key == trigger.key));
    Ok(all.iter().map(item).collect())
}

fn find(triggers: &Triggers, (workflow_id, trigger_id): &(String, String)) -> Result<Arc<ActiveTrigger>, UserError> {
    triggers.active.get(workflow_id, trigger_id).ok_or_else(UserError::not_found)
}

async fn detail(triggers: &Triggers, trigger: &ActiveTrigger) -> Result<TriggerDetail, UserError> {
    let state = store::find(&triggers.store, &trigger.key).await.map_err(from_store_error)?;
    let deliveries = store::newest(&triggers.store, &trigger.key).await.map_err(from_store_error)?;
    Ok(TriggerDetail { item: item(triggers, trigger, state.as_ref()), deliveries })
}

fn about(trigger: &ActiveTrigger) -> Value {
    json!({ "workflowId": trigger.key.workflow_id, "triggerId": trigger.key.trigger_id })
}

/// Pauses or resumes a trigger. Nothing is changed or recorded if it is so already.
async fn set_paused(
    triggers: &Triggers,
    admin: &Admin,
    trigger: &Arc<ActiveTrigger>,
    is_paused: bool,
) -> Result<(), UserError> {
    let action = if is_paused { "pause_trigger" } else { "resume_trigger" };
    let entry = admin.audit_entry(action, "", about(trigger));
    let (trigger, by, now) = (trigger.clone(), admin.caller.user_id.clone(), triggers.now());
    let write = triggers.store.write(move |db| {
        Box::pin(async move {
            store::ensure(db, &trigger.key, &trigger.subject(), now).await?;
            let outcome = if is_paused {
                store::pause(db, &trigger.key, &by, now).await?
            } else {
                store::resume(db, &trigger.key, now).await?
            };
            match outcome {
                PauseOutcome::Done => append_audit(db, vec![entry]).await,
                PauseOutcome::Unchanged => Ok(()),
            }
        })
    });
    write.await.map_err(from_store_error)
}

/// Sends an event to a trigger as if it had happened, also while the trigger is paused.
async fn test(
    triggers: &Triggers,
    admin: &Admin,
    trigger: &Arc<ActiveTrigger>,
    event: Value,
) -> Result<TestResult, UserError> {
    if event.to_string().len() > MAX_TEST {
        return Err(UserError::invalid("/event", format!("The event of a test has at most {MAX_TEST} bytes.")));
    }
    let entry = admin.audit_entry("test_trigger", "", about(trigger));
    let key = format!("test {}", uuid::Uuid::now_v7());
    let by = Some(ByAdministrator { entry, is_test: true });
    let incoming = Incoming { key, event, by, request: None, causes: Vec::new() };
    result(triggers.deliver(trigger, incoming).await.map_err(from_store_error)?)
}

/// Delivers a webhook again that has failed without starting a run, also while the trigger is paused. The delivery
/// gets a new id, and its sender cannot start a second run with it.
async fn deliver_again(
    triggers: &Triggers,
    admin: &Admin,
    trigger: &Arc<ActiveTrigger>,
    id: &str,
) -> Result<TestResult, UserError> {
    let found = store::received(&triggers.store, &trigger.key, id).await.map_err(from_store_error)?;
    let ReceivedDelivery { key, is_unstarted, request } = found.ok_or_else(UserError::not_found)?;
    if !is_unstarted || !matches!(trigger.source, Source::Webhook(_)) {
        return Err(UserError::new(ErrorCode::Conflict, NOT_UNSTARTED));
    }
    let Some(request) = request else {
        let message = "The body of this delivery is not kept any more. Let the service send it again.";
        return Err(UserError::new(ErrorCode::Conflict, message));
    };
    let mut about = about(trigger);
    about["deliveryId"] = id.into();
    let entry = admin.audit_entry("deliver_again", "", about);
    let by = Some(ByAdministrator { entry, is_test: false });
    let event = webhook_event(signed_id(&key), &request);
    let incoming = Incoming { key, event, by, request: Some(request), causes: Vec::new() };
    result(triggers.deliver(trigger, incoming).await.map_err(from_store_error)?)
}

fn result(delivered: Delivered) -> Result<TestResult, UserError> {
    match delivered {
        Delivered::Stored { id, outcome, detail, run_id } => Ok(TestResult { id, outcome, detail, run_id }),
        // The sender was faster.
        Delivered::Repeated => Err(UserError::new(ErrorCode::Conflict, NOT_UNSTARTED)),
        Delivered::Paused | Delivered::Full => {
            let message = "Too many runs of this trigger have not ended. Try again when some have.";
            Err(UserError::new(ErrorCode::Unavailable, message))
        }
    }
}

/// Returns the body of a delivery and records that it was read.
async fn delivery_body(
    triggers: &Triggers,
    admin: &Admin,
    trigger: &ActiveTrigger,
    id: &str,
) -> Result<DeliveryBody, UserError> {
    let found = store::body(&triggers.store, &trigger.key, id).await.map_err(from_store_error)?;
    let (content_type, body) = found.ok_or_else(UserError::not_found)?;
    let mut about = about(trigger);
    about["deliveryId"] = id.into();
    admin.record(&triggers.store, "read_delivery", "", about).await?;
    Ok(DeliveryBody { content_type, text: String::from_utf8_lossy(&body).into_owned() })
}

/// Returns an example of the event of a trigger, for the form of the test.
fn example(trigger: &ActiveTrigger) -> Value {
    match &trigger.source {
        Source::Cron { .. } => json!({ "scheduledAt": "2026-01-01T00:00:00Z", "late": false }),
        Source::Webhook(_) => json!({ "headers": {}, "body": {} }),
        Source::Stored(kind) => json!({ "name": kind.name(), "userId": "" }),
        Source::Reported(_) => json!({ "data": {} }),
    }
}
