//! The composer of a chat as it is written, and what it must mean beyond its shape.

use super::Context;
use super::embed::origin;
use super::value::{Id, Text};
use crate::config::Page;
use crate::source::{Node, Span, Step};
use schemars::JsonSchema;
use serde_json::{Map, Value};
use wire::page::Block;
use wire::page::sender::{accepted, is_file_kind};

/// What the composer can do.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SenderEntry {
    /// Shown while it is empty.
    placeholder: Option<String>,
    /// A line above it: what the user should know before he writes.
    header: Option<Text>,
    /// What sends; the other of the two breaks the line.
    submit_type: Option<SubmitEntry>,
    /// What becomes of a message that is sent while an answer is being written.
    while_running: Option<WhileRunningEntry>,
    /// Words may be spoken, where the browser understands them. Off unless switched on.
    allow_speech: Option<bool>,
    /// The files that may be attached.
    attachments: Option<AttachmentsEntry>,
    /// What can be switched on and off; the agent is told, and `onBeforeSend`, too.
    switches: Option<Vec<SenderSwitchEntry>>,
    /// What `/` at the beginning of a message offers.
    commands: Option<Vec<CommandEntry>>,
    /// `@` offers the agents below the chat's agent, which hands them what the user asks of them. Off unless switched on.
    mentions: Option<bool>,
}

/// What sends.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "submit type"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum SubmitEntry {
    /// Enter.
    Enter,
    /// Shift and Enter.
    ShiftEnter,
}

/// What becomes of a message that is sent while an answer is being written.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-names" = "way"))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum WhileRunningEntry {
    /// It waits for the end of the answer, above the composer.
    Queue,
    /// It ends the answer and is sent then.
    Interrupt,
}

/// The files that may be attached.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-keys-not-yet" = ["s3PostPolicyRequestId"]))]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct AttachmentsEntry {
    /// Files may be attached. Off unless switched on.
    enabled: Option<bool>,
    /// Kinds of files, as in HTML: `image/*`, `application/pdf`, `.csv`; all without it.
    accept: Option<AcceptEntry>,
    /// Bytes of one file; at most what `limits.fileBytes` says.
    #[schemars(range(min = 1))]
    max_size: Option<u64>,
    /// The endpoint that lets a file be sent to a storage of your own instead of to the server: of `{name, type, size}` it makes `{url, fields}`,
    /// as S3 signs it for a form.
    upload_policy_request_id: Option<Id>,
    /// The endpoint that says where what was sent is read: of `{key, name, type, size}` it makes an address.
    download_policy_request_id: Option<Id>,
    /// The site of that storage, such as `https://files.example.com`; pages send files to no other.
    upload_origin: Option<Text>,
}

/// Kinds of files.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum AcceptEntry {
    /// With commas between them.
    One(Text),
    /// As a list.
    Several(Vec<Text>),
}

/// Something that can be switched on and off.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SenderSwitchEntry {
    /// By which the agent and events know it.
    key: Id,
    /// What stands on it; without it the key.
    label: Option<Text>,
    /// A character or two in front of that.
    icon: Option<Text>,
    /// Whether it is on at first. Off without it.
    default: Option<bool>,
}

/// Something that `/` offers.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct CommandEntry {
    /// What is written behind the `/`.
    name: Text,
    /// What it is for.
    description: Option<Text>,
    /// What takes its place in the composer.
    text: Text,
}

/// Checks the composer of a chat whose shape is right.
pub(super) fn check(properties: &Map<String, Value>, node: &Node, context: &mut Context<'_, '_>) {
    let Some(sender) = properties.get("sender").and_then(Value::as_object) else { return };
    let at = |path: &[Step<'_>]| -> Span { node.at(&[&[Step::Key("properties"), Step::Key("sender")], path].concat()) };
    for (list, key, what) in [("switches", "key", "switch"), ("commands", "name", "command")] {
        let names: Vec<&str> = entries(sender.get(list)).map(|own| text(own.get(key))).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let message = format!("the {what} `{name}` is there twice");
                context.report.error(at(&[Step::Key(list), Step::Index(index), Step::Key(key)]), message, None);
            }
            if what == "command" && name.contains(|char: char| char.is_whitespace() || char == '/') {
                let message = format!("`{name}` cannot be a command");
                let help = "write one word, without the `/`".to_owned();
                context.report.error(at(&[Step::Key(list), Step::Index(index), Step::Key(key)]), message, Some(help));
            }
        }
    }
    if sender.get("mentions") == Some(&Value::Bool(true)) {
        let agent = properties.get("agentId").and_then(Value::as_str).and_then(|id| context.agents.get(id));
        let below = agent.and_then(|agent| agent.get("agents")).is_some_and(|list| !list.value.items().is_empty());
        if agent.is_some() && !below {
            let help = "give the agent `agents`, or leave this out".to_owned();
            let message = "this chat's agent has no agents that could be named";
            context.report.warning(at(&[Step::Key("mentions")]), message, Some(help));
        }
    }
    let attachments = sender.get("attachments").and_then(Value::as_object);
    if let Some(own) = attachments {
        check_storage(own, &at, context);
    }
    for kind in accepted(attachments.and_then(|own| own.get("accept"))).iter().filter(|kind| !is_file_kind(kind)) {
        let help = "write `.csv`, `image/png` or `image/*`".to_owned();
        let at = at(&[Step::Key("attachments"), Step::Key("accept")]);
        context.report.error(at, format!("`{kind}` is no kind of files"), Some(help));
    }
}

/// The sites to which the chats of these pages send files, each once.
pub(super) fn storages(pages: &[Page]) -> Vec<String> {
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

/// Checks where files go, if not to the server: none of the three keys does something without the first and the last.
fn check_storage(own: &Map<String, Value>, at: &dyn Fn(&[Step<'_>]) -> Span, context: &mut Context<'_, '_>) {
    let at = |key: &str| at(&[Step::Key("attachments"), Step::Key(key)]);
    for key in ["uploadPolicyRequestId", "downloadPolicyRequestId"] {
        if let Some(id) = own.get(key).and_then(Value::as_str) {
            context.page_endpoint(id, at(key));
        }
    }
    if let Some(site) = own.get("uploadOrigin").and_then(Value::as_str) {
        origin(site, at("uploadOrigin"), context);
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
