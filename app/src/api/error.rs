//! The error of every server function: the user's error, whatever went wrong on the way included.

use super::codec::ValueJson;
use crate::texts::{Text, t};
use serde::{Deserialize, Serialize};
use server_fn::error::{FromServerFnError, ServerFnErrorErr};
use wire::error::{ErrorCode, UserError};

/// What a server function answers when it cannot do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApiError(pub UserError);

impl ApiError {
    /// Its code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }
}

impl From<UserError> for ApiError {
    /// On the server, an error that answers a server function's request also sets the response's status, and names the request's trace.
    fn from(error: UserError) -> Self {
        #[cfg(feature = "ssr")]
        let error = {
            set_status(error.code);
            UserError { trace_id: chat::trace().map(|trace| trace.trace_id), ..error }
        };
        Self(error)
    }
}

impl FromServerFnError for ApiError {
    type Encoder = ValueJson;

    /// Failures of the transport. Their texts are for developers, so the reader gets ours.
    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let (code, message) = match error {
            ServerFnErrorErr::Request(_) => (ErrorCode::Unavailable, t(Text::ServerAway)),
            // The server reads nothing but requests.
            ServerFnErrorErr::Deserialization(_) if cfg!(feature = "ssr") => {
                (ErrorCode::Malformed, t(Text::RequestUnreadable))
            }
            ServerFnErrorErr::Deserialization(_) => (ErrorCode::Unavailable, t(Text::ServerUnreadable)),
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => {
                (ErrorCode::Malformed, t(Text::RequestUnreadable))
            }
            _ => (ErrorCode::Internal, t(Text::ServerWrong)),
        };
        UserError::new(code, message).into()
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ApiError {}

/// Gives the response the error's status, but only when the request is for a server function: while a page is rendered,
/// one block's error is not the page's.
#[cfg(feature = "ssr")]
fn set_status(code: ErrorCode) {
    use leptos::prelude::use_context;
    let asked = use_context::<http::request::Parts>();
    let response = use_context::<leptos_axum::ResponseOptions>();
    if let (Some(asked), Some(response)) = (asked, response)
        && asked.uri.path().starts_with("/ui/")
        && let Ok(status) = http::StatusCode::from_u16(code.status())
    {
        response.set_status(status);
    }
}
