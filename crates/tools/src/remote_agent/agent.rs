//! The agent: what it offers.

use super::client::{Behalf, Client, Question};
use super::settings::RemoteAgentSettings;
use super::tool::RemoteTool;
use super::{listing, resource};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// For the list of tools.
const LIST_TIME: Duration = Duration::from_secs(10);
/// Bytes of the list of tools.
const MAX_LIST: usize = 4 << 20;
/// For the context: a turn waits for it.
const RESOURCE_TIME: Duration = Duration::from_secs(5);
/// Bytes of an answer with context, of which less is kept.
const MAX_RESOURCE: usize = 256 << 10;

/// A server with tools; a cheap handle.
#[derive(Clone)]
pub struct RemoteAgent {
    client: Arc<Client>,
}

/// What an agent offers.
pub struct Discovery {
    /// The tools that can be used, in the agent's order, their names different from each other.
    pub tools: Vec<RemoteTool>,
    /// One line for the operator for each tool that is left out.
    pub warnings: Vec<String>,
}

impl RemoteAgent {
    /// A client for this agent. Nothing is connected yet.
    ///
    /// # Errors
    /// One line for the operator, without a secret: the address or a header cannot be used, or there are no trusted certificates.
    pub fn new(settings: RemoteAgentSettings) -> Result<Self, String> {
        Ok(Self { client: Arc::new(Client::new(settings)?) })
    }

    /// Asks which tools there are, for 10 s at most. A tool that cannot be used is left out with a warning.
    ///
    /// # Errors
    /// One line for the operator, without a secret: there is no answer, or it is no list of tools.
    pub async fn discover(&self) -> Result<Discovery, String> {
        let question =
            Question { path: ["tools", ""], body: None, behalf: Behalf::Nobody, time: LIST_TIME, max_bytes: MAX_LIST };
        let reply = self.client.ask(question).await.map_err(|error| format!("the list of tools: {error}"))?;
        let listing = listing::read(&reply, self.client.prefix.as_deref())?;
        let tools = listing.tools.into_iter().map(|listed| RemoteTool::new(self.client.clone(), listed)).collect();
        Ok(Discovery { tools, warnings: listing.warnings })
    }

    /// What the agent says about the user and the surroundings, for the model: JSON on one line, 16 KiB at most, in which `<`
    /// is escaped, so that it can stand in a block of context and not close it. None when it says nothing, or not within 5 s, or
    /// when it wants a user's token and there is none.
    pub async fn resource(&self, token: Option<&SecretString>) -> Option<String> {
        let (path, body, behalf) = (["resource", ""], Some(json!({})), Behalf::User(token));
        let question = Question { path, body, behalf, time: RESOURCE_TIME, max_bytes: MAX_RESOURCE };
        resource::read(&self.client.ask(question).await.ok()?)
    }
}
