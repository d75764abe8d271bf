//! The requests of a connection for user interfaces.

use super::resource::{AppResource, Declaration};
use crate::connection::{Connection, RequestError};
use crate::listing::ListedTool;
use crate::server::McpServer;
use contract::{RunScope, ToolError};
use futures::FutureExt;
use std::sync::Arc;

/// The maximum size of the user interface that a connection remembers, in bytes.
const MAX_CACHED: usize = 1 << 20;

impl Connection {
    /// Returns a user interface of the server. If domains are allowed and its content declares nothing, its entry in the list of resources
    /// may.
    async fn app(&self, address: &str, allows_domains: bool) -> Result<Arc<AppResource>, RequestError> {
        let changes = self.events.changes();
        if let Some((known, at, app)) = &*self.app.lock()
            && (known.as_str(), *at) == (address, changes)
        {
            return Ok(app.clone());
        }
        let contents = self.read_resource_in_time(address.to_owned()).await?;
        let mut app = AppResource::read(contents).map_err(|reason| {
            tracing::warn!(server = self.name, address, reason, "a user interface of an MCP server is not shown");
            RequestError::Answered(ToolError::new(format!("The app of `{}` cannot be shown: {reason}.", self.name)))
        })?;
        if allows_domains && app.declared.is_none() {
            let listed = self.listed_resource(address).await?;
            app.declared = listed.and_then(|listed| Declaration::read(listed.meta.as_ref()));
        }
        let app = Arc::new(app);
        if app.html.len() <= MAX_CACHED {
            *self.app.lock() = Some((address.to_owned(), changes, app.clone()));
        }
        Ok(app)
    }
}

impl McpServer {
    /// Returns a tool of the server as the user of a run has it.
    ///
    /// # Errors
    /// The server does not answer, has no such tool, or the user has to connect their account first.
    pub(crate) async fn tool(&self, scope: &RunScope, name: &str) -> Result<ListedTool, ToolError> {
        let seat = self.connection_for(scope);
        let (_, listed) = seat.offered(seat.token().await?).await?;
        let tool = listed.offered.iter().find(|tool| tool.name == name);
        tool.cloned().ok_or_else(|| ToolError::new(format!("`{}` has no tool `{name}` any more.", self.name())))
    }

    /// Returns the user interface of a tool for the user of a run.
    ///
    /// # Errors
    /// As [`McpServer::tool`], or the tool has none that can be shown.
    pub(crate) async fn app(&self, scope: &RunScope, tool: &str) -> Result<Arc<AppResource>, ToolError> {
        let address = self.tool(scope, tool).await?.ui.address;
        let none = || ToolError::new(format!("The tool `{tool}` of `{}` has no app any more.", self.name()));
        let address = address.ok_or_else(none)?;
        let seat = self.connection_for(scope);
        let allows_domains = self.features().apps.as_ref().is_some_and(|apps| !apps.domains.is_empty());
        seat.read(|connection| {
            let address = address.clone();
            async move { connection.app(&address, allows_domains).await }.boxed()
        })
        .await
    }
}
