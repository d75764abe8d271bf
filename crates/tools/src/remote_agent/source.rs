//! What one agent of ours takes of a remote one.

use super::agent::RemoteAgent;
use super::tool::{PersonalTool, RemoteTool};
use super::versions::{OtherTool, Version, Versions};
use crate::patterns::patterns;
use contract::{ApprovalTerms, Sourced, Tool, ToolError, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use globset::GlobSet;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// A list of tools is good for so long.
const FRESH: Duration = Duration::from_secs(60);
/// A server that gave no list is not asked again for so long.
const PAUSE: Duration = Duration::from_secs(10);

/// What an agent takes.
#[derive(Clone, Debug, Default)]
pub struct RemoteSelection {
    /// Only tools whose names, as the server gives them, match one of these patterns; all without it.
    pub allow: Option<Vec<String>>,
    /// Not those that match one of these.
    pub deny: Vec<String>,
    /// Ask the user before each call, also of tools that do not want it.
    pub confirm: bool,
    /// How the user is asked, whoever has him asked. Which parameters he sees first is the remote agent's to say.
    pub approval: ApprovalTerms,
}

/// The tools of a remote agent for one of ours; a cheap handle.
#[derive(Clone)]
pub struct RemoteSource {
    shared: Arc<Shared>,
    /// What the user came with on whose behalf it is asked.
    token: Option<SecretString>,
}

/// What is the same for all users.
struct Shared {
    name: String,
    agent: RemoteAgent,
    allow: Option<GlobSet>,
    deny: GlobSet,
    confirm: bool,
    approval: ApprovalTerms,
    known: Mutex<Option<Known>>,
    versions: Arc<Versions>,
}

/// The last list, or why there was none.
struct Known {
    tools: Result<Vec<Arc<RemoteTool>>, ToolError>,
    until: Instant,
}

impl RemoteSource {
    /// The remote agent under this name. `versions` is what is known of its tools, by whichever source.
    ///
    /// # Errors
    /// In one line, which pattern of the selection cannot be read.
    pub fn new(
        name: impl Into<String>,
        agent: RemoteAgent,
        selection: &RemoteSelection,
        versions: Arc<Versions>,
    ) -> Result<Self, String> {
        let shared = Shared {
            name: name.into(),
            agent,
            allow: selection.allow.as_deref().map(patterns).transpose()?,
            deny: patterns(&selection.deny)?,
            confirm: selection.confirm,
            approval: selection.approval.clone(),
            known: Mutex::default(),
            versions,
        };
        Ok(Self { shared: Arc::new(shared), token: None })
    }

    /// The same for one user, whose token goes with what is asked for him, if the settings say so; it lives as long as this.
    pub fn on_behalf(&self, token: Option<SecretString>) -> Self {
        Self { shared: self.shared.clone(), token }
    }

    fn for_user(&self, tool: Arc<RemoteTool>, user_id: &str) -> Arc<dyn Tool> {
        let seen = self.shared.versions.see(user_id, tool.spec());
        let tool = self.with_token(tool);
        match seen {
            Version::Known => tool,
            Version::Another(version) => Arc::new(OtherTool::new(tool, version)),
        }
    }

    fn with_token(&self, tool: Arc<RemoteTool>) -> Arc<dyn Tool> {
        match &self.token {
            Some(token) => Arc::new(PersonalTool { tool, token: token.clone() }),
            None => tool,
        }
    }
}

impl Shared {
    async fn list(&self) -> Result<Vec<Arc<RemoteTool>>, ToolError> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| Instant::now() < known.until) {
            return known.tools.clone();
        }
        let tools = self.ask().await;
        let until = Instant::now() + if tools.is_ok() { FRESH } else { PAUSE };
        *known = Some(Known { tools: tools.clone(), until });
        tools
    }

    async fn ask(&self) -> Result<Vec<Arc<RemoteTool>>, ToolError> {
        let discovery = self.agent.discover().await.map_err(|cause| {
            tracing::warn!(remote = self.name, cause, "a remote agent is not available");
            ToolError::new(format!("The tools of `{}` are not available now: it gave no list of them.", self.name))
        })?;
        for warning in discovery.warnings {
            tracing::warn!(remote = self.name, "left out a tool of a remote agent: {warning}");
        }
        let taken = discovery.tools.into_iter().filter(|tool| {
            let name = tool.remote_name();
            self.allow.as_ref().is_none_or(|allow| allow.is_match(name)) && !self.deny.is_match(name)
        });
        Ok(taken.map(|tool| Arc::new(tool.asking(self.confirm, &self.approval))).collect())
    }
}

impl ToolSource for RemoteSource {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn tools<'a>(&'a self, user_id: &'a str) -> BoxFuture<'a, Result<Sourced, ToolError>> {
        async move {
            let (name, agent) = (&self.shared.name, &self.shared.agent);
            let (tools, resource) = tokio::join!(self.shared.list(), agent.resource(self.token.as_ref()));
            let context = resource.map(|said| crate::context::remote(name, &said));
            let tools = tools?.into_iter().map(|tool| self.for_user(tool, user_id)).collect();
            Ok(Sourced { tools, context, ..Sourced::default() })
        }
        .boxed()
    }
}
