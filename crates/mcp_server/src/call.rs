//! Calls of tools and their results.

use crate::asking::{Asker, Asking, Retry};
use crate::progress::Progress;
use crate::running::CallKey;
use auth::password::KeyScope;
use chat::Caller;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Who has sent a request.
#[derive(Clone)]
pub(crate) struct Client {
    /// The user, who is signed in.
    pub(crate) caller: Caller,
    /// The scopes of the API key; `None` for other credentials.
    pub(crate) scopes: Option<Vec<KeyScope>>,
    /// The origin under which the user finds this server, for links.
    pub(crate) origin: String,
    /// The request, if a notification can cancel it.
    pub(crate) call: Option<CallKey>,
    /// Sends requests to a client with a session that shows forms.
    pub(crate) asker: Option<Asker>,
}

impl Client {
    /// Returns whether the credentials allow calls of endpoints.
    pub(crate) fn may_call_endpoints(&self) -> bool {
        self.has_scope(KeyScope::Endpoints)
    }

    /// Returns whether the credentials allow the use of the user's prompts, as in their API.
    pub(crate) fn may_use_prompts(&self) -> bool {
        self.has_scope(KeyScope::Conversations)
    }

    /// Returns whether the credentials allow the reading of documents, as in their API.
    pub(crate) fn may_read_documents(&self) -> bool {
        self.has_scope(KeyScope::Endpoints)
    }

    fn has_scope(&self, scope: KeyScope) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.contains(&scope))
    }
}

/// A call of a tool.
pub(crate) struct Call {
    /// The arguments.
    pub(crate) arguments: Value,
    /// Where the progress goes.
    pub(crate) progress: Progress,
    /// Cancelled when the client cancels the call, or goes away.
    pub(crate) cancel: CancellationToken,
    /// How the user is asked.
    pub(crate) asking: Asking,
    /// The answers of the user, if the client calls again with them.
    pub(crate) retry: Option<Retry>,
}

/// Returns the result of a call that failed. The client's model reads it.
pub(crate) fn failed(message: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// Returns a value as the content of a result: a text as it is, anything else as JSON, and an object also as
/// structured content.
pub(crate) fn result_of(value: Value) -> CallToolResult {
    match value {
        Value::String(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        value => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
            result.structured_content = Some(value).filter(Value::is_object);
            result
        }
    }
}
