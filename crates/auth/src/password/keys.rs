//! API keys. A key belongs to a user and has a part of the user's rights, limited by its scopes.

use super::{Accounts, Caller, caller};
use crate::AccountAction;
use crate::token_parts::{hash_token, now_millis, random_bytes};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::fmt;
use store::{AuditEntry, NewApiKey, StoreError};
use uuid::Uuid;

/// The prefix of keys, so that they are recognized wherever they appear.
const PREFIX: &str = "cw_";
/// A day in milliseconds.
pub(super) const DAY: i64 = 86_400_000;
/// The maximum lifetime of a key in days.
pub const MAX_DAYS: u32 = 366;

/// A scope of API keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Using agents and reading their answers.
    Agents,
    /// Reading, searching, organizing, changing, sharing and deleting conversations.
    Conversations,
    /// Calling endpoints.
    Endpoints,
    /// The admin API, for users with the role `admin`.
    Admin,
}

impl KeyScope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Agents, Self::Conversations, Self::Endpoints, Self::Admin];

    /// The name of the scope in requests and in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Conversations => "conversations",
            Self::Endpoints => "endpoints",
            Self::Admin => "admin",
        }
    }
}

/// A new key. It is shown only once.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKey {
    /// The key's id, which is no secret.
    pub id: String,
    /// The key itself.
    pub key: String,
    /// When the key expires, in Unix milliseconds.
    pub expires_at: i64,
}

/// Formats nothing secret.
impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Accounts {
    /// Returns the user and the scopes of a valid key. The user has the roles that administrators gave only:
    /// a key outlasts the groups at a provider.
    pub async fn find_key(&self, key: &str) -> Result<Option<(Caller, Vec<KeyScope>)>, StoreError> {
        if !is_key(key) {
            return Ok(None);
        }
        let found = self.store.api_key(hash_token(key), now_millis()).await?;
        Ok(found.map(|(user, names)| (caller(&user), parse_scopes(&names))))
    }

    /// Creates a key and records that in the audit log, with the user's address as recorded there.
    /// `None` if the user has too many keys.
    pub async fn create_key(
        &self,
        user_id: &str,
        name: &str,
        scopes: &[KeyScope],
        days: u32,
        address: Option<&str>,
    ) -> Result<Option<NewKey>, StoreError> {
        let (kept, key) = new_key(user_id, name, scopes, days);
        let entry = audit_entry(AccountAction::AddKey, user_id, &kept.id, address, Some(&kept));
        Ok(self.store.add_api_key(kept, Some(entry)).await?.then_some(key))
    }
}

/// Returns the audit entry for a created or deleted key; `address` is the user's address as
/// recorded in the log.
pub fn audit_entry(
    action: AccountAction,
    user_id: &str,
    id: &str,
    address: Option<&str>,
    more: Option<&NewApiKey>,
) -> AuditEntry {
    let mut about = Map::from_iter([("keyId".to_owned(), id.into())]);
    if let Some(key) = more {
        about.insert("name".to_owned(), key.name.clone().into());
        about.insert("scopes".to_owned(), key.scopes.clone().into());
        about.insert("expiresAt".to_owned(), key.expires_at.into());
    }
    action.success_entry(user_id, address, about)
}

/// Creates a key; returns what is stored and what its user gets.
pub fn new_key(user_id: &str, name: &str, scopes: &[KeyScope], days: u32) -> (NewApiKey, NewKey) {
    let (id, key) = (Uuid::now_v7().to_string(), format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random_bytes::<32>())));
    let now = now_millis();
    let expires_at = now + i64::from(days) * DAY;
    let kept = NewApiKey {
        id: id.clone(),
        user_id: user_id.to_owned(),
        name: name.to_owned(),
        key_hash: hash_token(&key),
        scopes: scopes.iter().map(|scope| scope.name().to_owned()).collect(),
        now,
        expires_at,
    };
    (kept, NewKey { id, key, expires_at })
}

/// Returns whether a text has the form of an API key rather than another token.
pub fn is_key(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// Parses stored scope names; unknown ones are ignored.
pub fn parse_scopes(names: &[String]) -> Vec<KeyScope> {
    KeyScope::ALL.into_iter().filter(|scope| names.iter().any(|name| name == scope.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_keys_are_formatted_without_their_secret() {
        let (_, new) = new_key("ada", "nightly", &[KeyScope::Agents], 30);
        let shown = format!("{new:?}");
        assert!(shown.contains(&new.id) && !shown.contains(&new.key), "{shown}");
    }
}
