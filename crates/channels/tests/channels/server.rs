//! A server with the capability.

use agent::{Agent, RunSettings};
use auth::{AuthMethod, Credentials};
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use capability::{
    Capability, Context, CurrentConfig, DraftConfigs, EndpointCall, EndpointFailure, Host, Job, Memories, ModelFailure,
    ModelQuestion, Quotes, RememberFacts, RememberedFact, RememberedFacts, ToolServerStatus,
};
use channels::DEFINITION;
use chat::{AgentRequest, AgentSource, Caller, Chat, Clock, FileLimits, LifecycleEvent, LifecycleObserver, NewUpload};
use config::{Config, ConnectionKind, Language};
use contract::testing::{Cue, RecordingTool, ScriptedModel};
use contract::{Model, Tool, ToolContext, ToolSpec};
use endpoints::OpenDatabases;
use futures::future::{BoxFuture, join_all};
use jobs::{Jobs, Workers};
use operators::Operators;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{CapabilityTables, NewUser, Schema, Store};
use tokio_util::sync::CancellationToken;
use tools::AskUserTool;
use tower::ServiceExt;
use web::RequestContext;
use wire::UserError;
use wire::file::{PRESENTED, PresentedContent, PresentedFile};

const TABLES: &[CapabilityTables] = &[match DEFINITION.tables {
    Some(tables) => tables,
    None => panic!("the capability has tables"),
}];

/// Returns the language of configs.
pub(crate) fn language() -> Language {
    capability::language(&[mail::DEFINITION, DEFINITION])
}

/// A config with this connection to a bot and these channels.
fn config(bot: &str, channels: &str) -> Arc<Config> {
    let auth = if channels.contains("auth:") { "" } else { "auth: { mode: password }\n" };
    let text = format!(
        "{auth}connections:\n\
         - {{ id: demo, type: Demo }}\n\
         - {{ id: bot, {bot} }}\n\
         agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: m }} }}]\n\
         channels: {channels}\n"
    );
    Arc::new(language().read_text(&text).map_err(|problems| config::render(&problems)).unwrap().0)
}

/// The channel of most tests.
pub(crate) const CHANNEL: &str = "[{ id: help, connectionId: bot, agentId: helper, maxWaiting: 3 }]";

struct OneAgent(Arc<Agent>);

impl AgentSource for OneAgent {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        self.by_id(request.caller, request.agent_id)
    }

    fn by_id<'a>(&'a self, _: &'a Caller, _: &'a str) -> BoxFuture<'a, Result<Arc<Agent>, UserError>> {
        Box::pin(async move { Ok(self.0.clone()) })
    }
}

/// The config in use. Users with the role `support` may use the agent.
struct TestConfig(Mutex<Arc<Config>>);

impl CurrentConfig for TestConfig {
    fn config(&self) -> Arc<Config> {
        self.0.lock().unwrap().clone()
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

    fn usable_agents(&self, caller: &Caller) -> Vec<String> {
        if caller.has_role("support") { vec!["helper".to_owned()] } else { Vec::new() }
    }

    fn page_for_agent(&self, _: &Caller, _: &str) -> Option<String> {
        Some("home".to_owned())
    }

    fn tasks_page(&self, _: &Caller) -> Option<String> {
        None
    }

    fn user_tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    fn call_endpoint<'a>(&'a self, _: EndpointCall<'a>) -> BoxFuture<'a, Result<Value, EndpointFailure>> {
        panic!("not used")
    }

    fn model(&self, _: &ConnectionKind, _: &str) -> Option<Arc<dyn Model>> {
        panic!("not used")
    }

    fn ask_model<'a>(&'a self, _: ModelQuestion<'a>) -> BoxFuture<'a, Result<Value, ModelFailure>> {
        panic!("not used")
    }
}

/// Runs a test with an empty database of each kind, with all of them at once: most of the time, a test waits because a
/// messenger takes about one message a second.
pub(crate) async fn on_each_database(test: impl AsyncFn(String)) {
    let databases = test_postgres::databases_of_each_kind().await;
    join_all(databases.into_iter().map(|database| test(database))).await;
}

/// The memory about `ada`: facts by id, and whether memory is on.
#[derive(Default)]
pub(crate) struct TestMemory(pub(crate) Mutex<(BTreeMap<String, String>, bool)>);

impl RememberFacts for TestMemory {
    fn known<'a>(&'a self, user: &'a str, agent: &'a str) -> BoxFuture<'a, Result<Option<RememberedFacts>, UserError>> {
        assert_eq!((user, agent), ("ada", "helper"));
        let (facts, is_on) = self.0.lock().unwrap().clone();
        let facts = facts.into_iter().map(|(id, content)| RememberedFact { id, content }).collect();
        Box::pin(async move { Ok(Some(RememberedFacts { is_on, facts, page: "/account/memory" })) })
    }

    fn forget<'a>(&'a self, _: &'a str, id: &'a str) -> BoxFuture<'a, Result<(), UserError>> {
        let gone = self.0.lock().unwrap().0.remove(id);
        Box::pin(async move { gone.map(drop).ok_or_else(UserError::not_found) })
    }

    fn set_enabled<'a>(&'a self, _: &'a str, is_enabled: bool) -> BoxFuture<'a, Result<(), UserError>> {
        self.0.lock().unwrap().1 = is_enabled;
        Box::pin(async { Ok(()) })
    }
}

/// Tells the capability of what happens to conversations.
struct Observer(Arc<dyn Capability>);

impl LifecycleObserver for Observer {
    fn observe(&self, event: &LifecycleEvent) {
        self.0.observe(event);
    }
}

/// A server.
pub(crate) struct TestServer {
    pub(crate) chat: Chat,
    pub(crate) memory: Arc<TestMemory>,
    pub(crate) store: Store,
    /// The arguments of the calls of the tool `act`.
    pub(crate) effects: Arc<Mutex<Vec<Value>>>,
    /// The files that the tool `present` shows.
    pub(crate) presented: Arc<Mutex<Vec<PresentedContent>>>,
    capability: Arc<dyn Capability>,
    current: Arc<TestConfig>,
    context: Context,
    workers: Workers,
    stop: CancellationToken,
}

impl TestServer {
    /// Starts a server with the channel [`CHANNEL`] to this bot.
    pub(crate) async fn start(database: &str, bot: &str, replies: Vec<Vec<Cue>>) -> Self {
        Self::start_with(database, config(bot, CHANNEL), replies).await
    }

    /// Starts a server with these channels to this bot.
    pub(crate) async fn start_with_channels(database: &str, bot: &str, channels: &str, replies: Vec<Vec<Cue>>) -> Self {
        Self::start_with(database, config(bot, channels), replies).await
    }

    async fn start_with(database: &str, config: Arc<Config>, replies: Vec<Vec<Cue>>) -> Self {
        let store = Schema::new(TABLES).open(database, "", Duration::ZERO).await.unwrap();
        let spec = ToolSpec { needs_approval: true, ..ToolSpec::new("act", "", json!({ "type": "object" })) };
        let act = RecordingTool::new(spec, |input: Value, _| async move { Ok(json!({ "did": input })) });
        let effects = act.inputs();
        let presented: Arc<Mutex<Vec<PresentedContent>>> = Arc::default();
        let shown = presented.clone();
        let present = RecordingTool::new(
            ToolSpec::new("present", "", json!({ "type": "object" })),
            move |_, context: ToolContext| {
                let files = std::mem::take(&mut *shown.lock().unwrap());
                async move {
                    let name = PRESENTED.strip_prefix("data-").unwrap();
                    context.reports.add_data(name, Some(context.call_id.clone()), json!({ "files": files })).await;
                    Ok(json!("Presented."))
                }
            },
        );
        let agent = Agent {
            tools: vec![Arc::new(act) as Arc<dyn Tool>, Arc::new(present), Arc::new(AskUserTool::default())],
            settings: RunSettings { max_retries: 0, max_steps: 3, ..RunSettings::default() },
            ..Agent::new("helper", Arc::new(ScriptedModel::new(replies)))
        };
        let jobs = Jobs::new(store.clone());
        let workers = Workers::new(jobs.clone());
        let agents = Arc::new(OneAgent(Arc::new(agent)));
        let chat = Chat::open_with_workers(Clock::default(), workers.clone(), agents, 8).await.unwrap();
        let current = Arc::new(TestConfig(Mutex::new(config.clone())));
        let context = Context { store: store.clone(), chat: chat.clone(), current: current.clone() };
        let databases = OpenDatabases::default();
        let (memory, memories) = (Arc::new(TestMemory::default()), Memories::default());
        memories.provide(memory.clone());
        let host = Host {
            store: store.clone(),
            jobs,
            databases,
            quotes: Quotes::default(),
            libraries: Default::default(),
            memories,
            tokens: Default::default(),
            waiting: Default::default(),
            chat_posts: Default::default(),
        };
        let capability = (DEFINITION.start.unwrap())(&host).unwrap();
        capability.config_changed(&config);
        chat.set_observer(Arc::new(Observer(capability.clone())));
        let stop = CancellationToken::new();
        for job in capability.jobs(&context) {
            match job {
                Job::Queued(handler) => workers.add(handler),
                Job::OnEachServer(repeated) => drop(tokio::spawn(repeated.repeat(stop.clone()))),
            }
        }
        Self { chat, memory, store, effects, presented, capability, current, context, workers, stop }
    }

    /// Adds a user with this role.
    pub(crate) async fn add_user(&self, id: &str, role: &str) {
        let user = NewUser {
            id: id.to_owned(),
            name: id.to_owned(),
            name_key: id.to_owned(),
            password: String::new(),
            must_change_password: false,
            roles: vec![role.to_owned()],
            now: 1,
        };
        self.store.add_user(user, false, None).await.unwrap();
    }

    /// Replaces the channels of the config.
    pub(crate) fn configure(&self, bot: &str, channels: &str) {
        let config = config(bot, channels);
        *self.current.0.lock().unwrap() = config.clone();
        self.capability.config_changed(&config);
    }

    /// Asks for a page of a user; returns the status and the text.
    pub(crate) async fn page(
        &self,
        user: &str,
        role: &str,
        method: &str,
        path: &str,
        auth_method: AuthMethod,
    ) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let credentials = Credentials::from_request(&request);
        request.extensions_mut().insert(RequestContext {
            credentials,
            auth_method,
            is_https: false,
            address: None,
            audit_address: None,
            has_sign_in: true,
        });
        let caller = Caller::signed_in(user).with_name(Some(user.to_owned())).with_roles(vec![role.to_owned()]);
        let routes = self.capability.routes(&self.context).unwrap().mount(&mut Vec::new()).layer(Extension(caller));
        let response = routes.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap())
    }

    /// Sends a request to the route for events of messengers; returns the status and the body.
    pub(crate) async fn deliver(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut request = Request::builder().method("POST").uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let routes = self.capability.sender_routes(&self.context).unwrap().mount(&mut Vec::new());
        let response = routes.oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap())
    }

    /// Makes a code on the page, and returns it.
    pub(crate) async fn code(&self, user: &str) -> String {
        let (status, page) =
            self.page(user, "support", "POST", "/account/messengers/help/code", AuthMethod::Primary).await;
        assert_eq!(status, 200, "{page}");
        let shown =
            ["/start ", "!link ", "/link ", "value=\"link "].iter().find_map(|before| page.split(before).nth(1));
        let code = shown.unwrap();
        code.chars().take_while(char::is_ascii_hexdigit).collect()
    }

    /// Stores a file of `ada`, which the next call of `present` shows.
    pub(crate) async fn add_file(&self, name: &str, content: Vec<u8>) {
        let limits = FileLimits { file: 1 << 30, user: 1 << 30 };
        let length = Some(content.len() as u64);
        let bytes = futures::stream::iter([Ok::<_, std::convert::Infallible>(content.into())]);
        let upload = NewUpload { name: name.to_owned(), length, bytes };
        let stored = self.chat.store_file(&Caller::signed_in("ada"), limits, upload).await.unwrap();
        let file = PresentedFile {
            path: format!("/outputs/{name}"),
            version: 1,
            url: "/api/conversations/c/files/1".to_owned(),
            media_type: stored.media_type,
            size: stored.size,
        };
        self.presented.lock().unwrap().push(PresentedContent { file, file_id: Some(stored.id) });
    }

    /// Stops it, as a server that is shut down.
    pub(crate) async fn shutdown(self) {
        self.end_jobs(Duration::from_secs(5)).await;
        self.store.close().await;
    }

    /// Begins to stop it: its jobs get `patience` to end.
    pub(crate) async fn end_jobs(&self, patience: Duration) {
        self.stop.cancel();
        self.workers.shutdown(patience).await;
    }
}

/// Waits at most a minute until the condition holds. `seen` says what there is instead, if it never does.
pub(crate) async fn until(what: &str, is_met: impl Fn() -> bool, seen: impl Fn() -> String) {
    let wait = async {
        while !is_met() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let met = tokio::time::timeout(Duration::from_secs(60), wait).await;
    assert!(met.is_ok(), "{what}: {}", seen());
}
