//! What leaves the server: to users, into the log, to other places.

use super::Facts;
use crate::history::Op;
use crate::provider::Script;
use crate::stored::Message;
use std::collections::BTreeSet;

/// I7: nobody reads what another one wrote. Each user's messages begin with his name.
pub(super) fn owners(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    for op in facts.ops {
        let Op::Read { user, conversation, view } = op else { continue };
        if view["title"].as_str().is_some_and(|title| !title.starts_with(&format!("{user}-"))) {
            wrong.push(format!("I7 {user} read the conversation {conversation} of somebody else: {}", view["title"]));
        }
        for message in view["messages"].as_array().into_iter().flatten().filter(|message| message["role"] == "user") {
            let tag = Script::of(message["parts"][0]["text"].as_str().unwrap_or_default()).tag;
            if !tag.starts_with(&format!("{user}-")) {
                wrong.push(format!("I7 {user} read {tag} in {conversation}"));
            }
        }
    }
}

/// I7, I8 and I13: no secret anywhere, nothing that users say in the log, no panic but those that were asked for.
pub(super) fn quiet(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let panics = facts.log.matches("panicked at").count();
    let injected = facts.log.matches("injected at").count();
    if panics > injected {
        let line = facts.log.lines().find(|line| line.contains("panicked at")).unwrap_or_default();
        wrong.push(format!("I13 {panics} panics, {injected} of them asked for: {line}"));
    }
    let told = facts.ops.iter().any(|op| match op {
        Op::Told { chunk, .. } => chunk.to_string().contains(facts.secret),
        Op::Read { view, .. } => view.to_string().contains(facts.secret),
        _ => false,
    });
    let stored = facts.stored.messages.iter().any(|message: &Message| message.body.to_string().contains(facts.secret));
    if told || stored || facts.log.contains(facts.secret) {
        wrong.push("I8 a secret was told, stored or logged".to_owned());
    }
    if facts.log.contains(Script::MARK) {
        wrong.push("I7 what a user said is in the log".to_owned());
    }
}

/// I14: the server asks whom it is told to ask, and nobody else. What it has connections to is looked at before it ends; it keeps them
/// for a while when they are no longer needed.
pub(super) fn reached(facts: &Facts<'_>, wrong: &mut Vec<String>) {
    let reached = facts.ops.iter().filter_map(|op| match op {
        Op::Reached { addresses } => Some(addresses),
        _ => None,
    });
    let strange: BTreeSet<_> = reached.flatten().filter(|address| !facts.allowed.contains(address)).collect();
    wrong.extend(strange.into_iter().map(|address| format!("I14 there was a connection to {address}")));
    if facts.sunk > 0 {
        wrong.push(format!("I14 {} requests came to where the provider redirects to", facts.sunk));
    }
}
