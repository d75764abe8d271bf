#![doc = include_str!("../README.md")]

mod audit;
mod citations;
mod graph;
mod ingest;
mod models;
mod quote;
mod routes;
mod section;
mod service;
mod store;
#[cfg(test)]
mod testing;
mod tools;

#[cfg(feature = "fuzz")]
pub use citations::fuzz_markers;
#[cfg(feature = "fuzz")]
pub use graph::fuzz_extraction;

use capability::{AgentTools, Caller, Capability, Context, Definition, Host, Job, UserDocuments};
use config::{Config, ConnectionType, SectionType};
use contract::{Model, Tool};
use futures::future::BoxFuture;
use models::{Embeddings, Rerank};
use section::{AgentKnowledge, AnswerOnlyFromKnowledge, KnowledgeOptions, KnowledgeSettings, Libraries};
use serde_json::{Map, Value, json};
use service::Knowledge;
use std::sync::Arc;
use std::time::Duration;
use web::openapi::ApiRouter;
use wire::UserError;
use wire::api::RunOptions;

#[cfg(feature = "fuzz")]
pub use models::fuzz_answer;

/// The interval at which folders are compared with their libraries.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(3);
/// The interval of the search for documents without a job.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[
        SectionType::of::<Libraries>(),
        SectionType::of::<KnowledgeSettings>(),
        SectionType::of::<AgentKnowledge>(),
        SectionType::of::<AnswerOnlyFromKnowledge>(),
    ],
    connections: &[ConnectionType::of::<Embeddings>(), ConnectionType::of::<Rerank>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(KnowledgeCapability::new(host)))),
    ..Definition::new("knowledge")
};

/// The capability of a running server.
struct KnowledgeCapability {
    knowledge: Knowledge,
}

impl KnowledgeCapability {
    fn new(host: &Host) -> Self {
        let knowledge = Knowledge::new(host.store.clone(), host.jobs.clone());
        knowledge.use_libraries(host.libraries.clone());
        host.quotes.provide(Arc::new(knowledge.clone()));
        host.libraries.provide_list(Arc::new(knowledge.clone()));
        host.libraries.provide_files(Arc::new(knowledge.clone()));
        Self { knowledge }
    }
}

impl Capability for KnowledgeCapability {
    fn agent_tools(&self, _: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(options) = options(agent) else { return Ok(AgentTools::default()) };
        Ok(tools::tools(&self.knowledge, options))
    }

    fn user_tools(&self) -> Vec<Arc<dyn Tool>> {
        tools::user_tools(&self.knowledge)
    }

    fn user_documents(&self) -> Option<Arc<dyn UserDocuments>> {
        Some(Arc::new(self.knowledge.clone()))
    }

    fn composer(&self, _: &Config, agent: &config::Agent) -> Map<String, Value> {
        let KnowledgeOptions { libraries, choose, documents, .. } = options(agent).unwrap_or_default();
        let mut choices = Map::new();
        if let Some(switch) = documents {
            choices.insert("isOn".to_owned(), switch.is_on(None).into());
        }
        if choose.is_some() {
            let ids: Vec<_> = libraries.iter().map(|library| library.0.as_str()).collect();
            choices.insert("libraries".to_owned(), json!(ids));
        }
        let choices = (!choices.is_empty()).then(|| ("documents".to_owned(), choices.into()));
        choices.into_iter().collect()
    }

    fn check_options<'a>(
        &'a self,
        caller: &'a Caller,
        agent: &'a config::Agent,
        chosen: &'a RunOptions,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        Box::pin(async move {
            let options = options(agent);
            let refused = |message: &str| Err(UserError::invalid("/documents", message));
            match (&options, chosen.documents) {
                (None, Some(true)) => return refused("This agent does not search documents: it has no `knowledge`."),
                (Some(KnowledgeOptions { documents: None, .. }), Some(false)) => {
                    return refused("Documents cannot be switched off: the agent's `knowledge` has no `documents`.");
                }
                _ => {}
            }
            match &chosen.libraries {
                Some(ids) => self.knowledge.check_chosen(caller, options.as_ref(), ids).await,
                None => Ok(()),
            }
        })
    }

    fn wrap_model(&self, agent: &config::Agent, model: Arc<dyn Model>) -> Arc<dyn Model> {
        let is_strict = agent.section().is_some_and(|AnswerOnlyFromKnowledge(is_strict)| *is_strict);
        match agent.section::<AgentKnowledge>() {
            Some(_) => Arc::new(citations::CitingModel::new(model, is_strict)),
            None => model,
        }
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        self.knowledge.use_chat(&context.chat);
        Some(routes::routes(self.knowledge.clone()))
    }

    fn upload_routes(&self, _: &Context) -> Option<ApiRouter> {
        Some(routes::upload_routes(self.knowledge.clone()))
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.knowledge.use_config(config);
    }

    fn jobs(&self, context: &Context) -> Vec<Job> {
        let (followed, swept, extracted) = (self.knowledge.clone(), self.knowledge.clone(), self.knowledge.clone());
        let follow = move || {
            let knowledge = followed.clone();
            async move { ingest::follow(&knowledge).await }
        };
        let sweep = move || {
            let knowledge = swept.clone();
            async move { ingest::sweep(&knowledge).await }
        };
        let sweep_graphs = move || {
            let knowledge = extracted.clone();
            async move { graph::sweep(&knowledge).await }
        };
        vec![
            Job::on_each_server("knowledge.follow", FOLLOW_INTERVAL, follow),
            Job::recurring("knowledge.sweep", SWEEP_INTERVAL, sweep),
            Job::recurring("knowledge.sweep_graphs", SWEEP_INTERVAL, sweep_graphs),
            Job::handler(graph::handler(self.knowledge.clone(), Arc::new(context.current.clone()))),
        ]
    }

    /// A search waits until what is attached is read.
    fn answer_jobs(&self, context: &Context) -> Vec<Job> {
        self.knowledge.use_chat(&context.chat);
        vec![
            Job::handler(ingest::handler(self.knowledge.clone())),
            Job::handler(ingest::pages_handler(self.knowledge.clone(), Arc::new(context.current.clone()))),
            Job::handler(ingest::embed_handler(self.knowledge.clone())),
        ]
    }
}

/// Returns what an agent searches; `None` if it searches no documents.
fn options(agent: &config::Agent) -> Option<KnowledgeOptions> {
    agent.section().map(AgentKnowledge::options)
}

/// Returns a new id, which begins with the time.
fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
