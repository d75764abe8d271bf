//! Table `user_identities`: the identities of users at OpenID Connect providers. An identity is an
//! issuer and a subject; e-mail addresses and names can pass to other people.

use crate::accounts::users::{self, User, decode_list, encode_list, insert_user, user};
use crate::sql::{self, Db, Row};
use crate::{AddUserOutcome, AuditEntry, NewUser, Store, StoreError, audit};
use std::sync::Arc;

/// The maximum number of identities of a user.
pub const MAX_IDENTITIES: usize = 10;

/// An identity of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its id.
    pub id: String,
    /// The user whose identity it is.
    pub user_id: String,
    /// The issuer, as in `iss` of its tokens.
    pub issuer: String,
    /// The name at the provider, for display.
    pub label: String,
    /// The roles that the last sign-in has given.
    pub roles: Vec<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// When it was last used to sign in; Unix time, milliseconds.
    pub used_at: i64,
}

/// The claims of a provider about a user who signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderClaims {
    /// The issuer.
    pub issuer: String,
    /// The issuer's id of the user.
    pub subject: String,
    /// The name at the provider, for display.
    pub label: String,
    /// The roles that follow from the user's groups. They count in sessions that begin with the identity,
    /// and are never written to the roles that administrators give.
    pub roles: Vec<String>,
}

/// The outcome of linking an identity to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The identity is linked to the user.
    Done,
    /// It is an identity of another user.
    OtherUser,
    /// The user has [`MAX_IDENTITIES`].
    TooMany,
    /// The identity was to be the first one of a user with a password or from a directory, and is not.
    NotTheFirst,
    /// There is no such user, or they are disabled.
    Unknown,
}

/// The outcome of unlinking an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlinkOutcome {
    /// The identity was removed, and the sessions that were begun with it have ended.
    Done,
    /// The user has no such identity.
    Unknown,
    /// The user could not sign in any more.
    LastWay,
}

/// The ways in which users can sign in with the config in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInWays {
    /// Whether with a password.
    pub passwords: bool,
    /// With an identity of which issuers, each with the maximum age of a session that begins there, in milliseconds.
    pub issuers: Vec<(String, i64)>,
}

impl SignInWays {
    /// Returns the maximum age of a session that began at an issuer; `None` if nobody can sign in there.
    pub(crate) fn max_age(&self, issuer: &str) -> Option<i64> {
        self.issuers.iter().find(|(known, _)| known == issuer).map(|(_, max_age)| *max_age)
    }
}

/// Which sessions a provider ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndedAtProvider {
    /// Those that were begun with this session of the provider, and those of the subject, if there is one, that
    /// were begun with a session which the provider did not name.
    Session(String, Option<String>),
    /// All of this subject.
    Subject(String),
}

const FIND: &str = "
    SELECT id, user_id, issuer, label, roles, created_at, used_at FROM user_identities
    WHERE issuer = $1 AND subject = $2";

const LIST: &str = "
    SELECT id, user_id, issuer, label, roles, created_at, used_at FROM user_identities
    WHERE user_id = $1 ORDER BY created_at, id";

const INSERT: &str = "
    INSERT INTO user_identities (id, user_id, issuer, subject, label, roles, created_at, used_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7)";

const UPDATE: &str =
    "UPDATE user_identities SET label = $3, roles = $4, used_at = $5 WHERE issuer = $1 AND subject = $2";

const END_BY_SESSION: &str = "
    DELETE FROM sessions WHERE identity_id IN (
        SELECT id FROM user_identities WHERE issuer = $1
        AND (sessions.provider_session = $2 OR (sessions.provider_session IS NULL AND subject = $3)))";

const END_BY_SUBJECT: &str = "
    DELETE FROM sessions
    WHERE identity_id IN (SELECT id FROM user_identities WHERE issuer = $1 AND subject = $2)";

impl Store {
    /// Returns the user with an identity, and the identity.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_identity(&self, issuer: &str, subject: &str) -> Result<Option<(User, Identity)>, StoreError> {
        let (issuer, subject) = (issuer.to_owned(), subject.to_owned());
        self.read(move |db| {
            Box::pin(async move {
                let Some(identity) = find(db, &issuer, &subject).await? else { return Ok(None) };
                let row = sql::query(users::BY_ID).bind(&identity.user_id).fetch_optional(db).await?;
                row.map(|row| Ok((user(&row)?, identity))).transpose()
            })
        })
        .await
    }

    /// Returns a user's identities, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn identities(&self, user_id: &str) -> Result<Vec<Identity>, StoreError> {
        let user_id = user_id.to_owned();
        self.read(move |db| Box::pin(async move { list(db, &user_id).await })).await
    }

    /// Adds a user who signs in with an identity, and writes `entry` to the audit log in the same
    /// transaction. [`AddUserOutcome::IdentityTaken`] if a user has the identity.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_user_with_identity(
        &self,
        user: NewUser,
        identity_id: &str,
        claims: ProviderClaims,
        entry: AuditEntry,
    ) -> Result<AddUserOutcome, StoreError> {
        let identity_id = identity_id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                // Without a race: the writer's transaction is the only one that writes.
                if find(db, &claims.issuer, &claims.subject).await?.is_some() {
                    return Ok(AddUserOutcome::IdentityTaken);
                }
                let (user_id, now) = (user.id.clone(), user.now);
                let added = insert_user(db, user, false).await?;
                if added == AddUserOutcome::Done {
                    insert(db, identity_id, &user_id, &claims, now).await?;
                    audit::append_audit(db, vec![entry]).await?;
                }
                Ok(added)
            })
        })
        .await
    }

    /// Links an identity to a user, and writes `entry` to the audit log in the same transaction; with
    /// `first`, only if the user has a password, or came from a directory (SCIM), and has no identity. An identity of the user stays as it is.
    ///
    /// # Errors
    /// The database failed.
    pub async fn link_identity(
        &self,
        user_id: &str,
        identity_id: &str,
        claims: ProviderClaims,
        now: i64,
        first: bool,
        entry: Option<AuditEntry>,
    ) -> Result<LinkOutcome, StoreError> {
        let (user_id, identity_id) = (user_id.to_owned(), identity_id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                if let Some(known) = find(db, &claims.issuer, &claims.subject).await? {
                    return Ok(if known.user_id == user_id { LinkOutcome::Done } else { LinkOutcome::OtherUser });
                }
                let row = sql::query(users::BY_ID).bind(user_id.clone()).fetch_optional(&mut *db).await?;
                let Some(row) = row else { return Ok(LinkOutcome::Unknown) };
                if user(&row)?.disabled_at.is_some() {
                    return Ok(LinkOutcome::Unknown);
                }
                let known = list(db, &user_id).await?.len();
                let has_way = !row.try_get::<String>("password")?.is_empty() || is_provisioned(db, &user_id).await?;
                if first && (known > 0 || !has_way) {
                    return Ok(LinkOutcome::NotTheFirst);
                }
                if known >= MAX_IDENTITIES {
                    return Ok(LinkOutcome::TooMany);
                }
                insert(db, identity_id, &user_id, &claims, now).await?;
                audit::append_audit(db, entry.into_iter().collect()).await?;
                Ok(LinkOutcome::Done)
            })
        })
        .await
    }

    /// Records a sign-in with an identity, which replaces its roles, and writes `entry` to the audit log in the
    /// same transaction. Returns false if there is no such identity.
    ///
    /// # Errors
    /// The database failed.
    pub async fn update_identity(
        &self,
        claims: ProviderClaims,
        now: i64,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let update = sql::query(UPDATE).bind(claims.issuer).bind(claims.subject).bind(claims.label);
        let update = update.bind(encode_list(&claims.roles)).bind(now);
        self.execute_audited(update, entry).await
    }

    /// Removes an identity of a user with its roles and sessions, and writes `entry` to the audit log in
    /// the same transaction; with `ways`, unless the user could no longer sign in in one of them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unlink_identity(
        &self,
        user_id: &str,
        id: &str,
        ways: Option<Arc<SignInWays>>,
        entry: Option<AuditEntry>,
    ) -> Result<UnlinkOutcome, StoreError> {
        let (user_id, id) = (user_id.to_owned(), id.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let all = list(db, &user_id).await?;
                if !all.iter().any(|known| known.id == id) {
                    return Ok(UnlinkOutcome::Unknown);
                }
                let password: String = sql::query_scalar("SELECT password FROM users WHERE id = $1")
                    .bind(user_id.clone())
                    .fetch_one(&mut *db)
                    .await?;
                let is_possible = |ways: &SignInWays| {
                    let mut others = all.iter().filter(|known| known.id != id);
                    let has_password = ways.passwords && !password.is_empty();
                    has_password || others.any(|known| ways.max_age(&known.issuer).is_some())
                };
                if !ways.as_deref().is_none_or(is_possible) {
                    return Ok(UnlinkOutcome::LastWay);
                }
                // Ends the sessions that were begun with it as well.
                sql::query("DELETE FROM user_identities WHERE id = $1").bind(id).execute(&mut *db).await?;
                audit::append_audit(db, entry.into_iter().collect()).await?;
                Ok(UnlinkOutcome::Done)
            })
        })
        .await
    }

    /// Ends sessions that a provider has ended. Returns how many.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end_provider_sessions(&self, issuer: &str, ended: EndedAtProvider) -> Result<u64, StoreError> {
        let end = match ended {
            EndedAtProvider::Session(session, subject) => {
                sql::query(END_BY_SESSION).bind(issuer.to_owned()).bind(session).bind(subject)
            }
            EndedAtProvider::Subject(subject) => sql::query(END_BY_SUBJECT).bind(issuer.to_owned()).bind(subject),
        };
        self.execute(end).await
    }
}

async fn insert(db: &mut Db, id: String, user_id: &str, claims: &ProviderClaims, now: i64) -> Result<(), StoreError> {
    let insert = sql::query(INSERT).bind(id).bind(user_id.to_owned()).bind(claims.issuer.clone());
    let insert = insert.bind(claims.subject.clone()).bind(claims.label.clone()).bind(encode_list(&claims.roles));
    insert.bind(now).execute(db).await?;
    Ok(())
}

async fn is_provisioned(db: &mut Db, user_id: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar("SELECT EXISTS (SELECT 1 FROM scim_users WHERE user_id = $1)");
    Ok(find.bind(user_id).fetch_one(db).await?)
}

async fn find(db: &mut Db, issuer: &str, subject: &str) -> Result<Option<Identity>, StoreError> {
    let row = sql::query(FIND).bind(issuer.to_owned()).bind(subject.to_owned()).fetch_optional(db).await?;
    row.as_ref().map(identity).transpose()
}

/// Returns a user's identities, oldest first.
pub(crate) async fn list(db: &mut Db, user_id: &str) -> Result<Vec<Identity>, StoreError> {
    sql::query(LIST).bind(user_id.to_owned()).fetch_all(db).await?.iter().map(identity).collect()
}

fn identity(row: &Row) -> Result<Identity, StoreError> {
    Ok(Identity {
        id: row.try_get("id")?,
        user_id: row.try_get("user_id")?,
        issuer: row.try_get("issuer")?,
        label: row.try_get("label")?,
        roles: decode_list(row.try_get("roles")?)?,
        created_at: row.try_get("created_at")?,
        used_at: row.try_get("used_at")?,
    })
}
