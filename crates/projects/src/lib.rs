#![doc = include_str!("../README.md")]

mod members;
mod page;
mod project;
mod routes;
mod run_instructions;
mod section;
mod service;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod views;

use capability::{AgentTools, Capability, Context, Definition, Host};
use config::{Config, SectionType};
use section::{AgentProjects, ProjectsSection, joins_projects};
use service::{Projects, Service};
use source::ProjectSource;
use std::sync::Arc;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<ProjectsSection>(), SectionType::of::<AgentProjects>()],
    tables: Some(store::TABLES),
    start: Some(|host| Ok(Arc::new(ProjectCapability::new(host)))),
    ..Definition::new("projects")
};

/// The capability of a running server.
struct ProjectCapability {
    projects: Projects,
}

impl ProjectCapability {
    fn new(host: &Host) -> Self {
        let projects = Projects::new(host.store.clone(), host.libraries.clone());
        host.libraries.provide_find(Arc::new(projects.clone()));
        host.libraries.provide_members(Arc::new(projects.clone()));
        Self { projects }
    }
}

impl Capability for ProjectCapability {
    fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        if !joins_projects(config, agent) {
            return Ok(AgentTools::default());
        }
        let source = ProjectSource::new(self.projects.clone());
        Ok(AgentTools { sources: vec![Arc::new(source)], ..AgentTools::default() })
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        let projects = self.projects.clone();
        context.chat.set_folder_page(Arc::new(move |id| projects.is_on().then(|| page::folder_path(id))));
        Some(routes::routes(Service { projects: self.projects.clone(), context: context.clone() }))
    }

    fn upload_routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::upload_routes(Service { projects: self.projects.clone(), context: context.clone() }))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.projects.is_on().then_some(AccountPage {
            group: AccountGroup::Content,
            path: page::PATH,
            title: page::TITLE,
            about: "Conversations, files and members",
        })
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.projects.use_config(config);
    }
}
