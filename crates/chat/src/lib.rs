#![doc = include_str!("../README.md")]

use bytes::Bytes;
use futures::stream::BoxStream;
use std::sync::Arc;
use wire::UserError;
use wire::api::{ConversationList, ConversationView, SendRequest};

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The owner of all rows that the call may see.
    pub user_id: String,
}

/// Whole server-sent events (`id: EPOCH.SEQ\ndata: {chunk}\n\n`), perhaps several in one piece; the last one is
/// `data: [DONE]\n\n`. A stream that ends without it was cut short and may be watched again from its last id.
pub type Frames = BoxStream<'static, Bytes>;

/// A submission was accepted.
pub struct Sent {
    /// The run that answers.
    pub run_id: String,
    /// The assistant message that it writes.
    pub message_id: String,
    /// Its stream.
    pub frames: Frames,
}

/// The facade; a cheap handle.
#[derive(Clone)]
pub struct Chat {
    _inner: Arc<()>,
}

impl Chat {
    /// Accepts a submission and starts the run that answers it.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn send(&self, _caller: &Caller, _request: SendRequest) -> Result<Sent, UserError> {
        Err(UserError::not_found())
    }

    /// The stream of the conversation's active run.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn watch(&self, _caller: &Caller, _conversation_id: &str, _after: Option<&str>) -> Result<Option<Frames>, UserError> {
        Err(UserError::not_found())
    }

    /// Ends the active run, if there is one.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn stop(&self, _caller: &Caller, _conversation_id: &str) -> Result<(), UserError> {
        Err(UserError::not_found())
    }

    /// The caller's conversations, newest first.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn conversations(&self, _caller: &Caller, _limit: u32, _cursor: Option<&str>) -> Result<ConversationList, UserError> {
        Err(UserError::not_found())
    }

    /// One conversation as it stands.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn conversation(&self, _caller: &Caller, _id: &str) -> Result<ConversationView, UserError> {
        Err(UserError::not_found())
    }

    /// Gives a conversation another title.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn rename(&self, _caller: &Caller, _id: &str, _title: &str) -> Result<(), UserError> {
        Err(UserError::not_found())
    }

    /// Deletes a conversation with all that belongs to it.
    ///
    /// # Errors
    /// See [`UserError`].
    pub async fn delete(&self, _caller: &Caller, _id: &str) -> Result<(), UserError> {
        Err(UserError::not_found())
    }
}
