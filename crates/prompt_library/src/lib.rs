#![doc = include_str!("../README.md")]

mod console;
mod form;
mod page;
mod prompt;
mod routes;
mod section;
mod service;
mod store;
mod template;
#[cfg(test)]
mod tests;
mod user_prompts;
mod views;

use capability::{Capability, Context, Definition, UserPrompts};
use config::{AuthMode, Config, SectionType};
use section::{AgentPrompts, Prompts, offers_prompts};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use web::admin::Section;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<Prompts>(), SectionType::of::<AgentPrompts>()],
    tables: Some(store::TABLES),
    start: Some(|_| Ok(Arc::new(PromptLibrary::default()))),
    ..Definition::new("prompt_library")
};

/// The capability of a running server.
#[derive(Default)]
struct PromptLibrary {
    /// Whether the config in use has prompts.
    is_on: AtomicBool,
}

impl Capability for PromptLibrary {
    /// The composer loads the prompts of its user when they type `/`.
    fn composer(&self, config: &Config, agent: &config::Agent) -> Map<String, Value> {
        let has_users = !matches!(config.auth.mode, AuthMode::Anonymous);
        let offered = offers_prompts(config, agent).then(|| ("savedPrompts".to_owned(), has_users.into()));
        offered.into_iter().collect()
    }

    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        Some(routes::routes(context.clone()))
    }

    fn user_prompts(&self) -> Option<Arc<dyn UserPrompts>> {
        Some(Arc::new(user_prompts::Library))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.is_on.load(Ordering::Relaxed).then_some(AccountPage {
            group: AccountGroup::Content,
            path: page::PATH,
            title: page::TITLE,
            about: "Texts that you insert with “/”",
        })
    }

    fn console(&self, context: &Context) -> Option<Section> {
        Some(console::section(context.clone()))
    }

    fn config_changed(&self, config: &Arc<Config>) {
        self.is_on.store(config.section::<Prompts>().is_some(), Ordering::Relaxed);
    }
}
