//! The service that routes, the page and agents use.

use crate::store::{self, Profile};
use ::store::{AuditEntry, Store, StoreError};
use auth::audit_row;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use web::admin::from_store_error;
use web::times::now_millis;
use wire::UserError;

/// The longest text, in characters.
pub(crate) const MAX_CONTENT: usize = 4_000;

/// The profiles of all users; cheap to clone.
#[derive(Clone)]
pub(crate) struct Profiles {
    store: Store,
    is_used: Arc<AtomicBool>,
}

impl Profiles {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, is_used: Arc::default() }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Whether any agent of the config in use reads profiles.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    pub(crate) fn set_used(&self, is_used: bool) {
        self.is_used.store(is_used, Ordering::Relaxed);
    }

    /// Returns the text of a user.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn profile(&self, user_id: &str) -> Result<Option<Profile>, UserError> {
        store::profile(&self.store, user_id).await.map_err(from_store_error)
    }

    /// Stores the text of a user; an empty one deletes it.
    ///
    /// # Errors
    /// 422 if it is too long or has control characters.
    pub(crate) async fn save(&self, user_id: &str, content: &str) -> Result<(), UserError> {
        let content = checked(content)?;
        if content.is_empty() {
            return self.delete(user_id).await;
        }
        let audit = audit(user_id, "change", "", json!({ "characters": content.chars().count() }));
        let profile = Profile { content, updated_at: now_millis() };
        store::save(&self.store, user_id, profile, audit).await.map_err(from_store_error)
    }

    /// Deletes the text of a user, also from the conversations that have got it.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn delete(&self, user_id: &str) -> Result<(), UserError> {
        store::delete(&self.store, user_id, audit(user_id, "delete", "", Value::Null)).await.map_err(from_store_error)
    }

    /// Returns the text for a conversation: the text that it got when it began, or the current one
    /// if it begins now. Empty if there is none.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn conversation_text(&self, user_id: &str, conversation_id: &str) -> Result<String, StoreError> {
        if let Some(text) = store::find_block(&self.store, user_id, conversation_id).await? {
            return Ok(text);
        }
        let (owner, conversation) = (user_id.to_owned(), conversation_id.to_owned());
        let audit = move |content: &str| {
            audit(&owner, "tell", &conversation, json!({ "sha256": hex::encode(Sha256::digest(content)) }))
        };
        store::insert_block(&self.store, user_id, conversation_id, now_millis(), audit).await
    }
}

/// Returns a row of the audit log. It names the action, and does not contain the text.
fn audit(user_id: &str, action: &str, conversation_id: &str, about: Value) -> AuditEntry {
    audit_row(user_id, &format!("profile:{action}"), conversation_id, about)
}

/// Returns a text with line feeds as line ends, and without spaces around it.
///
/// # Errors
/// 422 if it is too long or has control characters.
pub(crate) fn checked(content: &str) -> Result<String, UserError> {
    let content = content.replace("\r\n", "\n").trim().to_owned();
    let count = content.chars().count();
    if count > MAX_CONTENT {
        let message = format!("This has {count} characters. At most {MAX_CONTENT} are possible.");
        return Err(UserError::invalid("/content", message));
    }
    if content.chars().any(|sign| sign.is_control() && sign != '\n' && sign != '\t') {
        return Err(UserError::invalid("/content", "This has control characters. Remove them."));
    }
    Ok(content)
}
