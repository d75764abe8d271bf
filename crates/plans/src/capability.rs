//! The capability: plans of agents that have `planMode`.

use crate::policy::PlanFirst;
use crate::routes;
use crate::section::{PlanMode, PlanModeKey, PlanSettings};
use crate::source::PlanSource;
use crate::store::TABLES;
use ::capability::{AgentTools, Caller, Capability, Context, Definition};
use ::store::Store;
use config::{Config, SectionType};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;
use web::openapi::ApiRouter;
use wire::UserError;
use wire::api::RunOptions;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<PlanModeKey>()],
    tables: Some(TABLES),
    start: Some(|host| Ok(Arc::new(Plans { store: host.store.clone() }))),
    ..Definition::new("plans")
};

/// The capability of a running server.
struct Plans {
    store: Store,
}

fn settings(agent: &config::Agent) -> Option<PlanSettings> {
    agent.section::<PlanModeKey>()?.settings()
}

impl Capability for Plans {
    fn agent_tools(&self, _: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let Some(settings) = settings(agent) else { return Ok(AgentTools::default()) };
        let source = Arc::new(PlanSource::new(&self.store, &agent.id, settings));
        let mut offered = AgentTools { sources: vec![source], ..AgentTools::default() };
        if settings.approve {
            offered.policies.push(Arc::new(PlanFirst { store: self.store.clone(), mode: settings.mode }));
        }
        Ok(offered)
    }

    fn composer(&self, _: &Config, agent: &config::Agent) -> Map<String, Value> {
        let name = settings(agent).map(|settings| match settings.mode {
            PlanMode::Always => "always",
            PlanMode::Optional => "optional",
        });
        name.into_iter().map(|name| ("planMode".to_owned(), name.into())).collect()
    }

    fn check_options<'a>(
        &'a self,
        _: &'a Caller,
        agent: &'a config::Agent,
        options: &'a RunOptions,
    ) -> BoxFuture<'a, Result<(), UserError>> {
        let refused = |message: &str| Err(UserError::invalid("/planMode", message));
        let checked = match (settings(agent), options.plan_mode) {
            (None, Some(true)) => refused("This agent does not plan: its config has no `planMode`."),
            (Some(PlanSettings { mode: PlanMode::Always, .. }), Some(false)) => {
                refused("This agent always plans; only with `planMode: optional` can it be switched off.")
            }
            _ => Ok(()),
        };
        Box::pin(std::future::ready(checked))
    }

    fn routes(&self, _: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.store.clone()))
    }
}
