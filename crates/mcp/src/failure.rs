//! Classifies failed requests: whether the connection can still be used, and whether the request
//! may be repeated.

use crate::message::UNCORRELATED;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// Why an HTTP request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFailure {
    /// The request was not sent: there was no connection.
    #[error("not sent: {0}")]
    Unsent(String),
    /// The server refused the request before it ran, as it does when it has forgotten the session.
    #[error("refused: {0}")]
    Refused(String),
    /// The server refused the request for a reason that a new session does not change.
    #[error("refused: HTTP {0}")]
    Declined(u16),
    /// The server wants another token, with the value of `WWW-Authenticate`. The request did not run.
    #[error("refused: it wants another token")]
    Unauthorized(String),
    /// The request may have run.
    #[error("no answer: {0}")]
    Unknown(String),
}

/// The meaning of a failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The server answered with an error, and the connection can still be used.
    Answered(String),
    /// The request did not run, and the connection cannot be used any more.
    Refused(String),
    /// The request did not run, and the connection needs another token, with the value of `WWW-Authenticate`.
    Unauthorized(String),
    /// The request may have run, and the connection cannot be used any more.
    Lost,
}

impl FailureKind {
    /// Classifies an error of rmcp.
    pub(crate) fn from_service(error: &ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::from_answer(error),
            ServiceError::TransportSend(error) => {
                let error = error.error.as_ref();
                if let Some(failure) = error.downcast_ref::<HttpFailure>() {
                    return Self::from_http(failure);
                }
                match error.downcast_ref::<StreamableHttpError<HttpFailure>>() {
                    Some(StreamableHttpError::Client(failure)) => Self::from_http(failure),
                    Some(StreamableHttpError::AuthRequired(required)) => {
                        Self::Unauthorized(required.www_authenticate_header.clone())
                    }
                    _ => Self::Lost,
                }
            }
            _ => Self::Lost,
        }
    }

    fn from_http(failure: &HttpFailure) -> Self {
        match failure {
            HttpFailure::Unsent(_) => Self::Refused("it cannot be reached".to_owned()),
            HttpFailure::Refused(why) => Self::Refused(why.clone()),
            HttpFailure::Unauthorized(challenge) => Self::Unauthorized(challenge.clone()),
            HttpFailure::Declined(429) => Self::Answered("it has too many requests".to_owned()),
            HttpFailure::Declined(status) => Self::Answered(format!("HTTP {status}")),
            HttpFailure::Unknown(_) => Self::Lost,
        }
    }

    fn from_answer(error: &ErrorData) -> Self {
        let is_uncorrelated = is_uncorrelated(error);
        match error.code {
            ErrorCode::INTERNAL_ERROR if is_uncorrelated => Self::Lost,
            ErrorCode::INTERNAL_ERROR => Self::Answered(error.message.to_string()),
            _ if is_uncorrelated || is_about_session(&error.message) => Self::Refused(error.message.to_string()),
            _ => Self::Answered(error.message.to_string()),
        }
    }
}

/// Returns whether a server could not be reached at all.
pub(crate) fn is_unreachable(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| {
        let failure = match error.downcast_ref::<StreamableHttpError<HttpFailure>>() {
            Some(StreamableHttpError::Client(failure)) => Some(failure),
            _ => error.downcast_ref::<HttpFailure>(),
        };
        matches!(failure, Some(HttpFailure::Unsent(_)))
    })
}

/// Returns the value of `WWW-Authenticate`, if a server wanted another token.
pub(crate) fn challenge(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    std::iter::successors(Some(error), |error| error.source()).find_map(|error| {
        match error.downcast_ref::<StreamableHttpError<HttpFailure>>() {
            Some(StreamableHttpError::AuthRequired(required)) => Some(required.www_authenticate_header.clone()),
            Some(StreamableHttpError::Client(HttpFailure::Unauthorized(challenge))) => Some(challenge.clone()),
            _ => match error.downcast_ref::<HttpFailure>() {
                Some(HttpFailure::Unauthorized(challenge)) => Some(challenge.clone()),
                _ => None,
            },
        }
    })
}

/// Returns whether an error came without the id of its request.
pub(crate) fn is_uncorrelated(error: &ErrorData) -> bool {
    error.data.as_ref().is_some_and(|data| data.get(UNCORRELATED).is_some())
}

/// The error messages of servers for a session that they do not know.
const UNKNOWN_SESSION: [&str; 21] = [
    "not found",
    "unknown",
    "unrecogni",
    "invalid",
    "no valid",
    "no session",
    "no such",
    "no active",
    "missing",
    "not exist",
    "required",
    "expired",
    "terminated",
    "closed",
    "ended",
    "gone",
    "lost",
    "inactive",
    "stale",
    "timed out",
    "timeout",
];

/// Returns whether a refusal says that the session is unknown, or was never initialized. There is
/// no code for that: servers use -32000, -32001, -32600 and others.
fn is_about_session(message: &str) -> bool {
    let text = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    (text.contains("session") && says(&UNKNOWN_SESSION))
        || (says(&["initializ", "initialis"]) && says(&["not ", "before", "must"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn refusals_of_a_forgotten_session_are_distinguished_from_other_errors() {
        let check = |code: i32, message: &'static str, is_uncorrelated: bool, expected: FailureKind| {
            let data = is_uncorrelated.then(|| json!({ UNCORRELATED: true }));
            let error = ErrorData::new(ErrorCode(code), message, data);
            assert_eq!(
                FailureKind::from_service(&ServiceError::McpError(error)),
                expected,
                "{code} {message} {is_uncorrelated}"
            );
        };
        let refused = |text: &str| FailureKind::Refused(text.to_owned());
        let answered = |text: &str| FailureKind::Answered(text.to_owned());
        for text in [
            "Session not found",
            "Bad Request: No valid session ID provided",
            "Invalid session id",
            "Unknown session",
            "Mcp-Session-Id header is required",
            "Bad Request: Server not initialized",
            "Received request before initialization was complete",
            "no session",
            "No such session",
            "The session was closed",
            "Session ended",
            "Session has expired",
            "session timed out",
            "Your session is inactive",
            "Stale session",
        ] {
            for code in [-32000, -32001, -32600, -32602] {
                check(code, text, false, refused(text));
            }
        }
        check(-32000, "go away", true, refused("go away"));
        check(-32602, "Invalid arguments", false, answered("Invalid arguments"));
        check(-32601, "Method not found", false, answered("Method not found"));
        check(-32603, "Session not found", false, answered("Session not found"));
        check(-32603, "Internal error", true, FailureKind::Lost);
    }
}
