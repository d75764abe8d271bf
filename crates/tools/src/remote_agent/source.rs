//! What one agent of ours takes of a remote one.

use super::agent::RemoteAgent;
use crate::patterns::patterns;
use contract::{ApprovalTerms, Sourced, Tool, ToolError, ToolSource};
use futures::FutureExt;
use futures::future::BoxFuture;
use globset::GlobSet;
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

/// The tools of a remote agent for one of ours.
pub struct RemoteSource {
    name: String,
    agent: RemoteAgent,
    allow: Option<GlobSet>,
    deny: GlobSet,
    confirm: bool,
    approval: ApprovalTerms,
    known: Mutex<Option<Known>>,
}

/// The last list, or why there was none.
struct Known {
    tools: Result<Vec<Arc<dyn Tool>>, ToolError>,
    until: Instant,
}

impl RemoteSource {
    /// The remote agent under this name.
    ///
    /// # Errors
    /// In one line, which pattern of the selection cannot be read.
    pub fn new(name: impl Into<String>, agent: RemoteAgent, selection: &RemoteSelection) -> Result<Self, String> {
        Ok(Self {
            name: name.into(),
            agent,
            allow: selection.allow.as_deref().map(patterns).transpose()?,
            deny: patterns(&selection.deny)?,
            confirm: selection.confirm,
            approval: selection.approval.clone(),
            known: Mutex::default(),
        })
    }

    async fn list(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| Instant::now() < known.until) {
            return known.tools.clone();
        }
        let tools = self.ask().await;
        let until = Instant::now() + if tools.is_ok() { FRESH } else { PAUSE };
        *known = Some(Known { tools: tools.clone(), until });
        tools
    }

    async fn ask(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
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
        let asking = taken.map(|tool| tool.asking(self.confirm, &self.approval));
        Ok(asking.map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect())
    }
}

impl ToolSource for RemoteSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn tools<'a>(&'a self, user_id: &'a str) -> BoxFuture<'a, Result<Sourced, ToolError>> {
        async move {
            let (tools, resource) = tokio::join!(self.list(), self.agent.resource(user_id));
            let context = resource.map(|said| crate::context::remote(&self.name, &said));
            Ok(Sourced { tools: tools?, context, ..Sourced::default() })
        }
        .boxed()
    }
}
