//! The capabilities of a running server.

use crate::{AgentTools, Capability, Context, Definition, Host, Job, ToolServerStatus, UserDocuments, UserPrompts};
use agent::RunRecorder;
use anyhow::{anyhow, bail};
use chat::{AgentRequest, Caller, LifecycleEvent, LifecycleObserver};
use config::{Config, Connection};
use contract::{Model, Tool};
use serde_json::Value;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use web::ApiFormat;
use web::admin::{MenuCount, MenuEntry, Section};
use web::html::AccountPage;
use web::openapi::ApiRouter;
use wire::UserError;
use wire::api::RunOptions;

/// The capabilities of a running server; cheap to clone.
#[derive(Clone, Default)]
pub struct Capabilities(Arc<[(&'static str, Arc<dyn Capability>)]>);

impl Capabilities {
    /// Starts the capabilities.
    ///
    /// # Errors
    /// A capability cannot start, or two have the same name.
    pub fn start(definitions: &[Definition], host: &Host) -> anyhow::Result<Self> {
        let mut started: Vec<(&'static str, Arc<dyn Capability>)> = Vec::new();
        for (index, Definition { name, start, .. }) in definitions.iter().enumerate() {
            if definitions[..index].iter().any(|earlier| earlier.name == *name) {
                bail!("there are two capabilities with the name `{name}`");
            }
            let Some(start) = start else { continue };
            let capability = start(host).map_err(|error| anyhow!("the capability `{name}` cannot start: {error:#}"))?;
            started.push((name, capability));
        }
        Ok(Self(started.into()))
    }

    fn all(&self) -> impl Iterator<Item = &dyn Capability> {
        self.0.iter().map(|(_, capability)| &**capability)
    }

    /// Notifies all capabilities. One that panics does not affect what was happening, nor the others.
    fn notify_each(&self, notify: impl Fn(&dyn Capability)) {
        for (name, capability) in self.0.iter() {
            if catch_unwind(AssertUnwindSafe(|| notify(&**capability))).is_err() {
                tracing::error!(capability = name, "a capability panicked on a notification");
            }
        }
    }

    /// Returns the tools that all capabilities offer to an agent.
    ///
    /// # Errors
    /// The config cannot be used; the message begins with the agent's location.
    pub fn agent_tools(&self, config: &Config, agent: &config::Agent) -> anyhow::Result<AgentTools> {
        let mut all = AgentTools::default();
        for capability in self.all() {
            let offered = capability.agent_tools(config, agent);
            let AgentTools { tools, sources, policies, searches_attachments } =
                offered.map_err(|error| anyhow!("{}: {error:#}", agent.at))?;
            all.tools.extend(tools);
            all.sources.extend(sources);
            all.policies.extend(policies);
            all.searches_attachments |= searches_attachments;
        }
        Ok(all)
    }

    /// Returns a model of a connection whose type a capability brings.
    pub fn model(&self, connection: &Connection, model: &str) -> Option<Arc<dyn Model>> {
        self.all().find_map(|capability| capability.model(connection, model))
    }

    /// Returns a model of an agent with what the capabilities add to it.
    pub fn wrap_model(&self, agent: &config::Agent, model: Arc<dyn Model>) -> Arc<dyn Model> {
        self.all().fold(model, |model, capability| capability.wrap_model(agent, model))
    }

    /// Returns the properties that the composers of chats with an agent get. Several capabilities may have
    /// items for the same list.
    pub fn composer(&self, config: &Config, agent: &config::Agent) -> Vec<(String, Value)> {
        self.all().flat_map(|capability| capability.composer(config, agent)).collect()
    }

    /// Checks what a user has chosen for an answer of an agent.
    ///
    /// # Errors
    /// The first choice that the agent does not allow.
    pub async fn check_options(
        &self,
        caller: &Caller,
        agent: &config::Agent,
        options: &RunOptions,
    ) -> Result<(), UserError> {
        for capability in self.all() {
            capability.check_options(caller, agent, options).await?;
        }
        Ok(())
    }

    /// Returns whether any tool needs the user's own token.
    pub fn need_user_tokens(&self, config: &Config) -> bool {
        self.all().any(|capability| capability.needs_user_tokens(config))
    }

    /// Returns the status of the servers whose tools are offered.
    pub fn tool_servers(&self) -> Vec<ToolServerStatus> {
        self.all().flat_map(Capability::tool_servers).collect()
    }

    /// Returns the routes for callers.
    pub fn routes(&self, context: &Context) -> Vec<ApiRouter> {
        self.all().filter_map(|capability| capability.routes(context)).collect()
    }

    /// Returns the routes for callers whose bodies may be larger than those of other requests.
    pub fn upload_routes(&self, context: &Context) -> Vec<ApiRouter> {
        self.all().filter_map(|capability| capability.upload_routes(context)).collect()
    }

    /// Returns the routes for other services.
    pub fn sender_routes(&self, context: &Context) -> Vec<ApiRouter> {
        self.all().filter_map(|capability| capability.sender_routes(context)).collect()
    }

    /// Returns the form of errors for a path, if it is one of another service's API.
    pub fn api_format(&self, path: &str) -> Option<ApiFormat> {
        self.all().filter_map(Capability::api_format).find(|format| format.covers(path))
    }

    /// Returns the value of `WWW-Authenticate` in a response of a path to callers who are not signed in.
    pub fn challenge(&self, config: &Config, path: &str, origin: Option<&str>) -> Option<String> {
        self.all().find_map(|capability| capability.challenge(config, path, origin))
    }

    /// Returns the tools that signed-in users can use without an agent.
    pub fn user_tools(&self) -> Vec<Arc<dyn Tool>> {
        self.all().flat_map(Capability::user_tools).collect()
    }

    /// Returns the prompts that users have, of the first capability that keeps them.
    pub fn user_prompts(&self) -> Option<Arc<dyn UserPrompts>> {
        self.all().find_map(Capability::user_prompts)
    }

    /// Returns the documents that users may read, from the first capability that stores documents.
    pub fn user_documents(&self) -> Option<Arc<dyn UserDocuments>> {
        self.all().find_map(Capability::user_documents)
    }

    /// Returns the pages to which the account page links.
    pub fn account_links(&self) -> Vec<AccountPage> {
        self.all().filter_map(Capability::account_link).collect()
    }

    /// Returns the parts of the admin console.
    pub fn console(&self, context: &Context) -> Vec<Section> {
        self.all().filter_map(|capability| capability.console(context)).collect()
    }

    /// Returns the pages elsewhere to which the console's menu leads.
    pub fn console_links(&self) -> Vec<MenuEntry> {
        self.all().filter_map(Capability::console_link).collect()
    }

    /// Returns how many items wait for people on pages of the console. Items that cannot be counted are left out.
    pub async fn menu_counts(&self, context: &Context) -> Vec<MenuCount> {
        let mut found = Vec::new();
        for counts in self.all().map(|capability| capability.menu_counts(context)).collect::<Vec<_>>() {
            match counts.await {
                Ok(counts) => found.extend(counts),
                Err(error) => tracing::warn!(%error, "what waits for people could not be counted"),
            }
        }
        found
    }

    /// Returns what records a run of the agent.
    pub fn recorder(
        &self,
        config: &Config,
        agent: &config::Agent,
        request: &AgentRequest<'_>,
    ) -> Option<Arc<dyn RunRecorder>> {
        self.all().find_map(|capability| capability.recorder(config, agent, request))
    }

    /// Tells all capabilities which config is in use now.
    pub fn config_changed(&self, config: &Arc<Config>) {
        self.notify_each(|capability| capability.config_changed(config));
    }

    /// Returns the background work.
    pub fn jobs(&self, context: &Context) -> Vec<Job> {
        self.all().flat_map(|capability| capability.jobs(context)).collect()
    }

    /// Returns the background work that answers wait for.
    pub fn answer_jobs(&self, context: &Context) -> Vec<Job> {
        self.all().flat_map(|capability| capability.answer_jobs(context)).collect()
    }
}

impl LifecycleObserver for Capabilities {
    fn observe(&self, event: &LifecycleEvent) {
        self.notify_each(|capability| capability.observe(event));
    }
}

/// Formats the names.
impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::Store;

    struct Panics;

    impl Capability for Panics {
        fn observe(&self, _: &LifecycleEvent) {
            panic!("on purpose");
        }
    }

    #[tokio::test]
    async fn a_capability_that_panics_on_an_event_affects_nobody_and_names_are_unique() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        let host = Host {
            jobs: jobs::Jobs::new(store.clone()),
            store,
            databases: Default::default(),
            quotes: Default::default(),
            libraries: Default::default(),
            memories: Default::default(),
            tokens: Default::default(),
            waiting: Default::default(),
            chat_posts: Default::default(),
        };
        let panics = Definition { start: Some(|_| Ok(Arc::new(Panics))), ..Definition::new("panics") };
        let capabilities = Capabilities::start(&[panics], &host).unwrap();
        capabilities.observe(&LifecycleEvent::UserDeleted { user_id: "ada".to_owned() });
        let error = Capabilities::start(&[panics, panics], &host).unwrap_err();
        assert_eq!(error.to_string(), "there are two capabilities with the name `panics`");
        let error = Capabilities::start(&[Definition::new("panics"), panics], &host).unwrap_err();
        assert_eq!(error.to_string(), "there are two capabilities with the name `panics`");
        let fails = Definition { start: Some(|_| bail!("no port is free")), ..Definition::new("fails") };
        let error = Capabilities::start(&[fails], &host).unwrap_err();
        assert_eq!(error.to_string(), "the capability `fails` cannot start: no port is free");
    }
}
