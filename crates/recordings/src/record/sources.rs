//! A source of tools that records its tools and notes.

use super::tool::RecordingTool;
use super::{Session, tool_list};
use crate::format::{Entry, annotation_names};
use contract::tool::{NoteQuery, SourceTools};
use contract::{RunScope, Tool, ToolError, ToolSource};
use futures::future::BoxFuture;
use std::sync::Arc;

/// Records a source.
pub(super) struct RecordingSource {
    pub(super) session: Arc<Session>,
    pub(super) agent: String,
    pub(super) inner: Arc<dyn ToolSource>,
}

impl ToolSource for RecordingSource {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(async move {
            let mut answer = self.inner.tools(scope).await;
            let (tools, context, annotations, error) = match &answer {
                Ok(offered) => {
                    let tools = tool_list(&self.session, offered.tools.iter().map(|tool| tool.spec()));
                    (tools, offered.context.clone(), [offered.context_annotations, offered.note_annotations], None)
                }
                Err(error) => {
                    let none = tool_list(&self.session, std::iter::empty());
                    (none, None, Default::default(), Some(error.message.clone()))
                }
            };
            self.session.push(Entry::Source {
                agent: self.agent.clone(),
                source: self.name().to_owned(),
                tools,
                context,
                context_annotations: annotation_names(annotations[0]),
                note_annotations: annotation_names(annotations[1]),
                error,
            });
            if let Ok(offered) = &mut answer {
                for tool in &mut offered.tools {
                    let (session, agent, inner) = (self.session.clone(), self.agent.clone(), tool.clone());
                    *tool = Arc::new(RecordingTool { session, agent, inner }) as Arc<dyn Tool>;
                }
            }
            answer
        })
    }

    fn revision(&self, scope: &RunScope) -> u64 {
        self.inner.revision(scope)
    }

    fn reads_history(&self) -> bool {
        self.inner.reads_history()
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let text = self.inner.note(asked).await;
            let (agent, source) = (self.agent.clone(), self.name().to_owned());
            self.session.push(Entry::Note { agent, source, text: text.clone() });
            text
        })
    }
}
