//! Imports a conversation from a file that this or another server exported. Nothing in the file is
//! trusted: ids are replaced, the importing user becomes the owner, and no call stays open.

use crate::errors::Result;
use crate::history::export::{ExportedConversation, ExportedMessage, FORMAT};
use crate::ids::new_id;
use crate::run::finish::settle_texts;
use crate::{Caller, Chat, Inner};
use std::collections::HashMap;
use store::{ImportedConversation, ImportedMessage};
use transcript::exposure;
use wire::api::{MessageMetadata, Outcome};
use wire::organize::MAX_TITLE;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart, UserError, is_private};

/// The maximum number of messages in a file.
const MAX_MESSAGES: usize = 5_000;
/// The result of a call that was open when the file was exported.
const CUT_OFF: &str = "The conversation was exported before this had a result.";

impl Chat {
    /// Creates a conversation from a file, and returns its id.
    ///
    /// # Errors
    /// 422 with the path of the invalid field.
    pub async fn import(&self, caller: &Caller, file: ExportedConversation) -> Result<String, UserError> {
        Ok(self.inner.import(caller, file).await?)
    }
}

impl Inner {
    /// See [`Chat::import`].
    async fn import(&self, caller: &Caller, file: ExportedConversation) -> Result<String> {
        let new = conversation(file, crate::now())?;
        let id = new.id.clone();
        self.store.import_conversation(&caller.user_id, new).await?;
        Ok(id)
    }
}

fn conversation(file: ExportedConversation, now: i64) -> Result<ImportedConversation, UserError> {
    let invalid = |path: &str, message: &str| Err(UserError::invalid(path, message));
    if file.format != FORMAT {
        return invalid("/format", &format!("This is not a conversation of this version: the format is `{FORMAT}`."));
    }
    let title = file.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() || title.chars().count() > MAX_TITLE {
        return invalid("/title", &format!("A title has 1 to {MAX_TITLE} characters."));
    }
    for (path, id) in [("/pageId", &file.page_id), ("/agentId", &file.agent_id)] {
        crate::ids::check_id(path, id)?;
    }
    if file.messages.is_empty() || file.messages.len() > MAX_MESSAGES {
        return invalid("/messages", &format!("A conversation has 1 to {MAX_MESSAGES} messages."));
    }
    let mut ids = HashMap::new();
    let has_results = file.messages.iter().any(|message| exposure::has_results(&message.message));
    // In file order, so that the first error is reported and not one that follows from it.
    let messages = file.messages.into_iter().enumerate();
    let messages: Vec<_> =
        messages.map(|(at, message)| imported(at, message, &mut ids, has_results, now)).collect::<Result<_, _>>()?;
    let Some(head) = ids.get(&file.head).cloned() else {
        return invalid("/head", "No message has this id.");
    };
    Ok(ImportedConversation {
        id: new_id(),
        page_id: file.page_id,
        agent_id: file.agent_id,
        title,
        head,
        created_at: file.created_at.clamp(0, now),
        now,
        messages,
    })
}

/// Converts a message, with a new id. `ids` maps the ids of the messages before it.
fn imported(
    at: usize,
    file: ExportedMessage,
    ids: &mut HashMap<String, String>,
    has_results: bool,
    now: i64,
) -> Result<ImportedMessage, UserError> {
    let invalid = |path: &str, message: &str| UserError::invalid(format!("/messages/{at}/{path}"), message);
    if file.message.role == Role::System {
        return Err(invalid("message/role", "The role must be `user` or `assistant`."));
    }
    let parent_id = match &file.parent_id {
        Some(parent) => {
            Some(ids.get(parent).cloned().ok_or_else(|| invalid("parentId", "No message before has this id."))?)
        }
        None => None,
    };
    let id = new_id();
    if ids.insert(file.message.id.clone(), id.clone()).is_some() {
        return Err(invalid("message/id", "Another message has this id."));
    }
    let mut message = settled(id, file.message);
    message.parts.iter_mut().filter_map(UiPart::as_tool_mut).for_each(ToolPart::mark_preset);
    if parent_id.is_none() {
        exposure::mark_imported(&mut message, has_results);
    }
    Ok(ImportedMessage { parent_id, created_at: file.created_at.clamp(0, now), message })
}

/// Closes the message's open calls and removes what only the server may set: provider metadata
/// would be sent to the provider unchanged, and an open decision would let a call run.
pub(crate) fn settled(id: String, mut message: UiMessage) -> UiMessage {
    message.id = id;
    if message.role == Role::Assistant {
        settle_texts(&mut message);
    }
    // A question of a tool would ask in the name of a server.
    let is_servers =
        |kind: &str| is_private(kind) || wire::is_context(kind) || [wire::TOOL_QUESTION, wire::MCP_APP].contains(&kind);
    message.parts.retain(|part| !matches!(part, UiPart::Data(data) if is_servers(&data.kind)));
    for part in &mut message.parts {
        match part {
            UiPart::Text(text) | UiPart::Reasoning(text) => text.provider_metadata = None,
            UiPart::File(file) => file.provider_metadata = None,
            UiPart::SourceUrl(source) => source.provider_metadata = None,
            UiPart::SourceDocument(source) => source.provider_metadata = None,
            UiPart::Tool(tool) => {
                (tool.call_provider_metadata, tool.result_provider_metadata) = (None, None);
                if !tool.is_final() {
                    tool.state = ToolState::OutputError;
                    tool.error_text = Some(CUT_OFF.to_owned());
                    (tool.output, tool.preliminary) = (None, None);
                }
                // Nothing in the file may let a call run.
                tool.prevent_repeat();
            }
            UiPart::StepStart | UiPart::Data(_) | UiPart::Other(_) => {}
        }
    }
    let metadata = message.metadata.take().and_then(|known| serde_json::from_value::<MessageMetadata>(known).ok());
    let metadata = metadata.map(|known| match known.outcome {
        None | Some(Outcome::Waiting) if message.role == Role::Assistant => {
            MessageMetadata { outcome: Some(Outcome::Interrupted), reason: None, ..known }
        }
        _ => known,
    });
    message.metadata = metadata.and_then(|metadata| serde_json::to_value(metadata).ok());
    message
}
