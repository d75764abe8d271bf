//! Finds the new parts of a request. A frontend sends the whole thread each time, and this server has it already.

use crate::input::{Content, ContentPart, Message, RunAgentInput, Source};
use crate::{interrupts, messages};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use wire::api::Answer;
use wire::{Role, ToolState, UiMessage, UserError};

/// An answer, and its place in the request.
type PlacedAnswer = (String, Answer);

/// The intent of a request.
#[derive(Debug)]
pub(crate) enum Asked<'i> {
    /// An answer to a new message.
    Message(NewMessage<'i>),
    /// That the answer goes on with these answers.
    Answers(Vec<PlacedAnswer>),
    /// Another answer to a message.
    Regenerate(String),
    /// The thread as it is, and the answer that is being written.
    Follow,
}

/// A new message of the user.
#[derive(Debug)]
pub(crate) struct NewMessage<'i> {
    pub(crate) id: String,
    /// The contents of the messages of which it is made, each with the index of its message in the request.
    pub(crate) contents: Vec<(usize, &'i Content)>,
    /// The message of the user that it replaces.
    pub(crate) replaces: Option<String>,
    /// How many of the first messages of the request come before it.
    pub(crate) before: usize,
    /// The results of calls that come with it.
    pub(crate) results: Vec<PlacedAnswer>,
}

/// Finds out what is new. `branch` is what is stored, oldest first.
///
/// # Errors
/// 422 with the place of what cannot be used.
pub(crate) fn decide<'i>(input: &'i RunAgentInput, branch: &[UiMessage]) -> Result<Asked<'i>, UserError> {
    let known: HashMap<_, _> =
        messages::of_branch(branch).into_iter().map(|(at, message)| (message.id().to_owned(), at)).collect();
    let answers = interrupts::answers(&input.resume, branch.last())?;
    let end = input.messages.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
    let begin = end.map_or(0, |at| at + 1);
    let results = results(&input.messages[begin..], begin, branch.last())?;
    let mut new = Vec::new();
    for (at, message) in input.messages.iter().enumerate().skip(begin) {
        match message {
            Message::User { id, content } if !known.contains_key(id) => new.push((at, id, content)),
            _ => {}
        }
    }
    if let (Some((first, ..)), Some((_, id, _))) = (new.first(), new.last()) {
        // A denial is a complete decision; calls without an answer are cancelled because of the message.
        let is_decision =
            |answer: &Answer| matches!(answer, Answer::Approval { approved: true, .. } | Answer::Output { .. });
        if answers.iter().any(is_decision) {
            let message = "Answer what the agent waits for first, and send the message in the next run.";
            return Err(UserError::invalid("/resume", message));
        }
        return Ok(Asked::Message(NewMessage {
            id: (*id).clone(),
            contents: new.iter().map(|(at, _, content)| (*at, *content)).collect(),
            replaces: replaced(&input.messages[..*first], &known, branch),
            before: *first,
            results,
        }));
    }
    let answers = answers.into_iter().enumerate().map(|(at, answer)| (format!("/resume/{at}"), answer));
    let answers: Vec<_> = answers.chain(results).collect();
    if !answers.is_empty() {
        return Ok(Asked::Answers(answers));
    }
    match input.messages.last() {
        Some(Message::User { id, .. }) => Ok(Asked::Regenerate(id.clone())),
        _ if branch.is_empty() => Err(UserError::invalid("/messages", "The last message must be one of the user.")),
        _ => Ok(Asked::Follow),
    }
}

/// Returns the message that a new one replaces: the one that followed the messages before it.
fn replaced(before: &[Message], known: &HashMap<String, usize>, branch: &[UiMessage]) -> Option<String> {
    let last = before.iter().filter_map(|message| known.get(message.id()?)).max()?;
    let next = branch.get(last + 1).filter(|next| next.role == Role::User)?;
    Some(next.id.clone())
}

/// Returns the results of calls that wait for them. `offset` is the index of the first message in the request.
fn results(messages: &[Message], offset: usize, last: Option<&UiMessage>) -> Result<Vec<PlacedAnswer>, UserError> {
    let waits = |call_id: &str| {
        let mut calls = last.into_iter().flat_map(UiMessage::tools);
        calls.any(|tool| tool.tool_call_id == call_id && tool.state == ToolState::InputAvailable)
    };
    let mut answers = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let Message::Tool { tool_call_id, content, error, .. } = message else { continue };
        if !waits(tool_call_id) {
            continue;
        }
        let (place, tool_call_id) = (format!("/messages/{}", offset + at), tool_call_id.clone());
        let answer = match error {
            Some(error_text) => Answer::Error { tool_call_id, error_text: error_text.clone() },
            None => {
                let output = output(content, &format!("{place}/content"))?;
                Answer::Output { tool_call_id, output }
            }
        };
        answers.push((place, answer));
    }
    Ok(answers)
}

/// Returns the result of a tool: a text, or the content of MCP's results if it has images.
pub(crate) fn output(content: &Content, path: &str) -> Result<Value, UserError> {
    let Content::Parts(parts) = content else { return Ok(content.text().into()) };
    if parts.iter().all(|part| matches!(part, ContentPart::Text { .. })) {
        return Ok(content.text().into());
    }
    let block = |part: &ContentPart| match part {
        ContentPart::Text { text } => Ok(json!({ "type": "text", "text": text })),
        ContentPart::Image { source: Source::Data { value, mime_type } } => {
            Ok(json!({ "type": "image", "mimeType": mime_type, "data": value.as_str() }))
        }
        _ => Err(UserError::invalid(path, "The result of a tool has text and images, which are in the request.")),
    };
    Ok(json!({ "content": parts.iter().map(block).collect::<Result<Vec<_>, _>>()? }))
}

/// Returns whether the frontend has all messages of the branch.
pub(crate) fn has_all(input: &RunAgentInput, branch: &[UiMessage]) -> bool {
    let has: HashSet<_> = input.messages.iter().filter_map(Message::id).collect();
    messages::of_branch(branch).iter().all(|(_, message)| !message.is_kept() || has.contains(message.id()))
}

impl Message {
    /// Returns the id of a message that this server stores.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::User { id, .. } | Self::Assistant { id, .. } | Self::Tool { id, .. } => Some(id),
            Self::System { .. } | Self::Reasoning {} | Self::Activity {} => None,
        }
    }
}
