//! The differences between two definitions, as lines of their YAML.

use super::{definition_yaml, in_config, table};
use capability::Context;
use diffy::{DiffOptions, Line};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use web::admin::from_store_error;
use wire::UserError;
use workflow_definition::Workflow;

/// The lines around a change that are shown.
const CONTEXT_LINES: usize = 4;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffSide {
    /// The workflow of the config.
    Config,
    /// A stored version.
    Version(i64),
}

impl DiffSide {
    /// Reads `config` or the number of a version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "config" { Some(Self::Config) } else { text.parse().ok().map(Self::Version) }
    }

    /// Returns the text that [`Self::parse`] reads.
    pub(crate) fn key(self) -> String {
        match self {
            Self::Config => "config".to_owned(),
            Self::Version(version) => version.to_string(),
        }
    }

    /// Returns the name for people.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Config => "the config".to_owned(),
            Self::Version(version) => format!("version {version}"),
        }
    }
}

/// How a line has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LineChange {
    /// It is on both sides.
    Same,
    /// It is only in the second definition.
    Added,
    /// It is only in the first definition.
    Removed,
    /// Lines that are the same are left out here.
    Gap,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DiffLine {
    /// How it has changed.
    pub(crate) change: LineChange,
    /// The line.
    pub(crate) text: String,
}

/// Compares two definitions of a workflow. Without a difference there are no lines.
///
/// # Errors
/// 404 if one of them does not exist.
pub(crate) async fn diff(
    context: &Context,
    id: &str,
    from: DiffSide,
    to: DiffSide,
) -> Result<Vec<DiffLine>, UserError> {
    let (old, new) = (definition(context, id, from).await?, definition(context, id, to).await?);
    // Large definitions take a while.
    let lines = tokio::task::spawn_blocking(move || lines(&old, &new)).await;
    lines.map_err(|_| UserError::invalid("/", "The definitions could not be compared."))
}

async fn definition(context: &Context, id: &str, side: DiffSide) -> Result<Value, UserError> {
    let found = match side {
        DiffSide::Config => in_config(&context.current.config(), id).and_then(|own| serde_json::to_value(own).ok()),
        DiffSide::Version(version) => table::version_of(&context.store, id, version).await.map_err(from_store_error)?,
    };
    found.ok_or_else(UserError::not_found)
}

fn lines(old: &Value, new: &Value) -> Vec<DiffLine> {
    let (old, new) = (definition_yaml(&in_order(old)), definition_yaml(&in_order(new)));
    let mut options = DiffOptions::new();
    let patch = options.set_context_len(CONTEXT_LINES).create_patch(&old, &new);
    let mut lines = Vec::new();
    for hunk in patch.hunks() {
        if hunk.old_range().start() > 1 {
            lines.push(DiffLine { change: LineChange::Gap, text: String::new() });
        }
        lines.extend(hunk.lines().iter().map(|line| {
            let (change, text) = match line {
                Line::Context(text) => (LineChange::Same, text),
                Line::Delete(text) => (LineChange::Removed, text),
                Line::Insert(text) => (LineChange::Added, text),
            };
            DiffLine { change, text: text.trim_end_matches('\n').to_owned() }
        }));
    }
    lines
}

/// Returns a definition with its keys in one order and without those that say what is the default, so that
/// only what matters is different. One that cannot be read any more stays as it is.
fn in_order(definition: &Value) -> Value {
    let read = serde_json::from_value::<Workflow>(definition.clone());
    let written = read.ok().and_then(|workflow| serde_json::to_value(workflow).ok());
    written.unwrap_or_else(|| definition.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use serde_json::json;

    #[test]
    fn only_what_matters_is_different() {
        let step = |id: &str| json!({ "id": id, "type": "wait", "seconds": 1 });
        let old = json!({ "id": "greet", "steps": [step("one"), step("two")], "output": "Hello" });
        let shown = |new: &Value| {
            let line = |DiffLine { change, text }: DiffLine| match change {
                LineChange::Same => format!("  {text}"),
                LineChange::Added => format!("+ {text}"),
                LineChange::Removed => format!("- {text}"),
                LineChange::Gap => "…".to_owned(),
            };
            lines(&old, new).into_iter().map(line).collect::<Vec<_>>().join("\n")
        };
        let reordered =
            json!({ "output": "Hello", "roles": [], "steps": [step("one"), step("two")], "limits": {}, "id": "greet" });
        assert_snapshot!(shown(&reordered), @"");
        let changed = json!({ "id": "greet", "title": "Greets", "steps": [step("one"), step("two")], "output": "Bye" });
        assert_snapshot!(shown(&changed), @"
          id: greet
        + title: Greets
          steps:
            - id: one
              type: wait
              seconds: 1
            - id: two
              type: wait
              seconds: 1
        - output: Hello
        + output: Bye
        ");
        // A definition that this version cannot read is compared as it is stored.
        assert_snapshot!(shown(&json!({ "id": "greet", "steps": 1 })), @"
          id: greet
        - steps:
        -   - id: one
        -     type: wait
        -     seconds: 1
        -   - id: two
        -     type: wait
        -     seconds: 1
        - output: Hello
        + steps: 1
        ");
    }
}
