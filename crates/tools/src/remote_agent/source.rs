//! The tools of a remote agent for one local agent.

use super::agent::RemoteAgent;
use super::tool::{PersonalTool, RemoteTool};
use super::versions::{ChangedTool, ToolVersions, Version};
use crate::patterns::compile_patterns;
use contract::{ApprovalTerms, RunScope, SourceTools, Tool, ToolError, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use globset::GlobSet;
use secrecy::SecretString;
use settings::ToolSelection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long a list of tools is cached.
const FRESH: Duration = Duration::from_secs(60);
/// How long a failure to list the tools is cached.
const PAUSE: Duration = Duration::from_secs(10);

/// The tools that an agent uses, and how.
#[derive(Clone, Debug, Default)]
pub struct RemoteSelection {
    /// The tools that are offered, by the server's names.
    pub tools: ToolSelection,
    /// Whether each call needs the user's approval, even if the tool does not require it.
    pub confirm: bool,
    /// The terms of approval requests, whatever their reason. The remote agent chooses the
    /// parameters that the user sees first.
    pub approval: ApprovalTerms,
}

/// The tools of a remote agent for one local agent; cheap to clone.
#[derive(Clone)]
pub struct RemoteSource {
    shared: Arc<SharedSource>,
    /// The token of the user for whom requests are made.
    token: Option<SecretString>,
}

/// The part that all users share.
struct SharedSource {
    name: String,
    agent: RemoteAgent,
    allow: Option<GlobSet>,
    deny: GlobSet,
    confirm: bool,
    approval: ApprovalTerms,
    known: Mutex<Option<CachedList>>,
    versions: Arc<ToolVersions>,
}

/// The cached list, or the error instead of it.
struct CachedList {
    tools: Result<Vec<Arc<RemoteTool>>, ToolError>,
    until: Instant,
}

impl RemoteSource {
    /// Creates the source with this name. `versions` has the known versions of the agent's tools,
    /// shared by all sources.
    ///
    /// # Errors
    /// The invalid pattern of the selection, in one line.
    pub fn new(
        name: impl Into<String>,
        agent: RemoteAgent,
        selection: &RemoteSelection,
        versions: Arc<ToolVersions>,
    ) -> Result<Self, String> {
        let shared = SharedSource {
            name: name.into(),
            agent,
            allow: selection.tools.allow.as_deref().map(compile_patterns).transpose()?,
            deny: compile_patterns(&selection.tools.deny)?,
            confirm: selection.confirm,
            approval: selection.approval.clone(),
            known: Mutex::default(),
            versions,
        };
        Ok(Self { shared: Arc::new(shared), token: None })
    }

    /// Returns the source for one user, whose token is sent with requests on their behalf if the
    /// settings say so. The token lives as long as the returned source.
    pub fn on_behalf(&self, token: Option<SecretString>) -> Self {
        Self { shared: self.shared.clone(), token }
    }

    fn for_user(&self, tool: Arc<RemoteTool>, user_id: &str) -> Arc<dyn Tool> {
        let seen = self.shared.versions.record(user_id, tool.spec());
        let tool = self.with_token(tool);
        match seen {
            Version::Accepted => tool,
            Version::Changed(version) => Arc::new(ChangedTool::new(tool, version)),
        }
    }

    fn with_token(&self, tool: Arc<RemoteTool>) -> Arc<dyn Tool> {
        match &self.token {
            Some(token) => Arc::new(PersonalTool { tool, token: token.clone() }),
            None => tool,
        }
    }
}

impl SharedSource {
    async fn list(&self) -> Result<Vec<Arc<RemoteTool>>, ToolError> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| Instant::now() < known.until) {
            return known.tools.clone();
        }
        let tools = self.ask().await;
        let until = Instant::now() + if tools.is_ok() { FRESH } else { PAUSE };
        *known = Some(CachedList { tools: tools.clone(), until });
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
        Ok(taken.map(|tool| Arc::new(tool.with_approval(self.confirm, &self.approval))).collect())
    }
}

impl ToolSource for RemoteSource {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        async move {
            let (name, agent) = (&self.shared.name, &self.shared.agent);
            let (tools, resource) = tokio::join!(self.shared.list(), agent.resource(self.token.as_ref()));
            let context = resource.map(|content| crate::context::remote_context(name, &content));
            let tools = tools?.into_iter().map(|tool| self.for_user(tool, &scope.user_id)).collect();
            Ok(SourceTools { tools, context, ..SourceTools::default() })
        }
        .boxed()
    }
}
