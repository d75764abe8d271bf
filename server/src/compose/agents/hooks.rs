//! Runs an agent's hooks as endpoint calls.

use auth::rights::{CallerGate, Rights};
use chat::{AgentRequest, Caller, HookEvent, RoutineMeters};
use contract::CallReports;
use endpoints::{CallContext, CallingAgent, Endpoints};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument;
use wire::chunk::DataChunk;

/// The limit on concurrent calls that no run waits for; more are skipped.
const MAX_CALLS: usize = 64;
/// How long the end of a run waits for its hooks.
const FINISH_TIME: Duration = Duration::from_secs(10);
/// The limit on data parts that the hooks of one run may add.
const MAX_PARTS: usize = 16;
/// The limit on the size of a data part in bytes.
const MAX_PART_BYTES: usize = 64 * 1024;

/// Runs the hooks of all agents. Its calls are cancelled when it is dropped.
pub(super) struct HookRunner {
    endpoints: Arc<Endpoints>,
    rights: Arc<Rights>,
    counted: RoutineMeters,
    calls: Arc<Semaphore>,
    cancel: CancellationToken,
    _end: DropGuard,
}

impl HookRunner {
    pub(super) fn new(endpoints: Arc<Endpoints>, rights: Arc<Rights>, counted: RoutineMeters) -> Arc<Self> {
        let cancel = CancellationToken::new();
        let calls = Arc::new(Semaphore::new(MAX_CALLS));
        Arc::new(Self { endpoints, rights, counted, calls, _end: cancel.clone().drop_guard(), cancel })
    }

    /// Returns the hooks of an agent for one turn.
    pub(super) fn hooks(self: &Arc<Self>, of: &Arc<config::Hooks>, request: &AgentRequest<'_>) -> TurnHooks {
        let caller = HookCaller {
            caller: request.caller.clone(),
            agent_id: request.agent_id.to_owned(),
            gate: self.rights.gate(request.caller),
            counted: self.counted.clone(),
        };
        TurnHooks { runner: self.clone(), of: of.clone(), caller, context: context(request) }
    }
}

/// The caller for whom hooks run, with the caller's rights.
#[derive(Clone)]
struct HookCaller {
    caller: Caller,
    /// The agent whose hooks run.
    agent_id: String,
    gate: Arc<CallerGate>,
    counted: RoutineMeters,
}

/// Calls the endpoint of a hook. A failure is logged and ignored.
async fn call(
    endpoints: &Endpoints,
    id: &str,
    HookCaller { caller, agent_id, gate, counted }: HookCaller,
    payload: Value,
    cancel: CancellationToken,
) -> Option<Value> {
    let conversation_id = payload.get("conversationId").and_then(Value::as_str).unwrap_or_default();
    let agent = CallingAgent::new(&agent_id, conversation_id);
    let models = counted.meter(&caller, agent_id);
    let context = CallContext {
        user_id: caller.user_id,
        gate,
        agent: Some(agent),
        models,
        idempotency_key: None,
        cancel,
        reports: CallReports::default(),
    };
    let answer = endpoints.call(id, payload, &context).await;
    answer.inspect_err(|error| tracing::warn!(endpoint = id, at = error.position(), %error, "a hook failed")).ok()
}

/// Returns the context of a turn: caller, agent, page and inputs. It is part of every payload and
/// the `_payload` of instructions. Mappings without entries are empty, so that every key is there. An
/// invocation has neither a page nor a conversation.
pub(super) fn context(request: &AgentRequest<'_>) -> Map<String, Value> {
    let mut context = Map::new();
    let texts = [
        ("agentId", request.agent_id),
        ("pageId", request.page_id),
        ("userId", &request.caller.user_id),
        ("conversationId", request.conversation_id),
    ];
    context.extend(
        texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key.to_owned(), text.into())),
    );
    if let Some(inputs) = request.caller.inputs() {
        context.insert("inputs".to_owned(), Value::Object(inputs.clone()));
    }
    let objects =
        [("urlQuery", request.url_query), ("sharedState", request.shared_state), ("switches", request.switches)];
    context.extend(objects.map(|(key, values)| (key.to_owned(), Value::Object(values.clone()))));
    context
}

/// The hooks of one turn.
pub(super) struct TurnHooks {
    runner: Arc<HookRunner>,
    of: Arc<config::Hooks>,
    caller: HookCaller,
    context: Map<String, Value>,
}

impl TurnHooks {
    fn endpoints(&self, hook: HookEvent) -> &[String] {
        match hook {
            HookEvent::Start => &self.of.start,
            HookEvent::StepStart => &self.of.step_start,
            HookEvent::ToolCallStart => &self.of.tool_call_start,
            HookEvent::ToolCallFinish => &self.of.tool_call_finish,
            HookEvent::StepFinish => &self.of.step_finish,
            HookEvent::Finish => &self.of.finish,
        }
    }

    fn payload(&self, mut payload: Map<String, Value>) -> Value {
        payload.extend(self.context.clone());
        Value::Object(payload)
    }
}

impl chat::Hooks for TurnHooks {
    fn wants(&self, hook: HookEvent) -> bool {
        !self.endpoints(hook).is_empty()
    }

    fn notify(&self, hook: HookEvent, payload: Map<String, Value>) {
        let payload = self.payload(payload);
        for id in self.endpoints(hook) {
            let Ok(permit) = self.runner.calls.clone().try_acquire_owned() else {
                tracing::warn!(endpoint = id, ?hook, "too many hook calls are running; skipped this one");
                continue;
            };
            let (id, caller, payload) = (id.clone(), self.caller.clone(), payload.clone());
            // The call holds only the token, not the runner, so that dropping the runner cancels
            // it.
            let (endpoints, cancel) = (self.runner.endpoints.clone(), self.runner.cancel.clone());
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
                        call(&self.runner.endpoints, id, self.caller.clone(), payload.clone(), cancel.child_token())
                            .await;
                    if let Some(answer) = answer {
                        add_parts(&mut parts, id, &answer);
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

/// Adds the `dataParts` that a hook returned; invalid ones are ignored.
fn add_parts(parts: &mut Vec<DataChunk>, endpoint: &str, answer: &Value) {
    let Some(returned) = answer.get("dataParts").and_then(Value::as_array) else { return };
    for part in returned {
        match parse_part(part) {
            Some(part) if parts.len() < MAX_PARTS => parts.push(part),
            _ => tracing::warn!(
                endpoint,
                "ignored a data part of a hook: it is invalid, too large, or over the limit of a run"
            ),
        }
    }
}

fn parse_part(part: &Value) -> Option<DataChunk> {
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
    fn data_parts_of_hooks_are_validated_and_limited() {
        let check = |answer: Value, expected: &[&str]| {
            let mut parts = Vec::new();
            add_parts(&mut parts, "e", &answer);
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
        add_parts(&mut parts, "e", &json!({ "dataParts": vec![json!({ "type": "data-a", "data": 1 }); 20] }));
        assert_eq!(parts.len(), MAX_PARTS);
    }
}
