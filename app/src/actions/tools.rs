//! Client tools: tools of an agent that run in the user's browser.

use super::{ACTIONS, Actions};
use crate::prelude::*;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wire::page::ClientTool;

/// The result of a call; the error is for the model.
pub(super) type ToolFuture = Pin<Box<dyn Future<Output = Result<Value, String>>>>;

/// A client tool of the config, with the actions of the page that runs it.
pub(super) type ConfiguredTool = Arc<(Actions, ClientTool)>;

/// The client tools of a chat; cheap to clone. Tools of a config run actions; a page in Rust adds
/// closures with [`ClientTools::on`], one for each tool that it [declares](crate::pages::RustTool).
#[derive(Clone, Default)]
pub struct ClientTools {
    tools: Vec<(String, ToolHandler)>,
}

#[derive(Clone)]
enum ToolHandler {
    Actions(ConfiguredTool),
    Closure(Arc<dyn Fn(Value) -> ToolFuture + Send + Sync>, Duration),
}

impl ClientTools {
    /// Creates the client tools of a chat of the config, on the current page.
    pub(crate) fn from_config(tools: Vec<ClientTool>) -> Self {
        let Some(actions) = use_context::<Actions>() else { return Self::default() };
        if !tools.is_empty() {
            ACTIONS.request();
        }
        let handler = |tool: ClientTool| (tool.name.clone(), ToolHandler::Actions(Arc::new((actions, tool))));
        // Host tools run in the page that embeds the chat, not here.
        Self { tools: tools.into_iter().filter(|tool| !tool.host).map(handler).collect() }
    }

    /// Adds the implementation of a tool. It is called with the model's input, which is valid by
    /// the tool's schema, and returns the result, or an error for the model. Calls time out after
    /// [`ClientTool::TIMEOUT`].
    #[must_use]
    pub fn on<F>(self, name: &str, tool: impl Fn(Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, String>> + 'static,
    {
        self.on_with_timeout(name, ClientTool::TIMEOUT, tool)
    }

    /// Adds the implementation of a tool, like [`Self::on`], with a timeout of its own.
    #[must_use]
    pub fn on_with_timeout<F>(
        mut self,
        name: &str,
        limit: Duration,
        tool: impl Fn(Value) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, String>> + 'static,
    {
        let tool = Arc::new(move |input| -> ToolFuture { Box::pin(tool(input)) });
        self.tools.push((name.to_owned(), ToolHandler::Closure(tool, limit)));
        self
    }

    fn find(&self, name: &str) -> Option<&ToolHandler> {
        self.tools.iter().find(|(known, _)| known == name).map(|(_, handler)| handler)
    }

    /// Returns the timeout of a call of this tool; [`ClientTool::TIMEOUT`] for a tool that this
    /// chat does not have.
    pub(crate) fn timeout(&self, name: &str) -> Duration {
        match self.find(name) {
            Some(ToolHandler::Actions(own)) => own.1.timeout(),
            Some(ToolHandler::Closure(_, limit)) => *limit,
            None => ClientTool::TIMEOUT,
        }
    }

    /// Returns whether the chat has this tool.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns whether an interrupted call may be repeated. Tools of a page in Rust are never
    /// repeated.
    pub(crate) fn may_repeat(&self, name: &str) -> bool {
        matches!(self.find(name), Some(ToolHandler::Actions(own)) if own.1.idempotent)
    }

    /// Runs a call to its end, even if nobody waits for it any more.
    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<Value, String> {
        match self.find(name) {
            Some(ToolHandler::Closure(tool, _)) => tool(input).await,
            Some(ToolHandler::Actions(own)) => match ACTIONS.load().await {
                Ok(code) => (code.call)(own.clone(), input).await,
                Err(_) => Err("The page could not load the code of this tool.".to_owned()),
            },
            None => Err("This page cannot execute the tool.".to_owned()),
        }
    }
}
