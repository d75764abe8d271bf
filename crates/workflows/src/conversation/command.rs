//! Commands of the composer: the user starts a workflow of the chat's agent with a form. The run belongs to
//! the conversation, as one that the agent has started; its start, the messages that tell of it and the link
//! between them are one transaction.

use crate::service::{self, Runs, StartRequest, may_start};
use crate::store::{ConversationLink, RunCaller};
use ::store::{AlsoWrite, StoreError, append_audit};
use capability::Context;
use chat::{Caller, Posting};
use config::Config;
use contract::Exposure;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::api::SendRequest;
use wire::message::DataPart;
use wire::page::SenderWorkflow;
use wire::workflow::ConversationRun;
use wire::{UserError, WORKFLOW_RUN};
use workflow_definition::{AgentWorkflows, WhenDone, WorkflowEntry, WorkflowTool};
use workflow_definition::{Workflow, Workflows};

/// The maximum size of the input in the message of the user, in bytes.
const MAX_TEXT: usize = 4 * 1024;

/// The message for the model about the start.
const STARTED: &str = "The user has started this workflow with a command, not with one of your tools. It goes on in the \
    background. Its result comes into this conversation when it has ended; the user sees how far it is. Do not start \
    it again for the same purpose.";

/// The commands with which users start workflows in the chats of agents.
#[derive(Default)]
pub struct Commands(HashMap<String, Vec<Command>>);

/// A workflow with the name of its command.
struct Command {
    name: String,
    workflow: Workflow,
}

impl Commands {
    /// Returns the commands of all agents of a config.
    pub fn new(config: &Config) -> Self {
        let none = Workflows::default();
        let all = config.section::<Workflows>().unwrap_or(&none);
        let command = |tool: WorkflowTool| {
            let workflow = all.get(&tool.id.0)?.clone();
            Some(Command { name: tool.name().to_owned(), workflow })
        };
        let of_agents = config.agents.values().filter_map(|agent| {
            let AgentWorkflows(entries) = agent.section()?;
            Some((agent.id.clone(), entries.iter().map(WorkflowEntry::tool).filter_map(command).collect()))
        });
        Self(of_agents.collect())
    }

    /// Returns whether the chats of an agent have commands.
    pub fn has(&self, agent_id: &str) -> bool {
        self.0.get(agent_id).is_some_and(|commands| !commands.is_empty())
    }

    /// Returns the commands that a caller has in the chats of an agent.
    pub fn of(&self, agent_id: &str, caller: &Caller) -> Vec<SenderWorkflow> {
        let commands = self.0.get(agent_id).map(Vec::as_slice).unwrap_or_default();
        let allowed = commands.iter().filter(|command| may_start(&command.workflow, caller));
        let shown = |Command { name, workflow }: &Command| SenderWorkflow {
            name: name.clone(),
            title: workflow.title().to_owned(),
            workflow_id: workflow.id.0.clone(),
        };
        allowed.map(shown).collect()
    }
}

/// Starts a run of a workflow of the chat's agent in a conversation, which is created if it does not exist.
/// `request` is what would be sent to the agent, with a new message, whose id tells repetitions apart.
///
/// # Errors
/// 404 for a workflow that the agent does not have or the caller may not start, 409 while an answer is being
/// written or waits for the user, 422 for an invalid input, 429 for too many runs, and those of a message.
pub async fn start_in_chat(
    context: &Context,
    caller: &Caller,
    request: SendRequest,
    id: &str,
    input: Map<String, Value>,
) -> Result<(), UserError> {
    let config = context.current.config();
    let tool = tool(&config, &request.agent_id, id).ok_or_else(UserError::not_found)?;
    let workflow = service::workflow(&config, caller, id)?;
    let text = text(tool.name(), &workflow, &input);
    let link = link(&config, caller, &request, &tool, &workflow);
    let title = workflow.title().to_owned();
    let new = service::prepare(caller, workflow, StartRequest { input, ..StartRequest::default() }).await?;
    let run = ConversationRun { run_id: new.id.clone(), workflow: title.clone() };
    let data = serde_json::to_value(run).unwrap_or_default();
    let parts = vec![DataPart { kind: WORKFLOW_RUN.to_owned(), id: Some(new.id.clone()), data }];
    let posting = Posting { title, text, parts, note: STARTED.to_owned() };
    let (jobs, is_full) = (Runs::from(context).jobs, Arc::new(AtomicBool::new(false)));
    let audit = service::start_entry(&new);
    let found_full = is_full.clone();
    let also: AlsoWrite = Box::new(move |db| {
        Box::pin(async move {
            if service::store_run(db, &jobs, &new, Some(link)).await? {
                append_audit(db, vec![audit]).await
            } else {
                // An error, so that the messages are not stored either.
                found_full.store(true, Ordering::Relaxed);
                Err(StoreError::Invalid("too many runs have not ended"))
            }
        })
    });
    match context.chat.post(caller, request, posting, also).await {
        Err(_) if is_full.load(Ordering::Relaxed) => Err(service::too_many()),
        posted => posted.map(drop),
    }
}

/// Returns the entry of an agent for a workflow.
fn tool(config: &Config, agent_id: &str, id: &str) -> Option<WorkflowTool> {
    let AgentWorkflows(entries) = config.agents.get(agent_id)?.section()?;
    entries.iter().map(WorkflowEntry::tool).find(|tool| tool.id.0 == id)
}

fn link(
    config: &Config,
    caller: &Caller,
    request: &SendRequest,
    tool: &WorkflowTool,
    workflow: &Workflow,
) -> ConversationLink {
    let none = Workflows::default();
    let annotations = tool.annotations(workflow, config.section::<Workflows>().unwrap_or(&none));
    let name = || tool.name().to_owned();
    ConversationLink {
        run_id: String::new(),
        owner: caller.user_id.clone(),
        conversation_id: Some(request.conversation_id.clone()),
        // The id of the message tells repetitions apart.
        call_key: None,
        caller: RunCaller::from(caller),
        goes_on: tool.when_done == WhenDone::Continue,
        exposure: Exposure {
            private: annotations.reads_private.then(name),
            untrusted: annotations.returns_untrusted.then(name),
        },
        is_delivered: false,
    }
}

/// Returns the message of the user: the command, and what was entered, by the titles of the fields.
fn text(name: &str, workflow: &Workflow, input: &Map<String, Value>) -> String {
    let mut text = format!("/{name}");
    let fields = workflow.input.as_ref().and_then(|schema| schema.get("properties"));
    for (key, value) in input {
        let title = fields.and_then(|fields| fields.get(key)?.get("title")?.as_str()).unwrap_or(key);
        match value {
            Value::String(value) => drop(write!(text, "\n{title}: {value}")),
            value => drop(write!(text, "\n{title}: {value}")),
        }
    }
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn message_shows_what_was_entered() {
        let check = |input: Value, expected: &str| {
            let properties = json!({ "from": { "type": "string", "title": "First day" } });
            let workflow = json!({ "id": "w", "input": { "properties": properties }, "steps": [] });
            let workflow: Workflow = serde_json::from_value(workflow).unwrap();
            assert_eq!(text("holiday", &workflow, input.as_object().unwrap()), expected);
        };
        check(json!({}), "/holiday");
        check(json!({ "from": "2026-12-24", "days": 3 }), "/holiday\nFirst day: 2026-12-24\ndays: 3");
        check(json!({ "list": ["a"] }), "/holiday\nlist: [\"a\"]");
        let cut = format!("/holiday\na: {}…", "ä".repeat((MAX_TEXT - 12) / 2));
        check(json!({ "a": "ä".repeat(MAX_TEXT) }), &cut);
    }
}
