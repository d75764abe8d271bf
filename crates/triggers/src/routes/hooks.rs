//! `POST /api/hooks/{workflow}/{trigger}`: requests of other services.

use super::headers::readable;
use super::{read_body, try_again};
use crate::active::{ActiveTrigger, Source};
use crate::engine::{Delivered, Incoming, Triggers};
use crate::store::{self, DeliveryOutcome, KeptRequest, NewDelivery};
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use web::HttpError;
use web::openapi::{Accepted, Access, ApiRouter, Tag};
use webhooks::{Rejection, Verified};
use wire::{ErrorCode, UserError};

/// The largest body in bytes.
const MAX_BODY: usize = 1 << 20;
/// The minimum interval between two refused requests of a trigger that are stored. Anyone can send them.
const REFUSED_INTERVAL: Duration = Duration::from_secs(5);

/// The beginning of the keys of requests whose senders have signed no id.
const WITHOUT_ID: &str = "request ";

/// The group in the OpenAPI document.
const HOOKS: Tag = Tag {
    name: "hooks",
    description: "Webhooks of other services, which are authenticated by a signature or a key.",
    access: Access::Senders,
};

/// The state of the route.
#[derive(Clone)]
struct Hooks {
    triggers: Triggers,
    /// The time at which the last refused request of each trigger was stored.
    refused: Arc<Mutex<HashMap<(String, String), Instant>>>,
}

/// Returns the route.
pub(crate) fn routes(triggers: Triggers) -> ApiRouter {
    let state = Hooks { triggers, refused: Arc::default() };
    ApiRouter::new(&HOOKS)
        .post("/api/hooks/{workflow}/{trigger}", receive, "Deliver a webhook")
        .map(|router| router.with_state(state))
}

/// `POST /api/hooks/{workflow}/{trigger}`
async fn receive(
    State(hooks): State<Hooks>,
    Path((workflow_id, trigger_id)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Accepted, HttpError> {
    let trigger = hooks.triggers.active.get(&workflow_id, &trigger_id).ok_or_else(UserError::not_found)?;
    let Source::Webhook(verifier) = &trigger.source else { return Err(UserError::not_found().into()) };
    let body = to_bytes(body, MAX_BODY).await.map_err(|_| {
        UserError::new(ErrorCode::TooLarge, format!("A webhook has at most {MAX_BODY} bytes, and must arrive in time."))
    })?;
    let now = (hooks.triggers.clock)().as_second();
    let Verified { id } = match verifier.verify(&headers, &body, now) {
        Ok(verified) => verified,
        Err(rejection) => {
            hooks.record(&trigger, &rejection).await;
            let message = "The signature of this webhook is missing or not valid.";
            return Err(UserError::new(ErrorCode::Unauthenticated, message).into());
        }
    };
    let content_type = headers.get("content-type").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let request = KeptRequest { content_type, headers: readable(&headers), body };
    let event = webhook_event(id.as_deref(), &request);
    let key = id.unwrap_or_else(|| format!("{WITHOUT_ID}{}", uuid::Uuid::now_v7()));
    let incoming = Incoming { key, event, by: None, request: Some(request), causes: Vec::new() };
    match hooks.triggers.deliver(&trigger, incoming).await? {
        Delivered::Stored { .. } | Delivered::Repeated => Ok(Accepted),
        Delivered::Paused => Err(try_again("This webhook is paused. Send it again later.").into()),
        Delivered::Full => Err(try_again("There is too much to do right now. Send it again later.").into()),
    }
}

/// Returns the value of `_event` for a request. `id` is the id that the sender has signed.
pub(crate) fn webhook_event(id: Option<&str>, request: &KeptRequest) -> Value {
    json!({ "id": id, "headers": request.headers, "body": read_body(&request.body) })
}

/// Returns the id that the sender of a delivery with this key has signed.
pub(crate) fn signed_id(key: &str) -> Option<&str> {
    (!key.starts_with(WITHOUT_ID)).then_some(key)
}

impl Hooks {
    /// Stores why a request was refused, unless another one of the trigger was stored just before. An
    /// operator who enters a secret wrongly sees it there.
    async fn record(&self, trigger: &ActiveTrigger, rejection: &Rejection) {
        let key = trigger.key.clone();
        {
            let mut refused = self.refused.lock();
            let last = refused.get(&(key.workflow_id.clone(), key.trigger_id.clone())).copied();
            if last.is_some_and(|last| last.elapsed() < REFUSED_INTERVAL) {
                return;
            }
            // As many as the config has triggers.
            refused.insert((key.workflow_id.clone(), key.trigger_id.clone()), Instant::now());
        }
        let id = uuid::Uuid::now_v7().to_string();
        let refused = NewDelivery {
            key: format!("refused {id}"),
            id,
            trigger: key,
            received_at: self.triggers.now(),
            is_test: false,
            outcome: DeliveryOutcome::Refused,
            detail: Some(rejection.to_string()),
            run_id: None,
            request: None,
        };
        if let Err(error) = store::count_refused(&self.triggers.store, refused).await {
            tracing::warn!(%error, "a refused webhook could not be recorded");
        }
    }
}
