//! The values of settings that may be in environment variables.

use super::{SecretEntry, Setting, Text};
use crate::section::Context;
use config_source::Span;
use secrecy::SecretString;
use settings::Variable;

impl Setting {
    /// Returns the value, or reports that the variable is not set. `purpose` says what it is
    /// ("`apiKey` of the connection `anthropic`").
    pub(crate) fn resolve(self, at: Span, purpose: &str, context: &mut Context<'_, '_>) -> Option<SecretString> {
        match self {
            Self::Plain(Text(text)) => Some(text.into()),
            Self::Secret(secret) => secret.resolve(at, purpose, context),
        }
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
