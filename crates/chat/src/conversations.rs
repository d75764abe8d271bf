//! The caller's conversations: the list, one as it stands, rename, delete.

use crate::audit::{self, Subject};
use crate::{Caller, Inner, errors, send::check_id};
use serde::Serialize;
use store::{AuditEntry, Cursor, Step, StoreError, Totals};
use wire::api::{ActiveRun, ConversationList, ConversationView};
use wire::{ErrorCode, UiMessage, UiPart, UserError};

/// Lines of one page of the list; one less than the store gives at once.
const MAX_PAGE: u32 = store::MAX_CONVERSATIONS - 1;
/// Why a question has no answer.
const DELETED: &str = "The user deleted the conversation.";
/// Characters of a title.
const MAX_TITLE: usize = 200;

/// What a conversation took.
#[derive(Clone, Debug, Serialize)]
pub struct ConversationUsage {
    /// Summed up.
    #[serde(flatten)]
    pub total: Totals,
    /// Its last requests to models, oldest first.
    #[serde(rename = "requests")]
    pub steps: Vec<Step>,
}

impl Inner {
    /// See [`crate::Chat::conversations`].
    pub(crate) async fn conversations(
        &self,
        caller: &Caller,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ConversationList, UserError> {
        let limit = limit.clamp(1, MAX_PAGE);
        let before = match cursor {
            Some(cursor) => Some(
                parse_cursor(cursor)
                    .ok_or_else(|| UserError::new(ErrorCode::Malformed, "The cursor is not one of ours."))?,
            ),
            None => None,
        };
        // One more than asked tells whether there is a next page.
        let rows = self.store.conversations(&caller.user_id, limit + 1, before).await.map_err(errors::of_store)?;
        let more = rows.len() > limit as usize;
        let items: Vec<_> = rows.into_iter().take(limit as usize).map(|row| row.summary).collect();
        let next = items.last().filter(|_| more).map(|last| format!("{}.{}", last.updated_at, last.id));
        Ok(ConversationList { items, next })
    }

    /// See [`crate::Chat::conversation`].
    pub(crate) async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        // The live run first: if it ends in between, the stored message is complete all the same.
        let live = self.registry.get(&caller.user_id, id);
        let conversation = self.store.conversation(&caller.user_id, id).await.map_err(errors::of_store)?;
        let summary = conversation.ok_or_else(UserError::not_found)?.summary;
        let mut branch = self.store.branch(&caller.user_id, id).await.map_err(errors::of_store)?;
        if live.is_none() {
            let expired = self.expire_when_opened(caller, &summary.agent_id, id, &mut branch).await;
            expired.map_err(errors::of_store)?;
        }
        let mut messages: Vec<_> = branch.into_iter().map(|stored| stored.message).collect();
        let live = live.filter(|live| messages.iter().any(|message| message.id == live.identity.message_id));
        let active = live.filter(|_| summary.running).map(|live| {
            let written = live.message();
            if let Some(message) = messages.iter_mut().find(|message| message.id == written.id) {
                *message = written;
            }
            ActiveRun { run_id: live.identity.run_id.clone(), message_id: live.identity.message_id.clone() }
        });
        messages.iter_mut().for_each(strip_private);
        Ok(ConversationView { summary, messages, active })
    }

    /// See [`crate::Chat::usage`].
    pub(crate) async fn usage(&self, caller: &Caller, id: &str) -> Result<ConversationUsage, UserError> {
        let known = self.store.conversation(&caller.user_id, id).await.map_err(errors::of_store)?;
        known.ok_or_else(UserError::not_found)?;
        let total = self.store.totals(&caller.user_id, id).await.map_err(errors::of_store)?;
        let steps = self.store.steps(&caller.user_id, id).await.map_err(errors::of_store)?;
        Ok(ConversationUsage { total, steps })
    }

    /// See [`crate::Chat::rename`].
    pub(crate) async fn rename(&self, caller: &Caller, id: &str, title: &str) -> Result<(), UserError> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() || title.chars().count() > MAX_TITLE {
            return Err(UserError::invalid("/title", format!("A title has 1 to {MAX_TITLE} characters.")));
        }
        found(self.store.rename(&caller.user_id, id, &title).await.map_err(errors::of_store)?)
    }

    /// See [`crate::Chat::delete`].
    pub(crate) async fn delete(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        check_id("/id", id).map_err(|_| UserError::not_found())?;
        // An answer that is being accepted comes first: what it lets run must not be entered as denied.
        let _turn = self.turns.take(id).await;
        let open = match self.registry.get(&caller.user_id, id) {
            // Its calls end with it.
            Some(live) => {
                live.cancel.cancel();
                Vec::new()
            }
            None => self.open_calls(caller, id).await.map_err(errors::of_store)?,
        };
        found(self.store.delete(&caller.user_id, id, open).await.map_err(errors::of_store)?)
    }

    /// The rows of calls that wait for the user when the conversation is deleted.
    async fn open_calls(&self, caller: &Caller, id: &str) -> Result<Vec<AuditEntry>, StoreError> {
        let Some(conversation) = self.store.conversation(&caller.user_id, id).await? else { return Ok(Vec::new()) };
        let Some(last) = self.store.branch(&caller.user_id, id).await?.pop() else { return Ok(Vec::new()) };
        let subject = Subject {
            user_id: caller.user_id.clone(),
            agent_id: conversation.summary.agent_id,
            conversation_id: id.to_owned(),
            message_id: last.id,
            run_id: self.store.last_run(&caller.user_id, id).await?.unwrap_or_default(),
        };
        Ok(audit::passed_over(&subject, &last.message, DELETED))
    }
}

fn found(found: bool) -> Result<(), UserError> {
    if found { Ok(()) } else { Err(UserError::not_found()) }
}

fn parse_cursor(text: &str) -> Option<Cursor> {
    let (updated_at, id) = text.split_once('.')?;
    Some(Cursor { updated_at: updated_at.parse().ok()?, id: id.to_owned() })
}

/// A provider's own items are for that provider.
pub(crate) fn strip_private(message: &mut UiMessage) {
    message.parts.retain(|part| !matches!(part, UiPart::Data(data) if wire::is_private(&data.kind)));
}
