//! A tool of an MCP server.

use crate::apps::ShownApp;
use crate::listing::CalledTool;
use crate::result;
use crate::users::UserConnection;
use contract::{Tool, ToolContext, ToolError, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// A tool of a server for one agent and one turn.
pub(crate) struct McpTool {
    pub(crate) spec: ToolSpec,
    /// The tool of the server.
    pub(crate) called: CalledTool,
    pub(crate) seat: Arc<UserConnection>,
    pub(crate) readers: ResultReaders,
}

/// Who reads the results of a tool.
#[derive(Clone, Debug)]
pub(crate) enum ResultReaders {
    /// A model.
    Model,
    /// A model, and the user in the tool's user interface.
    ModelAndApp {
        /// The name of the server.
        server: String,
        /// The title of the tool.
        title: String,
    },
    /// The user interface of the server that calls the tool.
    App,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            // A call runs only after the user's approval, or if it needs none.
            self.seat.accept(&self.called.name, self.called.fingerprint);
            let Value::Object(arguments) = input else {
                return Err(ToolError::new("The arguments must be a JSON object."));
            };
            let reports = context.reports.clone();
            let result = self.seat.call(&self.called, arguments.clone(), context).await?;
            match &self.readers {
                ResultReaders::App => result::for_app(&result),
                ResultReaders::ModelAndApp { server, title } => {
                    let data = ShownApp::data(server, (&self.called.name, title), &self.spec, arguments, &result);
                    if let Some(data) = data {
                        reports.app(data).await;
                    }
                    result::into_value(result)
                }
                ResultReaders::Model => result::into_value(result),
            }
        }
        .boxed()
    }
}
