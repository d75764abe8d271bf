#![doc = include_str!("../README.md")]

mod accounts;
mod assertion;
mod capability;
mod connect;
mod exchange;
mod oauth;
mod pages;
mod pending;
mod routes;
mod secrets;
mod section;
mod services;
mod sign_in;
mod store;
pub mod testing;
#[cfg(test)]
mod tests;
mod tokens;
mod variables;

pub use self::capability::DEFINITION;

use ::store::AuditEntry;
use auth::audit_row;
use serde_json::Value;

/// Returns a row of the audit log about an account.
fn audit(user_id: &str, what: &str, about: Value) -> AuditEntry {
    audit_row(user_id, &format!("connected_account:{what}"), "", about)
}

/// Reads a text as the challenge of a service and as the answer of a token endpoint, and returns the scopes of both and
/// the access token; for the fuzzer.
#[cfg(feature = "fuzz")]
pub fn read_answers(text: &str) -> (Vec<String>, Option<(String, Vec<String>)>) {
    let issued = oauth::IssuedTokens::read(text.as_bytes()).ok();
    let issued = issued.map(|issued| (issued.access_token, issued.scopes.unwrap_or_default()));
    (oauth::Challenge::parse(text).scopes, issued)
}
