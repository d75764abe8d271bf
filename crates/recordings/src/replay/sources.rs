//! A source of tools that answers from the recording.

use super::ToolMode;
use super::tape::{Tape, TapedNote, TapedSource};
use super::tool::ReplayTool;
use contract::tool::{NoteQuery, SourceTools};
use contract::{RunScope, Tool, ToolError, ToolSource, ToolSpec};
use futures::future::BoxFuture;
use std::sync::Arc;

/// Answers from the recording. A source that the recording does not know is asked.
pub(super) struct ReplaySource {
    pub(super) tape: Arc<Tape>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn ToolSource>,
}

impl ReplaySource {
    fn tool(&self, spec: ToolSpec, inner: Option<Arc<dyn Tool>>) -> Arc<dyn Tool> {
        Arc::new(ReplayTool { tape: self.tape.clone(), agent: self.agent.clone(), spec, inner })
    }

    async fn ask(&self, scope: &RunScope) -> Result<SourceTools, ToolError> {
        let mut offered = self.inner.tools(scope).await?;
        for tool in &mut offered.tools {
            *tool = self.tool(tool.spec().clone(), Some(tool.clone()));
        }
        Ok(offered)
    }
}

impl ToolSource for ReplaySource {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(async move {
            let Some(taped) = self.tape.source(&self.agent, self.name()) else { return self.ask(scope).await };
            let TapedSource { tools, context, context_annotations, note_annotations, error } = taped;
            if let Some(error) = error {
                return Err(ToolError::new(error));
            }
            // Tools that run are offered as they are now. Texts of the source about the user or the
            // environment always come from the recording.
            let is_live = self.tape.options.tools == ToolMode::Live;
            let live = if is_live { self.ask(scope).await.ok() } else { None };
            let tools = match live {
                Some(offered) => offered.tools,
                None => tools.into_iter().map(|spec| self.tool(spec, None)).collect(),
            };
            Ok(SourceTools { tools, context, context_annotations, note_annotations, left_out: Vec::new() })
        })
    }

    fn reads_history(&self) -> bool {
        self.inner.reads_history()
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        match self.tape.note(&self.agent, self.name()) {
            Some(TapedNote(text)) => Box::pin(std::future::ready(text)),
            None => self.inner.note(asked),
        }
    }
}
