//! The capability of a running server.

use crate::handler::Shared;
use crate::running::RunningCalls;
use crate::section::McpApi;
use crate::{error, metadata, route, store};
use capability::{Capability, Context, Definition, Job};
use chat::RoutineMeters;
use config::{Config, SectionType};
use std::sync::Arc;
use std::time::Duration;
use web::ApiFormat;
use web::openapi::ApiRouter;
use web::times::now_millis;

/// How often rows of calls are deleted whose server died.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<McpApi>()],
    tables: Some(store::TABLES),
    start: Some(|_| Ok(Arc::new(McpServer::default()))),
    ..Definition::new("mcp_server")
};

/// The capability of a running server.
#[derive(Default)]
struct McpServer {
    running: RunningCalls,
    meters: RoutineMeters,
}

impl Capability for McpServer {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        self.meters.set_chat(&context.chat);
        let shared = Shared { context: context.clone(), running: self.running.clone(), meters: self.meters.clone() };
        Some(route::routes(shared).merge(metadata::routes(context.clone())))
    }

    fn api_format(&self) -> Option<ApiFormat> {
        Some(ApiFormat { prefix: route::PATH, error: error::from_gate })
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let database = context.store.clone();
        vec![Job::recurring("mcp_server.prune", PRUNE_INTERVAL, move || {
            let database = database.clone();
            async move { Ok(store::prune(&database, now_millis()).await?) }
        })]
    }

    fn challenge(&self, config: &Config, path: &str, origin: Option<&str>) -> Option<String> {
        (path == route::PATH).then(|| metadata::challenge(config, origin))
    }
}
