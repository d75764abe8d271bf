//! The server as the admin console sees it.

use crate::compose::CurrentConfig;
use admin_console::{ConfigState, Host};
use auth::Authentication;
use chat::Caller;
use config::Config;
use futures::future::BoxFuture;
use std::sync::Arc;
use tools::mcp::McpStatus;

impl Host for CurrentConfig {
    fn config(&self) -> Arc<Config> {
        self.config()
    }

    fn config_state(&self) -> ConfigState {
        self.state()
    }

    fn authentication(&self) -> Arc<Authentication> {
        self.authentication()
    }

    fn page_for_agent(&self, caller: &Caller, agent_id: &str) -> Option<String> {
        self.page_for_agent(caller, agent_id)
    }

    fn mcp(&self) -> Vec<McpStatus> {
        self.mcp()
    }

    fn refresh_additions(&self) -> BoxFuture<'_, anyhow::Result<()>> {
        Box::pin(self.refresh_additions())
    }
}
