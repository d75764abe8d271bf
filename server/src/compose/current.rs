//! What the config describes, as it is now. A changed config is built beside the old one and takes its place in one step; who
//! has begun with the old one ends with it.

use super::agents::ConfiguredAgents;
use super::custom::with_custom_agents;
use super::endpoints::{self, Databases};
use super::history::{ConfigState, History, Read, Status};
use super::mcp::McpServers;
use super::page_tools::PageTools;
use super::pages::Pages;
use super::remote_agents::{self, Remembered};
use super::served::Served;
use crate::Site;
use crate::auth::password::Failures;
use crate::auth::rates::Rates;
use crate::auth::rights::Rights;
use crate::auth::{Authentication, Ground};
use ::endpoints::Endpoints;
use agent::{CircuitFacts, Circuits};
use app::context::PageSource;
use app::texts::Texts;
use arc_swap::ArcSwap;
use chat::{AgentRequest, Agents, Bounds, Caller, Chat, Hooks, Quota, QuotaSpan, Retention, RoutineUse};
use config::Config;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tools::mcp::McpStatus;
use wire::UserError;
use wire::page::Page;

/// The newest good config as things that run.
pub(crate) struct Current {
    things: ArcSwap<Things>,
    ground: Ground,
    site: Site,
    history: Mutex<History>,
    kept: Kept,
    /// One at a time takes the place of what was built before.
    building: tokio::sync::Mutex<()>,
}

/// What is known of the outside, whatever becomes of the config.
#[derive(Default)]
pub(super) struct Kept {
    /// Of models that fail.
    pub(super) circuits: Arc<Circuits>,
    /// Of the tools of remote agents.
    pub(super) remembered: Remembered,
    /// Counts what routines ask of models outside of runs.
    pub(super) counted: RoutineUse,
}

struct Things {
    authentication: Arc<Authentication>,
    rights: Arc<Rights>,
    pages: Arc<Pages>,
    agents: ConfiguredAgents,
    endpoints: Arc<Endpoints>,
    databases: Databases,
    mcp: McpServers,
    served: Option<Arc<Served>>,
    rates: Arc<Rates>,
    /// The words of the UI, where they are not the English ones.
    texts: Option<Texts>,
    /// As it is written.
    written: Arc<Config>,
    /// With the agents that administrators made.
    config: Arc<Config>,
    /// The state of those agents when they were read, see [`Store::custom_agents_state`](store::Store::custom_agents_state).
    custom_agents: (i64, i64),
}

impl Things {
    /// What is open `before` and has the same settings now stays open.
    async fn build(
        written: Arc<Config>,
        ground: &Ground,
        site: Site,
        kept: &Kept,
        before: Option<&Self>,
    ) -> anyhow::Result<Self> {
        // Asked before they are read: what changes meanwhile shows as a change next time.
        let custom_agents = ground.store.custom_agents_state().await?;
        let config = Arc::new(with_custom_agents(Config::clone(&written), &ground.store.custom_agents().await?));
        let authentication = Arc::new(authentication(&config, ground).await?);
        let (no_databases, no_mcp) = (Databases::new(), McpServers::default());
        let databases = before.map_or(&no_databases, |before| &before.databases);
        let databases = endpoints::open_databases(&config, databases).await?;
        let mcp = McpServers::open(&config, before.map_or(&no_mcp, |before| &before.mcp));
        let endpoints = Arc::new(endpoints::build(&config, &databases, &kept.circuits)?);
        let rights = Rights::new(&config);
        let pages = Arc::new(Pages::new(&config, rights.clone()));
        let tools = PageTools::new(&config.pages, site.pages)?;
        let agents = ConfiguredAgents::build(&config, &endpoints, &mcp, pages.clone(), tools, rights.clone(), kept)?;
        let served = |served| Arc::new(Served::new(served, endpoints.clone(), rights.clone(), kept.counted.clone()));
        let served = config.served.as_ref().map(served);
        let rates = Arc::new(Rates::new(&config, before.map(|before| &*before.rates)));
        let texts = config.locale.as_ref().map(Texts::new);
        Ok(Self {
            authentication,
            rights,
            pages,
            agents,
            endpoints,
            databases,
            mcp,
            served,
            rates,
            texts,
            written,
            config,
            custom_agents,
        })
    }
}

impl Current {
    pub(super) async fn new(config: Config, read: Read, ground: Ground, site: Site) -> anyhow::Result<Self> {
        let kept = Kept::default();
        let things = Things::build(Arc::new(config), &ground, site, &kept, None).await?;
        let (things, history) = (ArcSwap::from_pointee(things), Mutex::new(History::begin(read)));
        Ok(Self { things, ground, site, history, kept, building: tokio::sync::Mutex::default() })
    }

    /// Counts what routines ask of models with this chat.
    pub(super) fn count_with(&self, chat: &Chat) {
        self.kept.counted.count_with(chat);
    }

    /// Puts another config in the place of this one, for all that begins from now on.
    ///
    /// # Errors
    /// It cannot be built, a database of it cannot be opened for example; everything stays as it is.
    pub(crate) async fn replace(&self, config: Config, read: Read) -> anyhow::Result<()> {
        let _alone = self.building.lock().await;
        let before = self.things.load_full();
        let things = Things::build(Arc::new(config), &self.ground, self.site, &self.kept, Some(&before)).await?;
        self.things.store(Arc::new(things));
        // A model that failed may be reached in another way now.
        self.kept.circuits.close();
        self.history.lock().replaced(read);
        Ok(())
    }

    /// Whether the agents that administrators made are in use as they are at `state`.
    pub(crate) fn has_custom_agents_of(&self, state: (i64, i64)) -> bool {
        self.things.load().custom_agents == state
    }

    /// Takes over what administrators have changed about their agents.
    ///
    /// # Errors
    /// As [`Current::replace`].
    pub(crate) async fn refresh(&self) -> anyhow::Result<()> {
        let _alone = self.building.lock().await;
        let before = self.things.load_full();
        let things = Things::build(before.written.clone(), &self.ground, self.site, &self.kept, Some(&before)).await?;
        self.things.store(Arc::new(things));
        Ok(())
    }

    /// The text is wrong, and the config stays as it is.
    pub(crate) fn keep(&self, read: &Read, problems: &str) {
        self.history.lock().refused(read, problems);
    }

    /// What open pages are told; what is wrong with the config only `with_problems`.
    pub(crate) fn status(&self, with_problems: bool) -> Status {
        let status = self.history.lock().status();
        if with_problems { status } else { status.for_all() }
    }

    /// The version of a page as it is shown to the caller: of its definition, in which agents are resolved, and of the words of
    /// the UI. None where they may not open it.
    pub(crate) fn page_version(&self, caller: &Caller, id: Option<&str>) -> Option<String> {
        let things = self.things.load();
        let page = serde_json::to_string(&*things.pages.page(caller, id).ok()?).ok()?;
        let mut hasher = DefaultHasher::new();
        page.hash(&mut hasher);
        serde_json::to_string(&things.config.locale).ok()?.hash(&mut hasher);
        Some(format!("{:016x}", hasher.finish()))
    }

    /// What administrators are told.
    pub(crate) fn state(&self) -> ConfigState {
        self.history.lock().state()
    }

    /// The config itself. It holds secrets, which nobody is shown.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.things.load().config.clone()
    }

    /// How often users and addresses may ask.
    pub(crate) fn rates(&self) -> Arc<Rates> {
        self.things.load().rates.clone()
    }

    /// The words of the UI, where they are not the English ones.
    pub(crate) fn texts(&self) -> Option<Texts> {
        self.things.load().texts.clone()
    }

    /// Which models are not asked because they fail.
    pub(crate) fn circuits(&self) -> Vec<CircuitFacts> {
        self.kept.circuits.facts()
    }

    /// How the MCP servers do.
    pub(crate) fn mcp(&self) -> Vec<McpStatus> {
        self.things.load().mcp.status()
    }

    /// The failed sign-ins that are not in the audit log yet.
    pub(crate) fn failures(&self) -> Arc<Failures> {
        self.ground.desk.failures.clone()
    }

    /// Shows the operator the token for the first account, if there is none.
    pub(crate) fn announce(&self) {
        if self.authentication().accounts().is_some() {
            self.ground.desk.setup.announce();
        }
    }

    /// How callers are told apart.
    pub(crate) fn authentication(&self) -> Arc<Authentication> {
        self.things.load().authentication.clone()
    }

    /// What other agent platforms may call, if the config lets them.
    pub(crate) fn served(&self) -> Option<Arc<Served>> {
        self.things.load().served.clone()
    }

    /// Runs an endpoint for a page's button or another client, who both call it on a page.
    ///
    /// # Errors
    /// 401 and 404 by the rules of page and endpoint; what the routine says.
    pub(crate) async fn call_endpoint(
        &self,
        caller: &Caller,
        (page_id, id): (&str, &str),
        payload: Value,
    ) -> Result<Value, UserError> {
        let (endpoints, rights) = {
            let things = self.things.load();
            (things.endpoints.clone(), things.rights.clone())
        };
        rights.open_page(caller, page_id)?;
        rights.call_from_outside(caller, id)?;
        let models = self.kept.counted.of(caller, endpoints::caller_of(id));
        endpoints::call(&endpoints, rights.gate(caller), caller, models, id, payload).await
    }

    /// A page on which the caller may ask this agent; none where he may not ask it.
    pub(crate) fn page_for(&self, caller: &Caller, agent_id: &str) -> Option<String> {
        let things = self.things.load();
        things.rights.ask_agent(caller, agent_id).ok()?;
        things.pages.for_agent(caller, agent_id).map(str::to_owned)
    }

    /// Whether the caller may ask this agent on this page.
    ///
    /// # Errors
    /// 401 and 404 by the rules of page and agent.
    pub(crate) fn may_ask(&self, caller: &Caller, page_id: &str, agent_id: &str) -> Result<(), UserError> {
        self.things.load().agents.may_ask(caller, page_id, agent_id)
    }
}

/// Tokens are kept with their users where somebody is asked with them, and nowhere else.
async fn authentication(config: &Config, ground: &Ground) -> anyhow::Result<Authentication> {
    let authentication = Authentication::new(&config.auth, config.embed.as_ref(), ground).await?;
    Ok(authentication.passing_on(remote_agents::pass_tokens_on(config)))
}

/// Who is not signed in has no roles.
fn is_for(quota: &config::Quota, caller: &Caller) -> bool {
    let has_role = || caller.is_authenticated && quota.roles.iter().any(|role| caller.roles.contains(role));
    quota.roles.is_empty() && quota.users.is_empty() || quota.users.contains(&caller.user_id) || has_role()
}

fn of_config(quota: &config::Quota) -> Quota {
    let span = match quota.span {
        config::QuotaSpan::Day => QuotaSpan::Day,
        config::QuotaSpan::Month => QuotaSpan::Month,
    };
    Quota { span, messages: quota.messages, tokens: quota.tokens, cost_usd: quota.cost_usd }
}

/// A user's answers at once, where a config does not say. On one's own machine there is nobody to keep room for.
fn runs_per_user(config: &Config) -> usize {
    let without = if matches!(config.auth.mode, config::AuthMode::Local) { usize::MAX } else { 4 };
    config.limits.runs_per_user.unwrap_or(without)
}

impl Agents for Current {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>> {
        let things = self.things.load_full();
        Box::pin(async move { things.agents.agent(request).await })
    }

    fn hooks(&self, request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        self.things.load().agents.hooks(request)
    }

    fn quotas(&self, caller: &Caller) -> Vec<Quota> {
        let things = self.things.load();
        things.config.quotas.iter().filter(|quota| is_for(quota, caller)).map(of_config).collect()
    }

    fn bounds(&self, _caller: &Caller) -> Bounds {
        let config = self.config();
        Bounds { runs: runs_per_user(&config), text_bytes: config.limits.text_bytes }
    }

    fn retention(&self) -> Retention {
        let kept = self.config().retention.clone();
        Retention {
            conversations: kept.conversations,
            agents: kept.agents.into_iter().collect(),
            keeps_pinned: kept.keeps_pinned,
            temporary: kept.temporary,
            questions: kept.questions,
        }
    }

    fn by_id<'a>(&'a self, caller: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>> {
        let things = self.things.load_full();
        Box::pin(async move { things.agents.by_id(caller, id).await })
    }
}

impl PageSource for Current {
    fn page(&self, caller: &Caller, id: Option<&str>) -> Result<Arc<Page>, UserError> {
        self.things.load().pages.page(caller, id)
    }
}
