//! Keys of users' programs. A key is its user's, with less rights: it opens only what its scopes name.

use super::{Accounts, Caller, caller, hash, now};
use crate::auth::AccountAction;
use crate::auth::visitors::random;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use store::{AuditEntry, NewApiKey, StoreError};
use uuid::Uuid;

/// How a key begins, so that it is known for one wherever it turns up.
const PREFIX: &str = "cw_";
/// A day in milliseconds.
const DAY: i64 = 86_400_000;
/// For how long a key may be good.
pub(crate) const MAX_DAYS: u32 = 366;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// Asking agents, and reading what they answer.
    Agents,
    /// Conversations and their order: reading, searching, changing, sharing and deleting them.
    Conversations,
    /// Calling endpoints.
    Endpoints,
    /// What administrators do, for those who are.
    Admin,
}

impl Scope {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Agents, Self::Conversations, Self::Endpoints, Self::Admin];

    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Conversations => "conversations",
            Self::Endpoints => "endpoints",
            Self::Admin => "admin",
        }
    }

    /// The scope that opens a path; what none opens is not for programs.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let mut parts = path.strip_prefix("/api/")?.split('/');
        match parts.next()? {
            "agent" | "runs" => Some(Self::Agents),
            "conversations" | "folders" | "search" | "shares" => Some(Self::Conversations),
            "endpoints" => Some(Self::Endpoints),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }
}

/// A key that was just made, the only time that it can be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewKey {
    pub(crate) id: String,
    pub(crate) key: String,
    /// Unix time, milliseconds.
    pub(crate) expires_at: i64,
}

impl Accounts {
    /// Whose key this is, and what it is for; none when it does not count.
    pub(in crate::auth) async fn key(&self, key: &str) -> Result<Option<(Caller, Vec<Scope>)>, StoreError> {
        if !is_key(key) {
            return Ok(None);
        }
        let found = self.store.api_key(hash(key), now()).await?;
        Ok(found.map(|(user, names)| (caller(&user), scopes(&names))))
    }

    /// Makes a key, and enters that in the audit log with the user's address, as far as it is recorded; none when the user has too
    /// many.
    pub(crate) async fn make_key(
        &self,
        user_id: &str,
        name: &str,
        scopes: &[Scope],
        days: u32,
        address: Option<&str>,
    ) -> Result<Option<NewKey>, StoreError> {
        let (kept, key) = new(user_id, name, scopes, days);
        let entry = entry(AccountAction::AddKey, user_id, &kept.id, address, Some(&kept));
        Ok(self.store.add_api_key(kept, Some(entry)).await?.then_some(key))
    }
}

/// The row for a key that is made or deleted; `address` is the user's, as far as it is recorded.
pub(in crate::auth) fn entry(
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
    action.done(user_id, address, about)
}

/// What is kept of a new key, and what its user gets.
pub(in crate::auth) fn new(user_id: &str, name: &str, scopes: &[Scope], days: u32) -> (NewApiKey, NewKey) {
    let (id, key) = (Uuid::now_v7().to_string(), format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random::<32>())));
    let now = now();
    let expires_at = now + i64::from(days) * DAY;
    let kept = NewApiKey {
        id: id.clone(),
        user_id: user_id.to_owned(),
        name: name.to_owned(),
        key_hash: hash(&key),
        scopes: scopes.iter().map(|scope| scope.name().to_owned()).collect(),
        now,
        expires_at,
    };
    (kept, NewKey { id, key, expires_at })
}

/// Whether this looks like a key of ours, and is nobody else's token.
pub(in crate::auth) fn is_key(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// What a key is for, as it is kept.
pub(in crate::auth) fn scopes(names: &[String]) -> Vec<Scope> {
    Scope::ALL.into_iter().filter(|scope| names.iter().any(|name| name == scope.name())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_paths() {
        let check = |path: &str, expected: Option<Scope>| assert_eq!(Scope::of_path(path), expected, "{path}");
        check("/api/agent/p/a", Some(Scope::Agents));
        check("/api/runs", Some(Scope::Agents));
        check("/api/runs/invoke", Some(Scope::Agents));
        check("/api/conversations/c", Some(Scope::Conversations));
        check("/api/search", Some(Scope::Conversations));
        check("/api/folders/f", Some(Scope::Conversations));
        check("/api/shares/s", Some(Scope::Conversations));
        check("/api/grants", None);
        check("/api/endpoints/p/e", Some(Scope::Endpoints));
        check("/api/admin/users", Some(Scope::Admin));
        check("/admin/users", None);
        check("/api/keys", None);
        check("/api/conversationsx", None);
        check("/ui/send", None);
        check("/auth/account", None);
        check("/", None);
    }
}
