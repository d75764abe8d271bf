//! Values that several sections use.

mod patterns;
mod resolve;

pub(crate) use patterns::check_patterns;
pub use settings::Id;
pub(crate) use settings::{EndpointId, Text, ToolName};

use config_source::{Node, Report, Span};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Variable;

/// A text, or the name of an environment variable that holds it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Setting {
    /// The text itself.
    Plain(Text),
    /// From an environment variable, so that the config does not contain it.
    Secret(SecretEntry),
}

/// A secret.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SecretEntry {
    /// The name of the environment variable that holds the secret.
    #[serde(rename = "_secret")]
    variable: Variable,
}

impl Setting {
    /// Returns the text, if it is written in the config.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(Text(text)) => Some(text),
            Self::Secret(_) => None,
        }
    }

    /// Whether the text is written in the config.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }
}

/// Returns the `type` of an entry, if it has one.
pub(crate) fn type_of(node: &Node) -> Option<&str> {
    node.get("type")?.value.text()
}

/// Reports names such as `__proto__`, which have a meaning in every JavaScript object.
pub(crate) fn refuse_prototype_key(name: &str, at: Span, report: &mut Report) {
    if operators::is_prototype_key(name) {
        report.error(at, format!("the name `{name}` is refused: in a browser it can change every object"), None);
    }
}
