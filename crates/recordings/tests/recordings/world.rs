//! A database with the capability, and agents whose runs it records.

use agent::{Agent, Event, EventSink, PendingCall, RunOutcome, SinkClosed, TurnInput, TurnUsage};
use capability::{Capability, Host, Quotes};
use chat::{AgentRequest, Caller};
use config::Config;
use contract::{Message, RunScope, UserPart};
use endpoints::OpenDatabases;
use jobs::Jobs;
use recordings::format::Recording;
use std::sync::Arc;
use std::time::Duration;
use store::sql::{query, query_scalar};
use store::{BeginRunOutcome, CapabilityTables, Schema, Store};
use tokio_util::sync::CancellationToken;
use wire::UiMessage;

static TABLES: [CapabilityTables; 1] = [recordings::TABLES];

/// A database with a capability on it.
pub(crate) struct World {
    pub(crate) store: Store,
    capability: Arc<dyn Capability>,
    config: Config,
}

impl World {
    /// Opens a database; the agent `helper` has this value of `record`.
    pub(crate) async fn open(url: &str, record: &str) -> Self {
        let store = Schema::new(&TABLES).open(url, "", Duration::ZERO).await.unwrap();
        let text = format!(
            "connections: [{{ id: demo, type: Demo }}]\nagents:\n  - id: helper\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n    record: {record}\n"
        );
        let (config, _) = capability::language(&[recordings::DEFINITION]).read_text(&text).unwrap();
        let (jobs, databases) = (Jobs::new(store.clone()), OpenDatabases::default());
        let host = Host {
            store: store.clone(),
            jobs,
            databases,
            quotes: Quotes::default(),
            libraries: Default::default(),
            memories: Default::default(),
            tokens: Default::default(),
            waiting: Default::default(),
            chat_posts: Default::default(),
        };
        let capability = recordings::DEFINITION.start.unwrap()(&host).unwrap();
        Self { store, capability, config }
    }

    pub(crate) async fn in_memory() -> Self {
        Self::open("sqlite::memory:", "on").await
    }

    /// Begins a run of Ada in the store.
    pub(crate) async fn begin(&self, conversation: &str, run: &str) {
        let end = "UPDATE runs SET status = 'done', ended_at = 1, events_until = 0 WHERE status = 'running'";
        self.execute(end).await;
        let head = query_scalar::<String>("SELECT head FROM conversations WHERE id = $1").bind(conversation.to_owned());
        let head =
            self.store.read(move |db| Box::pin(async move { Ok(head.fetch_optional(db).await?) })).await.unwrap();
        let (question, answer) = (format!("q-{run}"), format!("a-{run}"));
        let message = UiMessage::user(question, "hi");
        let begin = test_store::begin_run(conversation, head.as_deref(), message, (&answer, run));
        let begun = self.store.begin_run("ada", begin).await.unwrap();
        assert!(matches!(begun, BeginRunOutcome::Started { .. }));
    }

    pub(crate) async fn execute(&self, statement: &'static str) {
        self.store
            .write(move |db| Box::pin(async move { Ok(query(statement).execute(db).await.map(drop)?) }))
            .await
            .unwrap();
    }

    /// Runs the agent as a run of this conversation; returns its outcome.
    pub(crate) async fn run(&self, agent: &Agent, conversation: &str, run: &str, input: Input) -> RunOutcome {
        let caller = Caller::signed_in("ada");
        let written = &self.config.agents["helper"];
        let request = AgentRequest { conversation_id: conversation, ..AgentRequest::without_page(&caller, "helper") };
        let recorder = self.capability.recorder(&self.config, written, &request);
        let agent = Agent { recorder, ..agent.clone() };
        agent::run(&agent, input.turn(conversation, run), &mut Sink).await
    }

    /// Returns the recording of a run once it is stored.
    pub(crate) async fn recording(&self, run: &str) -> Recording {
        loop {
            if let Some(found) = recordings::find(&self.store, run).await.unwrap().pop() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Runs the agent and returns the recording.
    pub(crate) async fn record(&self, agent: &Agent, run: &str, input: Input) -> (RunOutcome, Recording) {
        self.begin("c", run).await;
        let outcome = self.run(agent, "c", run, input).await;
        (outcome, self.recording(run).await)
    }
}

/// The input of a run.
#[derive(Clone, Default)]
pub(crate) struct Input {
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) pending: Vec<PendingCall>,
    pub(crate) earlier: TurnUsage,
}

impl Input {
    /// A message of the user.
    pub(crate) fn message(text: &str) -> Self {
        let message = Message::User(vec![UserPart::Text { text: text.to_owned() }]);
        Self { messages: vec![Arc::new(message)], ..Self::default() }
    }

    fn turn(self, conversation: &str, run: &str) -> TurnInput {
        TurnInput {
            messages: self.messages,
            pending: self.pending,
            scope: RunScope {
                user_id: "ada".to_owned(),
                conversation_id: conversation.to_owned(),
                run_id: run.to_owned(),
                ..RunScope::default()
            },
            grants: None,
            exposure: agent::ExposureState::default(),
            turn_start: 0,
            context: agent::ContextInput::default(),
            earlier: self.earlier,
            cancel: CancellationToken::new(),
        }
    }
}

/// Drops all events.
struct Sink;

impl EventSink for Sink {
    async fn emit(&mut self, _: Event) -> Result<(), SinkClosed> {
        Ok(())
    }
}
