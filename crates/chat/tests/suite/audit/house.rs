//! A server with the tools that the audit tests call, and its audit log as short text.

use agent::{Agent, RunSettings, TurnLimits};
use chat::{AgentRequest, AgentSource, Caller, Chat};
use contract::testing::{Cue, RecordingTool, ScriptedModel};
use contract::{Execution, Tool, ToolError, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use jobs::{JobFilter, JobState};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::{AuditRow, Store};
use tempfile::TempDir;
use wire::api::{Answer, SendRequest, Submission};
use wire::organize::ConversationChange;
use wire::{UiMessage, UserError};

/// A server with one agent. Dropping it without `shutdown` simulates a crash.
pub(crate) struct TestChat {
    pub(crate) chat: Chat,
    pub(crate) store: Store,
    pub(crate) folder: Arc<TempDir>,
}

struct OneAgent(Arc<Agent>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        self.by_id(request.caller, request.agent_id)
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }
}

pub(crate) fn tools() -> Vec<Arc<dyn Tool>> {
    let any = json!({ "type": "object" });
    let number = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let work = |input: Value, _| async move { Ok(input) };
    let look = RecordingTool::new(ToolSpec::new("look", "", number), work);
    let fail = |_, _| async { Err(ToolError::new("It did not work.")) };
    let fail = RecordingTool::new(ToolSpec::new("fail", "", any.clone()), fail);
    let pay = ToolSpec { needs_approval: true, ..ToolSpec::new("pay", "", any.clone()) };
    let hang = RecordingTool::new(ToolSpec::new("hang", "", any.clone()), |_, _| std::future::pending());
    let page = ToolSpec { execution: Execution::Client, ..ToolSpec::new("page", "", any) };
    let (pay, page) = (RecordingTool::new(pay, work), RecordingTool::new(page, work));
    vec![Arc::new(look), Arc::new(fail), Arc::new(pay), Arc::new(hang), Arc::new(page)]
}

pub(crate) fn agent(id: &str, replies: Vec<Vec<Cue>>, tools: Vec<Arc<dyn Tool>>) -> Agent {
    let limits = TurnLimits { tool_calls: Some(4), ..TurnLimits::default() };
    Agent {
        tools,
        settings: RunSettings { max_retries: 0, max_steps: 3, limits, ..RunSettings::default() },
        ..Agent::new(id, Arc::new(ScriptedModel::new(replies)))
    }
}

impl TestChat {
    pub(crate) async fn open(replies: Vec<Vec<Cue>>) -> Self {
        Self::reopen(Arc::new(TempDir::new().unwrap()), replies, tools()).await
    }

    /// Makes a recurring job due, and waits until it has run.
    pub(crate) async fn run_job_now(&self, kind: &str) {
        let queue = self.chat.jobs().clone();
        let filter = JobFilter { kind: Some(kind.to_owned()), ..JobFilter::default() };
        let find = async || queue.list(filter.clone(), 1).await.unwrap().pop();
        let job = loop {
            if let Some(job) = find().await {
                break job;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let (jobs, id) = (queue.clone(), job.id);
        let retry = queue.store().write(move |db| Box::pin(async move { jobs.retry_in(db, &id).await }));
        assert!(retry.await.unwrap());
        let has_run = |now: jobs::JobRow| now.state == JobState::Waiting && now.started_at > job.started_at;
        while !find().await.is_some_and(has_run) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Opens the same database in a new process.
    pub(crate) async fn reopen(folder: Arc<TempDir>, replies: Vec<Vec<Cue>>, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::serve(folder, agent("helper", replies, tools)).await
    }

    pub(crate) async fn serve(folder: Arc<TempDir>, agent: Agent) -> Self {
        let store = Store::open(&test_postgres::database_for(folder.path()).await).await.unwrap();
        let chat = Chat::open(store.clone(), Arc::new(OneAgent(Arc::new(agent))), 8).await.unwrap();
        Self { chat, store, folder }
    }

    pub(crate) async fn begin(&self, submission: Submission) -> chat::SendResponse {
        self.chat.send(&ada(), request(submission)).await.unwrap()
    }

    /// Sends a submission and waits for the end of the answer.
    pub(crate) async fn ask(&self, submission: Submission) {
        let frames = self.begin(submission).await.frames;
        tokio::time::timeout(Duration::from_secs(60), frames.collect::<Vec<_>>()).await.expect("the stream ends");
    }

    pub(crate) async fn say(&self, id: &str) {
        self.ask(message(id)).await;
    }

    /// Waits until the answer has a call of the tool. It starts and is stored soon after.
    pub(crate) async fn until_called(&self, tool: &str) {
        let name = format!("\"tool-{tool}\"");
        let shown = async {
            loop {
                let view = self.chat.conversation(&ada(), "c1").await.unwrap();
                if serde_json::to_string(&view.messages).unwrap().contains(&name) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), shown).await.expect("the call is shown");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    pub(crate) async fn rows(&self) -> Vec<AuditRow> {
        self.store.verify_audit(None).await.unwrap().unwrap();
        self.store.audit_rows(i64::MIN, i64::MIN).await.unwrap()
    }

    /// Marks a conversation as deleted so long ago that this can no longer be undone.
    pub(crate) async fn delete_long_ago(&self, id: &str) {
        for (deleted, now) in [(false, 0), (true, 0)] {
            let change = ConversationChange { deleted: Some(deleted), ..ConversationChange::default() };
            self.store.change_conversations("ada", vec![id.to_owned()], change, now).await.unwrap();
        }
    }

    /// Returns one line per entry.
    pub(crate) async fn log(&self) -> String {
        self.rows().await.iter().fold(String::new(), |lines, row| {
            assert_eq!([&*row.user_id, &*row.conversation_id], ["ada", "c1"]);
            let by = if row.agent_id == "helper" { String::new() } else { format!("{}: ", row.agent_id) };
            assert!(!row.message_id.is_empty() && !row.run_id.is_empty() && row.at > 1_700_000_000_000);
            let gates: Vec<Value> = serde_json::from_str(&row.gates).unwrap();
            let gates = gates.iter().map(|gate| {
                let words = ["gate", "decision", "by", "reason"].into_iter().filter_map(|key| gate[key].as_str());
                words.collect::<Vec<_>>().join(" ")
            });
            let ran = if row.duration_ms.is_some() { " ran" } else { "" };
            let gates = gates.collect::<Vec<_>>().join(", ");
            format!("{lines}{by}{} {} {} {}{ran} [{gates}]\n", row.call_id, row.tool, row.arguments, row.outcome)
        })
    }
}

pub(crate) fn ada() -> Caller {
    Caller::signed_in("ada")
}

pub(crate) fn request(submission: Submission) -> SendRequest {
    SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: "c1".to_owned(),
        submission,
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    }
}

pub(crate) fn message(id: &str) -> Submission {
    Submission::Message { message: UiMessage::user(id, "go"), replaces: None, history: Vec::new() }
}

pub(crate) fn decide(call: &str, approved: bool) -> Answer {
    let reason = (!approved).then(|| "not now".to_owned());
    Answer::Approval {
        tool_call_id: call.to_owned(),
        approval_id: None,
        approved,
        input_hash: None,
        reason,
        input: None,
        remember: None,
    }
}

pub(crate) fn answers(answers: Vec<Answer>) -> Submission {
    Submission::Answers { answers }
}

pub(crate) fn output(call: &str) -> Answer {
    Answer::Output { tool_call_id: call.to_owned(), output: json!(1) }
}
