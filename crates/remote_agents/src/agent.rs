//! A remote agent and its requests.

use crate::client::{RemoteClient, RemoteRequest, Requester};
use crate::settings::RemoteAgentSettings;
use crate::tool::RemoteTool;
use crate::{listing, resource};
use contract::RunScope;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The time limit for the list of tools.
const LIST_TIME: Duration = Duration::from_secs(10);
/// The maximum size of the list of tools in bytes.
const MAX_LIST: usize = 4 << 20;
/// The time limit for the context, for which a turn waits.
const RESOURCE_TIME: Duration = Duration::from_secs(5);
/// The maximum size of an answer with context in bytes; the context itself is limited further.
const MAX_RESOURCE: usize = 256 << 10;

/// A server with tools; cheap to clone.
#[derive(Clone)]
pub struct RemoteAgent {
    client: Arc<RemoteClient>,
}

/// The tools of a remote agent.
pub struct Discovery {
    /// The tools that can be used, in the agent's order, with unique names.
    pub tools: Vec<RemoteTool>,
    /// A line for the operator about each tool that is left out.
    pub warnings: Vec<String>,
}

impl RemoteAgent {
    /// Creates a client for the agent, without connecting.
    ///
    /// # Errors
    /// The base URL or a header cannot be used, or there are no trusted certificates. One line for
    /// the operator, without secrets.
    pub fn new(settings: RemoteAgentSettings) -> Result<Self, String> {
        Ok(Self { client: Arc::new(RemoteClient::new(settings)?) })
    }

    /// Lists the tools, with a time limit of 10 s. A tool that cannot be used is left out with a
    /// warning.
    ///
    /// # Errors
    /// There is no answer, or it is not a list of tools. One line for the operator, without
    /// secrets.
    pub async fn discover(&self) -> Result<Discovery, String> {
        let question = RemoteRequest {
            path: ["tools", ""],
            body: None,
            behalf: Requester::Nobody,
            idempotency_key: None,
            time: LIST_TIME,
            max_bytes: MAX_LIST,
        };
        let reply = self.client.ask(question).await.map_err(|error| format!("the list of tools: {error}"))?;
        let listing = listing::read(&reply, self.client.prefix.as_deref())?;
        let tools = listing.tools.into_iter().map(|listed| RemoteTool::new(self.client.clone(), listed)).collect();
        Ok(Discovery { tools, warnings: listing.warnings })
    }

    /// Returns the agent's information about the user and the environment, for the model: JSON on one line, at most 16
    /// KiB, with `<` escaped so that it cannot close the block that contains it. `None` if the agent says nothing or
    /// does not answer within 5 s, or if something of the user is missing that it requires.
    pub async fn resource(&self, scope: &RunScope) -> Option<String> {
        let credentials = self.client.users.credentials(scope).await?;
        let (path, body, behalf) = (["resource", ""], Some(json!({})), Requester::User(&credentials));
        let question =
            RemoteRequest { path, body, behalf, idempotency_key: None, time: RESOURCE_TIME, max_bytes: MAX_RESOURCE };
        resource::read(&self.client.ask(question).await.ok()?)
    }
}
