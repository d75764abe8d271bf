//! The current config as running objects. A changed config is built beside the old one and replaces
//! it atomically; requests that began with the old one finish with it.

mod previews;
mod snapshot;

use super::endpoints;
use super::history::{ConfigHistory, ConfigStatus, LoadSummary};
use super::models::list::{self as model_list, ModelList};
use super::models::{ModelBuilder, background};
use super::retained::RetainedState;
use super::served_agent::ServedTools;
use super::user_tokens::SignInTokensOf;
use crate::Site;
use crate::capabilities::definitions;
use ::endpoints::OpenDatabases;
use agent::CircuitStatus;
use app::context::PageSource;
use app::texts::Texts;
use arc_swap::ArcSwap;
use auth::password::FailedAttempts;
use auth::rates::RateLimits;
use auth::{AuthState, Authentication};
use capability::{
    Capabilities, EndpointCall, EndpointFailure, Host, ModelFailure, ModelQuestion, Quotes, StoredAdditions, Written,
};
use chat::{
    AgentRequest, AgentSource, Caller, Chat, Hooks, InvocationTiers, Quota, Retention, RoutineMeters, SelectableModel,
    SubmissionLimits, TitleAgent,
};
use config::Config;
use futures::future::BoxFuture;
use jobs::Jobs;
use parking_lot::Mutex;
use previews::Previews;
use serde_json::Value;
use snapshot::Snapshot;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::sync::Arc;
use wire::UserError;
use wire::page::{Page, PageLink};

/// The newest valid config as running objects.
pub(crate) struct CurrentConfig {
    snapshot: ArcSwap<Snapshot>,
    auth_state: AuthState,
    site: Site,
    history: Mutex<ConfigHistory>,
    retained: RetainedState,
    /// Serializes rebuilds, since each one takes over parts of the one before.
    build_lock: tokio::sync::Mutex<()>,
    /// The configs that administrators try.
    previews: Previews,
}

impl CurrentConfig {
    pub(super) async fn new(
        config: Config,
        read: LoadSummary,
        auth_state: AuthState,
        jobs: Jobs,
        site: Site,
    ) -> anyhow::Result<Self> {
        let open_databases = OpenDatabases::default();
        let (store, databases) = (auth_state.store.clone(), open_databases.clone());
        let host = Host {
            store,
            jobs,
            databases,
            quotes: Quotes::default(),
            libraries: Default::default(),
            memories: Default::default(),
            tokens: Default::default(),
            waiting: Default::default(),
            chat_posts: Default::default(),
        };
        let capabilities = Capabilities::start(definitions(), &host)?;
        let models = ModelBuilder { circuits: Arc::default(), capabilities: capabilities.clone() };
        auth_state.sign_in.tokens.set(Arc::new(SignInTokensOf(host.tokens.clone())));
        let (tokens, meters) = (host.tokens, RoutineMeters::default());
        let kept = RetainedState { models, capabilities, meters, open_databases, tokens };
        let config = Arc::new(config);
        let snapshot = match Snapshot::build(config.clone(), Written::WithOverlay, &auth_state, site, &kept, None).await
        {
            Ok(snapshot) => snapshot,
            // Changes that administrators have published never keep the server from starting.
            Err(error) => {
                let files_alone = |config| Written::FilesAlone(config, error.to_string());
                Snapshot::build(config, files_alone, &auth_state, site, &kept, None).await?
            }
        };
        kept.open_databases.replace(endpoints::connections(&snapshot.databases));
        kept.capabilities.config_changed(&snapshot.config);
        let (snapshot, history) = (ArcSwap::from_pointee(snapshot), Mutex::new(ConfigHistory::new(read)));
        Ok(Self {
            snapshot,
            auth_state,
            site,
            history,
            retained: kept,
            build_lock: tokio::sync::Mutex::default(),
            previews: Previews::default(),
        })
    }

    /// Records the model requests of routines with this chat.
    pub(super) fn meter_with(&self, chat: &Chat) {
        self.retained.meters.set_chat(chat);
    }

    /// Replaces the config for all new requests.
    ///
    /// # Errors
    /// The new config cannot be built, for example because a database cannot be opened. The old one
    /// stays in use.
    pub(crate) async fn replace(&self, config: Config, read: LoadSummary) -> anyhow::Result<()> {
        let _alone = self.build_lock.lock().await;
        let before = self.snapshot.load_full();
        let snapshot = self.build(Arc::new(config), Written::WithOverlay, &before).await?;
        self.use_snapshot(snapshot);
        self.previews.clear();
        // The new config may reach a failed model in another way.
        self.retained.models.circuits.close();
        self.history.lock().record_replaced(read);
        Ok(())
    }

    async fn build(
        &self,
        source: Arc<Config>,
        written: impl FnOnce(Config) -> Written,
        before: &Snapshot,
    ) -> anyhow::Result<Snapshot> {
        Snapshot::build(source, written, &self.auth_state, self.site, &self.retained, Some(before)).await
    }

    /// Returns the config of the caller's requests: the one that they try, or the one in use.
    fn snapshot_of(&self, caller: &Caller) -> Arc<Snapshot> {
        self.previews.get(caller).unwrap_or_else(|| self.snapshot.load_full())
    }

    fn use_snapshot(&self, snapshot: Snapshot) {
        let config = snapshot.config.clone();
        self.retained.open_databases.replace(endpoints::connections(&snapshot.databases));
        self.snapshot.store(Arc::new(snapshot));
        self.retained.capabilities.config_changed(&config);
    }

    /// Returns whether these additions are the ones in use.
    pub(crate) fn has_additions(&self, additions: &StoredAdditions) -> bool {
        self.snapshot.load().additions == *additions
    }

    /// Loads the stored additions to the config again.
    ///
    /// # Errors
    /// The errors of [`CurrentConfig::replace`].
    pub(crate) async fn refresh_additions(&self) -> anyhow::Result<()> {
        let _alone = self.build_lock.lock().await;
        let before = self.snapshot.load_full();
        let snapshot = self.build(before.source_config.clone(), Written::WithOverlay, &before).await?;
        self.use_snapshot(snapshot);
        Ok(())
    }

    /// Records that a changed config is invalid; the config in use stays.
    pub(crate) fn record_rejected(&self, read: &LoadSummary, problems: &str) {
        self.history.lock().record_rejected(read, problems);
    }

    /// Returns the config status for open pages. The config's problems are included only
    /// `with_problems`.
    pub(crate) fn status(&self, with_problems: bool) -> ConfigStatus {
        let status = self.history.lock().status();
        if with_problems { status } else { status.without_problems() }
    }

    /// Returns a hash of what a page shows to the caller: its definition with resolved agents, and
    /// the UI texts. `None` if the caller may not open the page.
    pub(crate) fn page_version(&self, caller: &Caller, id: Option<&str>) -> Option<String> {
        let snapshot = self.snapshot_of(caller);
        let page = serde_json::to_string(&*snapshot.pages.page(caller, id).ok()?).ok()?;
        let mut hasher = DefaultHasher::new();
        page.hash(&mut hasher);
        serde_json::to_string(&snapshot.config.locale).ok()?.hash(&mut hasher);
        Some(format!("{:016x}", hasher.finish()))
    }

    /// Returns the config status for administrators.
    pub(crate) fn state(&self) -> admin_console::ConfigState {
        self.history.lock().state()
    }

    /// Returns the config itself. It contains secrets and must not be shown.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.snapshot.load().config.clone()
    }

    /// Returns the rate limits.
    pub(crate) fn rates(&self) -> Arc<RateLimits> {
        self.snapshot.load().rates.clone()
    }

    /// Returns the UI texts, if they are not the English ones.
    pub(crate) fn texts(&self) -> Option<Texts> {
        self.snapshot.load().texts.clone()
    }

    /// Returns the state of the models' circuit breakers.
    pub(crate) fn circuits(&self) -> Vec<CircuitStatus> {
        self.retained.models.circuits.statuses()
    }

    /// Returns the capabilities of this server.
    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.retained.capabilities
    }

    /// Returns the failed sign-ins that are not in the audit log yet.
    pub(crate) fn failed_attempts(&self) -> Arc<FailedAttempts> {
        self.auth_state.sign_in.failures.clone()
    }

    /// Prints where the owner of a local server finds the first steps, as long as only the demo model answers.
    pub(crate) fn announce_first_steps(&self) {
        let config = self.config();
        if matches!(config.auth.mode, config::AuthMode::Local) && !config.has_model_provider() {
            let hint = format!("only the built-in demo model answers: add a model at {}", web::admin::START_PATH);
            // A program that started the server may read no more than the address.
            let _ = writeln!(std::io::stdout(), "{hint}");
        }
    }

    /// Prints the token for creating the first account, if there is no account.
    pub(crate) fn announce_setup(&self) {
        if self.authentication().accounts().is_some() {
            self.auth_state.sign_in.setup.print_once();
        }
    }

    /// Returns the authentication of callers.
    pub(crate) fn authentication(&self) -> Arc<Authentication> {
        self.snapshot.load().authentication.clone()
    }

    /// Returns the tools for other agent platforms, if the config serves any.
    pub(crate) fn served_agent(&self) -> Option<Arc<ServedTools>> {
        self.snapshot.load().served.clone()
    }

    /// Runs an endpoint on a page, for a button of the page or for another client.
    ///
    /// # Errors
    /// 401 and 404 by the access rules of page and endpoint; errors of the routine.
    pub(crate) async fn call_endpoint(
        &self,
        caller: &Caller,
        (page_id, id): (&str, &str),
        payload: Value,
    ) -> Result<Value, UserError> {
        let (endpoints, rights) = {
            let snapshot = self.snapshot_of(caller);
            (snapshot.endpoints.clone(), snapshot.rights.clone())
        };
        rights.check_page(caller, page_id)?;
        rights.check_external_call(caller, id)?;
        let models = self.retained.meters.meter(caller, endpoints::usage_caller(id));
        endpoints::call(&endpoints, rights.gate(caller), caller, models, id, payload).await
    }

    /// Runs an endpoint for a capability; the caller's rights apply.
    pub(crate) async fn call_endpoint_inside(&self, call: EndpointCall<'_>) -> Result<Value, EndpointFailure> {
        let (endpoints, rights) = {
            let snapshot = self.snapshot_of(call.caller);
            (snapshot.endpoints.clone(), snapshot.rights.clone())
        };
        let gate = rights.gate(call.caller);
        endpoints::call_for_capability(&endpoints, gate, &self.retained.meters, call).await
    }

    /// Asks a model for a capability, in the background.
    pub(crate) async fn ask_model(&self, question: ModelQuestion<'_>) -> Result<Value, ModelFailure> {
        background::ask(&self.config(), &self.retained, question).await
    }

    /// Returns a page on which the caller may use this agent, if there is one.
    pub(crate) fn page_for_agent(&self, caller: &Caller, agent_id: &str) -> Option<String> {
        let snapshot = self.snapshot_of(caller);
        snapshot.rights.check_agent(caller, agent_id).ok()?;
        snapshot.pages.for_agent(caller, agent_id).map(str::to_owned)
    }

    /// Returns the ids of the agents that the caller may use, in the order of the config.
    pub(crate) fn usable_agents(&self, caller: &Caller) -> Vec<String> {
        let snapshot = self.snapshot_of(caller);
        let may_use = |id: &&String| {
            // There is no page, so a token that is limited to one is not valid.
            let claims = caller.check_page("").and(caller.check_agent(id));
            claims.and(snapshot.rights.check_agent(caller, id)).is_ok()
        };
        snapshot.config.agents.keys().filter(may_use).cloned().collect()
    }

    /// Returns the models of the agents that the caller may use.
    pub(crate) fn models(&self, caller: &Caller) -> ModelList {
        let snapshot = self.snapshot_of(caller);
        model_list::models(&snapshot.config, &snapshot.rights, caller)
    }

    /// Checks that the caller may use this agent on this page.
    ///
    /// # Errors
    /// 401 and 404 by the access rules of page and agent.
    pub(crate) fn check_agent_on_page(&self, caller: &Caller, page_id: &str, agent_id: &str) -> Result<(), UserError> {
        self.snapshot_of(caller).agents.check_agent_on_page(caller, page_id, agent_id)
    }
}

/// Returns the limit on a user's concurrent runs. The default is unlimited in the mode `local`,
/// which has only one user.
fn runs_per_user(config: &Config) -> usize {
    let without = if matches!(config.auth.mode, config::AuthMode::Local) { usize::MAX } else { 4 };
    config.limits.runs_per_user.unwrap_or(without)
}

impl AgentSource for CurrentConfig {
    fn agent<'a>(&'a self, request: &'a AgentRequest<'a>) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>> {
        let snapshot = self.snapshot_of(request.caller);
        Box::pin(async move { snapshot.agents.agent(request).await })
    }

    fn hooks(&self, request: &AgentRequest<'_>) -> Option<Arc<dyn Hooks>> {
        self.snapshot_of(request.caller).agents.hooks(request)
    }

    fn offers_delegation(&self, agent_id: &str) -> bool {
        let delegation = self.config().agents.get(agent_id).and_then(|agent| agent.delegation);
        delegation.is_some_and(|delegation| delegation.is_optional)
    }

    fn models(&self, agent_id: &str) -> Vec<SelectableModel> {
        self.snapshot.load().agents.models(agent_id)
    }

    fn title_agent(&self, request: &AgentRequest<'_>, agent: &agent::Agent) -> Option<TitleAgent> {
        self.snapshot_of(request.caller).agents.title_agent(request, agent)
    }

    fn quotas(&self, caller: &Caller) -> Vec<Quota> {
        let (roles, snapshot) = (caller.roles(), self.snapshot.load());
        let general = snapshot.config.quotas.iter().filter(|quota| quota.applies_to(&caller.user_id, roles)).cloned();
        general.chain(workflows::trigger_quotas(&snapshot.config, &caller.user_id)).collect()
    }

    fn submission_limits(&self, _caller: &Caller) -> SubmissionLimits {
        let config = self.config();
        SubmissionLimits { runs: runs_per_user(&config), text_bytes: config.limits.text_bytes }
    }

    fn invocation_tiers(&self) -> InvocationTiers {
        self.config().limits.invocation_tiers
    }

    fn retention(&self) -> Retention {
        self.config().retention.clone()
    }

    fn by_id<'a>(&'a self, caller: &'a Caller, id: &'a str) -> BoxFuture<'a, Result<Arc<agent::Agent>, UserError>> {
        let snapshot = self.snapshot_of(caller);
        Box::pin(async move { snapshot.agents.by_id(caller, id).await })
    }
}

impl PageSource for CurrentConfig {
    fn page(&self, caller: &Caller, id: Option<&str>) -> Result<Arc<Page>, UserError> {
        self.snapshot_of(caller).pages.page(caller, id)
    }

    fn tasks_page(&self, caller: &Caller) -> Option<String> {
        self.snapshot_of(caller).pages.with_tasks(caller)
    }

    fn links(&self, caller: &Caller) -> Vec<PageLink> {
        self.snapshot_of(caller).pages.links(caller)
    }
}
