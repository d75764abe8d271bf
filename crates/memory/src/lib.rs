#![doc = include_str!("../README.md")]

mod console;
mod extract;
mod fact;
mod own_words;
mod page;
mod prompt;
mod remembered;
mod routes;
mod section;
mod service;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod tools;
mod views;

use capability::{AgentTools, Capability, Context, Definition, Job};
use config::{Config, SectionType};
use section::{AgentMemory, MemorySettings};
use serde_json::{Map, Value, json};
use service::Memory;
use source::MemorySource;
use std::sync::Arc;
use std::time::Duration;
use web::admin::Section;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;
use web::times::now_millis;

/// The time for which a change can be undone.
const UNDO_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The interval at which changes that can no longer be undone are deleted.
const PRUNE_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<MemorySettings>(), SectionType::of::<AgentMemory>()],
    tables: Some(store::TABLES),
    start: Some(|host| {
        let memory = Memory::new(host.store.clone(), host.jobs.clone());
        host.memories.provide(Arc::new(memory.clone()));
        Ok(Arc::new(MemoryCapability { memory }))
    }),
    ..Definition::new("memory")
};

/// The capability of a running server.
struct MemoryCapability {
    memory: Memory,
}

impl Capability for MemoryCapability {
    fn agent_tools(&self, _: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let options = agent.section::<AgentMemory>().and_then(AgentMemory::options);
        let Some(options) = options else { return Ok(AgentTools::default()) };
        Ok(AgentTools {
            sources: vec![Arc::new(MemorySource::new(&self.memory, options, &agent.id))],
            ..AgentTools::default()
        })
    }

    fn composer(&self, config: &Config, agent: &config::Agent) -> Map<String, Value> {
        let settings = config.section::<MemorySettings>().cloned().unwrap_or_default();
        let is_on = settings.enabled && agent.section::<AgentMemory>().and_then(AgentMemory::options).is_some();
        let shown = json!([{ "kind": "memory", "restSeconds": settings.rest.as_secs(), "page": page::PATH }]);
        is_on.then(|| ("belowAnswer".to_owned(), shown)).into_iter().collect()
    }

    fn routes(&self, _: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.memory.clone()))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.memory.is_used().then_some(AccountPage {
            group: AccountGroup::Answers,
            path: page::PATH,
            title: "Memory",
            about: "What agents remember about you",
        })
    }

    fn console(&self, _: &Context) -> Option<Section> {
        Some(console::section(self.memory.clone()))
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.memory.use_config(config);
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let store = context.store.clone();
        let prune = move || {
            let store = store.clone();
            async move { Ok(store::prune(&store, now_millis() - UNDO_TIME.as_millis() as i64).await?) }
        };
        vec![
            Job::handler(extract::handler(self.memory.clone(), context.current.clone())),
            Job::recurring("memory.prune", PRUNE_INTERVAL, prune),
        ]
    }
}

/// Returns a new id, which begins with the time.
fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
