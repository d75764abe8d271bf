//! The composition root: the checked config turned into things that run, and the only place that sees every room.

mod agent_context;
mod agent_operators;
mod agent_settings;
mod agents;
mod current;
mod custom;
mod endpoints;
mod history;
mod hooks;
mod marks;
mod mcp;
mod mentions;
mod models;
mod page_tools;
mod pages;
mod policy;
mod remote_agents;
mod served;
mod sources;
mod text_models;

pub(crate) use current::Current;
pub(crate) use custom::{CustomAgent, PREFIX as CUSTOM_PREFIX, choices};
pub(crate) use history::{ConfigState, Read, Reload, Status};
pub(crate) use served::{SERVICE_USER, Served};
pub(crate) use sources::sources;

use crate::Site;
use crate::auth::password::Desk;
use crate::auth::{Ground, ground};
use chat::Chat;
use config::{Config, Limits, Reading};
use secrecy::ExposeSecret;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Store;

/// How long a server takes to end after the time for its answers: they are stopped and stored, and connections are closed. A server that
/// starts meanwhile on the same file waits for as long.
const CLOSES: Duration = Duration::from_secs(7);

/// The demo, as it is in the repository.
const DEMO: &[(&str, &str)] = &[
    ("chatwright.yaml", include_str!("../../../examples/demo/chatwright.yaml")),
    ("knowledge.sql", include_str!("../../../examples/demo/knowledge.sql")),
];

/// Everything that the routes need.
pub(crate) struct Composition {
    pub(crate) chat: Chat,
    /// What the config describes, as it is now.
    pub(crate) current: Arc<Current>,
    pub(crate) limits: Limits,
    /// For what administrators see; everybody else goes through the chat.
    pub(crate) store: Store,
}

/// Reads the config at `path`, or the embedded demo without one.
pub(crate) fn read(path: Option<&Path>) -> Reading {
    match path {
        Some(path) => config::read_path(path, &config::ProcessEnv),
        None => config::read_embedded(DEMO, &config::ProcessEnv),
    }
}

impl Composition {
    /// Builds everything. `database` is where conversations are kept, unless the config says where; `address` is where the server
    /// listens; `site` has the pages that are written in Rust.
    pub(crate) async fn new(
        config: Config,
        read: Read,
        database: &str,
        address: Option<SocketAddr>,
        site: Site,
    ) -> anyhow::Result<Self> {
        let limits = config.limits.clone();
        let url = config.store.as_ref().map_or(database, |url| url.expose_secret());
        ground::allows(address, &config.auth.mode)?;
        let since = format!("since {:.0}", jiff::Timestamp::now());
        let (folder, store) = (Store::folder(url)?, Store::open_to_serve(url, &since, limits.drain + CLOSES).await?);
        let ground = Ground { address, folder, store: store.clone(), desk: Desk::default() };
        let current = Arc::new(Current::new(config, read, ground, site).await?);
        let chat = Chat::open(store.clone(), current.clone(), limits.runs).await?;
        current.count_with(&chat);
        Ok(Self { chat, current, limits, store })
    }
}
