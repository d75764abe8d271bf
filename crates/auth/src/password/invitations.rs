//! Invitations: links with which a new user makes an account that has roles already.

use super::Accounts;
use super::keys::DAY;
use crate::token_parts::{hash_token, now_millis, random_bytes};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use store::{AddUserOutcome, AuditEntry, Invitation, NewInvitation, NewUser, StoreError};
use uuid::Uuid;

/// The path of the page on which an invitation is accepted; the token is the parameter `token`.
pub const INVITATION_PATH: &str = "/auth/invitation";
/// For how many days an invitation can be accepted.
pub const INVITATION_DAYS: i64 = 7;

/// A new invitation. The token is known only now: its hash is stored.
pub struct MadeInvitation {
    /// The invitation's id, which is no secret.
    pub id: String,
    /// The token in the link.
    pub token: String,
    /// When it expires, in Unix milliseconds.
    pub expires_at: i64,
}

/// Formats nothing secret.
impl fmt::Debug for MadeInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeInvitation").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The rights that an invitation gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitedUser {
    /// For whom it is, as administrators see it.
    pub label: String,
    /// The roles of the new account.
    pub roles: Vec<String>,
    /// The groups of the new account, by id.
    pub groups: Vec<String>,
}

impl Accounts {
    /// Makes invitations, on behalf of the user with the id `creator`: all or none. `entry` returns the audit entry
    /// for the id of one. `None` if there would be too many.
    ///
    /// # Errors
    /// The database failed.
    pub async fn invite(
        &self,
        creator: &str,
        users: &[InvitedUser],
        entry: impl Fn(&str, &InvitedUser) -> AuditEntry,
    ) -> Result<Option<Vec<MadeInvitation>>, StoreError> {
        let now = now_millis();
        let expires_at = now + INVITATION_DAYS * DAY;
        let (mut made, mut new) = (Vec::with_capacity(users.len()), Vec::with_capacity(users.len()));
        for user in users {
            let (id, token) = (Uuid::now_v7().to_string(), URL_SAFE_NO_PAD.encode(random_bytes::<32>()));
            let invitation = NewInvitation {
                id: id.clone(),
                token_hash: hash_token(&token),
                label: user.label.clone(),
                roles: user.roles.clone(),
                groups: user.groups.clone(),
                created_by: creator.to_owned(),
                now,
                expires_at,
            };
            new.push((invitation, entry(&id, user)));
            made.push(MadeInvitation { id, token, expires_at });
        }
        Ok(self.store.add_invitations(new).await?.then_some(made))
    }

    /// Returns the invitation with a token, if it can be accepted.
    ///
    /// # Errors
    /// The database failed.
    pub async fn invitation(&self, token: &str) -> Result<Option<Invitation>, StoreError> {
        self.store.invitation(hash_token(token), now_millis(), &self.ways).await
    }

    /// Adds a user with the roles and groups of an invitation, which is used up.
    ///
    /// # Errors
    /// The database failed.
    pub async fn accept_invitation(
        &self,
        token: &str,
        user: NewUser,
        entry: AuditEntry,
    ) -> Result<AddUserOutcome, StoreError> {
        self.store.accept_invitation(hash_token(token), user, &self.ways, entry).await
    }
}
