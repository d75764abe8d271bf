#![doc = include_str!("../README.md")]

mod console;
mod routes;
mod section;
mod store;
mod tools;

use ::store::Store;
use capability::{AgentTools, Capability, Context, Definition, Job};
use config::{Config, SectionType};
use section::AgentNotes;
use std::sync::Arc;
use std::time::Duration;
use web::admin::Section;
use web::openapi::ApiRouter;

/// How long a note is kept.
const RETENTION: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// How often old notes are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgentNotes>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(Notes { store: host.store.clone() }))),
    ..Definition::new("notes")
};

/// The capability of a running server.
struct Notes {
    store: Store,
}

impl Capability for Notes {
    fn agent_tools(&self, _: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(notes) = agent.section::<AgentNotes>() else { return Ok(AgentTools::default()) };
        Ok(AgentTools { tools: tools::tools(&self.store, notes.max_notes), ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(Section::list::<console::NoteList>(context.clone()))
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let store = context.store.clone();
        let sweep = move || {
            let store = store.clone();
            async move { Ok(store::delete_before(&store, web::times::now_millis() - RETENTION.as_millis() as i64).await?) }
        };
        vec![Job::recurring("notes.delete_old", SWEEP_INTERVAL, sweep)]
    }
}
