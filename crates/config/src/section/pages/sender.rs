//! Checks a chat's composer beyond its schema.

use crate::config::Page;
use crate::section::Context;
use crate::section::embed::parse_origin;
use config_source::{Node, PathStep, Span};
use serde_json::{Map, Value};
use wire::page::Block;
use wire::page::sender::{accepted, is_file_kind};

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
    let kinds = attachments.and_then(|own| accepted(own.get("accept")?)).unwrap_or_default();
    for kind in kinds.iter().filter(|kind| !is_file_kind(kind)) {
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
