//! Tool annotations.

use schemars::JsonSchema;
use serde::Deserialize;

/// The annotations of a tool: what its calls do with data, and whether a call may be repeated.
/// Untrusted text may contain instructions that a model follows, so a model that has also read
/// private data must not be able to send it to others without the user's approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Whether the tool reads private data.
    pub reads_private: bool,
    /// Whether the result may contain untrusted text.
    pub returns_untrusted: bool,
    /// Whether the tool can send data to others.
    pub egress: bool,
    /// Whether the tool is idempotent. An interrupted call of an idempotent tool may run again
    /// without approval.
    pub idempotent: bool,
    /// Whether no call changes anything, including in the user's browser. This is stricter than
    /// `idempotent`: the first call of an idempotent tool may change something.
    pub reads_only: bool,
}

/// Annotations of one tool.
// As far as they are declared. They become `Annotations`, in which what is not declared is `false`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeclaredAnnotations {
    /// The results may hold private data. Default: `true` for an endpoint with a SQL request.
    pub reads_private: Option<bool>,
    /// The results may hold text by anybody, with instructions in it. Default: `true` for an
    /// endpoint with an `Http` request.
    pub returns_untrusted: Option<bool>,
    /// The tool can send data to others. Calls need the user's approval once the agent has read
    /// both private data and untrusted text.
    pub egress: Option<bool>,
    /// Repeating a call has no further effect. A call that a crash of the server cut off is then
    /// repeated when the run continues; otherwise the user decides. Default: as `readsOnly` says.
    pub idempotent: Option<bool>,
    /// No call changes anything. Such a tool may be called before the user has approved a plan.
    /// Default: `false`.
    pub reads_only: Option<bool>,
}

impl From<DeclaredAnnotations> for Annotations {
    fn from(declared: DeclaredAnnotations) -> Self {
        Self {
            reads_private: declared.reads_private.unwrap_or_default(),
            returns_untrusted: declared.returns_untrusted.unwrap_or_default(),
            egress: declared.egress.unwrap_or_default(),
            idempotent: declared.idempotent.or(declared.reads_only).unwrap_or_default(),
            reads_only: declared.reads_only.unwrap_or_default(),
        }
    }
}
