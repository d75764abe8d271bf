//! Adds the annotations of the config to tools and tool sources.

use anyhow::anyhow;
use config::{AnnotatedTools, SourceAnnotations, compile_patterns};
use contract::{Annotations, NoteQuery, RunScope, SourceTools, Tool, ToolContext, ToolError, ToolSource, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use globset::GlobSet;
use serde_json::Value;
use std::sync::Arc;

/// A tool with annotations.
struct AnnotatedTool {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
}

/// Adds annotations to a tool; returns the tool itself if there are none.
pub fn annotated(tool: Arc<dyn Tool>, marks: Annotations) -> Arc<dyn Tool> {
    if marks == Annotations::default() {
        return tool;
    }
    let spec = ToolSpec { annotations: marks, ..tool.spec().clone() };
    Arc::new(AnnotatedTool { tool, spec })
}

impl Tool for AnnotatedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn needs_approval_for<'a>(&'a self, input: &'a Value, scope: &'a RunScope) -> BoxFuture<'a, bool> {
        self.tool.needs_approval_for(input, scope)
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        self.tool.call(input, context)
    }
}

/// A tool source whose tools have annotations.
struct AnnotatedSource {
    source: Arc<dyn ToolSource>,
    /// The prefix of tool names that is not part of the server's own names.
    prefix: String,
    private: ToolMatcher,
    untrusted: ToolMatcher,
    egress: ToolMatcher,
    idempotent: ToolMatcher,
    reads_only: ToolMatcher,
}

/// Matches names of tools.
enum ToolMatcher {
    All(bool),
    These(GlobSet),
}

impl ToolMatcher {
    fn from_config(marked: Option<&AnnotatedTools>) -> anyhow::Result<Self> {
        Ok(match marked {
            None => Self::All(false),
            Some(AnnotatedTools::All(all)) => Self::All(*all),
            Some(AnnotatedTools::These(texts)) => Self::These(compile_patterns(texts).map_err(|error| anyhow!(error))?),
        })
    }

    /// Returns whether any name can match.
    fn can_match(&self) -> bool {
        !matches!(self, Self::All(false))
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::All(all) => *all,
            Self::These(set) => set.is_match(name),
        }
    }
}

/// Adds the annotations of the config to the tools of a source. `prefix` begins the names of its
/// tools and is not part of the server's own names.
///
/// # Errors
/// A pattern is invalid.
pub fn annotated_source(
    source: Arc<dyn ToolSource>,
    prefix: &str,
    marks: &SourceAnnotations,
) -> anyhow::Result<Arc<dyn ToolSource>> {
    Ok(Arc::new(AnnotatedSource {
        source,
        prefix: prefix.to_owned(),
        private: ToolMatcher::from_config(marks.reads_private.as_ref())?,
        untrusted: ToolMatcher::from_config(marks.returns_untrusted.as_ref())?,
        egress: ToolMatcher::from_config(marks.egress.as_ref())?,
        idempotent: ToolMatcher::from_config(marks.idempotent.as_ref())?,
        reads_only: ToolMatcher::from_config(marks.reads_only.as_ref())?,
    }))
}

impl AnnotatedSource {
    /// Combines the annotations of the config with those that the source declares.
    fn annotations_for(&self, tool: &ToolSpec) -> Annotations {
        let name = tool.name.strip_prefix(&self.prefix).unwrap_or(&tool.name);
        let declared = tool.annotations;
        let reads_only = declared.reads_only || self.reads_only.matches(name);
        Annotations {
            reads_private: declared.reads_private || self.private.matches(name),
            returns_untrusted: declared.returns_untrusted || self.untrusted.matches(name),
            egress: declared.egress || self.egress.matches(name),
            // Repeating a call that changes nothing is safe.
            idempotent: declared.idempotent || reads_only || self.idempotent.matches(name),
            reads_only,
        }
    }
}

impl ToolSource for AnnotatedSource {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn revision(&self, scope: &RunScope) -> u64 {
        self.source.revision(scope)
    }

    fn reads_history(&self) -> bool {
        self.source.reads_history()
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        self.source.note(asked)
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        async move {
            let SourceTools { tools, context, context_annotations: declared, note_annotations, left_out } =
                self.source.tools(scope).await?;
            let mark = |tool: Arc<dyn Tool>| {
                let marks = self.annotations_for(tool.spec());
                annotated(tool, marks)
            };
            // The context of a source is sent to the model whichever tool is called.
            let context_marks = Annotations {
                reads_private: declared.reads_private || self.private.can_match(),
                returns_untrusted: declared.returns_untrusted || self.untrusted.can_match(),
                ..declared
            };
            Ok(SourceTools {
                tools: tools.into_iter().map(mark).collect(),
                context,
                context_annotations: context_marks,
                note_annotations,
                left_out,
            })
        }
        .boxed()
    }
}
