//! Prompts as the API shows and reads them.

use crate::prompt::{Origin, PromptContent};
use crate::section::SharedPrompt;
use crate::store::StoredPrompt;
use crate::template::{Part, Template, Variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The beginning of the ids of prompts that the config shares; their names follow. Other ids are hexadecimal.
pub(crate) const CONFIG_ID: &str = "config-";

/// A prompt in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptItem {
    /// The id.
    pub(crate) id: String,
    /// The name, with which the composer lists it behind `/`.
    pub(crate) name: String,
    /// Its purpose; may be empty.
    pub(crate) description: String,
    /// Whose it is.
    pub(crate) origin: Origin,
    /// The roles that see it; empty for everybody.
    #[serde(skip)]
    pub(crate) roles: Vec<String>,
    /// The first characters of its text.
    #[serde(skip)]
    pub(crate) beginning: String,
    /// When it was last changed; Unix time in milliseconds, 0 for one of the config.
    pub(crate) updated_at: i64,
}

/// The prompts that the caller sees.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptItems {
    /// The caller's own ones, then the shared ones, each by their names.
    pub(crate) items: Vec<PromptItem>,
    /// Whether the caller can have prompts of their own: visitors cannot.
    pub(crate) may_add: bool,
    /// The most prompts of a user.
    pub(crate) most: u32,
    /// The longest text of a prompt, in bytes.
    pub(crate) text_bytes: u32,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Prompt")]
pub(crate) struct PromptDetail {
    /// The id.
    pub(crate) id: String,
    /// The name, with which the composer lists it behind `/`.
    pub(crate) name: String,
    /// Its purpose; may be empty.
    pub(crate) description: String,
    /// Whose it is.
    pub(crate) origin: Origin,
    /// The text as it was written.
    pub(crate) text: String,
    /// The variables, whose values the user enters before it is used.
    pub(crate) variables: Vec<Variable>,
    /// The text as pieces: with values in place of the variables, they are the message.
    pub(crate) parts: Vec<Part>,
    /// For administrators, of a shared prompt: the roles that see it. Empty for everybody.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) roles: Vec<String>,
    /// Counts from 1; 0 for one of the config.
    pub(crate) version: i64,
    /// When it was last changed; Unix time in milliseconds, 0 for one of the config.
    pub(crate) updated_at: i64,
}

/// The body that adds or changes a prompt of the caller.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptBody {
    /// The name: up to 40 letters, digits, hyphens and underscores, in upper or lower case.
    pub(crate) name: String,
    /// Its purpose, in one line of up to 200 characters.
    #[serde(default)]
    pub(crate) description: String,
    /// The text, with variables such as `{{topic}}`, `{{tone|friendly}}` and `{{length|short|long}}`.
    pub(crate) text: String,
    /// For a change: the version that it is based on.
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

/// The body that adds or changes a shared prompt.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedPromptBody {
    /// The name: up to 40 letters, digits, hyphens and underscores, in upper or lower case.
    pub(crate) name: String,
    /// Its purpose, in one line of up to 200 characters.
    #[serde(default)]
    pub(crate) description: String,
    /// The text, with variables such as `{{topic}}`, `{{tone|friendly}}` and `{{length|short|long}}`.
    pub(crate) text: String,
    /// The roles whose users see it; empty for everybody, also visitors.
    #[serde(default)]
    pub(crate) roles: Vec<String>,
    /// For a change: the version that it is based on.
    #[serde(default)]
    pub(crate) version: Option<i64>,
}

/// The caller's own prompts, as a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PromptExport {
    /// The prompts by their names.
    pub(crate) prompts: Vec<ExportedPrompt>,
}

/// A prompt in a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExportedPrompt {
    /// The name.
    pub(crate) name: String,
    /// Its purpose; may be empty.
    pub(crate) description: String,
    /// The text.
    pub(crate) text: String,
}

impl PromptItem {
    pub(crate) fn stored(prompt: StoredPrompt, origin: Origin) -> Self {
        let PromptContent { name, description, text } = prompt.content;
        let StoredPrompt { id, roles, updated_at, .. } = prompt;
        Self { id, name, description, origin, roles, beginning: text, updated_at }
    }

    pub(crate) fn of_config(prompt: &SharedPrompt) -> Self {
        Self {
            id: format!("{CONFIG_ID}{}", prompt.name),
            name: prompt.name.clone(),
            description: prompt.description.clone(),
            origin: Origin::Config,
            roles: prompt.roles.clone(),
            beginning: prompt.text.chars().take(crate::store::BEGINNING).collect(),
            updated_at: 0,
        }
    }
}

impl PromptDetail {
    pub(crate) fn stored(prompt: StoredPrompt, origin: Origin) -> Self {
        let StoredPrompt { id, content, roles, version, updated_at } = prompt;
        Self { version, updated_at, roles, ..Self::new(id, content, origin) }
    }

    pub(crate) fn of_config(prompt: &SharedPrompt) -> Self {
        Self::new(format!("{CONFIG_ID}{}", prompt.name), prompt.content(), Origin::Config)
    }

    fn new(id: String, PromptContent { name, description, text }: PromptContent, origin: Origin) -> Self {
        let Template { parts, variables } = Template::parse(&text);
        Self { id, name, description, origin, text, variables, parts, roles: Vec::new(), version: 0, updated_at: 0 }
    }
}

impl From<PromptContent> for ExportedPrompt {
    fn from(PromptContent { name, description, text }: PromptContent) -> Self {
        Self { name, description, text }
    }
}
