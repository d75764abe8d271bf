//! What a page does for an agent: tools that run here, in the user's browser.

use super::{ACTIONS, Actions};
use crate::prelude::*;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use wire::page::ClientTool;

/// What comes of a call; the error is for the model.
pub(super) type Called = Pin<Box<dyn Future<Output = Result<Value, String>>>>;

/// A tool of the config, with the actions of the page that run it.
pub(super) type Own = Arc<(Actions, ClientTool)>;

/// The tools of a chat; a cheap handle. Out of a config they run actions; a page in Rust adds closures with [`ClientTools::on`], each for a
/// tool that it [declares](crate::pages::RustTool).
#[derive(Clone, Default)]
pub struct ClientTools {
    tools: Vec<(String, Handler)>,
}

#[derive(Clone)]
enum Handler {
    Actions(Own),
    Closure(Arc<dyn Fn(Value) -> Called + Send + Sync>, Duration),
}

impl ClientTools {
    /// The tools of a chat of the config, on the page around.
    pub(crate) fn of_config(tools: Vec<ClientTool>) -> Self {
        let Some(actions) = use_context::<Actions>() else { return Self::default() };
        if !tools.is_empty() {
            ACTIONS.request();
        }
        let handler = |tool: ClientTool| (tool.name.clone(), Handler::Actions(Arc::new((actions, tool))));
        // What a site around does is nothing that this page can do.
        Self { tools: tools.into_iter().filter(|tool| !tool.host).map(handler).collect() }
    }

    /// Adds what a tool does. It is given what the model called it with, which fits the tool's schema, and answers with its result, or
    /// with what went wrong, for the model to read. After [`ClientTool::TIMEOUT`] nobody waits for it any more.
    #[must_use]
    pub fn on<Done>(self, name: &str, tool: impl Fn(Value) -> Done + Send + Sync + 'static) -> Self
    where
        Done: Future<Output = Result<Value, String>> + 'static,
    {
        self.within(name, ClientTool::TIMEOUT, tool)
    }

    /// As [`Self::on`], with the time that a call may take.
    #[must_use]
    pub fn within<Done>(
        mut self,
        name: &str,
        limit: Duration,
        tool: impl Fn(Value) -> Done + Send + Sync + 'static,
    ) -> Self
    where
        Done: Future<Output = Result<Value, String>> + 'static,
    {
        let tool = Arc::new(move |input| -> Called { Box::pin(tool(input)) });
        self.tools.push((name.to_owned(), Handler::Closure(tool, limit)));
        self
    }

    fn find(&self, name: &str) -> Option<&Handler> {
        self.tools.iter().find(|(known, _)| known == name).map(|(_, handler)| handler)
    }

    /// How long a call of this tool may take; of one that is not here, how long it may take elsewhere as far as is known.
    pub(crate) fn limit(&self, name: &str) -> Duration {
        match self.find(name) {
            Some(Handler::Actions(own)) => own.1.timeout(),
            Some(Handler::Closure(_, limit)) => *limit,
            None => ClientTool::TIMEOUT,
        }
    }

    /// Whether the tool is one of this chat's.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Whether a call that was begun may be made once more. What a page in Rust does, it does once.
    pub(crate) fn may_repeat(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Handler::Actions(own)) if own.1.idempotent)
    }

    /// Runs a call to its end, whoever waits for it.
    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<Value, String> {
        match self.find(name) {
            Some(Handler::Closure(tool, _)) => tool(input).await,
            Some(Handler::Actions(own)) => match ACTIONS.load().await {
                Ok(code) => (code.call)(own.clone(), input).await,
                Err(_) => Err("The page could not load what this tool does.".to_owned()),
            },
            None => Err("This page cannot execute the tool.".to_owned()),
        }
    }
}
