//! Table `sessions`: how users are signed in now. A session counts for as long as it is used, up to an age.

use crate::sql::{self, Row};
use crate::users::{User, user};
use crate::{AuditEntry, Store, StoreError, audit};

/// Sessions of one user at once; with one more, the oldest ends.
const MAX_SESSIONS: u32 = 50;
/// How exact `seen_at` is, in milliseconds: it is not written at each request.
const SEEN_EVERY: i64 = 60_000;

/// A session that begins.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its id; nobody had it before.
    pub id: String,
    /// Whose it is.
    pub user_id: String,
    /// SHA-256 of its token.
    pub token_hash: [u8; 32],
    /// The browser, in its own words.
    pub agent: String,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// When sessions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLife {
    /// Without a request, in milliseconds.
    pub idle: i64,
    /// In any case, in milliseconds.
    pub most: i64,
}

/// A line of a user's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The browser, in its own words.
    pub agent: String,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// When it was used last, to the minute.
    pub seen_at: i64,
}

const INSERT: &str = "
    INSERT INTO sessions (id, user_id, token_hash, agent, created_at, seen_at)
    SELECT $1, id, $3, $4, $5, $5 FROM users WHERE id = $2 AND disabled_at IS NULL";

/// Those that are over by now, of all users, and the oldest of one.
const DELETE_OLD: &str = "DELETE FROM sessions WHERE seen_at <= $1 OR created_at <= $2";
const DELETE_SURPLUS: &str = "
    DELETE FROM sessions WHERE user_id = $1
    AND id NOT IN (SELECT id FROM sessions WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2)";

const BY_TOKEN: &str = "
    SELECT u.id, u.name, u.roles, u.disabled_at, s.id AS session_id, s.seen_at
    FROM sessions s JOIN users u ON u.id = s.user_id
    WHERE s.token_hash = $1 AND s.seen_at > $2 AND s.created_at > $3 AND u.disabled_at IS NULL";

const SEEN: &str = "UPDATE sessions SET seen_at = $2 WHERE id = $1";

const LIST: &str = "
    SELECT id, agent, created_at, seen_at FROM sessions
    WHERE user_id = $1 AND seen_at > $2 AND created_at > $3 ORDER BY seen_at DESC, id DESC LIMIT $4";

const DELETE: &str = "DELETE FROM sessions WHERE user_id = $1 AND id = $2";
const DELETE_BY_TOKEN: &str = "DELETE FROM sessions WHERE token_hash = $1";

impl Store {
    /// Begins a session, and ends the one whose token's hash is `instead`, and all that are over. Enters it in the audit log if
    /// `entry` says how. False when the user is unknown or disabled.
    ///
    /// # Errors
    /// The database failed.
    pub async fn begin_session(
        &self,
        session: NewSession,
        instead: Option<[u8; 32]>,
        life: SessionLife,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let NewSession { id, user_id, token_hash, agent, now } = session;
                let (idle, most) = (now - life.idle, now - life.most);
                sql::query(DELETE_OLD).bind(idle).bind(most).execute(&mut *db).await?;
                if let Some(hash) = instead {
                    sql::query(DELETE_BY_TOKEN).bind(hash.to_vec()).execute(&mut *db).await?;
                }
                let insert = sql::query(INSERT).bind(id).bind(&user_id).bind(token_hash.to_vec());
                let done = insert.bind(agent).bind(now).execute(&mut *db).await?;
                sql::query(DELETE_SURPLUS).bind(user_id).bind(MAX_SESSIONS).execute(&mut *db).await?;
                let is_begun = done.rows_affected() > 0;
                audit::append(db, entry.into_iter().filter(|_| is_begun).collect()).await?;
                Ok(is_begun)
            })
        })
        .await
    }

    /// The user and the id of a session that counts; none otherwise.
    ///
    /// # Errors
    /// The database failed.
    pub async fn session(
        &self,
        token_hash: [u8; 32],
        now: i64,
        life: SessionLife,
    ) -> Result<Option<(User, String)>, StoreError> {
        let (idle, most) = (now - life.idle, now - life.most);
        let found = self.read(move |db| {
            Box::pin(async move {
                let find = sql::query(BY_TOKEN).bind(token_hash.to_vec()).bind(idle).bind(most);
                let Some(row) = find.fetch_optional(db).await? else { return Ok(None) };
                let (id, seen_at): (String, i64) = (row.try_get("session_id")?, row.try_get("seen_at")?);
                Ok(Some((user(&row)?, id, seen_at)))
            })
        });
        let Some((user, id, seen_at)) = found.await? else { return Ok(None) };
        // It was used when the clock was ahead, and would outlive all others now that it is right.
        if seen_at.saturating_sub(now) > life.idle {
            return Ok(None);
        }
        if now - seen_at >= SEEN_EVERY {
            let seen = sql::query(SEEN).bind(id.clone()).bind(now);
            self.write(move |db| Box::pin(async move { Ok(seen.execute(db).await?.rows_affected()) })).await?;
        }
        Ok(Some((user, id)))
    }

    /// A user's sessions that count, the one that was used last first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sessions(&self, user_id: &str, now: i64, life: SessionLife) -> Result<Vec<SessionRow>, StoreError> {
        let (user_id, idle, most) = (user_id.to_owned(), now - life.idle, now - life.most);
        self.read(move |db| {
            Box::pin(async move {
                let rows = sql::query(LIST).bind(user_id).bind(idle).bind(most).bind(MAX_SESSIONS);
                let rows = rows.fetch_all(db).await?;
                let row = |row: &Row| {
                    Ok(SessionRow {
                        id: row.try_get("id")?,
                        agent: row.try_get("agent")?,
                        created_at: row.try_get("created_at")?,
                        seen_at: row.try_get("seen_at")?,
                    })
                };
                rows.iter().map(row).collect()
            })
        })
        .await
    }

    /// Ends a session of a user, and enters it in the audit log if `entry` says how. False when it is unknown or someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn end_session(&self, user_id: &str, id: &str, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
        let end = sql::query(DELETE).bind(user_id.to_owned()).bind(id.to_owned());
        self.write(move |db| Box::pin(audit::execute(db, end, entry))).await
    }
}
