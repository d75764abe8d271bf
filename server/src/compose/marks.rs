//! Tools with the marks that the config gives them, around tools that know nothing of marks.

use anyhow::anyhow;
use config::{Marked, SourceMarks};
use contract::{Marks, Sourced, Tool, ToolContext, ToolError, ToolSource, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use globset::GlobSet;
use serde_json::Value;
use std::sync::Arc;
use tools::patterns;

/// A tool with marks.
struct MarkedTool {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
}

/// The tool with these marks; the tool itself where there are none.
pub(super) fn marked(tool: Arc<dyn Tool>, marks: Marks) -> Arc<dyn Tool> {
    if marks == Marks::default() {
        return tool;
    }
    let spec = ToolSpec { marks, ..tool.spec().clone() };
    Arc::new(MarkedTool { tool, spec })
}

/// Marks of one tool.
pub(super) fn of_one(marks: config::Marks) -> Marks {
    let config::Marks { reads_private, returns_untrusted, egress, idempotent } = marks;
    Marks { reads_private, returns_untrusted, egress: egress.unwrap_or_default(), idempotent }
}

impl Tool for MarkedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        self.tool.call(input, context)
    }
}

/// A source whose tools have marks.
struct MarkedSource {
    source: Arc<dyn ToolSource>,
    marker: Arc<Marker>,
}

/// Which tools of a source have which marks.
pub(super) struct Marker {
    /// What stands before the names that the server itself says.
    prefix: String,
    private: Names,
    untrusted: Names,
    egress: Names,
    idempotent: Names,
}

/// Which tools.
enum Names {
    All(bool),
    These(GlobSet),
}

impl Names {
    fn of(marked: &Marked) -> anyhow::Result<Self> {
        Ok(match marked {
            Marked::All(all) => Self::All(*all),
            Marked::These(texts) => Self::These(patterns(texts).map_err(|error| anyhow!(error))?),
        })
    }

    /// Whether there is any.
    fn may_hold(&self) -> bool {
        !matches!(self, Self::All(false))
    }

    fn holds(&self, name: &str) -> bool {
        match self {
            Self::All(all) => *all,
            Self::These(set) => set.is_match(name),
        }
    }
}

/// The source with marks on its tools.
pub(super) fn marked_source(
    source: Arc<dyn ToolSource>,
    prefix: &str,
    marks: &SourceMarks,
) -> anyhow::Result<Arc<dyn ToolSource>> {
    Ok(Marker::new(prefix, marks)?.around(source))
}

impl Marker {
    /// # Errors
    /// Which pattern cannot be read.
    pub(super) fn new(prefix: &str, marks: &SourceMarks) -> anyhow::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            prefix: prefix.to_owned(),
            private: Names::of(&marks.reads_private)?,
            untrusted: Names::of(&marks.returns_untrusted)?,
            egress: marks.egress.as_ref().map_or(Ok(Names::All(false)), Names::of)?,
            idempotent: Names::of(&marks.idempotent)?,
        }))
    }

    /// The source with marks on its tools.
    pub(super) fn around(self: &Arc<Self>, source: Arc<dyn ToolSource>) -> Arc<dyn ToolSource> {
        Arc::new(MarkedSource { source, marker: self.clone() })
    }

    /// What the config says of a tool, and what its source has said where that counts.
    fn marks(&self, tool: &ToolSpec) -> Marks {
        let name = tool.name.strip_prefix(&self.prefix).unwrap_or(&tool.name);
        Marks {
            reads_private: self.private.holds(name),
            returns_untrusted: self.untrusted.holds(name),
            egress: self.egress.holds(name),
            idempotent: tool.marks.idempotent || self.idempotent.holds(name),
        }
    }
}

impl ToolSource for MarkedSource {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn tools<'a>(&'a self, user_id: &'a str) -> BoxFuture<'a, Result<Sourced, ToolError>> {
        async move {
            let Sourced { tools, context, left_out, .. } = self.source.tools(user_id).await?;
            let mark = |tool: Arc<dyn Tool>| {
                let marks = self.marker.marks(tool.spec());
                marked(tool, marks)
            };
            // It goes to the model whatever tool is called.
            let context_marks = Marks {
                reads_private: self.marker.private.may_hold(),
                returns_untrusted: self.marker.untrusted.may_hold(),
                ..Marks::default()
            };
            Ok(Sourced { tools: tools.into_iter().map(mark).collect(), context, context_marks, left_out })
        }
        .boxed()
    }
}
