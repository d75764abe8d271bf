//! Finds the skills that a conversation uses in its messages: so each branch has its own, and nothing else
//! needs to be stored.

use crate::catalog::CatalogSkill;
use crate::content::OPENING;
use crate::tool::READ_SKILL;
use contract::{Message, UserPart};
use std::sync::Arc;

/// The beginning of a note with skills.
const NOTE: &str = "[Note: This conversation uses the following skills. Follow their instructions.]\n";

/// How much of the skills in use a note keeps in the model's view, in bytes: those that were loaded last.
const MAX_KEPT: usize = 96 * 1024;

/// Returns the skills that were loaded in these messages, the last one first: the model has read them, the
/// user has chosen them with `/name`, or a note has told them.
pub(crate) fn loaded<'s>(skills: &'s [Arc<CatalogSkill>], messages: &[Arc<Message>]) -> Vec<&'s Arc<CatalogSkill>> {
    let mut found: Vec<&Arc<CatalogSkill>> = Vec::new();
    for name in messages.iter().rev().flat_map(|message| names(message)) {
        if let Some(skill) = skills.iter().find(|skill| skill.skill.name == name)
            && !found.iter().any(|known| known.skill.name == name)
        {
            found.push(skill);
        }
    }
    found
}

/// Returns the names of the skills that a message loads.
fn names(message: &Message) -> Vec<String> {
    match message {
        Message::Tool(results) => {
            let own = results.iter().filter(|result| result.name == READ_SKILL);
            own.filter_map(|result| content_name(result.output.to_text().strip_prefix(OPENING)?)).collect()
        }
        Message::User(parts) => parts.iter().flat_map(names_of_part).collect(),
        Message::System(_) | Message::Assistant(_) => Vec::new(),
    }
}

fn names_of_part(part: &UserPart) -> Vec<String> {
    let UserPart::Text { text } = part else { return Vec::new() };
    match text.strip_prefix(NOTE) {
        // No text within the content of a skill looks like the beginning of one.
        Some(contents) => contents.split(OPENING).skip(1).filter_map(content_name).collect(),
        None => text
            .strip_prefix('/')
            .and_then(|rest| rest.split_whitespace().next())
            .map(str::to_owned)
            .into_iter()
            .collect(),
    }
}

fn content_name(rest: &str) -> Option<String> {
    Some(rest.split_once('"')?.0.to_owned())
}

/// Returns the note with the skills in use that the model does not read: `messages` is what it reads, and
/// `history` also what was summarised.
pub(crate) fn note(
    skills: &[Arc<CatalogSkill>],
    messages: &[Arc<Message>],
    history: &[Arc<Message>],
) -> Option<String> {
    let mut room = MAX_KEPT;
    let mut kept = loaded(skills, history);
    kept.retain(|skill| {
        let left = room.checked_sub(skill.content.len());
        room = left.unwrap_or(room);
        left.is_some()
    });
    let missing: Vec<_> =
        kept.iter().rev().filter(|skill| !is_read(&skill.content, messages)).map(|skill| &*skill.content).collect();
    (!missing.is_empty()).then(|| format!("{NOTE}{}", missing.join("\n")))
}

/// Returns whether the model reads the whole content.
fn is_read(content: &str, messages: &[Arc<Message>]) -> bool {
    messages.iter().rev().any(|message| match &**message {
        Message::Tool(results) => {
            let mut own = results.iter().filter(|result| result.name == READ_SKILL);
            own.any(|result| result.output.to_text().contains(content))
        }
        Message::User(parts) => {
            parts.iter().any(|part| matches!(part, UserPart::Text { text } if text.contains(content)))
        }
        Message::System(_) | Message::Assistant(_) => false,
    })
}
