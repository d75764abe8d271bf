//! The composer of a chat.

use super::messages::is_on;
use super::properties::text;
use serde::Serialize;
use serde_json::{Map, Value};

/// The properties of the composer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SenderProperties {
    /// The placeholder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// A text above the composer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Whether Shift+Enter sends and Enter starts a new line; otherwise it is the reverse.
    pub shift_enter_sends: bool,
    /// Whether sending a message stops the answer in progress; otherwise the message is queued.
    pub interrupts: bool,
    /// Whether dictation is offered, in browsers that support it.
    pub allow_speech: bool,
    /// Which files may be attached; if absent, none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Attachments>,
    /// Switches for the next message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<SenderSwitch>,
    /// The commands that `/` offers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SenderCommand>,
    /// The sub-agents that `@` offers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<SenderMention>,
}

/// A sub-agent that the user may mention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SenderMention {
    /// The name after the `@`, by which its parent agent calls it.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The agent's id.
    pub agent_id: String,
}

/// Which files may be attached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachments {
    /// Accepted file types as in HTML: `image/*`, `application/pdf`, `.csv`. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// The maximum size of a file in bytes, within the server's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u64>,
    /// Where files are uploaded instead of to the server.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub storage: Option<UploadStorage>,
}

/// A storage of the page's own, such as an S3 bucket, to which the browser uploads files directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UploadStorage {
    /// The endpoint that issues an upload policy for each file: it maps `{name, type, size}` to
    /// `{url, fields}`.
    pub upload_policy_request_id: String,
    /// The endpoint that returns the URL of an uploaded file: it maps `{key, name, type, size}` to
    /// a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download_policy_request_id: Option<String>,
    /// The only origin to which files are uploaded.
    pub upload_origin: String,
}

/// A switch of the composer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SenderSwitch {
    /// The key for the agent and the page's events.
    pub key: String,
    /// The label.
    pub label: String,
    /// One or two characters before the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// Whether it is initially on.
    pub default: bool,
}

/// A command of the composer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SenderCommand {
    /// The name after the `/`.
    pub name: String,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The text that replaces the command.
    pub text: String,
}

impl SenderProperties {
    pub(super) fn read(own: &Map<String, Value>) -> Self {
        let is = |key: &str, value: &str| text(own, key).as_deref() == Some(value);
        let attachments = own.get("attachments").and_then(Value::as_object);
        Self {
            placeholder: text(own, "placeholder"),
            header: text(own, "header").filter(|header| !header.is_empty()),
            shift_enter_sends: is("submitType", "shiftEnter"),
            interrupts: is("whileRunning", "interrupt"),
            allow_speech: is_on(own, "allowSpeech", false),
            attachments: attachments.filter(|own| is_on(own, "enabled", false)).map(Attachments::read),
            switches: objects(own, "switches").filter_map(SenderSwitch::read).collect(),
            commands: objects(own, "commands").filter_map(SenderCommand::read).collect(),
            mentions: objects(own, "mentions").filter_map(SenderMention::read).collect(),
        }
    }
}

fn objects<'a>(own: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
    own.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

impl Attachments {
    fn read(own: &Map<String, Value>) -> Self {
        Self {
            accept: accepted(own.get("accept")),
            max_size: own.get("maxSize").and_then(Value::as_u64),
            storage: UploadStorage::read(own),
        }
    }

    /// Returns whether a file of this name and type may be attached. The browser reports the type;
    /// the server checks it again.
    pub fn accepts(&self, name: &str, media_type: &str) -> bool {
        let (name, kind) = (name.to_ascii_lowercase(), media_type.to_ascii_lowercase());
        let fits = |accept: &String| match accept.strip_suffix('*') {
            Some(group) => kind.starts_with(group),
            None if accept.starts_with('.') => name.ends_with(accept.as_str()),
            None => kind == *accept,
        };
        self.accept.is_empty() || self.accept.iter().any(fits)
    }
}

impl UploadStorage {
    fn read(own: &Map<String, Value>) -> Option<Self> {
        Some(Self {
            upload_policy_request_id: text(own, "uploadPolicyRequestId")?,
            download_policy_request_id: text(own, "downloadPolicyRequestId"),
            upload_origin: text(own, "uploadOrigin")?,
        })
    }
}

/// Reads accepted file types: a list, or one text with commas as in HTML.
pub fn accepted(accept: Option<&Value>) -> Vec<String> {
    let kinds: Vec<&str> = match accept {
        Some(Value::String(text)) => text.split(',').collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    kinds.into_iter().map(|kind| kind.trim().to_ascii_lowercase()).filter(|kind| !kind.is_empty()).collect()
}

/// Returns whether the text is a file type: `.csv`, `image/*` or `image/png`.
pub fn is_file_kind(kind: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte))
    };
    match (kind.strip_prefix('.'), kind.split_once('/')) {
        (Some(extension), _) => is_word(extension),
        (None, Some((group, "*"))) => is_word(group),
        (None, Some((group, name))) => is_word(group) && is_word(name),
        (None, None) => false,
    }
}

impl SenderSwitch {
    fn read(own: &Map<String, Value>) -> Option<Self> {
        let key = text(own, "key")?;
        let label = text(own, "label").unwrap_or_else(|| key.clone());
        Some(Self { key, label, icon: text(own, "icon"), default: is_on(own, "default", false) })
    }
}

impl SenderMention {
    fn read(own: &Map<String, Value>) -> Option<Self> {
        let description = text(own, "description").unwrap_or_default();
        Some(Self { name: text(own, "name")?, description, agent_id: text(own, "agentId")? })
    }
}

impl SenderCommand {
    fn read(own: &Map<String, Value>) -> Option<Self> {
        Some(Self { name: text(own, "name")?, description: text(own, "description"), text: text(own, "text")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn composer_settings_are_read() {
        let own = json!({
            "submitType": "shiftEnter", "whileRunning": "interrupt",
            "attachments": { "enabled": true, "accept": "image/*, .CSV", "maxSize": 100 },
            "switches": [{ "key": "web" }, { "key": "deep", "label": "Think", "icon": "★", "default": true }],
            "commands": [{ "name": "sum", "text": "Sum up." }],
        });
        let sender = SenderProperties::read(own.as_object().unwrap());
        assert_eq!(
            serde_json::to_value(&sender).unwrap(),
            json!({
                "shiftEnterSends": true, "interrupts": true, "allowSpeech": false,
                "attachments": { "accept": ["image/*", ".csv"], "maxSize": 100 },
                "switches": [
                    { "key": "web", "label": "web", "default": false },
                    { "key": "deep", "label": "Think", "icon": "★", "default": true },
                ],
                "commands": [{ "name": "sum", "text": "Sum up." }],
            })
        );
        let storage = json!({ "uploadPolicyRequestId": "put", "downloadPolicyRequestId": "get", "uploadOrigin": "https://a.example" });
        let own = Attachments::read(storage.as_object().unwrap());
        assert_eq!(serde_json::to_value(&own).unwrap(), storage);
        let off = json!({ "attachments": { "accept": "image/*" } });
        assert_eq!(SenderProperties::read(off.as_object().unwrap()), SenderProperties::default());
    }

    #[test]
    fn files_are_accepted_by_type_or_extension() {
        let check = |accept: &str, name: &str, kind: &str, expected: bool| {
            let attachments = Attachments { accept: accepted(Some(&json!(accept))), ..Attachments::default() };
            assert_eq!(attachments.accepts(name, kind), expected, "{accept}: {name} {kind}");
        };
        check("", "a.exe", "", true);
        check("image/*", "a.png", "image/png", true);
        check("image/*", "a.png", "", false);
        check("image/*,.pdf", "Report.PDF", "", true);
        check("application/pdf", "a.pdf", "application/pdf", true);
        check(".csv", "csv", "text/csv", false);
        for kind in [".csv", "image/*", "application/vnd.ms-excel", ".tar.gz"] {
            assert!(is_file_kind(kind), "{kind}");
        }
        for kind in ["csv", ".", "*", "image/", "*/*", "image/png;q=1", "a b/c"] {
            assert!(!is_file_kind(kind), "{kind}");
        }
    }
}
