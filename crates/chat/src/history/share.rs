//! Share links: anyone with the link can read a snapshot of the conversation until its owner
//! revokes it.

use crate::history::export::strip_for_readers;
use crate::{Caller, Chat, errors};
use serde::{Deserialize, Serialize};
use wire::api::ConversationView;
use wire::organize::{Share, ShareList};
use wire::{ErrorCode, UiMessage, UserError};

/// The maximum size of a snapshot in bytes.
const MAX_COPY: usize = 4 * 1024 * 1024;

/// A snapshot of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedSnapshot {
    /// The title at that time.
    pub title: String,
    /// When the snapshot was taken; Unix time in milliseconds.
    pub created_at: i64,
    /// The active branch at that time.
    pub messages: Vec<UiMessage>,
}

impl Chat {
    /// Creates a share link to a snapshot of the conversation. Without `tool_results` the snapshot
    /// omits the inputs and outputs of tools and the reasoning.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own, 409 while an answer is being generated,
    /// 413 for a conversation that is too long, 422 if it has the maximum number of links.
    pub async fn share(&self, caller: &Caller, id: &str, tool_results: bool) -> Result<Share, UserError> {
        let view = self.conversation(caller, id).await?;
        if view.active.is_some() {
            return Err(errors::busy());
        }
        let copy = snapshot(view, tool_results);
        let share = Share { id: uuid::Uuid::new_v4().simple().to_string(), created_at: copy.created_at };
        let copy = written(&copy, "The conversation is too long to be shared.")?;
        let store = &self.inner.store;
        if store.share(&caller.user_id, id, share.clone(), copy).await.map_err(errors::store_error)? {
            return Ok(share);
        }
        let most = store::MAX_SHARES;
        Err(UserError::invalid(
            "/",
            format!("A conversation has at most {most} links. Revoke one that you no longer need."),
        ))
    }

    /// Returns a snapshot with tool results for the owner, without creating a link.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own, 413 for one that is too long for a
    /// page.
    pub async fn to_read(&self, caller: &Caller, id: &str) -> Result<SharedSnapshot, UserError> {
        let copy = snapshot(self.conversation(caller, id).await?, true);
        written(&copy, "The conversation is too long for one page. It can be exported as Markdown or JSON.")?;
        Ok(copy)
    }

    /// Returns the share links of a conversation, newest first.
    ///
    /// # Errors
    /// 404 for a conversation that the caller does not own.
    pub async fn shares(&self, caller: &Caller, id: &str) -> Result<ShareList, UserError> {
        let store = &self.inner.store;
        let known = store.conversation(&caller.user_id, id).await.map_err(errors::store_error)?;
        known.ok_or_else(UserError::not_found)?;
        Ok(ShareList { items: store.shares(&caller.user_id, id).await.map_err(errors::store_error)? })
    }

    /// Revokes a share link.
    ///
    /// # Errors
    /// 404 for a link that the caller does not own.
    pub async fn unshare(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        let gone = self.inner.store.unshare(&caller.user_id, id).await.map_err(errors::store_error)?;
        if gone { Ok(()) } else { Err(UserError::not_found()) }
    }

    /// Returns the snapshot behind a link, for anyone who has the link.
    ///
    /// # Errors
    /// 404 for an unknown or revoked link.
    pub async fn shared(&self, id: &str) -> Result<SharedSnapshot, UserError> {
        let copy = self.inner.store.shared(id).await.map_err(errors::store_error)?.ok_or_else(UserError::not_found)?;
        serde_json::from_str(&copy).map_err(|error| {
            tracing::error!(%error, "a shared copy is damaged");
            errors::internal()
        })
    }
}

/// Serializes a snapshot.
///
/// # Errors
/// 413 with the text `too_long` if it is too long.
fn written(copy: &SharedSnapshot, too_long: &'static str) -> Result<String, UserError> {
    let written = serde_json::to_string(copy).map_err(|_| errors::internal())?;
    if written.len() > MAX_COPY {
        return Err(UserError::new(ErrorCode::TooLarge, too_long));
    }
    Ok(written)
}

fn snapshot(view: ConversationView, tool_results: bool) -> SharedSnapshot {
    let mut messages = view.messages;
    messages.iter_mut().for_each(|message| strip_for_readers(message, tool_results));
    SharedSnapshot { title: view.summary.title, created_at: crate::now(), messages }
}
