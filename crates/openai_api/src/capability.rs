//! The capability of a running server.

use crate::section::OpenAiApi;
use crate::store::TABLES;
use crate::{error, routes, store};
use capability::{Capability, Context, Definition, Job};
use config::SectionType;
use std::sync::Arc;
use std::time::Duration;
use web::ApiFormat;
use web::openapi::ApiRouter;
use web::times::now_millis;

/// How often old responses are deleted.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<OpenAiApi>()],
    tables: Some(TABLES),
    start: Some(|_| Ok(Arc::new(OpenAi))),
    ..Definition::new("openai_api")
};

struct OpenAi;

impl Capability for OpenAi {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::upload_routes(context.clone()))
    }

    fn api_format(&self) -> Option<ApiFormat> {
        Some(ApiFormat { prefix: "/v1/", error: error::from_gate })
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let database = context.store.clone();
        vec![Job::recurring("openai_api.prune", PRUNE_INTERVAL, move || {
            let database = database.clone();
            async move { Ok(store::prune(&database, now_millis()).await?) }
        })]
    }
}
