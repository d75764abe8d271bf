//! Conversations with the embedded model, on SQLite and, if it is installed, on PostgreSQL.

mod changes;
mod conversations;
mod kill;

use crate::fact::Fact;
use crate::section::{AgentMemory, MemorySettings};
use crate::service::Memory;
use crate::source::MemorySource;
use crate::{extract, store};
use ::store::{BeginRun, BeginRunOutcome, CapabilityTables, FinishRun, NewMessage, Schema};
use agent::{Agent, AnswerForm, InvocationInput, InvocationRequest, TurnLimits, invoke};
use capability::{
    CurrentConfig, DraftConfigs, EndpointCall, EndpointFailure, ModelFailure, ModelQuestion, ToolServerStatus,
};
use chat::{Caller, TextOrigin};
use config::{Config, ConnectionKind, Language, SectionType};
use contract::{Model, ModelUse, ResponseFormat, RunScope, SourceTools, Tool, ToolSource};
use futures::future::BoxFuture;
use jobs::{JobState, Jobs, Workers};
use operators::Operators;
use providers::demo::Demo;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use web::times::now_millis;
use wire::api::Outcome;
use wire::{EndReason, Role, UiMessage};

const TABLES: &[CapabilityTables] = &[store::TABLES];

const CONFIG: &str = "
connections: [{ id: demo, type: Demo }]
memory: { restSeconds: 1 }
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo }, memory: { tools: true } }
  - { id: other, type: Agent, connectionId: demo, properties: { model: demo }, memory: { scope: agent } }
pages: [{ id: p }]
";

/// Answers questions with the embedded model, and counts them.
struct DemoModel {
    config: Arc<Config>,
    asked: AtomicUsize,
}

impl CurrentConfig for DemoModel {
    fn config(&self) -> Arc<Config> {
        self.config.clone()
    }

    fn refresh_additions(&self) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn drafts(&self) -> &dyn DraftConfigs {
        panic!("not used")
    }

    fn tool_servers(&self) -> Vec<ToolServerStatus> {
        Vec::new()
    }

    fn language(&self) -> &'static Language {
        panic!("not used")
    }

    fn operators(&self) -> Arc<Operators> {
        Arc::default()
    }

    fn usable_agents(&self, _: &Caller) -> Vec<String> {
        panic!("not used")
    }

    fn page_for_agent(&self, _: &Caller, _: &str) -> Option<String> {
        panic!("not used")
    }

    fn tasks_page(&self, _: &Caller) -> Option<String> {
        panic!("not used")
    }

    fn user_tools(&self) -> Vec<Arc<dyn Tool>> {
        panic!("not used")
    }

    fn call_endpoint<'a>(&'a self, _: EndpointCall<'a>) -> BoxFuture<'a, Result<Value, EndpointFailure>> {
        panic!("not used")
    }

    fn model(&self, _: &ConnectionKind, _: &str) -> Option<Arc<dyn Model>> {
        panic!("not used")
    }

    fn ask_model<'a>(&'a self, question: ModelQuestion<'a>) -> BoxFuture<'a, Result<Value, ModelFailure>> {
        self.asked.fetch_add(1, Relaxed);
        Box::pin(async move {
            let model = Arc::new(Demo::new("demo", Some(Duration::ZERO)));
            let agent = Agent { instructions: Some(question.instructions), ..Agent::new("helper", model) };
            let (name, schema) = question.form;
            let format = ResponseFormat { name: name.to_owned(), strict: false, schema };
            let request = InvocationRequest {
                input: InvocationInput::prompt(question.prompt),
                form: Some(AnswerForm::new(format).await.unwrap()),
                tools: None,
                observer: None,
                limits: TurnLimits::default(),
                replaces_limits: false,
                asks: false,
                from: None,
                time: question.time,
                scope: RunScope::default(),
                models: ModelUse::default(),
                cancel: question.cancel,
            };
            invoke(&agent, request).await.output.map_err(|error| ModelFailure::Failed(error.to_string()))
        })
    }
}

/// A server.
struct Server {
    memory: Memory,
    workers: Workers,
    model: Arc<DemoModel>,
}

/// A turn of a conversation.
#[derive(Clone, Debug, Default)]
struct Turn {
    user: String,
    file: Option<String>,
    /// The author of the text; the user if absent.
    origin: Option<TextOrigin>,
    /// The content of the user's page.
    page: Option<String>,
    tool: Option<String>,
    answer: Option<String>,
}

impl From<&str> for Turn {
    fn from(user: &str) -> Self {
        Self { user: user.to_owned(), ..Self::default() }
    }
}

impl Server {
    async fn open(url: &str) -> Self {
        let store = Schema::new(TABLES).open(url, "", Duration::ZERO).await.unwrap();
        let jobs = Jobs::new(store.clone());
        Self::new(Memory::new(store, jobs.clone()), Workers::new(jobs), true)
    }

    fn new(memory: Memory, workers: Workers, is_reading: bool) -> Self {
        let language = Language::new(&[SectionType::of::<MemorySettings>(), SectionType::of::<AgentMemory>()], &[]);
        let config = Arc::new(language.read_text(CONFIG).unwrap().0);
        memory.use_config(&config);
        let model = Arc::new(DemoModel { config, asked: AtomicUsize::new(0) });
        workers.add(extract::handler(memory.clone(), model.clone()));
        if is_reading {
            workers.start();
        }
        Self { memory, workers, model }
    }

    /// Stores a turn as the chat does; returns the context that the agent got, and the id of the
    /// user's message.
    async fn turn(&self, user: &str, conversation: &str, agent: &str, turn: &Turn) -> (SourceTools, String) {
        let store = self.memory.store();
        let parent = store.conversation(user, conversation).await.unwrap().and_then(|conversation| conversation.head);
        let key = crate::new_id();
        let mut message = UiMessage::user(&key, turn.user.replace("\\n", "\n"));
        if let Some(file) = &turn.file {
            let part = json!({ "type": "file", "mediaType": "text/plain", "filename": "a.txt", "url": format!("data:text/plain,{file}") });
            message.parts.push(serde_json::from_value(part).unwrap());
        }
        if let Some(text) = &turn.page {
            let part = json!({ "type": wire::PAGE_CONTEXT, "data": { "text": text } });
            message.parts.insert(0, serde_json::from_value(part).unwrap());
        }
        if let Some(origin) = turn.origin {
            message = origin.mark(message);
        }
        let answer = UiMessage::new(format!("a-{key}"), Role::Assistant);
        let begin = BeginRun {
            conversation_id: conversation.to_owned(),
            page_id: "p".to_owned(),
            agent_id: agent.to_owned(),
            title: "Talk".to_owned(),
            submission_key: key.clone(),
            message_id: answer.id.clone(),
            insert: vec![
                NewMessage { parent_id: parent, message },
                NewMessage { parent_id: Some(key.clone()), message: answer.clone() },
            ],
            update: Vec::new(),
            run_id: format!("r-{key}"),
            now: now_millis(),
            lease_until: now_millis() + 15_000,
            audit: Vec::new(),
            grants: Vec::new(),
        };
        let BeginRunOutcome::Started { epoch } = store.begin_run(user, begin).await.unwrap() else { panic!() };
        let told = self.begin_run(user, conversation, agent).await;
        let mut parts = Vec::new();
        if let Some(result) = &turn.tool {
            parts.push(json!({ "type": "tool-look", "toolCallId": format!("call-{key}"), "state": "output-available", "input": {}, "output": { "text": result } }));
        }
        if let Some(text) = &turn.answer {
            parts.push(json!({ "type": "text", "text": text }));
        }
        let parts = parts.into_iter().map(|part| serde_json::from_value(part).unwrap()).collect();
        let finish = FinishRun {
            run_id: format!("r-{key}"),
            epoch,
            status: Outcome::Done,
            reason: EndReason::Done,
            message: UiMessage { parts, ..answer },
            usage: None,
            error: None,
            now: now_millis(),
            title: None,
            audit: Vec::new(),
            steps: Vec::new(),
        };
        store.finish_run(finish).await.unwrap();
        (told, key)
    }

    /// Asks the memory of an agent at the beginning of a run.
    async fn begin_run(&self, user: &str, conversation: &str, agent: &str) -> SourceTools {
        let options = self.memory.agent(agent).unwrap();
        let scope = RunScope {
            user_id: user.to_owned(),
            is_authenticated: true,
            conversation_id: conversation.to_owned(),
            agent_id: agent.to_owned(),
            ..RunScope::default()
        };
        MemorySource::new(&self.memory, options, agent).tools(&scope).await.unwrap()
    }

    /// Waits until all conversations were read.
    async fn settle(&self) {
        for _ in 0..3_000 {
            let counts = self.memory.jobs().status().await.unwrap().counts;
            let is_open = |state: JobState| matches!(state, JobState::Waiting | JobState::Running);
            if !counts.iter().any(|count| count.kind == "memory.extract" && is_open(count.state)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the conversations are not read");
    }

    async fn facts(&self, user: &str) -> Vec<Fact> {
        self.memory.load_facts(user).await.unwrap().1
    }

    /// Returns the texts of the facts of a user, sorted.
    async fn texts(&self, user: &str) -> Vec<String> {
        let mut texts: Vec<_> = self.facts(user).await.into_iter().map(|fact| fact.content).collect();
        texts.sort_unstable();
        texts
    }

    async fn close(self) {
        self.workers.shutdown(Duration::from_secs(5)).await;
        self.memory.store().close().await;
    }
}
