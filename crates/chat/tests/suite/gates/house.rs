//! A server with one agent that pays, with a controlled clock.

use agent::{Agent, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat, Clock, HookEvent, Hooks, SendResponse};
use contract::testing::{Cue, RecordingTool, ScriptedModel};
use contract::{ApprovalTerms, Tool, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use wire::api::{Answer, ApprovalScope, SendRequest, StandingApproval, Submission};
use wire::{DataChunk, STANDING_APPROVAL, UiMessage, UiPart, UserError};

/// The arguments of calls that ran.
pub(crate) type Effects = Arc<Mutex<Vec<Value>>>;

/// A server with one agent. Dropping it without `shutdown` simulates a crash.
pub(crate) struct TestChat {
    pub(crate) chat: Chat,
    pub(crate) store: Store,
    folder: Arc<TempDir>,
    now: Arc<AtomicI64>,
    dies: Arc<AtomicBool>,
}

struct OneAgent(Arc<Agent>, Arc<AtomicBool>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        self.by_id(request.caller, request.agent_id)
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }

    fn hooks(&self, _: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        Some(Arc::new(Endless(self.1.clone())))
    }
}

/// A hook that keeps a run from ending, for a server that dies before that.
struct Endless(Arc<AtomicBool>);

impl Hooks for Endless {
    fn wants(&self, hook: HookEvent) -> bool {
        hook == HookEvent::Finish
    }

    fn notify(&self, _: HookEvent, _: Map<String, Value>) {}

    fn finish(&self, _: Map<String, Value>, _: CancellationToken) -> BoxFuture<'_, Vec<DataChunk>> {
        Box::pin(async move { if self.0.load(Ordering::Relaxed) { std::future::pending().await } else { Vec::new() } })
    }
}

/// Returns a tool that needs approval, and its effects.
pub(crate) fn described(name: &str, description: &str, approval: ApprovalTerms) -> (Arc<dyn Tool>, Effects) {
    let spec =
        ToolSpec { needs_approval: true, approval, ..ToolSpec::new(name, description, json!({ "type": "object" })) };
    let tool = RecordingTool::new(spec, |input: Value, _| async move { Ok(input) });
    let effects = tool.inputs();
    (Arc::new(tool), effects)
}

pub(crate) fn tool(name: &str, approval: ApprovalTerms) -> (Arc<dyn Tool>, Effects) {
    described(name, "", approval)
}

pub(crate) fn agent(id: &str, replies: Vec<Vec<Cue>>, tools: Vec<Arc<dyn Tool>>) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    let agent = Agent {
        tools,
        settings: RunSettings { max_retries: 0, max_steps: 5, ..RunSettings::default() },
        ..Agent::new(id, model.clone())
    };
    (agent, model)
}

/// Returns the agent that pays, and its payments.
pub(crate) fn helper(replies: Vec<Vec<Cue>>, terms: ApprovalTerms) -> (Agent, Effects) {
    let (pay, effects) = tool("pay", terms);
    (agent("helper", replies, vec![pay]).0, effects)
}

impl TestChat {
    pub(crate) async fn open(agent: Agent) -> Self {
        Self::serve(Arc::new(TempDir::new().unwrap()), Arc::new(AtomicI64::new(1_000_000)), agent).await
    }

    async fn serve(folder: Arc<TempDir>, now: Arc<AtomicI64>, agent: Agent) -> Self {
        let store = Store::open(&test_postgres::database_for(folder.path()).await).await.unwrap();
        let (time, dies) = (now.clone(), Arc::new(AtomicBool::new(false)));
        let clock = Clock::new(move || time.load(Ordering::Relaxed));
        let agents = Arc::new(OneAgent(Arc::new(agent), dies.clone()));
        let chat = Chat::open_with_clock(clock, store.clone(), agents, 8).await.unwrap();
        Self { chat, store, folder, now, dies }
    }

    /// Opens the same database in a new process, at the same time.
    pub(crate) async fn reopen(&self, agent: Agent) -> Self {
        Self::serve(self.folder.clone(), self.now.clone(), agent).await
    }

    /// Advances the clock, in milliseconds.
    pub(crate) fn pass(&self, time: i64) {
        self.now.fetch_add(time, Ordering::Relaxed);
    }

    pub(crate) async fn send(&self, conversation: &str, submission: Submission) -> Result<SendResponse, UserError> {
        let request = SendRequest {
            page_id: "p".to_owned(),
            block_id: None,
            agent_id: "helper".to_owned(),
            conversation_id: conversation.to_owned(),
            submission,
            shared_state: Map::new(),
            url_query: Map::new(),
            switches: Map::new(),
            options: Default::default(),
        };
        self.chat.send(&ada(), request).await
    }

    /// Sends a submission and waits for the end of the answer.
    pub(crate) async fn ask(&self, conversation: &str, submission: Submission) {
        let frames = self.send(conversation, submission).await.unwrap().frames;
        tokio::time::timeout(Duration::from_secs(60), frames.collect::<Vec<_>>()).await.expect("the stream ends");
    }

    /// Sends a submission whose run asks for approval and never ends.
    pub(crate) async fn ask_and_die(&self, conversation: &str, submission: Submission) {
        self.die_after("tool-approval-request", conversation, submission).await;
    }

    /// Sends a submission whose run stops after such a chunk and never ends.
    pub(crate) async fn die_after(&self, chunk: &str, conversation: &str, submission: Submission) {
        self.dies.store(true, Ordering::Relaxed);
        let sent = self.send(conversation, submission).await.unwrap();
        let told = sent.frames.filter(|frame| std::future::ready(String::from_utf8_lossy(frame).contains(chunk)));
        tokio::time::timeout(Duration::from_secs(60), std::pin::pin!(told).next()).await.expect(chunk).unwrap();
    }

    /// Returns the newest message: its outcome, its calls, and the standing approvals that let them
    /// run.
    pub(crate) async fn last(&self, conversation: &str) -> String {
        let message = self.chat.conversation(&ada(), conversation).await.unwrap().messages.pop().unwrap();
        let parts = message.parts.iter().filter_map(|part| match part {
            UiPart::Tool(tool) => Some(format!("{} {:?}", tool.tool_name, tool.state)),
            UiPart::Data(data) if data.kind == STANDING_APPROVAL => {
                let text = |key: &str| data.data[key].as_str().unwrap().to_owned();
                Some(["scope", "grantId", "toolName"].map(text).join(" "))
            }
            _ => None,
        });
        let outcome = message.metadata.as_ref().and_then(|known| known["outcome"].as_str()).unwrap_or_default();
        format!("{outcome}: {}", parts.collect::<Vec<_>>().join(", "))
    }

    pub(crate) async fn grants(&self) -> Vec<StandingApproval> {
        self.chat.standing_approvals(&ada()).await.unwrap().items
    }

    /// Returns for each call in the audit log whether its duration is known.
    pub(crate) async fn took(&self) -> Vec<bool> {
        let rows = self.store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
        rows.iter().map(|row| row.duration_ms.is_some_and(|time| (0..60_000).contains(&time))).collect()
    }

    /// Returns the audit log, one line per entry.
    pub(crate) async fn log(&self) -> String {
        let rows = self.store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
        rows.iter().fold(String::new(), |lines, row| {
            let gates: Vec<Value> = serde_json::from_str(&row.gates).unwrap();
            let gates = gates.iter().map(|gate| {
                let words = ["gate", "decision", "by", "reason"].into_iter().filter_map(|key| gate[key].as_str());
                words.collect::<Vec<_>>().join(" ")
            });
            let gates = gates.collect::<Vec<_>>().join(", ");
            format!("{lines}{} {} {} {} [{gates}]\n", row.conversation_id, row.agent_id, row.call_id, row.outcome)
        })
    }
}

fn caller(name: &str) -> Caller {
    Caller::signed_in(name)
}

pub(crate) fn ada() -> Caller {
    caller("ada")
}

pub(crate) fn bob() -> Caller {
    caller("bob")
}

pub(crate) fn message(id: &str) -> Submission {
    Submission::Message { message: UiMessage::user(id, "go"), replaces: None, history: Vec::new() }
}

/// An approval, optionally with other arguments or as a standing approval.
pub(crate) fn yes(call: &str, input: Option<Value>, remember: Option<ApprovalScope>) -> Submission {
    let (tool_call_id, approval_id, reason) = (call.to_owned(), None, None);
    Submission::Answers {
        answers: vec![Answer::Approval {
            tool_call_id,
            approval_id,
            approved: true,
            input_hash: None,
            reason,
            input,
            remember,
        }],
    }
}
