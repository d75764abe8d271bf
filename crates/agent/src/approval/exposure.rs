//! Tracks what an agent has read: private data and untrusted text. Once it has read both, a call of
//! a tool that can send data to others needs the user's approval. Neither the model nor the text
//! has an influence on this.

use crate::model::reply::RunFailure;
use crate::run::Run;
use crate::{Event, EventSink, SinkClosed};
use contract::{Annotations, AssistantPart, Exposure, ToolSpec};
use parking_lot::Mutex;
use std::sync::Arc;

/// The suffix of a tool's fingerprint if the approval request showed what the agent has read.
const EXPOSED: &str = "+exposed";

/// What has been read so far by all agents of a turn. It is shared by all levels, because an answer
/// or a task may contain what another agent has read.
#[derive(Clone, Debug, Default)]
pub struct ExposureState(Arc<Mutex<Exposure>>);

impl From<Exposure> for ExposureState {
    fn from(before: Exposure) -> Self {
        Self(Arc::new(Mutex::new(before)))
    }
}

impl ExposureState {
    /// Returns the current exposure.
    pub fn snapshot(&self) -> Exposure {
        self.0.lock().clone()
    }

    /// Adds what a call of this tool reads. Returns the whole exposure if that changed it.
    fn add(&self, tool: &str, marks: Annotations) -> Option<Exposure> {
        let mut known = self.0.lock();
        known.add(tool, marks).then(|| known.clone())
    }

    /// Returns the exposure if it requires the user's approval for a call of this tool.
    pub(crate) fn reason_to_ask(&self, tool: &ToolSpec) -> Option<Exposure> {
        Some(self.snapshot()).filter(|seen| tool.annotations.egress && seen.has_both())
    }
}

/// Returns the fingerprint that an approval request for this tool is about. A standing approval
/// that was given without knowledge of the exposure does not cover a request with it.
pub(crate) fn fingerprint(tool: &ToolSpec, is_exposed: bool) -> String {
    let plain = tool.fingerprint();
    if is_exposed { plain + EXPOSED } else { plain }
}

/// Returns whether the approval request showed the exposure.
pub(crate) fn is_exposed(asked: &str) -> bool {
    asked.ends_with(EXPOSED)
}

/// Returns whether the user was asked about this tool as it is now.
pub(crate) fn matches_tool(asked: &str, tool: &ToolSpec) -> bool {
    asked.strip_suffix(EXPOSED).unwrap_or(asked) == tool.fingerprint()
}

impl Run<'_> {
    /// Adds what a call of this tool reads, and emits the exposure so that it is stored with the
    /// conversation.
    pub(crate) async fn expose<S: EventSink>(&self, tool: &ToolSpec, sink: &mut S) -> Result<(), RunFailure> {
        Ok(expose(&self.caller.exposure, &tool.name, tool.annotations, sink).await?)
    }

    /// Adds what the provider's own tools returned in a reply, such as web pages. What its search for tools has
    /// found are the agent's tools.
    pub(crate) async fn expose_reply<S: EventSink>(
        &self,
        said: &[AssistantPart],
        has_sources: bool,
        sink: &mut S,
    ) -> Result<(), RunFailure> {
        let mut tools = said.iter().filter_map(|part| match part {
            AssistantPart::ToolResult(result) => Some(result.name.as_str()),
            _ => None,
        });
        let tool = tools.find(|name| !self.is_tool_search(name));
        match tool.or(has_sources.then_some(Exposure::WEB)) {
            Some(name) => Ok(expose(&self.caller.exposure, name, UNTRUSTED, sink).await?),
            None => Ok(()),
        }
    }
}

/// The annotations of the provider's own tools.
const UNTRUSTED: Annotations =
    Annotations { reads_private: false, returns_untrusted: true, egress: false, idempotent: false, reads_only: false };

/// Adds what something reads, and emits the exposure if that changed it.
pub(crate) async fn expose<S: EventSink>(
    seen: &ExposureState,
    name: &str,
    marks: Annotations,
    sink: &mut S,
) -> Result<(), SinkClosed> {
    match seen.add(name, marks) {
        Some(exposure) => sink.emit(Event::Exposed { exposure }).await,
        None => Ok(()),
    }
}
