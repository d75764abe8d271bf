//! The capability of a running server.

use crate::handler::Shared;
use crate::running::RunningCalls;
use crate::section::McpApi;
use crate::{error, metadata, route};
use auth::Authority;
use capability::{Capability, Context, Definition};
use chat::RoutineMeters;
use config::{Config, SectionType};
use std::sync::Arc;
use web::ApiFormat;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<McpApi>()],
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

    fn challenge(&self, config: &Config, path: &str, host: &str) -> Option<String> {
        if path != route::PATH {
            return None;
        }
        metadata::challenge(config, &Authority::parse(host)?)
    }
}
