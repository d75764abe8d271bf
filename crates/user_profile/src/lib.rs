#![doc = include_str!("../README.md")]

mod page;
mod routes;
mod section;
mod service;
mod source;
mod store;
#[cfg(test)]
mod tests;

use capability::{AgentTools, Capability, Context, Definition};
use config::{Config, SectionType};
use section::AgentProfile;
use service::Profiles;
use source::ProfileSource;
use std::sync::Arc;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<AgentProfile>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(ProfileCapability { profiles: Profiles::new(host.store.clone()) }))),
    ..Definition::new("user_profile")
};

/// The capability of a running server.
struct ProfileCapability {
    profiles: Profiles,
}

impl Capability for ProfileCapability {
    fn agent_tools(&self, _: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        if !section::reads_profile(agent) {
            return Ok(AgentTools::default());
        }
        let source = ProfileSource::new(self.profiles.clone());
        Ok(AgentTools { sources: vec![Arc::new(source)], ..AgentTools::default() })
    }

    fn routes(&self, _: &Context) -> Option<ApiRouter> {
        Some(routes::routes(self.profiles.clone()))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.profiles.is_used().then_some(AccountPage {
            group: AccountGroup::Answers,
            path: page::PATH,
            title: page::TITLE,
            about: "Your language, style and knowledge",
        })
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.profiles.set_used(config.agents.values().any(section::reads_profile));
    }
}
