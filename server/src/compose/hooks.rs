//! An agent's hooks as calls of endpoints.

use crate::auth::rights::{Gate, Rights};
use chat::{AgentRequest, Caller, Hook, RoutineUse};
use endpoints::{CallContext, Endpoints};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument;
use wire::chunk::DataChunk;

/// Calls that nobody waits for, at once; more are left out.
const MAX_CALLS: usize = 64;
/// The end of a run waits this long for its hooks.
const FINISH_TIME: Duration = Duration::from_secs(10);
/// Data parts that the hooks of one run may add.
const MAX_PARTS: usize = 16;
/// Bytes of one of them.
const MAX_PART_BYTES: usize = 64 * 1024;

/// Where the hooks of all agents run: their calls end when it is dropped.
pub(super) struct HookRoom {
    endpoints: Arc<Endpoints>,
    rights: Arc<Rights>,
    counted: RoutineUse,
    calls: Arc<Semaphore>,
    cancel: CancellationToken,
    _end: DropGuard,
}

impl HookRoom {
    pub(super) fn new(endpoints: Arc<Endpoints>, rights: Arc<Rights>, counted: RoutineUse) -> Arc<Self> {
        let cancel = CancellationToken::new();
        let calls = Arc::new(Semaphore::new(MAX_CALLS));
        Arc::new(Self { endpoints, rights, counted, calls, _end: cancel.clone().drop_guard(), cancel })
    }

    /// The hooks of an agent for one turn.
    pub(super) fn hooks(self: &Arc<Self>, of: &Arc<config::Hooks>, request: &AgentRequest<'_>) -> TurnHooks {
        let caller = HookCaller {
            caller: request.caller.clone(),
            agent_id: request.agent_id.to_owned(),
            gate: self.rights.gate(request.caller),
            counted: self.counted.clone(),
        };
        TurnHooks { room: self.clone(), of: of.clone(), caller, context: context(request) }
    }
}

/// For whom hooks are called: they may do what the user may.
#[derive(Clone)]
struct HookCaller {
    caller: Caller,
    /// The agent that is hooked.
    agent_id: String,
    gate: Arc<Gate>,
    counted: RoutineUse,
}

/// Calls a hook's endpoint. One that fails is logged, and breaks nothing.
async fn call(
    endpoints: &Endpoints,
    id: &str,
    HookCaller { caller, agent_id, gate, counted }: HookCaller,
    payload: Value,
    cancel: CancellationToken,
) -> Option<Value> {
    let models = counted.of(&caller, agent_id);
    let context = CallContext { user_id: caller.user_id, gate, models, cancel };
    let answer = endpoints.call(id, payload, &context).await;
    answer.inspect_err(|error| tracing::warn!(endpoint = id, %error, "a hook failed")).ok()
}

/// Who asks which agent, where, and with what: in every payload (L-76), and what instructions read.
pub(super) fn context(request: &AgentRequest<'_>) -> Map<String, Value> {
    let mut context = Map::new();
    let texts = [
        ("agentId", request.agent_id),
        ("pageId", request.page_id),
        ("userId", &request.caller.user_id),
        ("conversationId", request.conversation_id),
    ];
    context.extend(texts.map(|(key, text)| (key.to_owned(), text.into())));
    if let Some(inputs) = request.caller.inputs() {
        context.insert("inputs".to_owned(), Value::Object(inputs.clone()));
    }
    let objects =
        [("urlQuery", request.url_query), ("sharedState", request.shared_state), ("switches", request.switches)];
    for (key, values) in objects {
        if !values.is_empty() {
            context.insert(key.to_owned(), Value::Object(values.clone()));
        }
    }
    context
}

/// The hooks of one turn.
pub(super) struct TurnHooks {
    room: Arc<HookRoom>,
    of: Arc<config::Hooks>,
    caller: HookCaller,
    context: Map<String, Value>,
}

impl TurnHooks {
    fn endpoints(&self, hook: Hook) -> &[String] {
        match hook {
            Hook::Start => &self.of.start,
            Hook::StepStart => &self.of.step_start,
            Hook::ToolCallStart => &self.of.tool_call_start,
            Hook::ToolCallFinish => &self.of.tool_call_finish,
            Hook::StepFinish => &self.of.step_finish,
            Hook::Finish => &self.of.finish,
        }
    }

    fn payload(&self, mut payload: Map<String, Value>) -> Value {
        payload.extend(self.context.clone());
        Value::Object(payload)
    }
}

impl chat::Hooks for TurnHooks {
    fn wants(&self, hook: Hook) -> bool {
        !self.endpoints(hook).is_empty()
    }

    fn notify(&self, hook: Hook, payload: Map<String, Value>) {
        let payload = self.payload(payload);
        for id in self.endpoints(hook) {
            let Ok(permit) = self.room.calls.clone().try_acquire_owned() else {
                tracing::warn!(endpoint = id, ?hook, "too many hooks are running; this one is left out");
                continue;
            };
            let (id, caller, payload) = (id.clone(), self.caller.clone(), payload.clone());
            // The room is not kept alive by its calls: they end with it.
            let (endpoints, cancel) = (self.room.endpoints.clone(), self.room.cancel.clone());
            let called = async move {
                call(&endpoints, &id, caller, payload, cancel).await;
                drop(permit);
            };
            tokio::spawn(called.in_current_span());
        }
    }

    fn finish(&self, payload: Map<String, Value>, cancel: CancellationToken) -> BoxFuture<'_, Vec<DataChunk>> {
        let payload = self.payload(payload);
        async move {
            let mut parts = Vec::new();
            let all = async {
                for id in &self.of.finish {
                    let answer =
                        call(&self.room.endpoints, id, self.caller.clone(), payload.clone(), cancel.child_token())
                            .await;
                    if let Some(answer) = answer {
                        add(&mut parts, id, &answer);
                    }
                }
            };
            if tokio::time::timeout(FINISH_TIME, all).await.is_err() {
                tracing::warn!("the hooks at the end of a run took longer than {} s", FINISH_TIME.as_secs());
            }
            parts
        }
        .boxed()
    }
}

/// Adds what a hook returns as `dataParts`; parts that are none are left out.
fn add(parts: &mut Vec<DataChunk>, endpoint: &str, answer: &Value) {
    let Some(returned) = answer.get("dataParts").and_then(Value::as_array) else { return };
    for part in returned {
        match part_of(part) {
            Some(part) if parts.len() < MAX_PARTS => parts.push(part),
            _ => tracing::warn!(endpoint, "a hook returned a data part that is too much, too large or none"),
        }
    }
}

fn part_of(part: &Value) -> Option<DataChunk> {
    let kind =
        part.get("type")?.as_str().filter(|kind| kind.strip_prefix("data-").is_some_and(|name| !name.is_empty()))?;
    let data = part.get("data").cloned().unwrap_or_default();
    let id = part.get("id").and_then(Value::as_str).map(str::to_owned);
    let transient = part.get("transient").and_then(Value::as_bool);
    (data.to_string().len() <= MAX_PART_BYTES).then(|| DataChunk { kind: kind.to_owned(), id, data, transient })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_hook_adds() {
        let check = |answer: Value, expected: &[&str]| {
            let mut parts = Vec::new();
            add(&mut parts, "e", &answer);
            let seen: Vec<_> = parts.iter().map(|part| serde_json::to_string(part).unwrap()).collect();
            assert_eq!(seen, expected, "{answer}");
        };
        check(json!(null), &[]);
        check(json!({ "dataParts": {} }), &[]);
        check(
            json!({ "dataParts": [{ "type": "data-chat-title", "data": { "title": "T" } }] }),
            &[r#"{"type":"data-chat-title","data":{"title":"T"}}"#],
        );
        check(
            json!({ "dataParts": [{ "type": "data-a", "id": "1", "data": 1, "transient": true }] }),
            &[r#"{"type":"data-a","id":"1","data":1,"transient":true}"#],
        );
        for wrong in [json!("x"), json!({ "type": "text" }), json!({ "type": "data-" }), json!({ "data": 1 })] {
            check(json!({ "dataParts": [wrong] }), &[]);
        }
        check(json!({ "dataParts": [{ "type": "data-a", "data": "x".repeat(MAX_PART_BYTES) }] }), &[]);
        let mut parts = Vec::new();
        add(&mut parts, "e", &json!({ "dataParts": vec![json!({ "type": "data-a", "data": 1 }); 20] }));
        assert_eq!(parts.len(), MAX_PARTS);
    }
}
