//! The sections of a config: how each is written (its entry types, whose doc comments an editor shows), what it must
//! mean, and what it becomes.

mod action_entry;
mod agent_entry;
mod agent_operators;
mod agent_provider;
mod agent_steps;
mod agent_tools;
mod agents;
mod api;
mod auth;
mod auth_jwt;
mod auth_proxy;
mod block_entry;
mod call_request;
mod client_tools;
mod confirm;
mod connections;
mod costs;
mod custom_agents;
mod dynamic;
mod embed;
mod events;
mod fallbacks;
mod file_system;
mod hooks;
mod http_request;
mod inputs;
mod locale;
mod marks;
mod mcp;
mod messages;
mod operator;
mod pages;
mod payload_schema;
mod pictures;
mod policy;
mod preset;
mod prices;
mod quotas;
mod rates;
mod reach;
mod remote_agents;
mod remote_parameters;
mod retention;
mod routine;
mod rule_entry;
mod sampling;
mod sender;
mod serve_as_remote_agent;
mod settings;
mod shared_state;
mod sql_request;
mod step_entry;
mod sub_agents;
mod text_request;
mod value;

use crate::config::Config;
use crate::env::Env;
use crate::shape::{self, suggest};
use crate::source::{Node, Report, Span, Step};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// A Chatwright config.
// The sections are read one by one, so that one mistake does not hide the others; this is their common schema.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RootEntry {
    /// The version of the language that the config is written in; without it the newest.
    config_version: Option<u32>,
    /// What is outside: model providers and databases.
    connections: Vec<connections::ConnectionEntry>,
    /// The agents.
    agents: Vec<agent_entry::AgentEntry>,
    /// Endpoints: routines that pages and agents call.
    api: Vec<api::EndpointEntry>,
    /// Agents that administrators make.
    custom_agents: Option<custom_agents::CustomAgentsEntry>,
    /// The pages; the first one is the start page.
    pages: Vec<pages::PageEntry>,
    /// Who may use the server.
    auth: Option<auth::AuthEntry>,
    /// Bounds of time, size and number.
    limits: Option<settings::LimitsEntry>,
    /// What models cost, by the beginning of their names; `default` is for all others. They go before the list prices of well-known
    /// models.
    prices: IndexMap<String, prices::PriceEntry>,
    /// The language of the UI, or its words.
    locale: Option<locale::LocaleEntry>,
    /// Where conversations are kept.
    store: Option<settings::StoreEntry>,
    /// Chats on pages of other sites.
    embed: Option<embed::EmbedEntry>,
    /// Other sites whose pictures are shown.
    pictures: Option<pictures::PicturesEntry>,
    /// Endpoints that other agent platforms may call as tools.
    serve_as_remote_agent: Option<serve_as_remote_agent::ServeEntry>,
}

/// What the sections need of each other while they are checked.
pub(crate) struct Context<'n, 'r> {
    pub(crate) report: &'r mut Report,
    pub(crate) env: &'r dyn Env,
    /// The folder of the main file, if the config is on disk.
    pub(crate) folder: Option<&'r Path>,
    /// The ids that are declared, also by entries that are wrong otherwise: these must not cause further errors.
    pub(crate) connections: Ids<'n>,
    pub(crate) agents: Ids<'n>,
    pub(crate) endpoints: Ids<'n>,
    pub(crate) pages: Ids<'n>,
    /// Whether pages of other sites may show chats: what they set is not declared here.
    pub(crate) is_embedded: bool,
    /// Whether such sites say who their users are.
    pub(crate) has_site_users: bool,
}

/// Declared ids with what their entries look like.
pub(crate) type Ids<'n> = IndexMap<&'n str, &'n Node>;

impl<'n> Context<'n, '_> {
    /// The connection with this id; where there is none, that is reported.
    fn connection(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.connections, id, ("connection", "connections"), at, self.report)
    }

    /// The endpoint with this id; where there is none, that is reported.
    fn endpoint(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.endpoints, id, ("endpoint", "api"), at, self.report)
    }

    /// Reports where there is no endpoint with this id that a page can call.
    fn page_endpoint(&mut self, id: &str, at: Span) {
        if self.endpoint(id, at).and_then(type_of) == Some("InternalApi") {
            let help = "only routines, hooks and agents may call it".to_owned();
            let message = format!("the endpoint `{id}` is internal, so no page can call it");
            self.report.error(at, message, Some(help));
        }
    }

    /// The agent with this id; where there is none, that is reported.
    fn agent(&mut self, id: &str, at: Span) -> Option<&'n Node> {
        find(&self.agents, id, ("agent", "agents"), at, self.report)
    }
}

/// What is declared under an id. `what` is its name and that of its section.
fn find<'n>(ids: &Ids<'n>, id: &str, what: (&str, &str), at: Span, report: &mut Report) -> Option<&'n Node> {
    let found = ids.get(id).copied();
    if found.is_none() {
        let (what, section) = what;
        let help = suggest::help(id, ids.keys().copied());
        let help = help.or_else(|| Some(format!("declare it in the section `{section}`")));
        report.error(at, format!("there is no {what} `{id}`"), help);
    }
    found
}

/// Reads all sections. The result is only whole if the report has no errors.
pub(crate) fn read(root: &Node, folder: Option<&Path>, report: &mut Report, env: &dyn Env) -> Config {
    shape::root_section(root, report);
    let null = Node { at: root.at, kind: crate::source::Kind::Null };
    let section = |name: &str| root.get(name).map_or(&null, |entry| &entry.value);
    let embed =
        root.get("embed").map(|entry| &entry.value).filter(|node| !matches!(node.kind, crate::source::Kind::Null));
    let mut context = Context {
        connections: declared(section("connections"), "connection", report),
        agents: declared(section("agents"), "agent", report),
        endpoints: declared(section("api"), "endpoint", report),
        pages: declared(section("pages"), "page", report),
        is_embedded: embed.is_some(),
        has_site_users: embed.is_some_and(|embed| embed.get("tokens").is_some()),
        report,
        env,
        folder,
    };
    settings::version(section("configVersion"), &mut context);
    let (limits, bounds) = settings::limits(section("limits"), &mut context);
    let connections = connections::read(section("connections"), &mut context);
    let endpoints = api::read(section("api"), &mut context);
    let pages = pages::read(section("pages"), &mut context);
    let (store, retention) = settings::store(section("store"), &mut context);
    let config = Config {
        agents: agents::read(section("agents"), &connections, &mut context),
        connections,
        served: serve_as_remote_agent::read(section("serveAsRemoteAgent"), &endpoints, &mut context),
        endpoints,
        auth: auth::read(section("auth"), &pages, &mut context),
        embed: embed::read(section("embed"), &mut context),
        uploads: sender::storages(&pages),
        pictures: pictures::read(section("pictures"), &pages, &mut context),
        pages,
        locale: root.get("locale").and_then(|entry| locale::read(&entry.value, &mut context)),
        prices: prices::read(section("prices"), &mut context),
        store,
        retention,
        custom_agents: custom_agents::read(section("customAgents"), &mut context),
        folder: folder.map(Path::to_owned),
        limits,
        quotas: bounds.quotas,
        rates: bounds.rates,
        trusted_proxies: bounds.trusted_proxies,
    };
    reach::check(&config, &mut context);
    marks::check(&config, &mut context);
    remote_agents::check_user_tokens(&config, &mut context);
    costs::check(&config, root, &mut context);
    config
}

/// The ids of a section; one that is there twice is reported.
fn declared<'n>(section: &'n Node, what: &str, report: &mut Report) -> Ids<'n> {
    let mut ids: Ids<'n> = IndexMap::new();
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

/// Names that mean something to every JavaScript object must not be used as names by a config (L-22).
fn refuse_prototype_key(name: &str, at: Span, report: &mut Report) {
    if operators::is_prototype_key(name) {
        report.error(at, format!("the name `{name}` is refused: in a browser it can change every object"), None);
    }
}

/// Whether there is such a connection and it is of a type that fits. `needed` says which: "the type Http".
fn connection_of<'n>(
    id: &str,
    request_type: &str,
    needed: &str,
    fits: impl FnOnce(&str) -> bool,
    step: &Node,
    context: &mut Context<'n, '_>,
) -> Option<&'n Node> {
    let at = step.at(&[Step::Key("connectionId")]);
    let connection = context.connection(id, at)?;
    let found = type_of(connection)?;
    if !fits(found) {
        let message = format!("{request_type} needs a connection of {needed}; `{id}` is of the type {found}");
        context.report.error(at, message, None);
        return None;
    }
    Some(connection)
}

/// The declared `type` of an entry, if it has one.
fn type_of(node: &Node) -> Option<&str> {
    node.get("type")?.value.text()
}
