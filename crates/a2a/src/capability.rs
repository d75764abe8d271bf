//! The capability of a running server.

use crate::section::A2a;
use crate::store::TABLES;
use crate::{error, routes};
use capability::{Capability, Context, Definition};
use config::{Config, SectionType};
use std::sync::Arc;
use web::ApiFormat;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<A2a>()],
    tables: Some(TABLES),
    start: Some(|_| Ok(Arc::new(Agents))),
    ..Definition::new("a2a")
};

/// What the paths begin with.
const PREFIX: &str = "/a2a/";

struct Agents;

impl Capability for Agents {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::card_routes(context.clone()))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    /// Both an API key and a token are sent as a bearer.
    fn challenge(&self, _: &Config, path: &str, _: Option<&str>) -> Option<String> {
        path.starts_with(PREFIX).then(|| "Bearer".to_owned())
    }

    fn api_format(&self) -> Option<ApiFormat> {
        Some(ApiFormat { prefix: PREFIX, error: error::from_gate })
    }
}
