//! Reads the caller's conversations: the list, and single ones. `organize` changes them.

use crate::errors::Result;
use crate::history::private::strip_private;
use crate::stream::remote;
use crate::{Caller, Chat, Inner, errors};
use store::ConversationCursor;
use wire::UserError;
use wire::api::{ActiveRun, ConversationList, ConversationSummary, ConversationView};
use wire::organize::ListFilter;

/// The maximum size of a page of the list, one less than the store's maximum.
const MAX_PAGE: u32 = store::MAX_CONVERSATIONS - 1;

impl Chat {
    /// Lists the caller's conversations: pinned ones first, each group newest first, at most
    /// `limit` (1 to 100). `cursor` is the `next` of an earlier page.
    ///
    /// # Errors
    /// 400 for an invalid cursor.
    pub async fn conversations(
        &self,
        caller: &Caller,
        filter: ListFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ConversationList, UserError> {
        Ok(self.inner.conversations(caller, filter, limit, cursor).await?)
    }

    /// Returns a conversation, including a message that is still being generated, as far as it
    /// exists.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView, UserError> {
        Ok(self.inner.conversation(caller, id).await?)
    }
}

impl Inner {
    /// See [`Chat::conversations`].
    pub(crate) async fn conversations(
        &self,
        caller: &Caller,
        filter: ListFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ConversationList> {
        let limit = limit.clamp(1, MAX_PAGE);
        let before = match cursor {
            Some(cursor) => Some(parse_cursor(cursor).ok_or_else(errors::foreign_cursor)?),
            None => None,
        };
        // One row more than requested shows whether there is a next page.
        let rows = self.store.conversations(&caller.user_id, filter, limit + 1, before).await?;
        let more = rows.len() > limit as usize;
        let items: Vec<_> = rows.into_iter().take(limit as usize).map(|row| row.summary).collect();
        let cursor = |last: &ConversationSummary| format!("{}.{}.{}", u8::from(last.pinned), last.updated_at, last.id);
        let next = items.last().filter(|_| more).map(cursor);
        Ok(ConversationList { items, next, tasks: None, listed_at: None })
    }

    /// See [`Chat::conversation`].
    pub(crate) async fn conversation(&self, caller: &Caller, id: &str) -> Result<ConversationView> {
        // Reads the live run first: if it ends in between, the stored message is complete.
        let live = self.registry.get(&caller.user_id, id);
        let conversation = self.store.conversation(&caller.user_id, id).await?;
        let conversation = conversation.ok_or_else(UserError::not_found)?;
        let remote = remote::active_run(&self.store, &caller.user_id, &conversation).filter(|_| live.is_none());
        let (summary, first_model) = (conversation.summary, conversation.model_id);
        let mut branch = self.store.branch(&caller.user_id, id).await?;
        if live.is_none() && remote.is_none() {
            let expired = self.expire_when_opened(caller, &summary.agent_id, id, &mut branch).await;
            expired?;
        }
        let mut messages: Vec<_> = branch.into_iter().map(|stored| stored.message).collect();
        let live = live.filter(|live| messages.iter().any(|message| message.id == live.identity.message_id));
        let written = match (live.filter(|_| summary.running), remote) {
            (Some(live), _) => Some((live.message(), live.identity.clone())),
            (None, Some(run)) => Some((self.written_remote(&run, &summary.agent_id).await?, run)),
            (None, None) => None,
        };
        let active = written.map(|(written, run)| {
            if let Some(message) = messages.iter_mut().find(|message| message.id == written.id) {
                *message = written;
            }
            ActiveRun { run_id: run.run_id, message_id: run.message_id }
        });
        messages.iter_mut().for_each(strip_private);
        let tree = self.tree(caller, id).await?;
        let forks = tree.forks(messages.iter().map(|message| message.id.as_str()));
        let owned =
            |(id, siblings): (&str, Vec<&str>)| (id.to_owned(), siblings.into_iter().map(str::to_owned).collect());
        let forks = forks.into_iter().map(owned).collect();
        let feedback = self.store.feedback(&caller.user_id, id).await?;
        Ok(ConversationView { summary, messages, active, first_model, forks, feedback: feedback.into_iter().collect() })
    }
}

fn parse_cursor(text: &str) -> Option<ConversationCursor> {
    let mut fields = text.splitn(3, '.');
    let pinned = match fields.next()? {
        "0" => false,
        "1" => true,
        _ => return None,
    };
    Some(ConversationCursor { pinned, updated_at: fields.next()?.parse().ok()?, id: fields.next()?.to_owned() })
}
