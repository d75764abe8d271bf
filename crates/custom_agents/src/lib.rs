#![doc = include_str!("../README.md")]

mod choices;
mod console;
mod definition;
mod definitions;
mod own;
mod section;
pub mod store;
mod validate;

use capability::{Capability, ConfigAdditions, Context, Definition};
use chat::LifecycleEvent;
use config::{Config, SectionType};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use web::admin::Section;
use web::html::{AccountGroup, AccountPage};
use web::openapi::ApiRouter;

pub use choices::selectable_tools;
pub use definition::{CustomAgent, PREFIX, with_custom_agents};
pub use own::PREFIX as OWN_PREFIX;
pub use section::{CustomAgents, OwnAgents};

/// The capability.
pub const DEFINITION: Definition = Definition {
    sections: &[SectionType::of::<CustomAgents>()],
    tables: Some(store::TABLES),
    config_additions: Some(ConfigAdditions {
        version: |store| {
            Box::pin(
                async move { Ok(format!("{}/{}", store::version(store).await?, own::store::version(store).await?)) },
            )
        },
        add: |store, config| {
            Box::pin(async move {
                let config = with_custom_agents(config, &store::list(store).await?);
                Ok(own::with_own_agents(config, &own::store::all(store).await?))
            })
        },
    }),
    start: Some(|_| Ok(Arc::new(Management::default()))),
    ..Definition::new("custom_agents")
};

/// The management of custom agents, by administrators and by users.
#[derive(Default)]
struct Management {
    /// Set when the server mounts its routes.
    context: OnceLock<Context>,
    /// Whether the config in use lets users make agents.
    is_for_users: AtomicBool,
}

impl Capability for Management {
    fn routes(&self, context: &Context) -> Option<ApiRouter> {
        let _ = self.context.set(context.clone());
        Some(own::routes(context.clone()))
    }

    fn account_link(&self) -> Option<AccountPage> {
        self.is_for_users.load(Ordering::Relaxed).then_some(AccountPage {
            group: AccountGroup::Content,
            path: own::PATH,
            title: "Agents",
            about: "Agents with your instructions",
        })
    }

    fn console(&self, context: &Context) -> Option<Section> {
        let Section { mut menu, mut actions, routes } = console::section(context.clone());
        let own = own::section(context.clone());
        menu.extend(own.menu);
        actions.extend(own.actions);
        Some(Section { menu, actions, routes: routes.merge(own.routes) })
    }

    fn config_changed(&self, config: &Arc<Config>) {
        let allowed = config.section::<CustomAgents>();
        self.is_for_users.store(allowed.is_some_and(|allowed| allowed.users.is_some()), Ordering::Relaxed);
    }

    /// The agents of a deleted user are gone from the database, and here from the running config.
    fn observe(&self, event: &LifecycleEvent) {
        let (LifecycleEvent::UserDeleted { .. }, Some(context)) = (event, self.context.get().cloned()) else { return };
        tokio::spawn(async move {
            if let Err(error) = context.current.refresh_additions().await {
                tracing::error!(%error, "the agents of a deleted user cannot be taken out of the config");
            }
        });
    }
}
