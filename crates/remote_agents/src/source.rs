//! The tools of a remote agent for one local agent.

use crate::agent::RemoteAgent;
use crate::tool::RemoteTool;
use crate::versions::{ChangedTool, ToolVersions, Version};
use contract::{ApprovalTerms, RunScope, SourceTools, Tool, ToolError, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use globset::GlobSet;
use settings::ToolSelection;
use settings::compile_patterns;
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

/// The tools of a remote agent for one local agent. The list is the same for all users; calls and
/// context are requested with the token of the run's user if the settings say so.
pub struct RemoteSource {
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
        Ok(Self {
            name: name.into(),
            agent,
            allow: selection.tools.allow.as_deref().map(compile_patterns).transpose()?,
            deny: compile_patterns(&selection.tools.deny)?,
            confirm: selection.confirm,
            approval: selection.approval.clone(),
            known: Mutex::default(),
            versions,
        })
    }

    /// Returns the tool as this user knows it: a changed version must be approved again.
    fn for_user(&self, tool: Arc<RemoteTool>, user_id: &str) -> Arc<dyn Tool> {
        match self.versions.record(user_id, tool.spec()) {
            Version::Accepted => tool,
            Version::Changed(version) => Arc::new(ChangedTool::new(tool, version)),
        }
    }

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
        &self.name
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        async move {
            let (tools, resource) = tokio::join!(self.list(), self.agent.resource(scope));
            let context = resource.map(|content| tools::context::remote_context(&self.name, &content));
            let tools = tools?.into_iter().map(|tool| self.for_user(tool, &scope.user_id)).collect();
            Ok(SourceTools { tools, context, ..SourceTools::default() })
        }
        .boxed()
    }
}
