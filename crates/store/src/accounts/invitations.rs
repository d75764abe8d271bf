//! Table `invitations`: invitations of administrators to make an account, until they are accepted or expire.

use crate::accounts::group_members::add_memberships;
use crate::accounts::identities::{self, SignInWays};
use crate::accounts::users::{all_roles, decode_list, encode_list, granted_roles, insert_user};
use crate::admin::ADMIN;
use crate::sql::{self, Db, Query, Row};
use crate::{AddUserOutcome, AuditEntry, NewUser, Store, StoreError, audit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of invitations that nobody has accepted yet.
pub const MAX_INVITATIONS: u32 = 2_000;

/// An invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Its id, which is no secret.
    pub id: String,
    /// For whom it is, as the administrator has written it.
    pub label: String,
    /// The roles of the new account.
    pub roles: Vec<String>,
    /// The groups of the new account, by id. Those that are deleted meanwhile do not count.
    pub groups: Vec<String>,
    /// The user who invites.
    pub created_by: String,
    /// That user's name.
    pub creator_name: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub expires_at: i64,
    /// Whether it cannot be accepted now, because who made it is disabled or no longer known to be an administrator.
    pub void: bool,
}

/// A new invitation.
#[derive(Clone, Debug)]
pub struct NewInvitation {
    /// A new, unique id.
    pub id: String,
    /// SHA-256 of the token in the link.
    pub token_hash: [u8; 32],
    /// For whom it is.
    pub label: String,
    /// The roles of the new account.
    pub roles: Vec<String>,
    /// The groups of the new account, by id. Those that are deleted meanwhile do not count.
    pub groups: Vec<String>,
    /// The user who invites.
    pub created_by: String,
    /// Unix time, milliseconds.
    pub now: i64,
    /// Unix time, milliseconds.
    pub expires_at: i64,
}

const INSERT: &str = "
    INSERT INTO invitations (id, token_hash, label, roles, group_ids, created_by, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const LIST: &str = concat!(
    "SELECT i.id, i.label, i.roles, i.group_ids, i.created_by, i.created_at, i.expires_at, u.name AS creator_name,
        u.roles AS creator_roles, u.disabled_at, ",
    granted_roles!(),
    " FROM invitations i JOIN users u ON u.id = i.created_by WHERE i.expires_at > $1 ORDER BY i.created_at DESC, i.id DESC LIMIT $2"
);

const BY_TOKEN: &str = concat!(
    "SELECT i.id, i.label, i.roles, i.group_ids, i.created_by, i.created_at, i.expires_at, u.name AS creator_name,
        u.roles AS creator_roles, u.disabled_at, ",
    granted_roles!(),
    " FROM invitations i JOIN users u ON u.id = i.created_by WHERE i.token_hash = $1 AND i.expires_at > $2"
);

const DELETE_EXPIRED: &str = "DELETE FROM invitations WHERE expires_at <= $1";

impl Store {
    /// Adds an invitation, as [`Store::add_invitations`] does.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_invitation(&self, new: NewInvitation, entry: AuditEntry) -> Result<bool, StoreError> {
        self.add_invitations(vec![(new, entry)]).await
    }

    /// Adds invitations, and writes an entry for each to the audit log in the same transaction. Removes those that
    /// have expired. Returns false, and adds none, if there would be more than [`MAX_INVITATIONS`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_invitations(&self, new: Vec<(NewInvitation, AuditEntry)>) -> Result<bool, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let Some((first, _)) = new.first() else { return Ok(true) };
                sql::query(DELETE_EXPIRED).bind(first.now).execute(&mut *db).await?;
                let count: i64 = sql::query_scalar("SELECT count(*) FROM invitations").fetch_one(&mut *db).await?;
                if count.saturating_add_unsigned(new.len() as u64) > i64::from(MAX_INVITATIONS) {
                    return Ok(false);
                }
                let (invitations, entries): (Vec<_>, Vec<_>) = new.into_iter().unzip();
                for invitation in invitations {
                    insert(invitation).execute(&mut *db).await?;
                }
                // All at once, so that the head of the log is read once.
                audit::append_audit(db, entries).await?;
                Ok(true)
            })
        })
        .await
    }

    /// Removes the invitations that have expired at `now` (Unix time, milliseconds). For the clean-up job only.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_expired_invitations(&self, now: i64) -> Result<u64, StoreError> {
        let delete = sql::query(DELETE_EXPIRED).bind(now);
        self.execute(delete).await
    }

    /// Returns the invitations that have not expired at `now` (Unix time, milliseconds), the newest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn invitations(&self, now: i64, ways: &Arc<SignInWays>) -> Result<Vec<Invitation>, StoreError> {
        let (query, ways) = (sql::query(LIST).bind(now).bind(MAX_INVITATIONS), ways.clone());
        self.read(move |db| {
            Box::pin(async move {
                let rows = query.fetch_all(&mut *db).await?;
                let mut creators = HashMap::new();
                let mut found = Vec::with_capacity(rows.len());
                for row in &rows {
                    let creator: String = row.try_get("created_by")?;
                    let may_invite = match creators.get(&creator) {
                        Some(known) => *known,
                        None => may_invite(db, row, &ways, now).await?,
                    };
                    creators.insert(creator, may_invite);
                    found.push(Invitation { void: !may_invite, ..invitation(row)? });
                }
                Ok(found)
            })
        })
        .await
    }

    /// Removes an invitation, and writes `entry` to the audit log in the same transaction. Returns false if there is
    /// none.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_invitation(&self, id: &str, entry: AuditEntry) -> Result<bool, StoreError> {
        let delete = sql::query("DELETE FROM invitations WHERE id = $1").bind(id.to_owned());
        self.execute_audited(delete, Some(entry)).await
    }

    /// Returns the invitation with this hash of a token, if it can be accepted at `now` (Unix time, milliseconds):
    /// it has not expired, and who made it is still an administrator. An administrator by the groups at a provider
    /// counts as one for as long as a session there would last: what the groups are after that, only the next sign-in
    /// tells. So they do not count at all if nobody can sign in there any more.
    ///
    /// # Errors
    /// The database failed.
    pub async fn invitation(
        &self,
        token_hash: [u8; 32],
        now: i64,
        ways: &Arc<SignInWays>,
    ) -> Result<Option<Invitation>, StoreError> {
        let ways = ways.clone();
        self.read(move |db| Box::pin(async move { find(db, token_hash, now, &ways).await })).await
    }

    /// Adds a user with the roles and the groups of an invitation, removes the invitation, and writes `entry` to the audit log, in
    /// one transaction. [`AddUserOutcome::NotInvited`] if it cannot be accepted, as for all but one of concurrent calls.
    ///
    /// # Errors
    /// The database failed.
    pub async fn accept_invitation(
        &self,
        token_hash: [u8; 32],
        user: NewUser,
        ways: &Arc<SignInWays>,
        entry: AuditEntry,
    ) -> Result<AddUserOutcome, StoreError> {
        let ways = ways.clone();
        self.write(move |db| {
            Box::pin(async move {
                let found = find(db, token_hash, user.now, &ways).await?;
                let Some(found) = found else { return Ok(AddUserOutcome::NotInvited) };
                let user = NewUser { roles: found.roles, ..user };
                let user_id = user.id.clone();
                let added = insert_user(db, user, false).await?;
                if added == AddUserOutcome::Done {
                    add_memberships(db, &user_id, &found.groups).await?;
                    sql::query("DELETE FROM invitations WHERE id = $1").bind(found.id).execute(&mut *db).await?;
                    audit::append_audit(db, vec![entry]).await?;
                }
                Ok(added)
            })
        })
        .await
    }
}

fn insert(new: NewInvitation) -> Query {
    let insert = sql::query(INSERT).bind(new.id).bind(new.token_hash.to_vec()).bind(new.label);
    let insert = insert.bind(encode_list(&new.roles)).bind(encode_list(&new.groups));
    insert.bind(new.created_by).bind(new.now).bind(new.expires_at)
}

async fn find(
    db: &mut Db,
    token_hash: [u8; 32],
    now: i64,
    ways: &SignInWays,
) -> Result<Option<Invitation>, StoreError> {
    let row = sql::query(BY_TOKEN).bind(token_hash.to_vec()).bind(now).fetch_optional(&mut *db).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(if may_invite(db, &row, ways, now).await? { Some(invitation(&row)?) } else { None })
}

/// Returns whether the creator of an invitation is an administrator, as far as the server knows.
async fn may_invite(db: &mut Db, row: &Row, ways: &SignInWays, now: i64) -> Result<bool, StoreError> {
    if row.try_get::<Option<i64>>("disabled_at")?.is_some() {
        return Ok(false);
    }
    let is_admin = |roles: &[String]| roles.iter().any(|role| role == ADMIN);
    if is_admin(&all_roles(row.try_get("creator_roles")?, row)?) {
        return Ok(true);
    }
    let identities = identities::list(db, row.try_get("created_by")?).await?;
    Ok(identities.iter().any(|identity| {
        let is_known = ways.max_age(&identity.issuer).is_some_and(|max_age| now - identity.used_at < max_age);
        is_known && is_admin(&identity.roles)
    }))
}

fn invitation(row: &Row) -> Result<Invitation, StoreError> {
    Ok(Invitation {
        id: row.try_get("id")?,
        label: row.try_get("label")?,
        roles: decode_list(row.try_get("roles")?)?,
        groups: decode_list(row.try_get("group_ids")?)?,
        created_by: row.try_get("created_by")?,
        creator_name: row.try_get("creator_name")?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        void: false,
    })
}
