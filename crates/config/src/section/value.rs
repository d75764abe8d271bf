//! Values that several sections share.

use super::Context;
use crate::shape::pattern;
use crate::source::Span;
use globset::Glob;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Text that follows a pattern or is at least not empty.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(transparent)]
        pub(crate) struct $name(pub(crate) String);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

text!(
    /// The id of a connection, an agent, a page or a block.
    Id,
    json_schema!({ "type": "string", "pattern": pattern::ID })
);
text!(
    /// The id of an endpoint.
    EndpointId,
    json_schema!({ "type": "string", "pattern": pattern::ENDPOINT_ID })
);
text!(
    /// What a model calls a tool.
    ToolName,
    json_schema!({ "type": "string", "pattern": pattern::TOOL_NAME })
);
text!(
    /// The name of an environment variable.
    Variable,
    json_schema!({ "type": "string", "pattern": pattern::VARIABLE })
);
text!(
    /// Text that is not empty.
    Text,
    json_schema!({ "type": "string", "minLength": 1 })
);

/// Patterns such as `read_*`; one that cannot be read is reported.
pub(super) fn patterns(texts: Vec<Text>, at: Span, context: &mut Context<'_, '_>) -> Vec<String> {
    let texts: Vec<_> = texts.into_iter().map(|Text(text)| text).collect();
    if let Some(error) = texts.iter().find_map(|text| Glob::new(text).err()) {
        context.report.error(at, format!("this is not a pattern: {}", error.kind()), None);
    }
    texts
}

/// Text, or the name of the environment variable that holds it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Setting {
    /// As it is.
    Plain(Text),
    /// From the environment, so that it need not stand in the config.
    Secret(SecretEntry),
}

/// A secret.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SecretEntry {
    /// The name of the environment variable that holds it.
    #[serde(rename = "_secret")]
    variable: Variable,
}

impl Setting {
    /// Its value. `purpose` tells what it is for ("`apiKey` of the connection `anthropic`") when the variable is missing.
    pub(crate) fn resolve(self, at: Span, purpose: &str, context: &mut Context<'_, '_>) -> Option<SecretString> {
        match self {
            Self::Plain(Text(text)) => Some(text.into()),
            Self::Secret(secret) => secret.resolve(at, purpose, context),
        }
    }

    /// The text, if it stands in the config as it is.
    pub(crate) fn plain(&self) -> Option<&str> {
        match self {
            Self::Plain(Text(text)) => Some(text),
            Self::Secret(_) => None,
        }
    }

    /// Whether it stands in the config as it is.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }
}

impl SecretEntry {
    /// As [`Setting::resolve`].
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
