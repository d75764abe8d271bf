//! `POST /api/events/{name}`: events that programs report.

use super::try_again;
use crate::active::{ActiveTrigger, Source};
use crate::engine::{Delivered, Incoming, Triggers};
use auth::password::KeyScope;
use axum::Extension;
use axum::extract::{Path, State};
use chat::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use web::openapi::{Accepted, Access, ApiRouter, Tag};
use web::{HttpError, SentJson, valid_json};
use wire::{ErrorCode, UserError};
use workflow_definition::TriggerKind;
use workflows::ReportedEvent;

/// The longest id of an event.
const MAX_ID: usize = 256;

/// The largest event in bytes.
const MAX_EVENT: usize = 250_000;

/// The group in the OpenAPI document.
const EVENTS: Tag = Tag {
    name: "events",
    description: "Events that start workflows, or for which runs of workflows wait. A trigger or a step says who may report its event. Scope `endpoints`.",
    access: Access::Users { scope: Some(KeyScope::Endpoints) },
};

/// Returns the route.
pub(crate) fn routes(triggers: Triggers) -> ApiRouter {
    ApiRouter::new(&EVENTS)
        .post("/api/events/{name}", report, "Report an event")
        .map(|router| router.with_state(triggers))
}

/// An event.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewEvent {
    /// An id that only this event has: an event that is reported again starts nothing.
    #[serde(default)]
    id: Option<String>,
    /// The data of the event.
    #[serde(default)]
    data: Map<String, Value>,
}

/// `POST /api/events/{name}`
async fn report(
    State(triggers): State<Triggers>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    event: SentJson<NewEvent>,
) -> Result<Accepted, HttpError> {
    let NewEvent { id, data } = valid_json(event)?;
    let allowed: Vec<_> =
        triggers.active.all().iter().filter(|trigger| waits_for(trigger, &name, &caller)).cloned().collect();
    if id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_ID) {
        return Err(UserError::invalid("/id", format!("An id has 1 to {MAX_ID} bytes.")).into());
    }
    let id = id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let event = json!({ "name": name, "id": id, "by": caller.user_id, "data": data });
    let size = event.to_string().len();
    if size > MAX_EVENT {
        let message = format!("An event has at most {MAX_EVENT} bytes.");
        return Err(UserError::new(ErrorCode::TooLarge, message).into());
    }
    let roles = caller.roles().to_vec();
    let reported = ReportedEvent { name, id: id.clone(), event: event.clone(), roles, now: triggers.now() };
    if !triggers.host.report(reported).await? && allowed.is_empty() {
        return Err(UserError::not_found().into());
    }
    let mut is_refused = false;
    for trigger in allowed {
        let incoming =
            Incoming { key: format!("event {id}"), event: event.clone(), by: None, request: None, causes: Vec::new() };
        // Others take it: the same event is reported again.
        is_refused |= matches!(triggers.deliver(&trigger, incoming).await?, Delivered::Full | Delivered::Paused);
    }
    if is_refused {
        Err(try_again("A trigger cannot take the event right now. Report it again with the same id.").into())
    } else {
        Ok(Accepted)
    }
}

fn waits_for(trigger: &Arc<ActiveTrigger>, name: &str, caller: &Caller) -> bool {
    let (Source::Reported(roles), TriggerKind::Event(event)) = (&trigger.source, &trigger.trigger.kind) else {
        return false;
    };
    event.event.0 == name && roles.iter().any(|role| caller.has_role(role))
}
