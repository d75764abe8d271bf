//! One config as running objects.

use crate::Site;
use crate::capabilities::{config_language, definitions};
use crate::compose::agents::ConfiguredAgents;
use crate::compose::endpoints::{self, Databases};
use crate::compose::pages::Pages;
use crate::compose::pages::tools::PageTools;
use crate::compose::retained::RetainedState;
use crate::compose::served_agent::ServedTools;
use ::endpoints::Endpoints;
use app::texts::Texts;
use auth::rates::RateLimits;
use auth::rights::Rights;
use auth::{AuthState, Authentication};
use capability::{Capabilities, StoredAdditions, Written};
use config::Config;
use std::sync::Arc;

/// The running objects of a config.
pub(super) struct Snapshot {
    pub(super) authentication: Arc<Authentication>,
    pub(super) rights: Arc<Rights>,
    pub(super) pages: Arc<Pages>,
    pub(super) agents: ConfiguredAgents,
    pub(super) endpoints: Arc<Endpoints>,
    pub(super) databases: Databases,
    pub(super) served: Option<Arc<ServedTools>>,
    pub(super) rates: Arc<RateLimits>,
    /// The UI texts, if they are not the English ones.
    pub(super) texts: Option<Texts>,
    /// The config as it was read from files, without stored changes and additions.
    pub(super) source_config: Arc<Config>,
    /// The config with stored additions, such as the custom agents of administrators.
    pub(super) config: Arc<Config>,
    /// The additions when they were read.
    pub(super) additions: StoredAdditions,
}

impl Snapshot {
    /// Builds a snapshot of a config, with what `written` makes of it. Connections of the snapshot `before` that have the same settings stay
    /// open.
    pub(super) async fn build(
        source: Arc<Config>,
        written: impl FnOnce(Config) -> Written,
        auth_state: &AuthState,
        site: Site,
        kept: &RetainedState,
        before: Option<&Self>,
    ) -> anyhow::Result<Self> {
        let written = written(Config::clone(&source));
        let (mut config, additions) =
            StoredAdditions::apply(definitions(), config_language(), &auth_state.store, written).await?;
        config.add_agent_pages();
        let config = Arc::new(config);
        let authentication = Arc::new(authentication(&config, auth_state, &kept.capabilities).await?);
        let no_databases = Databases::new();
        let databases = before.map_or(&no_databases, |before| &before.databases);
        let databases = endpoints::open_databases(&config, databases).await?;
        let endpoints = Arc::new(endpoints::build(&config, &databases, kept)?);
        let rights = Rights::new(&config);
        let pages = Arc::new(Pages::new(&config, rights.clone(), &kept.capabilities));
        let tools = PageTools::new(&config.pages, site.pages)?;
        let agents = ConfiguredAgents::build(
            &config,
            &endpoints,
            &kept.capabilities,
            pages.clone(),
            tools,
            rights.clone(),
            kept,
        )?;
        let served =
            |served| Arc::new(ServedTools::new(served, endpoints.clone(), rights.clone(), kept.meters.clone()));
        let served = config.served_agent.as_ref().map(served);
        let rates = Arc::new(RateLimits::new(&config, before.map(|before| &*before.rates)));
        let texts = config.locale.as_ref().map(Texts::new);
        Ok(Self {
            authentication,
            rights,
            pages,
            agents,
            endpoints,
            databases,
            served,
            rates,
            texts,
            source_config: source,
            config,
            additions,
        })
    }
}

/// Users' tokens are kept with the caller only if a tool needs them.
async fn authentication(
    config: &Config,
    auth_state: &AuthState,
    capabilities: &Capabilities,
) -> anyhow::Result<Authentication> {
    let authentication = Authentication::new(&config.auth, config.embed.as_ref(), auth_state).await?;
    Ok(authentication.with_bearer_forwarding(capabilities.need_user_tokens(config)))
}
