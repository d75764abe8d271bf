//! The tools of a server for one agent.

use crate::listing::ToolSelector;
use crate::server::McpServer;
use crate::settings::McpSelection;
use crate::tool::McpTool;
use contract::{RunScope, SourceTools, Tool, ToolError, ToolSource};
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
            let seat = self.server.user_connection(&scope.user_id);
            let offered = seat.offered().await?;
            let tools = offered.offered.iter().filter_map(|tool| {
                let spec = self.selected.spec(tool, seat.is_changed(&tool.name, tool.fingerprint))?;
                let (name, fingerprint) = (tool.name.clone(), tool.fingerprint);
                Some(Arc::new(McpTool { spec, name, fingerprint, seat: seat.clone() }) as Arc<dyn Tool>)
            });
            let left_out = offered.left_out.clone();
            Ok(SourceTools { tools: tools.collect(), left_out, ..SourceTools::default() })
        }
        .boxed()
    }
}
