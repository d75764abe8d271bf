//! The sections of a config: their schemas (entry types, whose doc comments editors show), the
//! checks beyond the schema, and the conversion to [`Config`].

mod access_rules;
mod agents;
mod annotations;
mod api;
mod auth;
mod confirm;
mod connections;
mod context;
mod cost_limits;
mod dynamic;
mod embed;
mod entry_ref;
mod home;
mod locale;
pub(crate) mod models;
pub(crate) mod operator;
mod pages;
mod pictures;
mod prices;
pub(crate) mod rule_entry;
mod serve_as_remote_agent;
mod settings;
pub(crate) mod user_auth;
pub(crate) mod value;

pub(crate) use agents::entry::AgentEntry;
pub(crate) use agents::operators::TurnOperator;
pub use agents::remote_parameters::RESERVED_PARAMETERS;
pub(crate) use connections::ConnectionEntry;
pub(crate) use context::{Context, DeclaredIds, step_connection};
pub use operator::USER_KEYS;
pub(crate) use pages::{define_page_parts, is_reserved_segment};
pub(crate) use value::{refuse_prototype_key, type_of};

use crate::config::Config;
use crate::env::Env;
use crate::language::Language;
use crate::section_type::Sections;
use crate::shape;
use config_source::{Node, Report};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A Chatwright config.
// The sections are read one by one, so that one error does not hide others. This type only provides
// their schema.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RootEntry {
    /// The version of the config language. Default: the newest.
    config_version: Option<u32>,
    /// Connections to external services, such as model providers and databases.
    connections: Vec<ConnectionEntry>,
    /// Models that agents allow their users to choose.
    models: Vec<models::ModelEntry>,
    /// The agents.
    agents: Vec<AgentEntry>,
    /// Endpoints: routines that pages, agents and other clients can call.
    api: Vec<api::EndpointEntry>,
    /// The pages. The first one is the start page, unless there is a `home`.
    pages: Vec<pages::PageEntry>,
    /// A start page that lists the pages and agents that the user may use, and the newest conversations.
    /// Default: only in a config without `pages`.
    home: Option<home::HomeEntry>,
    /// Whether and how a model names new conversations, for all agents without a `generateTitle` of
    /// their own. Default: see there. With `false` they are named after their first words.
    generate_title: Option<agents::title::TitleEntry>,
    /// Which tool calls of all agents may run. It applies in addition to the policies of agents, so
    /// that these can only deny or ask about more.
    policy: Option<agent::PolicySettings>,
    /// How users sign in. Default: the mode `local`.
    auth: Option<auth::AuthEntry>,
    /// Timeouts, sizes and numbers that the server enforces, quotas and rate limits.
    limits: Option<settings::LimitsEntry>,
    /// Prices by a prefix of the model's name; `default` is the price of all other models. They
    /// take precedence over the list prices of well-known models.
    prices: IndexMap<String, contract::Price>,
    /// The language and the texts of the UI. Default: English.
    locale: Option<locale::LocaleEntry>,
    /// The database of conversations, and how long data is retained.
    store: Option<settings::StoreEntry>,
    /// Chats on pages of other sites.
    embed: Option<embed::EmbedEntry>,
    /// Other sites whose images pages may show.
    pictures: Option<pictures::PicturesEntry>,
    /// Endpoints that other agent platforms may call as tools.
    serve_as_remote_agent: Option<serve_as_remote_agent::ServeEntry>,
}

/// Reads all sections. The result is complete only if the report has no errors.
pub(crate) fn read(
    root: &Node,
    language: &Language,
    folder: Option<&Path>,
    report: &mut Report,
    env: &dyn Env,
) -> Config {
    shape::check_root(root, &language.vocabulary.schema, report);
    let null = Node { at: root.at, kind: config_source::NodeKind::Null };
    let section = |name: &str| root.get(name).map_or(&null, |entry| &entry.value);
    let embed =
        root.get("embed").map(|entry| &entry.value).filter(|node| !matches!(node.kind, config_source::NodeKind::Null));
    let mut context = Context {
        connections: declared_ids(section("connections"), "connection", report),
        models: declared_ids(section("models"), "model", report),
        agents: declared_ids(section("agents"), "agent", report),
        endpoints: declared_ids(section("api"), "endpoint", report),
        pages: declared_ids(section("pages"), "page", report),
        client_tools: HashMap::new(),
        is_embedded: embed.is_some(),
        has_site_users: embed.is_some_and(|embed| embed.get("tokens").is_some()),
        report,
        vocabulary: &language.vocabulary,
        env,
        root,
        folder,
    };
    context.client_tools = pages::client_tools::names_by_agent(&context.pages);
    settings::check_version(section("configVersion"), &mut context);
    let (limits, bounds) = settings::limits(section("limits"), &mut context);
    let connections = connections::read(section("connections"), &language.connections, &mut context);
    let models = models::read(section("models"), &mut context);
    let endpoints = api::read(section("api"), &mut context);
    let pages = pages::read(section("pages"), &mut context);
    let (store, retention) = settings::store(section("store"), &mut context);
    let agents = agents::read(section("agents"), &connections, &models, &language.sections, &mut context);
    let config = Config {
        fingerprint: context.report.fingerprint(),
        models,
        connections,
        served_agent: serve_as_remote_agent::read(section("serveAsRemoteAgent"), &endpoints, &mut context),
        endpoints,
        policy: agents::policy::read(root, &mut context),
        auth: auth::read(section("auth"), &pages, &mut context),
        embed: embed::read(section("embed"), &mut context),
        upload_origins: pages::sender::upload_origins(&pages),
        image_origins: pictures::read(section("pictures"), &pages, &agents, &mut context),
        agents,
        home: home::read(root.get("home").map(|entry| &entry.value), &mut context),
        pages,
        locale: root.get("locale").and_then(|entry| locale::read(&entry.value, &mut context)),
        prices: prices::read(section("prices"), &mut context),
        store,
        retention,
        sections: Sections::of_root(root, &language.sections, &mut context),
        source: Arc::default(),
        folder: folder.map(Path::to_owned),
        limits,
        quotas: bounds.quotas,
        rate_limits: bounds.rates,
        trusted_proxies: bounds.trusted_proxies,
    };
    access_rules::check(&config, root, &mut context);
    auth::openid_connect::check_roles(&config, root, &mut context);
    agents::policy::check_names_of_all(&config, root, &mut context);
    annotations::check(&config, &mut context);
    agents::remote_agents::check_user_tokens(&config, &mut context);
    user_auth::check(&config, root, &mut context);
    cost_limits::check(&config, root, &mut context);
    Sections::check_with_config(&config, root, &mut context);
    config
}

/// Returns the ids of a section and reports duplicates.
fn declared_ids<'n>(section: &'n Node, what: &str, report: &mut Report) -> DeclaredIds<'n> {
    let mut ids: DeclaredIds<'n> = IndexMap::new();
    for item in section.items() {
        let Some((id, entry)) = item.get("id").and_then(|entry| Some((entry.value.text()?, entry))) else { continue };
        refuse_prototype_key(id, entry.value.at, report);
        match ids.get(id).and_then(|first| first.get("id")) {
            Some(first) => {
                let help = format!("the first one is at {}", report.location(first.value.at));
                report.error(entry.value.at, format!("there are two {what}s with the id `{id}`"), Some(help));
            }
            None => drop(ids.insert(id, item)),
        }
    }
    ids
}
