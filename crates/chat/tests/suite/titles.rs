//! Titles of new conversations that a model generates.

use agent::{Agent, RunSettings};
use chat::{AgentRequest, AgentSource, Caller, Chat, HookEvent, Hooks, TextOrigin, TitleAgent};
use contract::testing::{Cue, ScriptedModel, model_error, text_reply};
use contract::{FinishReason, Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Price, Request, Usage};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::Store;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wire::api::{SendRequest, Submission};
use wire::organize::ConversationChange;
use wire::{DataChunk, UiMessage, UserError};

struct Named {
    answers: Arc<Agent>,
    names: Arc<Gated>,
    /// The title that a hook gives.
    by_hook: Option<&'static str>,
}

/// A model that waits until it may answer.
struct Gated {
    model: Arc<ScriptedModel>,
    is_closed: Arc<AtomicBool>,
    opened: Arc<Notify>,
}

impl Model for Gated {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        Box::pin(async move {
            if self.is_closed.load(Ordering::Relaxed) {
                self.opened.notified().await;
            }
            self.model.stream(request, cancel).await
        })
    }
}

fn agent(model: Arc<dyn Model>) -> Agent {
    let price = Price { input: 10.0, output: 20.0, cache_read: Some(1.0), cache_write: None };
    let prices = [(model.id().model.clone(), price)].into();
    Agent { settings: RunSettings { max_retries: 0, prices, ..RunSettings::default() }, ..Agent::new("helper", model) }
}

impl AgentSource for Named {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        self.by_id(request.caller, request.agent_id)
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.answers.clone()) })
    }

    fn title_agent(&self, _: &AgentRequest<'_>, _: &Agent) -> Option<TitleAgent> {
        Some(TitleAgent { agent: agent(self.names.clone()), max_words: 4, max_chars: 60, is_for_users: true })
    }

    fn hooks(&self, _: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        self.by_hook.map(|title| Arc::new(Naming(title)) as Arc<dyn Hooks>)
    }
}

struct Naming(&'static str);

impl Hooks for Naming {
    fn wants(&self, hook: HookEvent) -> bool {
        hook == HookEvent::Finish
    }

    fn notify(&self, _: HookEvent, _: Map<String, Value>) {}

    fn finish(&self, _: Map<String, Value>, _: CancellationToken) -> BoxFuture<'_, Vec<DataChunk>> {
        let data = json!({ "title": self.0 });
        Box::pin(async move { vec![DataChunk { kind: "data-chat-title".to_owned(), id: None, data, transient: None }] })
    }
}

struct TestChat {
    chat: Chat,
    names: Arc<ScriptedModel>,
    /// Whether the title has to wait until it is `opened`.
    gate: Arc<AtomicBool>,
    opened: Arc<Notify>,
    _folder: TempDir,
}

impl TestChat {
    async fn open(title: Vec<Cue>, by_hook: Option<&'static str>) -> Self {
        let folder = TempDir::new().unwrap();
        let names = Arc::new(ScriptedModel::new(vec![title]));
        let answers = Arc::new(agent(Arc::new(ScriptedModel::new(vec![text_reply("Yes."), text_reply("No.")]))));
        let store = Store::open(&test_postgres::database_for(folder.path()).await).await.unwrap();
        let (gate, opened) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let gated = Gated { model: names.clone(), is_closed: gate.clone(), opened: opened.clone() };
        let agents = Named { answers, names: Arc::new(gated), by_hook };
        let chat = Chat::open(store, Arc::new(agents), 8).await.unwrap();
        Self { chat, names, gate, opened, _folder: folder }
    }

    /// Sends a message and returns the title that the stream has.
    async fn say(&self, id: &str, text: &str) -> Option<String> {
        self.send(UiMessage::user(id, text)).await
    }

    async fn send(&self, message: UiMessage) -> Option<String> {
        let request = SendRequest {
            page_id: "p".to_owned(),
            block_id: None,
            agent_id: "helper".to_owned(),
            conversation_id: "c1".to_owned(),
            submission: Submission::Message { message, replaces: None, history: Vec::new() },
            shared_state: Map::new(),
            url_query: Map::new(),
            switches: Map::new(),
            options: Default::default(),
        };
        let frames = self.chat.send(&ada(), request).await.unwrap().frames;
        let all = String::from_utf8(frames.collect::<Vec<_>>().await.concat()).unwrap();
        let chunks = all.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        let mut titles = chunks.filter(|chunk| chunk["type"] == "data-chat-title");
        titles.next().map(|chunk| chunk["data"]["title"].as_str().unwrap().to_owned())
    }

    async fn title(&self) -> String {
        self.chat.conversation(&ada(), "c1").await.unwrap().summary.title
    }

    /// Waits until the conversation has this title.
    async fn expect_title(&self, expected: &str) {
        tokio::time::timeout(Duration::from_secs(60), async {
            while self.title().await != expected {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .expect("it gets the title");
    }
}

fn ada() -> Caller {
    Caller::signed_in("ada")
}

/// The first message names the conversation, later ones do not.
#[tokio::test]
async fn new_conversation_is_named_by_a_model() {
    let test = TestChat::open(text_reply("\"Refund of an order\""), None).await;
    assert_eq!(test.say("m1", "Hello, may I send it back?").await.as_deref(), Some("Refund of an order"));
    assert_eq!(test.title().await, "Refund of an order");
    let request = &test.names.requests()[0];
    assert!(format!("{:?}", request.messages).contains("may I send it back?"));
    assert_eq!(test.say("m2", "And then?").await, None);
    assert_eq!((test.names.requests().len(), test.title().await.as_str()), (1, "Refund of an order"));
    let usage = test.chat.usage(&ada(), "c1").await.unwrap();
    let calls: Vec<_> = usage.steps.iter().map(|step| step.call_id.as_deref()).collect();
    assert_eq!((usage.total.steps, calls.contains(&Some("generateTitle"))), (3, true));
}

#[tokio::test]
async fn what_the_cache_has_saved_is_recorded() {
    let mut title = text_reply("Refund");
    title.pop();
    let usage = Usage { input_tokens: 2_000, cache_read_tokens: 1_500, output_tokens: 5, ..Usage::default() };
    let (reason, raw_reason, metadata) = (FinishReason::Stop, None, None);
    title.push(Cue::Part(Part::Finish { reason, raw_reason, usage, metadata }));
    let test = TestChat::open(title, None).await;
    test.say("m1", "May I send it back?").await;
    test.expect_title("Refund").await;
    let usage = test.chat.usage(&ada(), "c1").await.unwrap();
    let saved: Vec<_> = usage.steps.iter().map(|step| (step.call_id.is_some(), step.saved_usd)).collect();
    // 1,500 tokens for 1 instead of 10 dollars a million; the answer reads nothing from the cache.
    assert!(saved.contains(&(true, Some(0.0135))) && saved.contains(&(false, Some(0.0))), "{saved:?}");
    assert_eq!(usage.total.saved_usd, Some(0.0135));
}

/// Where the config says nothing, what programs begin costs no further request.
#[tokio::test]
async fn conversations_of_programs_are_named_only_on_demand() {
    let check = async |origin: TextOrigin, expected: &str| {
        let test = TestChat::open(text_reply("Refund of an order"), None).await;
        test.send(origin.mark(UiMessage::user("m1", "May I send it back?"))).await;
        assert_eq!(test.title().await, expected, "{origin:?}");
        assert_eq!(test.names.requests().is_empty(), origin == TextOrigin::Program);
    };
    check(TextOrigin::Program, "May I send it back?").await;
    check(TextOrigin::Page, "Refund of an order").await;
    check(TextOrigin::User, "Refund of an order").await;
}

/// Without a usable title the first words stay.
#[tokio::test]
async fn failed_title_leaves_the_first_words() {
    let test = TestChat::open(vec![Cue::Fail(model_error(ModelErrorKind::Unavailable))], None).await;
    assert_eq!(test.say("m1", "May I send it back?").await, None);
    assert_eq!(test.title().await, "May I send it back?");
}

#[tokio::test]
async fn title_of_a_hook_takes_precedence() {
    let test = TestChat::open(text_reply("Refund of an order"), Some("By hook")).await;
    assert_eq!(test.say("m1", "May I send it back?").await.as_deref(), Some("By hook"));
    assert_eq!(test.title().await, "By hook");
}

/// The answer does not wait for a slow title, which is stored when it is there.
#[tokio::test]
async fn answer_does_not_wait_for_its_title() {
    let test = TestChat::open(text_reply("Refund of an order"), None).await;
    test.gate.store(true, Ordering::Relaxed);
    assert_eq!(test.say("m1", "May I send it back?").await, None);
    assert_eq!(test.title().await, "May I send it back?");
    test.gate.store(false, Ordering::Relaxed);
    test.opened.notify_one();
    test.expect_title("Refund of an order").await;
}

/// A title that the user gave meanwhile stays.
#[tokio::test]
async fn late_title_does_not_replace_the_users() {
    let test = TestChat::open(text_reply("Refund of an order"), None).await;
    test.gate.store(true, Ordering::Relaxed);
    test.say("m1", "May I send it back?").await;
    let named = ConversationChange { title: Some("Mine".to_owned()), ..ConversationChange::default() };
    test.chat.change(&ada(), vec!["c1".to_owned()], named).await.unwrap();
    test.opened.notify_one();
    // The title is generated before the chat has shut down.
    test.chat.drain(Duration::from_secs(20)).await;
    assert_eq!((test.names.requests().len(), test.title().await.as_str()), (1, "Mine"));
}
