//! Users, and how they sign in.

mod groups;
mod identities;
mod invitations;
mod scim_users;
mod second_factors;
mod users;

use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use store::{AuditEntry, AuditOutcome, NewUser};

/// Returns a user with a password, whose id is `id-NAME`.
fn new_user(name: &str, roles: &[&str]) -> NewUser {
    NewUser {
        id: format!("id-{name}"),
        name: name.to_owned(),
        name_key: name.to_lowercase(),
        password: "hash".to_owned(),
        must_change_password: false,
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        now: 1,
    }
}

/// Returns an entry with a call id of its own.
fn entry(tool: &str) -> AuditEntry {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    AuditEntry {
        at: 1,
        user_id: "id-ada".to_owned(),
        agent_id: String::new(),
        conversation_id: String::new(),
        message_id: String::new(),
        run_id: String::new(),
        call_id: CALLS.fetch_add(1, Ordering::Relaxed).to_string(),
        tool: tool.to_owned(),
        arguments: json!({}),
        gates: Vec::new(),
        outcome: AuditOutcome::Ok,
        duration_ms: None,
    }
}
