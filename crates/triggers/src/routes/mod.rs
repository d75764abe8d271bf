//! The routes for senders of webhooks, and for programs that report events.

mod events;
mod headers;
mod hooks;

pub(crate) use events::routes as event_routes;
pub(crate) use hooks::{routes as hook_routes, signed_id, webhook_event};

use serde_json::Value;
use wire::{ErrorCode, UserError};

/// The most seconds after which a sender tries again.
const RETRY_SECONDS: u32 = 60;

/// Returns the error for a delivery that cannot be taken now. Senders try again.
fn try_again(message: &str) -> UserError {
    UserError { retry_after: Some(RETRY_SECONDS), ..UserError::new(ErrorCode::Unavailable, message) }
}

/// Reads a body: as JSON, else as text.
fn read_body(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| String::from_utf8_lossy(body).into())
}
