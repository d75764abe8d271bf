//! Table `sessions`: the sessions of signed-in users. A session is valid while it is used, up to a maximum age.

use crate::accounts::identities::SignInWays;
use crate::accounts::second_factors::{self, SecondFactorProof};
use crate::accounts::users::{User, decode_list, granted_roles, has_password, user};
use crate::sql::{self, Row};
use crate::{AuditEntry, Store, StoreError, audit};
use std::sync::Arc;

/// The maximum number of sessions of one user; a further one replaces the oldest.
const MAX_SESSIONS: u32 = 50;
/// The resolution of `seen_at`, in milliseconds, so that not every request writes it.
const SEEN_EVERY: i64 = 60_000;

/// A new session.
#[derive(Clone)]
pub struct NewSession {
    /// A new, unique id.
    pub id: String,
    /// The signed-in user.
    pub user_id: String,
    /// SHA-256 of the session token.
    pub token_hash: [u8; 32],
    /// The browser's `User-Agent`.
    pub agent: String,
    /// Unix time, milliseconds.
    pub now: i64,
    /// The proof with which the user began it.
    pub proof: SignInProof,
}

/// The proof with which a user begins a session.
#[derive(Clone, PartialEq, Eq)]
pub enum SignInProof {
    /// The password with this hash, and the second factor. The session only begins if the password is still the user's,
    /// and not one that an administrator has set: a sign-in that runs beside a reset must not outlive it.
    Password(String, SecondFactorProof),
    /// A sign-in at a provider.
    Provider(ProviderSession),
}

/// The sign-in at an OpenID Connect provider with which a session begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSession {
    /// The id of the user's identity there; the session ends when it is unlinked.
    pub identity_id: String,
    /// The provider's id of its own session (`sid`), if it names one.
    pub session_id: Option<String>,
}

/// How long sessions are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLifetime {
    /// The maximum time without a request, in milliseconds.
    pub idle: i64,
    /// The maximum age, in milliseconds.
    pub max_age: i64,
}

/// A row of a user's list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The browser's `User-Agent`.
    pub agent: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// When the session was last used, Unix time in milliseconds, to the minute.
    pub seen_at: i64,
}

const INSERT: &str = "
    INSERT INTO sessions (id, user_id, token_hash, agent, created_at, seen_at, identity_id, provider_session)
    SELECT $1, id, $3, $4, $5, $5, $6, $7 FROM users WHERE id = $2 AND disabled_at IS NULL";

/// The expired sessions of all users; `DELETE_SURPLUS` deletes the oldest ones of one user.
const DELETE_OLD: &str = "DELETE FROM sessions WHERE seen_at <= $1 OR created_at <= $2";
const DELETE_SURPLUS: &str = "
    DELETE FROM sessions WHERE user_id = $1
    AND id NOT IN (SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2)";

const BY_TOKEN: &str = concat!(
    "SELECT u.id, u.name, u.roles, u.disabled_at, s.id AS session_id, s.created_at, s.seen_at,
        i.issuer, i.roles AS identity_roles, ",
    granted_roles!(),
    " FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN user_identities i ON i.id = s.identity_id
    WHERE s.token_hash = $1 AND s.seen_at > $2 AND s.created_at > $3 AND u.disabled_at IS NULL"
);

const SEEN: &str = "UPDATE sessions SET seen_at = $2 WHERE id = $1";

const LIST: &str = "
    SELECT s.id, s.agent, s.created_at, s.seen_at, i.issuer
    FROM sessions s LEFT JOIN user_identities i ON i.id = s.identity_id
    WHERE s.user_id = $1 AND s.seen_at > $2 AND s.created_at > $3 ORDER BY s.seen_at DESC, s.id DESC LIMIT $4";

const ISSUER: &str = "
    SELECT i.issuer FROM sessions s JOIN user_identities i ON i.id = s.identity_id WHERE s.user_id = $1 AND s.id = $2";

const DELETE: &str = "DELETE FROM sessions WHERE user_id = $1 AND id = $2";
const DELETE_BY_TOKEN: &str = "DELETE FROM sessions WHERE token_hash = $1";

impl Store {
    /// Begins a session. Ends the one whose token has the hash `instead`, and all expired ones.
    /// Writes `entries` to the audit log in the same transaction. Returns false when the user is
    /// unknown or disabled, or the proof does not count any more.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_session(
        &self,
        session: NewSession,
        instead: Option<[u8; 32]>,
        life: SessionLifetime,
        entries: Vec<AuditEntry>,
    ) -> Result<bool, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let NewSession { id, user_id, token_hash, agent, now, proof } = session;
                let (idle, most) = (now - life.idle, now - life.max_age);
                sql::query(DELETE_OLD).bind(idle).bind(most).execute(&mut *db).await?;
                let insert = sql::query(INSERT).bind(id).bind(&user_id).bind(token_hash.to_vec());
                let (identity, session_id) = match proof {
                    SignInProof::Password(hash, second) => {
                        let counts = has_password(db, &user_id, hash).await?
                            && second_factors::accept(db, &user_id, second, now).await?;
                        if !counts {
                            return Ok(false);
                        }
                        (None, None)
                    }
                    SignInProof::Provider(provider) => (Some(provider.identity_id), provider.session_id),
                };
                if let Some(hash) = instead {
                    sql::query(DELETE_BY_TOKEN).bind(hash.to_vec()).execute(&mut *db).await?;
                }
                let insert = insert.bind(agent).bind(now).bind(identity).bind(session_id);
                let done = insert.execute(&mut *db).await?;
                sql::query(DELETE_SURPLUS).bind(user_id).bind(MAX_SESSIONS).execute(&mut *db).await?;
                let is_begun = done.rows_affected() > 0;
                if is_begun {
                    audit::append_audit(db, entries).await?;
                }
                Ok(is_begun)
            })
        })
        .await
    }

    /// Returns the user and the id of a valid session; `None` otherwise. The user's roles are those that
    /// administrators gave, those of the user's groups, and those of the identity with which the session began.
    ///
    /// # Errors
    /// The database failed.
    pub async fn session(
        &self,
        token_hash: [u8; 32],
        now: i64,
        life: SessionLifetime,
        ways: &Arc<SignInWays>,
    ) -> Result<Option<(User, String)>, StoreError> {
        let (idle, most) = (now - life.idle, now - life.max_age);
        let ways = ways.clone();
        let found = self.read(move |db| {
            Box::pin(async move {
                let find = sql::query(BY_TOKEN).bind(token_hash.to_vec()).bind(idle).bind(most);
                let Some(row) = find.fetch_optional(db).await? else { return Ok(None) };
                if !is_admitted(&row, &ways, now)? {
                    return Ok(None);
                }
                let (id, seen_at): (String, i64) = (row.try_get("session_id")?, row.try_get("seen_at")?);
                Ok(Some((user_with_identity(&row)?, id, seen_at)))
            })
        });
        let Some((user, id, seen_at)) = found.await? else { return Ok(None) };
        // The last use was recorded while the clock was ahead. With the corrected clock the session
        // would outlive all others.
        if seen_at.saturating_sub(now) > life.idle {
            return Ok(None);
        }
        if now - seen_at >= SEEN_EVERY {
            let seen = sql::query(SEEN).bind(id.clone()).bind(now);
            self.execute(seen).await?;
        }
        Ok(Some((user, id)))
    }

    /// Returns a user's valid sessions, the most recently used first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sessions(
        &self,
        user_id: &str,
        now: i64,
        life: SessionLifetime,
        ways: &Arc<SignInWays>,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let ways = ways.clone();
        let (user_id, idle, most) = (user_id.to_owned(), now - life.idle, now - life.max_age);
        self.read(move |db| {
            Box::pin(async move {
                let rows = sql::query(LIST).bind(user_id).bind(idle).bind(most).bind(MAX_SESSIONS);
                let rows = rows.fetch_all(db).await?;
                let row = |row: &Row| {
                    if !is_admitted(row, &ways, now)? {
                        return Ok(None);
                    }
                    Ok(Some(SessionRow {
                        id: row.try_get("id")?,
                        agent: row.try_get("agent")?,
                        created_at: row.try_get("created_at")?,
                        seen_at: row.try_get("seen_at")?,
                    }))
                };
                rows.iter().filter_map(|found| row(found).transpose()).collect()
            })
        })
        .await
    }

    /// Returns the issuer at which the user signed in for a session; `None` if it began with a password.
    ///
    /// # Errors
    /// The database failed.
    pub async fn session_issuer(&self, user_id: &str, id: &str) -> Result<Option<String>, StoreError> {
        let find = sql::query_scalar(ISSUER).bind(user_id.to_owned()).bind(id.to_owned());
        self.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
    }

    /// Ends a session of a user, and writes `entry` to the audit log in the same transaction.
    /// Returns false when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end_session(&self, user_id: &str, id: &str, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
        let end = sql::query(DELETE).bind(user_id.to_owned()).bind(id.to_owned());
        self.execute_audited(end, entry).await
    }
}

/// Returns whether a session began in one of the ways that the config has now, and not too long ago for it.
fn is_admitted(row: &Row, ways: &SignInWays, now: i64) -> Result<bool, StoreError> {
    let (issuer, created_at): (Option<String>, i64) = (row.try_get("issuer")?, row.try_get("created_at")?);
    Ok(match issuer {
        Some(issuer) => ways.max_age(&issuer).is_some_and(|max_age| now - created_at < max_age),
        None => ways.passwords,
    })
}

/// Reads a user, adding the roles of the identity with which the session began.
fn user_with_identity(row: &Row) -> Result<User, StoreError> {
    let mut user = user(row)?;
    if let Some(given) = row.try_get::<Option<String>>("identity_roles")? {
        for role in decode_list(&given)? {
            if !user.roles.contains(&role) {
                user.roles.push(role);
            }
        }
    }
    Ok(user)
}
