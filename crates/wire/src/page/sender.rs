//! The composer of a chat.

use super::define::{choices, properties};
use super::property::{Property, truthy};
#[cfg(feature = "schema")]
use super::schema::{Dynamic, EndpointId, Id, Or, Text};
use serde_json::Value;

properties! {
    /// The composer.
    #[derive(Eq)]
    pub struct SenderProperties {
        /// The placeholder of the empty composer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub placeholder: Option<String>,
        /// A line above the composer, such as a hint or a disclaimer; or a panel.
        #[schemars(with = "Or<Text, SenderHeader>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub header: Option<Value>,
        /// The key that sends. The other one inserts a line break.
        pub submit_type: SubmitType = SubmitType::Enter,
        /// The handling of a message that is sent while a reply is being written.
        pub while_running: WhileRunning = WhileRunning::Queue,
        /// Allows dictation: by the model of the config's section `voice`, or by the browser, if it supports that.
        pub allow_speech: bool = false,
        /// Which files can be attached.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[read(enabled)]
        pub attachments: Option<Attachments>,
        /// Switches in the composer. Their state is passed to the agent and to `onBeforeSend`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub switches: Vec<SenderSwitch> = Vec::new(),
        /// Slash commands: `/` at the beginning of a message offers them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub commands: Vec<SenderCommand> = Vec::new(),
        /// Lets `@` mention sub-agents of the chat's agent, which delegates the request to them.
        // The server replaces the switch by the sub-agents that the caller may use.
        #[schemars(with = "bool", extend("default" = false))]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub mentions: Vec<SenderMention> = Vec::new(),
        /// Whether the chat's agent plans. The server sets it by the agent's key `planMode`.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub plan_mode: Option<PlanMode>,
        /// The choices about the documents of the chat's agent. The server sets them by the agent's key `knowledge`;
        /// the code of the choices reads them.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub documents: Option<Value>,
        /// Whether the web is on at first, if the user switches it. The server sets it by the agent's key `web`.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub web: Option<bool>,
        /// Whether the user may let the chat's agent hand tasks to a copy of itself. The server sets it by the
        /// agent's key `delegate`.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delegate: Option<bool>,
        /// The models among which the user chooses, as `[{ id, title, thinking, default }]`. The server sets
        /// them by the agent's key `models`. Only the code that shows them reads them.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub models: Option<Value>,
        /// The content below the newest answer, such as suggestions. Capabilities set it by the keys of the chat's
        /// agent. Only the code that shows it reads it.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub below_answer: Option<Value>,
        /// The workflows of the chat's agent, which the user starts with commands. Not a key of the config:
        /// the server adds those that the caller may start.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub workflows: Vec<SenderWorkflow> = Vec::new(),
        /// Set if the prompts that the user sees are among the commands: `true` if users keep prompts of their own,
        /// too. The server sets it by the section `prompts` of the config.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub saved_prompts: Option<bool>,
        /// The server's abilities with speech, as `{ maxSeconds, reads }`: the longest recording that it writes
        /// down, and whether it reads answers aloud. The server sets it by the section `voice` of the config.
        #[schemars(skip)]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub voice: Option<Value>,
    }

    /// A workflow that the user may start.
    #[derive(Eq)]
    pub struct SenderWorkflow {
        /// The command's name, without the `/`.
        pub name: String,
        /// The title of the workflow.
        pub title: String = String::new(),
        /// The id of the workflow.
        pub workflow_id: String,
    }

    /// A panel above the composer.
    #[derive(Eq)]
    pub struct SenderHeader {
        /// The heading.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The text below it.
        #[schemars(with = "Dynamic<Text>")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub content: Option<String>,
        /// Whether the user can close the panel.
        pub closable: bool = true,
        /// Whether the panel is shown. Each time an operator yields `true` anew, a closed panel is
        /// shown again.
        #[schemars(with = "Dynamic<bool>", extend("default" = true))]
        #[read(truthy)]
        pub open: bool = true,
    }

    /// A sub-agent that the user may mention.
    #[derive(Eq)]
    pub struct SenderMention {
        /// The name after the `@`, by which its parent agent calls it.
        pub name: String,
        /// Its description.
        pub description: String = String::new(),
        /// The agent's id.
        pub agent_id: String,
    }

    /// Which files can be attached.
    #[derive(Eq)]
    #[schemars(extend("x-keys-not-yet" = ["s3PostPolicyRequestId"]))]
    pub struct Attachments {
        /// Allows attachments.
        pub enabled: bool = false,
        /// The accepted types of files, as in HTML: `image/*`, `application/pdf`, `.csv`. Default: all.
        #[schemars(with = "Or<Text, Vec<Text>>")]
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[read(accepted)]
        pub accept: Vec<String> = Vec::new(),
        /// The largest file in bytes. `limits.fileBytes` applies as well.
        #[schemars(range(min = 1))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_size: Option<u64>,
        /// The id of an endpoint that authorizes uploads to a storage of your own instead of the
        /// server. It converts `{name, type, size}` to `{url, fields}`, as in a POST policy of S3.
        #[schemars(with = "EndpointId")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub upload_policy_request_id: Option<String>,
        /// The id of an endpoint that converts an uploaded file, `{key, name, type, size}`, to the
        /// address for downloading it.
        #[schemars(with = "EndpointId")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub download_policy_request_id: Option<String>,
        /// The origin of that storage, such as `https://files.example.com`. Pages upload files to no
        /// other site.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub upload_origin: Option<String>,
    }

    /// A switch in the composer.
    #[derive(Eq)]
    #[then(label_by_key)]
    pub struct SenderSwitch {
        /// The switch's key for the agent and in events.
        #[schemars(with = "Id")]
        pub key: String,
        /// The label. Default: the key.
        #[schemars(with = "Text")]
        pub label: String = String::new(),
        /// The icon before the label: one or two characters.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub icon: Option<String>,
        /// Whether the switch is on initially.
        pub default: bool = false,
    }

    /// A slash command.
    #[derive(Eq)]
    pub struct SenderCommand {
        /// The command's name, without the `/`.
        #[schemars(with = "Text")]
        pub name: String,
        /// The description of the command.
        #[schemars(with = "Text")]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// The text that replaces the command in the composer.
        #[schemars(with = "Text")]
        pub text: String,
    }
}

choices! {
    /// The key that sends.
    #[schemars(extend("x-names" = "submit type"))]
    pub enum SubmitType {
        /// Enter.
        Enter,
        /// Shift+Enter.
        ShiftEnter,
    }

    /// When an agent plans.
    #[schemars(extend("x-names" = "mode"))]
    pub enum PlanMode {
        /// In every conversation.
        Always,
        /// If the user switches it on.
        Optional,
    }

    /// The handling of a message that is sent while a reply is being written.
    #[schemars(extend("x-names" = "way"))]
    pub enum WhileRunning {
        /// The message waits above the composer until the reply is complete.
        Queue,
        /// The message stops the reply and is sent then.
        Interrupt,
    }
}

/// Reads the rules for attachments, if attachments are allowed.
fn enabled(own: &Value) -> Option<Attachments> {
    Attachments::from_value(own).filter(|attachments| attachments.enabled)
}

fn label_by_key(switch: SenderSwitch) -> SenderSwitch {
    let label = if switch.label.is_empty() { switch.key.clone() } else { switch.label };
    SenderSwitch { label, ..switch }
}

/// A storage of the page's own, such as an S3 bucket, to which the browser uploads files directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadStorage {
    /// The endpoint that issues an upload policy for each file.
    pub upload_policy_request_id: String,
    /// The endpoint that returns the URL of an uploaded file.
    pub download_policy_request_id: Option<String>,
}

impl Attachments {
    /// Returns where files are uploaded instead of to the server.
    pub fn storage(&self) -> Option<UploadStorage> {
        self.upload_origin.as_ref()?;
        Some(UploadStorage {
            upload_policy_request_id: self.upload_policy_request_id.clone()?,
            download_policy_request_id: self.download_policy_request_id.clone(),
        })
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

/// Reads accepted file types: a list, or one text with commas as in HTML.
pub fn accepted(accept: &Value) -> Option<Vec<String>> {
    let kinds: Vec<&str> = match accept {
        Value::String(text) => text.split(',').collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    Some(kinds.into_iter().map(|kind| kind.trim().to_ascii_lowercase()).filter(|kind| !kind.is_empty()).collect())
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
                "submitType": "shiftEnter", "whileRunning": "interrupt", "allowSpeech": false,
                "attachments": { "enabled": true, "accept": ["image/*", ".csv"], "maxSize": 100 },
                "switches": [
                    { "key": "web", "label": "web", "default": false },
                    { "key": "deep", "label": "Think", "icon": "★", "default": true },
                ],
                "commands": [{ "name": "sum", "text": "Sum up." }],
            })
        );
        let storage = json!({ "enabled": true, "uploadPolicyRequestId": "put", "downloadPolicyRequestId": "get", "uploadOrigin": "https://a.example" });
        let own = Attachments::read(storage.as_object().unwrap());
        assert_eq!(serde_json::to_value(&own).unwrap(), storage);
        let off = json!({ "attachments": { "accept": "image/*" } });
        assert_eq!(SenderProperties::read(off.as_object().unwrap()), SenderProperties::default());
    }

    #[test]
    fn files_are_accepted_by_type_or_extension() {
        let check = |accept: &str, name: &str, kind: &str, expected: bool| {
            let attachments = Attachments { accept: accepted(&json!(accept)).unwrap(), ..Attachments::default() };
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
