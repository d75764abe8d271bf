//! The schema of a chat's composer, and the checks beyond the schema.

use crate::config::Page;
use crate::section::Context;
use crate::section::embed::parse_origin;
use crate::section::value::{Id, Text};
use crate::source::{Node, PathStep, Span};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use wire::page::Block;
use wire::page::sender::{accepted, is_file_kind};

/// The composer.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SenderEntry {
    /// The placeholder of the empty composer.
    placeholder: Option<String>,
    /// A line above the composer, such as a hint or a disclaimer.
    header: Option<Text>,
    /// The key that sends. The other one inserts a line break. Default: `enter`.
    submit_type: Option<SubmitEntry>,
    /// What happens to a message that is sent while a reply is being written. Default: `queue`.
    while_running: Option<WhileRunningEntry>,
    /// Allows dictation, if the browser supports it. Default: `false`.
    allow_speech: Option<bool>,
    /// Which files can be attached.
    attachments: Option<AttachmentsEntry>,
    /// Switches in the composer. Their state is passed to the agent and to `onBeforeSend`.
    switches: Option<Vec<SenderSwitchEntry>>,
    /// Slash commands: `/` at the beginning of a message offers them.
    commands: Option<Vec<CommandEntry>>,
    /// Lets `@` mention sub-agents of the chat's agent, which delegates the request to them.
    /// Default: `false`.
    mentions: Option<bool>,
}

/// The key that sends.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "submit type"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum SubmitEntry {
    /// Enter.
    Enter,
    /// Shift+Enter.
    ShiftEnter,
}

/// What happens to a message that is sent while a reply is being written.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "way"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum WhileRunningEntry {
    /// The message waits above the composer until the reply is complete.
    Queue,
    /// The message stops the reply and is sent then.
    Interrupt,
}

/// Which files can be attached.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["s3PostPolicyRequestId"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AttachmentsEntry {
    /// Allows attachments. Default: `false`.
    enabled: Option<bool>,
    /// The accepted types of files, as in HTML: `image/*`, `application/pdf`, `.csv`. Default: all.
    accept: Option<AcceptEntry>,
    /// The largest file in bytes. `limits.fileBytes` applies as well.
    #[schemars(range(min = 1))]
    max_size: Option<u64>,
    /// The id of an endpoint that authorizes uploads to a storage of your own instead of the
    /// server. It converts `{name, type, size}` to `{url, fields}`, as in a POST policy of S3.
    upload_policy_request_id: Option<Id>,
    /// The id of an endpoint that converts an uploaded file, `{key, name, type, size}`, to the
    /// address for downloading it.
    download_policy_request_id: Option<Id>,
    /// The origin of that storage, such as `https://files.example.com`. Pages upload files to no
    /// other site.
    upload_origin: Option<Text>,
}

/// Types of files.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum AcceptEntry {
    /// Types separated by commas.
    One(Text),
    /// A list of types.
    Several(Vec<Text>),
}

/// A switch in the composer.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SenderSwitchEntry {
    /// The switch's key for the agent and in events.
    key: Id,
    /// The label. Default: the key.
    label: Option<Text>,
    /// The icon before the label: one or two characters.
    icon: Option<Text>,
    /// Whether the switch is on initially. Default: `false`.
    default: Option<bool>,
}

/// A slash command.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CommandEntry {
    /// The command's name, without the `/`.
    name: Text,
    /// The description of the command.
    description: Option<Text>,
    /// The text that replaces the command in the composer.
    text: Text,
}

/// Checks the composer of a chat that matches the schema.
pub(crate) fn check(properties: &Map<String, Value>, node: &Node, context: &mut Context<'_, '_>) {
    let Some(sender) = properties.get("sender").and_then(Value::as_object) else { return };
    let at = |path: &[PathStep<'_>]| -> Span {
        node.span_at(&[&[PathStep::Key("properties"), PathStep::Key("sender")], path].concat())
    };
    for (list, key, what) in [("switches", "key", "switch"), ("commands", "name", "command")] {
        let names: Vec<&str> = entries(sender.get(list)).map(|own| text(own.get(key))).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let message = format!("the {what} `{name}` is there twice");
                context.report.error(
                    at(&[PathStep::Key(list), PathStep::Index(index), PathStep::Key(key)]),
                    message,
                    None,
                );
            }
            if what == "command" && name.contains(|char: char| char.is_whitespace() || char == '/') {
                let message = format!("`{name}` cannot be a command");
                let help = "write one word, without the `/`".to_owned();
                context.report.error(
                    at(&[PathStep::Key(list), PathStep::Index(index), PathStep::Key(key)]),
                    message,
                    Some(help),
                );
            }
        }
    }
    if sender.get("mentions") == Some(&Value::Bool(true)) {
        let agent = properties.get("agentId").and_then(Value::as_str).and_then(|id| context.agents.get(id));
        let below = agent.and_then(|agent| agent.get("agents")).is_some_and(|list| !list.value.items().is_empty());
        if agent.is_some() && !below {
            let help = "give the agent `agents`, or leave this out".to_owned();
            let message = "this chat's agent has no agents that could be named";
            context.report.warning(at(&[PathStep::Key("mentions")]), message, Some(help));
        }
    }
    let attachments = sender.get("attachments").and_then(Value::as_object);
    if let Some(own) = attachments {
        check_upload(own, &at, context);
    }
    for kind in accepted(attachments.and_then(|own| own.get("accept"))).iter().filter(|kind| !is_file_kind(kind)) {
        let help = "write `.csv`, `image/png` or `image/*`".to_owned();
        let at = at(&[PathStep::Key("attachments"), PathStep::Key("accept")]);
        context.report.error(at, format!("`{kind}` is no kind of files"), Some(help));
    }
}

/// Returns the sites to which the chats of these pages upload files, without duplicates.
pub(crate) fn upload_origins(pages: &[Page]) -> Vec<String> {
    let mut all = Vec::new();
    let mut blocks: Vec<&Block> = pages.iter().flat_map(|page| &page.definition.blocks).collect();
    while let Some(block) = blocks.pop() {
        let attachments = block.properties.get("sender").and_then(|sender| sender.get("attachments"));
        all.extend(attachments.and_then(|own| Some(own.get("uploadOrigin")?.as_str()?.to_owned())));
        blocks.extend(&block.blocks);
    }
    all.sort();
    all.dedup();
    all
}

/// Checks the settings for uploads to another storage. Each of the three keys needs others of them.
fn check_upload(own: &Map<String, Value>, at: &dyn Fn(&[PathStep<'_>]) -> Span, context: &mut Context<'_, '_>) {
    let at = |key: &str| at(&[PathStep::Key("attachments"), PathStep::Key(key)]);
    for key in ["uploadPolicyRequestId", "downloadPolicyRequestId"] {
        if let Some(id) = own.get(key).and_then(Value::as_str) {
            context.page_endpoint(id, at(key));
        }
    }
    if let Some(site) = own.get("uploadOrigin").and_then(Value::as_str) {
        parse_origin(site, at("uploadOrigin"), context);
    }
    let missing = |key: &str| !own.contains_key(key);
    let (policy, site) = ("uploadPolicyRequestId", "uploadOrigin");
    for (key, other, why) in [
        (policy, site, "pages send files to no site that is not named"),
        (site, policy, "an endpoint says how a file is sent there"),
        ("downloadPolicyRequestId", policy, "without it files go to the server"),
    ] {
        if !missing(key) && missing(other) {
            context.report.error(at(key), format!("`{key}` needs `{other}`"), Some(why.to_owned()));
        }
    }
}

fn entries(list: Option<&Value>) -> impl Iterator<Item = &Map<String, Value>> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}
