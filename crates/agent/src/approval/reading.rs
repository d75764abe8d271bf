//! Records what a run reads.

use super::expose::expose;
use crate::EventSink;
use crate::model::reply::RunFailure;
use crate::run::Run;
use contract::{Annotations, AssistantPart, Exposure, ToolSpec};

impl Run<'_> {
    /// Adds what a call of this tool reads, and emits the exposure so that it is stored with the
    /// conversation.
    pub(crate) async fn expose<S: EventSink>(&self, tool: &ToolSpec, sink: &mut S) -> Result<(), RunFailure> {
        Ok(expose(&self.caller.exposure, &tool.name, tool.annotations, sink).await?)
    }

    /// Adds what the provider's own tools returned in a reply, such as web pages. The results of its tool search do
    /// not count: they are the agent's tools.
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
