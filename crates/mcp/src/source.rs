//! The tools of a server for one agent.

use crate::connection::{Connection, RequestError};
use crate::content::{self, ListResources, PromptTool, READ_RESOURCE, ReadResource};
use crate::listing::{CalledTool, ListedTool, ToolSelector};
use crate::server::McpServer;
use crate::settings::McpSelection;
use crate::tool::{McpTool, ResultReaders};
use crate::users::{ConnectAccount, UserConnection};
use contract::{MAX_USER_WAIT, RunScope, SourceTools, Tool, ToolError, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;

/// The tools of a server for one agent.
pub struct McpSource {
    server: Arc<McpServer>,
    selected: ToolSelector,
}

impl McpSource {
    /// Creates the source of the selected tools.
    ///
    /// # Errors
    /// The invalid pattern of the selection, in one line.
    pub fn new(server: Arc<McpServer>, selection: McpSelection) -> Result<Self, String> {
        Ok(Self { server, selected: ToolSelector::new(selection)? })
    }

    /// Returns the tool with which the user connects their account.
    fn connect_account(&self, seat: &Arc<UserConnection>) -> SourceTools {
        let name = self.selected.content_name(self.name(), "connect_account");
        let tool = ConnectAccount::new(name, self.name(), seat.clone());
        SourceTools { tools: vec![Arc::new(tool)], ..SourceTools::default() }
    }

    /// Returns who reads the results of a tool in a run.
    fn readers(&self, scope: &RunScope, tool: &ListedTool) -> ResultReaders {
        let shows_app = self.server.features().apps.is_some() && tool.ui.address.is_some();
        if scope.for_app {
            ResultReaders::App
        } else if shows_app {
            ResultReaders::ModelAndApp { server: self.name().to_owned(), title: tool.title.clone() }
        } else {
            ResultReaders::Model
        }
    }

    /// Returns the tool that reads resources, if they are used and the server has them.
    fn resource_reader(&self, seat: &Arc<UserConnection>, connection: &Connection) -> Option<ReadResource> {
        let (server, base) = (self.name(), self.selected.base());
        let name = self.selected.content_name(server, READ_RESOURCE);
        let is_used = self.server.features().resources && connection.offers_resources();
        is_used.then(|| ReadResource::new(name, server, &base, seat.clone()))
    }

    /// Adds the tools for resources and prompts, as far as they are used and the server has them.
    async fn add_content(
        &self,
        seat: &Arc<UserConnection>,
        connection: &Connection,
        sourced: &mut SourceTools,
    ) -> Result<(), ToolError> {
        let features = self.server.features();
        if !features.resources && !features.prompts {
            return Ok(());
        }
        let (server, base) = (self.name(), self.selected.base());
        let name = |what: &str| self.selected.content_name(server, what);
        if let Some(read) = self.resource_reader(seat, connection) {
            let list = ListResources::new(name("list_resources"), server, &base, seat.clone());
            sourced.tools.extend([Arc::new(list) as Arc<dyn Tool>, Arc::new(read)]);
        }
        if features.prompts && connection.offers_prompts() {
            let prompts = seat.read_with(connection.token.clone(), &|connection| connection.prompts().boxed()).await;
            let prompts = prompts.map_err(RequestError::into_error)?;
            let (tool, prefix) = (name("get_prompt"), self.selected.prefix());
            sourced.context = content::context(server, prefix, &tool, &prompts);
            if sourced.context.is_some() {
                sourced.tools.push(Arc::new(PromptTool::new(tool, server, prefix, &base, seat.clone())));
            }
        }
        Ok(())
    }
}

impl ToolSource for McpSource {
    fn name(&self) -> &str {
        self.server.name()
    }

    fn revision(&self, scope: &RunScope) -> u64 {
        self.server.user_connection(&scope.user_id).revision()
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        async move {
            let seat = self.server.connection_for(scope);
            // Visitors have neither accounts nor tokens, so the server has nothing for them.
            if seat.access.is_some() && !scope.is_authenticated {
                return Ok(SourceTools::default());
            }
            let token = match &seat.access {
                Some(access) => match access.token_if_connected().await? {
                    Some(token) => Some(token),
                    None => return Ok(self.connect_account(&seat)),
                },
                None => None,
            };
            let offered = seat.offered(token).await;
            // The server may have refused the token, and there is no other one.
            if let (Err(_), Some(access)) = (&offered, &seat.access)
                && matches!(access.token_if_connected().await, Ok(None))
            {
                return Ok(self.connect_account(&seat));
            }
            let (connection, offered) = offered?;
            let is_for_caller = |tool: &&ListedTool| if scope.for_app { tool.ui.for_apps } else { tool.ui.for_models };
            let tools = offered.offered.iter().filter(is_for_caller).filter_map(|tool| {
                let spec = self.selected.spec(tool, seat.is_changed(&tool.name, tool.fingerprint))?;
                // The longest that a call can take.
                let task_time = tool.is_task.then(|| spec.timeout.saturating_add(MAX_USER_WAIT));
                let called = CalledTool { name: tool.name.clone(), fingerprint: tool.fingerprint, task_time };
                let (seat, readers) = (seat.clone(), self.readers(scope, tool));
                Some(Arc::new(McpTool { spec, called, seat, readers }) as Arc<dyn Tool>)
            });
            let left_out = offered.left_out.clone();
            let mut sourced = SourceTools { tools: tools.collect(), left_out, ..SourceTools::default() };
            if scope.for_app {
                let read = self.resource_reader(&seat, &connection);
                sourced.tools.extend(read.map(|read| Arc::new(read.for_app()) as Arc<dyn Tool>));
                return Ok(sourced);
            }
            // The server's tools stay if its prompts cannot be listed.
            if let Err(error) = self.add_content(&seat, &connection, &mut sourced).await {
                tracing::warn!(server = self.name(), %error, "resources and prompts of an MCP server are left out");
            }
            Ok(sourced)
        }
        .boxed()
    }
}
