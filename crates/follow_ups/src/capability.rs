//! The capability: suggestions of agents that have `followUps`.

use crate::routes;
use crate::section::{FollowUps, SuggestionTiming};
use ::capability::{Capability, Context, Definition};
use config::{Config, SectionType};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<FollowUps>()],
    start: Some(|_| Ok(Arc::new(Suggestions))),
    ..Definition::new("follow_ups")
};

/// The capability of a running server.
struct Suggestions;

impl Capability for Suggestions {
    fn composer(&self, _: &Config, agent: &config::Agent) -> Map<String, Value> {
        let settings = agent.section().and_then(FollowUps::settings);
        let shown = settings.map(|settings| {
            let shown = json!({ "kind": "suggestions", "always": settings.when == SuggestionTiming::Always });
            ("belowAnswer".to_owned(), json!([shown]))
        });
        shown.into_iter().collect()
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }
}
