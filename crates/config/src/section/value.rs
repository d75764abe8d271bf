//! Values that several sections use.

use super::Context;
use config_source::Span;
use globset::Glob;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;
use settings::Variable;

pub use settings::Id;
pub(crate) use settings::{EndpointId, Text, ToolName};

/// Checks glob patterns such as `read_*`.
pub(super) fn check_patterns(texts: &[String], at: Span, context: &mut Context<'_, '_>) {
    if let Some(error) = texts.iter().find_map(|text| Glob::new(text).err()) {
        context.report.error(at, format!("this is not a pattern: {}", error.kind()), None);
    }
}

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
    /// Returns the value, or reports that the variable is not set. `purpose` says what it is
    /// ("`apiKey` of the connection `anthropic`").
    pub(crate) fn resolve(self, at: Span, purpose: &str, context: &mut Context<'_, '_>) -> Option<SecretString> {
        match self {
            Self::Plain(Text(text)) => Some(text.into()),
            Self::Secret(secret) => secret.resolve(at, purpose, context),
        }
    }

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

impl SecretEntry {
    /// Returns the value as [`Setting::resolve`] does.
    pub(crate) fn resolve(self, at: Span, purpose: &str, context: &mut Context<'_, '_>) -> Option<SecretString> {
        let Variable(variable) = self.variable;
        match context.env.get(&variable).filter(|value| !value.trim().is_empty()) {
            Some(value) => Some(value.into()),
            None => {
                let help = format!("set it before the server starts: it is the {purpose}");
                context.report.error(at, format!("the environment variable `{variable}` is not set"), Some(help));
                None
            }
        }
    }
}
