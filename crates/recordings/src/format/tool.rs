//! The declaration of a tool in a recording.

use contract::Annotations;
use contract::tool::{ApprovalTerms, Execution, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// The declaration of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedTool {
    /// The name.
    pub name: String,
    /// The description that the model reads.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: Value,
    /// The place where it runs: `server`, `client` or `page`.
    pub execution: String,
    /// Whether the user must approve each call.
    pub needs_approval: bool,
    /// The terms of approval requests.
    pub approval: ApprovalTerms,
    /// The annotations that are set: `readsPrivate`, `returnsUntrusted`, `egress`, `idempotent`.
    pub annotations: Vec<String>,
    /// The longest duration of a call in milliseconds.
    pub timeout_ms: u64,
    /// Whether it may be found by search instead of being listed.
    pub deferrable: bool,
}

impl From<&ToolSpec> for RecordedTool {
    fn from(spec: &ToolSpec) -> Self {
        let execution = match spec.execution {
            Execution::Server => "server",
            Execution::Client => "client",
            Execution::Page => "page",
        };
        Self {
            name: spec.name.clone(),
            description: spec.description.clone(),
            input_schema: spec.input_schema.clone(),
            execution: execution.to_owned(),
            needs_approval: spec.needs_approval,
            approval: spec.approval.clone(),
            annotations: annotation_names(spec.annotations),
            timeout_ms: spec.timeout.as_millis().try_into().unwrap_or(u64::MAX),
            deferrable: spec.deferrable,
        }
    }
}

impl From<RecordedTool> for ToolSpec {
    fn from(tool: RecordedTool) -> Self {
        Self {
            execution: match tool.execution.as_str() {
                "client" => Execution::Client,
                "page" => Execution::Page,
                _ => Execution::Server,
            },
            needs_approval: tool.needs_approval,
            approval: tool.approval,
            annotations: annotations_from_names(&tool.annotations),
            timeout: Duration::from_millis(tool.timeout_ms),
            deferrable: tool.deferrable,
            ..Self::new(tool.name, tool.description, tool.input_schema)
        }
    }
}

/// Returns the names of the annotations that are set.
pub(crate) fn annotation_names(annotations: Annotations) -> Vec<String> {
    let Annotations { reads_private, returns_untrusted, egress, idempotent, reads_only } = annotations;
    let all = [
        ("readsPrivate", reads_private),
        ("returnsUntrusted", returns_untrusted),
        ("egress", egress),
        ("idempotent", idempotent),
        ("readsOnly", reads_only),
    ];
    all.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name.to_owned()).collect()
}

/// Returns the annotations with these names.
pub(crate) fn annotations_from_names(names: &[String]) -> Annotations {
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    Annotations {
        reads_private: has("readsPrivate"),
        returns_untrusted: has("returnsUntrusted"),
        egress: has("egress"),
        idempotent: has("idempotent"),
        reads_only: has("readsOnly"),
    }
}
