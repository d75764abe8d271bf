//! Gives the admin console and the routes of capabilities access to the server: their states, and
//! the traits that they read the config through.

use crate::capabilities::{all_operators, config_language};
use crate::compose::{self, Composition, CurrentConfig};
use crate::state::AppState;
use admin_console::{ConfigState, ConsoleHost, ConsoleState};
use app::context::PageSource;
use auth::Authentication;
use axum::Extension;
use capability::{
    DraftConfigs, EndpointCall, EndpointFailure, ModelFailure, ModelQuestion, ToolServerStatus, UserDocuments,
    UserPrompts,
};
use chat::Caller;
use config::{Config, ConnectionKind, Language};
use contract::{Model, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use operators::Operators;
use serde_json::Value;
use std::sync::Arc;
use web::admin::MenuSources;
use web::openapi::ApiRouter;

/// Returns the routes of the admin console and of all capabilities.
pub(crate) fn routes(composition: &Composition) -> ApiRouter<AppState> {
    let Composition { chat, current, store, .. } = composition;
    let (context, capabilities) = (composition.context(), current.capabilities());
    let state = ConsoleState::new(chat.clone(), store.clone(), current.clone());
    let console = admin_console::routes(state, capabilities.console(&context), menu_sources(composition));
    let routes = capabilities.routes(&context).into_iter().map(|routes| routes.map(|router| router.with_state(())));
    routes.fold(console, ApiRouter::merge)
}

/// Returns the routes of capabilities with larger bodies than other requests.
pub(crate) fn upload_routes(composition: &Composition) -> Vec<ApiRouter<AppState>> {
    let (context, capabilities) = (composition.context(), composition.current.capabilities());
    let menu = admin_console::menu(&capabilities.console(&context), menu_sources(composition));
    let routes = capabilities.upload_routes(&context).into_iter();
    // Some of them answer with pages of the console.
    let with_menu = |routes: ApiRouter| routes.map(|router| router.layer(Extension(menu.clone())).with_state(()));
    routes.map(with_menu).collect()
}

/// Returns what asks capabilities for entries of the console's menu that lead elsewhere, and for what waits for people.
fn menu_sources(composition: &Composition) -> MenuSources {
    let (current, context) = (composition.current.clone(), composition.context());
    let for_counts = current.clone();
    MenuSources {
        links: Arc::new(move || current.capabilities().console_links()),
        counts: Arc::new(move || {
            let (current, context) = (for_counts.clone(), context.clone());
            async move {
                let mut counts = current.capabilities().menu_counts(&context).await;
                match admin_console::count_waiting_runs(&context.store).await {
                    Ok(count) => counts.push(count),
                    Err(error) => tracing::warn!(%error, "the runs that wait could not be counted"),
                }
                counts
            }
            .boxed()
        }),
    }
}

/// Returns the routes of capabilities for other services.
pub(crate) fn sender_routes(composition: &Composition) -> Vec<ApiRouter<AppState>> {
    let routes = composition.current.capabilities().sender_routes(&composition.context());
    routes.into_iter().map(|routes| routes.map(|router| router.with_state(()))).collect()
}

impl ConsoleHost for CurrentConfig {
    fn config_state(&self) -> ConfigState {
        self.state()
    }

    fn authentication(&self) -> Arc<Authentication> {
        CurrentConfig::authentication(self)
    }

    fn shell_level(&self, agent_id: &str) -> Option<&'static str> {
        let config = CurrentConfig::config(self);
        workspace::shell_levels(&config).into_iter().find(|shell| shell.agent_id == agent_id).map(|shell| shell.level)
    }
}

impl capability::CurrentConfig for CurrentConfig {
    fn config(&self) -> Arc<Config> {
        CurrentConfig::config(self)
    }

    fn refresh_additions(&self) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(CurrentConfig::refresh_additions(self))
    }

    fn drafts(&self) -> &dyn DraftConfigs {
        self
    }

    fn tool_servers(&self) -> Vec<ToolServerStatus> {
        self.capabilities().tool_servers()
    }

    fn language(&self) -> &'static Language {
        config_language()
    }

    fn operators(&self) -> Arc<Operators> {
        all_operators()
    }

    fn usable_agents(&self, caller: &Caller) -> Vec<String> {
        CurrentConfig::usable_agents(self, caller)
    }

    fn page_for_agent(&self, caller: &Caller, agent_id: &str) -> Option<String> {
        CurrentConfig::page_for_agent(self, caller, agent_id)
    }

    fn tasks_page(&self, caller: &Caller) -> Option<String> {
        PageSource::tasks_page(self, caller)
    }

    fn user_tools(&self) -> Vec<Arc<dyn Tool>> {
        self.capabilities().user_tools()
    }

    fn user_prompts(&self) -> Option<Arc<dyn UserPrompts>> {
        self.capabilities().user_prompts()
    }

    fn user_documents(&self) -> Option<Arc<dyn UserDocuments>> {
        self.capabilities().user_documents()
    }

    fn call_endpoint<'a>(&'a self, call: EndpointCall<'a>) -> BoxFuture<'a, Result<Value, EndpointFailure>> {
        Box::pin(self.call_endpoint_inside(call))
    }

    fn model(&self, connection: &ConnectionKind, name: &str) -> Option<Arc<dyn Model>> {
        compose::model_to_try(connection, name)
    }

    fn ask_model<'a>(&'a self, question: ModelQuestion<'a>) -> BoxFuture<'a, Result<Value, ModelFailure>> {
        Box::pin(CurrentConfig::ask_model(self, question))
    }
}
