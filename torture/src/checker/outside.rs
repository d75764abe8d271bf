//! Checks of what leaves the server: responses to users, the log and outgoing connections.

use super::Facts;
use crate::history::Op;
use crate::provider::Script;
use crate::stored::Message;
use std::collections::BTreeSet;

/// I7: no user reads messages of another one. The messages of each user begin with their name.
pub(super) fn check_readers(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    for op in facts.ops {
        let Op::Read { user, conversation, view } = op else { continue };
        if view["title"].as_str().is_some_and(|title| !title.starts_with(&format!("{user}-"))) {
            wrong.push(format!("I7 {user} read the conversation {conversation} of another user: {}", view["title"]));
        }
        for message in view["messages"].as_array().into_iter().flatten().filter(|message| message["role"] == "user") {
            let tag = Script::from_message(message["parts"][0]["text"].as_str().unwrap_or_default()).tag;
            if !tag.starts_with(&format!("{user}-")) {
                wrong.push(format!("I7 {user} read {tag} in {conversation}"));
            }
        }
    }
}

/// I7, I8 and I13: no secret appears anywhere, the log contains nothing that users write, and there
/// are no panics except injected ones.
pub(super) fn check_logs(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let panics = facts.log.matches("panicked at").count();
    let injected = facts.log.matches("injected at").count();
    if panics > injected {
        let line = facts.log.lines().find(|line| line.contains("panicked at")).unwrap_or_default();
        wrong.push(format!("I13 {panics} panics, {injected} of them injected: {line}"));
    }
    let is_sent = facts.ops.iter().any(|op| match op {
        Op::Told { chunk, .. } => chunk.to_string().contains(facts.secret),
        Op::Read { view, .. } => view.to_string().contains(facts.secret),
        _ => false,
    });
    let stored = facts.stored.messages.iter().any(|message: &Message| message.body.to_string().contains(facts.secret));
    if is_sent || stored || facts.log.contains(facts.secret) {
        wrong.push("I8 a secret was sent, stored or logged".to_owned());
    }
    if facts.log.contains(Script::MARK) {
        wrong.push("I7 a user's message is in the log".to_owned());
    }
}

/// I14: the server connects only to configured addresses. Its connections are recorded before it
/// ends; idle ones stay open for a while.
pub(super) fn check_connections(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let reached = facts.ops.iter().filter_map(|op| match op {
        Op::Reached { addresses } => Some(addresses),
        _ => None,
    });
    let strange: BTreeSet<_> = reached.flatten().filter(|address| !facts.allowed.contains(address)).collect();
    wrong.extend(strange.into_iter().map(|address| format!("I14 there was a connection to {address}")));
    if facts.sinkhole_requests > 0 {
        wrong.push(format!("I14 {} requests followed the redirect of the provider", facts.sinkhole_requests));
    }
}
