//! A link to a frozen copy of a conversation: anyone may read it who has the link, until its owner takes it away.

use crate::export::strip_for_readers;
use crate::{Caller, Chat, errors};
use serde::{Deserialize, Serialize};
use wire::api::ConversationView;
use wire::order::{Share, ShareList};
use wire::{ErrorCode, UiMessage, UserError};

/// Bytes of a copy.
const MAX_COPY: usize = 4 * 1024 * 1024;

/// What is behind a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedCopy {
    /// The title, as it was then.
    pub title: String,
    /// When the copy was made; Unix time, milliseconds.
    pub created_at: i64,
    /// The active branch, as it was then.
    pub messages: Vec<UiMessage>,
}

impl Chat {
    /// Makes a link to a copy of the conversation as it is now. Without `tool_results` the copy does not have what tools were given and
    /// what they gave, nor what the model thought.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's, 409 while an answer is being written, 413 for one that is too long, 422 when there
    /// are as many links as there may be.
    pub async fn share(&self, caller: &Caller, id: &str, tool_results: bool) -> Result<Share, UserError> {
        let view = self.conversation(caller, id).await?;
        if view.active.is_some() {
            return Err(errors::busy());
        }
        let copy = copy_of(view, tool_results);
        let share = Share { id: uuid::Uuid::new_v4().simple().to_string(), created_at: copy.created_at };
        let copy = written(&copy, "The conversation is too long to be shared.")?;
        let store = &self.inner.store;
        if store.share(&caller.user_id, id, share.clone(), copy).await.map_err(errors::of_store)? {
            return Ok(share);
        }
        let most = store::MAX_SHARES;
        Err(UserError::invalid(
            "/",
            format!("A conversation has at most {most} links. Take one away that is no longer needed."),
        ))
    }

    /// The conversation as it is now, with what tools gave, for its owner to read; no link leads to it.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's, 413 for one that is too long for a page.
    pub async fn to_read(&self, caller: &Caller, id: &str) -> Result<SharedCopy, UserError> {
        let copy = copy_of(self.conversation(caller, id).await?, true);
        written(&copy, "The conversation is too long for one page. It can be exported as Markdown or JSON.")?;
        Ok(copy)
    }

    /// The links to copies of a conversation, the newest first.
    ///
    /// # Errors
    /// 404 for a conversation that is not the caller's.
    pub async fn shares(&self, caller: &Caller, id: &str) -> Result<ShareList, UserError> {
        let store = &self.inner.store;
        let known = store.conversation(&caller.user_id, id).await.map_err(errors::of_store)?;
        known.ok_or_else(UserError::not_found)?;
        Ok(ShareList { items: store.shares(&caller.user_id, id).await.map_err(errors::of_store)? })
    }

    /// Takes a link away; whoever opens it finds nothing from then on.
    ///
    /// # Errors
    /// 404 for a link that is not the caller's.
    pub async fn unshare(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        let gone = self.inner.store.unshare(&caller.user_id, id).await.map_err(errors::of_store)?;
        if gone { Ok(()) } else { Err(UserError::not_found()) }
    }

    /// What is behind a link, for whoever has it.
    ///
    /// # Errors
    /// 404 for a link that is none, or none any more.
    pub async fn shared(&self, id: &str) -> Result<SharedCopy, UserError> {
        let copy = self.inner.store.shared(id).await.map_err(errors::of_store)?.ok_or_else(UserError::not_found)?;
        serde_json::from_str(&copy).map_err(|error| {
            tracing::error!(%error, "a shared copy is damaged");
            errors::internal()
        })
    }
}

/// A copy as it is kept, or why it is too long.
fn written(copy: &SharedCopy, too_long: &'static str) -> Result<String, UserError> {
    let written = serde_json::to_string(copy).map_err(|_| errors::internal())?;
    if written.len() > MAX_COPY {
        return Err(UserError::new(ErrorCode::TooLarge, too_long));
    }
    Ok(written)
}

fn copy_of(view: ConversationView, tool_results: bool) -> SharedCopy {
    let mut messages = view.messages;
    messages.iter_mut().for_each(|message| strip_for_readers(message, tool_results));
    SharedCopy { title: view.summary.title, created_at: crate::now(), messages }
}
