//! Agents with scripted models and recording tools, for the tests with several agents.

use agent::{Agent, EventSink, ExposureState, PendingCall, RunOutcome, SubAgent, TurnInput, TurnUsage};
use contract::testing::{Cue, RecordingTool, ScriptedModel};
use contract::{Message, Model, Tool, ToolSpec, UserPart};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The arguments with which a task is delegated.
pub(crate) const TASK: &str = r#"{"task":"Find it."}"#;

pub(crate) fn object() -> Value {
    json!({ "type": "object" })
}

/// Creates an agent with this model.
pub(crate) fn agent_of(id: &str, model: Arc<dyn Model>, tools: Vec<Arc<dyn Tool>>) -> Agent {
    Agent { tools, ..Agent::new(id, model) }
}

/// Creates an agent with these replies and tools.
pub(crate) fn agent(id: &str, replies: Vec<Vec<Cue>>, tools: Vec<Arc<dyn Tool>>) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    (agent_of(id, model.clone(), tools), model)
}

/// Returns the agent as a tool of another one, under its id.
pub(crate) fn below(agent: Agent) -> Arc<SubAgent> {
    let spec =
        ToolSpec { timeout: SubAgent::TIMEOUT, ..ToolSpec::new(agent.id.clone(), "", SubAgent::default_schema()) };
    Arc::new(SubAgent::new(spec, agent))
}

/// Returns a tool that takes 10 ms and answers "NAME done", and its inputs.
pub(crate) fn doing(spec: ToolSpec) -> (Arc<dyn Tool>, impl Fn() -> Vec<Value>) {
    let said = json!(format!("{} done", spec.name));
    let tool = RecordingTool::new(spec, move |_, _| {
        let said = said.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok(said)
        }
    });
    let inputs = tool.inputs();
    (Arc::new(tool), move || inputs.lock().unwrap().clone())
}

/// The history of a conversation with one message of the user.
pub(crate) fn asked() -> Vec<Arc<Message>> {
    vec![Arc::new(Message::User(vec![UserPart::Text { text: "hi".to_owned() }]))]
}

/// Runs a turn of a conversation with this exposure.
pub(crate) async fn run_turn<S: EventSink>(
    agent: &Agent,
    messages: Vec<Arc<Message>>,
    pending: Vec<PendingCall>,
    (seen, cancel): (ExposureState, CancellationToken),
    sink: &mut S,
) -> RunOutcome {
    agent::run(agent, TurnInput { pending, exposure: seen, cancel, ..turn(messages) }, sink).await
}

/// Returns a turn of the conversation `c` of the user `u`, which begins with the first message.
pub(crate) fn turn(messages: Vec<Arc<Message>>) -> TurnInput {
    TurnInput {
        context: agent::ContextInput::default(),
        earlier: TurnUsage::default(),
        turn_start: 0,
        messages,
        pending: Vec::new(),
        scope: contract::RunScope {
            user_id: "u".to_owned(),
            conversation_id: "c".to_owned(),
            ..contract::RunScope::default()
        },
        grants: None,
        exposure: ExposureState::default(),
        cancel: CancellationToken::new(),
    }
}
