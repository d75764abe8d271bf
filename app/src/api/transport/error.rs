//! The error type of all server functions, including errors of the transport.

use super::codec::ValueJson;
use crate::texts::{Text, t};
use serde::{Deserialize, Serialize};
use server_fn::error::{FromServerFnError, ServerFnErrorErr};
use wire::error::{ErrorCode, UserError};

/// The error of a server function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApiError(pub UserError);

impl ApiError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns whether asking again would give the same answer: there is no such thing for this user.
    pub fn is_final(&self) -> bool {
        matches!(self.0.code, ErrorCode::NotFound | ErrorCode::Unauthenticated | ErrorCode::Forbidden)
    }
}

impl From<UserError> for ApiError {
    /// Converts the error. On the server, for a request of a server function, it also sets the
    /// status of the response and adds the id of the request's trace.
    fn from(error: UserError) -> Self {
        #[cfg(feature = "ssr")]
        let error = {
            set_status(error.code);
            UserError { trace_id: chat::current_trace().map(|trace| trace.trace_id), ..error }
        };
        Self(error)
    }
}

impl FromServerFnError for ApiError {
    type Encoder = ValueJson;

    /// Converts errors of the transport. Their texts are for developers, so they are replaced by
    /// texts for users.
    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let (code, message) = match error {
            ServerFnErrorErr::Request(_) => (ErrorCode::Unavailable, t(Text::ServerAway)),
            // On the server, only requests are deserialized.
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

/// Sets the status of the response, but only if the request is for a server function: while a page
/// is rendered, the error of one block is not an error of the page.
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
