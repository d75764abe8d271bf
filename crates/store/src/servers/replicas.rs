//! Table `replicas`: the servers that share a database, and the runs that each of them drives. A
//! server that misses its heartbeats loses its runs to another one, and is fenced from writing to
//! them. With SQLite there is one server, which drives everything, and nothing here waits.

use crate::run::runs::{open_columns, open_run};
use crate::sql::{self, Db, Row, Sql};
use crate::{Listener, Lock, OpenRun, Store, StoreError, postgres};
use std::time::Duration;
use wire::EndReason;

/// The result of a heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatResult {
    /// The server's lease had expired: other servers may have taken over its runs.
    pub lease_expired: bool,
    /// Whether other servers serve the database, too.
    pub others: bool,
}

/// A request to stop a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopRequest {
    /// The run.
    pub run_id: String,
    /// The reason.
    pub reason: EndReason,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// Whether the run has ended.
    pub is_over: bool,
    /// The number of the last event, if the run has ended and the journal has all of its events.
    pub last_seq: Option<u64>,
}

const BEAT: &str = "UPDATE replicas SET alive_until = now_ms() + $2 WHERE id = $1 AND alive_until >= now_ms()";

const ENTER: &str = "
    INSERT INTO replicas (id, alive_until) VALUES ($1, now_ms() + $2)
    ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until";

const OTHERS: &str = "SELECT EXISTS (SELECT 1 FROM replicas WHERE id <> $1 AND alive_until >= now_ms())";

const LEAVE: &str = "DELETE FROM replicas WHERE id = $1";

/// Servers whose lease expired over an hour ago; their runs were taken over long before.
const FORGET: &str = "DELETE FROM replicas WHERE alive_until < now_ms() - 3600000";

/// The driving server's row is missing or its lease has expired. The run then belongs to the caller.
const TAKE_OVER: Sql = Sql::pair(
    "UPDATE runs SET replica = $1 WHERE status = 'running' RETURNING id",
    "UPDATE runs SET replica = $1
     WHERE status = 'running'
        AND NOT EXISTS (SELECT 1 FROM replicas p WHERE p.id = runs.replica AND p.alive_until >= now_ms())
     RETURNING id",
);

const TAKEN: Sql = Sql::pair(
    concat!("SELECT ", open_columns!(), " WHERE r.id IN (SELECT value FROM json_each($1))"),
    concat!("SELECT ", open_columns!(), " WHERE r.id = ANY($1)"),
);

const DRIVEN: &str = "SELECT id FROM runs WHERE replica = $1 AND status = 'running'";

const TO_STOP: &str =
    "SELECT id, stop_reason FROM runs WHERE replica = $1 AND status = 'running' AND stop_requested = 1";

const REQUEST_STOP: &str = "
    UPDATE runs SET stop_requested = 1, stop_reason = $3
    WHERE status = 'running' AND stop_requested = 0
        AND conversation_id IN (SELECT id FROM conversations WHERE owner = $1 AND ($2 IS NULL OR id = $2))
        AND ($4 IS NULL OR id = $4)
    RETURNING id";

const PROGRESS: &str = "
    SELECT r.status <> 'running' AS is_over, r.last_seq
    FROM runs r JOIN conversations c ON c.id = r.conversation_id WHERE c.owner = $1 AND r.id = $2";

/// Which runs of a user are to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsToStop<'a> {
    /// All.
    All,
    /// The one that is active in this conversation.
    OfConversation(&'a str),
    /// This one.
    One {
        /// Its conversation.
        conversation_id: &'a str,
        /// Its id.
        run_id: &'a str,
    },
}

impl Store {
    /// Returns whether several servers can serve this database.
    pub fn is_shared(&self) -> bool {
        self.database.replica.is_some()
    }

    /// Returns whether other servers were alive at the last heartbeat.
    pub fn has_others(&self) -> bool {
        self.database.replica.as_ref().is_some_and(|shared| shared.has_others())
    }

    /// Renews this server's lease for `lease`. Does nothing with SQLite.
    ///
    /// # Errors
    /// The database failed.
    pub async fn heartbeat(&self, lease: Duration) -> Result<HeartbeatResult, StoreError> {
        let Some(shared) = &self.database.replica else {
            return Ok(HeartbeatResult { lease_expired: false, others: false });
        };
        let (id, lease) = (shared.id().to_owned(), lease.as_millis() as i64);
        let pulse = self.write(move |db| Box::pin(renew_lease(db, id, lease))).await?;
        shared.set_others(pulse.others);
        Ok(pulse)
    }

    /// Deregisters this server when it shuts down: other servers may take over the runs that it still drives.
    ///
    /// # Errors
    /// The database failed.
    pub async fn leave(&self) -> Result<(), StoreError> {
        let Some(id) = self.replica_id() else { return Ok(()) };
        let leave = sql::query(LEAVE).bind(id);
        self.write(move |db| Box::pin(async move { Ok(leave.execute(db).await.map(drop)?) })).await
    }

    /// Takes over the active runs of all owners that no live server drives, and returns them. From
    /// then on this server drives them, and the previous one is fenced. With SQLite these are all
    /// active runs, since no other process serves the file; this one must not drive any yet.
    ///
    /// # Errors
    /// The database failed, or it was opened with [`Store::open_existing`]: another server may drive its runs.
    pub async fn take_over_runs(&self) -> Result<Vec<OpenRun>, StoreError> {
        if !self.database.serves {
            return Err(StoreError::Invalid("only a process that serves the database can take over its runs"));
        }
        let own = self.replica_id();
        self.write(move |db| {
            Box::pin(async move {
                if db.is_postgres() {
                    sql::query(FORGET).execute(db).await?;
                }
                let taken: Vec<String> = sql::query_scalar(TAKE_OVER).bind(own).fetch_all(db).await?;
                if taken.is_empty() {
                    return Ok(Vec::new());
                }
                sql::query(TAKEN).bind(taken).fetch_all(db).await?.iter().map(open_run).collect()
            })
        })
        .await
    }

    /// Returns the runs that this server drives, according to the database.
    ///
    /// # Errors
    /// The database failed.
    pub async fn driven_runs(&self) -> Result<Vec<String>, StoreError> {
        let driven = sql::query_scalar(DRIVEN).bind(self.replica_id());
        self.read(move |db| Box::pin(async move { Ok(driven.fetch_all(db).await?) })).await
    }

    /// Returns the requests of other servers to stop runs of this server.
    ///
    /// # Errors
    /// The database failed.
    pub async fn runs_to_stop(&self) -> Result<Vec<StopRequest>, StoreError> {
        let wanted = sql::query(TO_STOP).bind(self.replica_id());
        self.rows(wanted, stop_request).await
    }

    /// Asks the servers that drive the owner's runs to stop these for this reason.
    ///
    /// # Errors
    /// The database failed.
    pub async fn request_stop(&self, owner: &str, runs: RunsToStop<'_>, reason: EndReason) -> Result<(), StoreError> {
        let (conversation_id, run_id) = match runs {
            RunsToStop::All => (None, None),
            RunsToStop::OfConversation(id) => (Some(id), None),
            RunsToStop::One { conversation_id, run_id } => (Some(conversation_id), Some(run_id)),
        };
        let request = sql::query_scalar::<String>(REQUEST_STOP).bind(owner).bind(conversation_id);
        let request = request.bind(reason.name()).bind(run_id);
        let shared = self.database.replica.clone();
        self.write(move |db| {
            Box::pin(async move {
                let stopped = request.fetch_all(db).await?;
                let ids: Vec<_> = stopped.iter().map(String::as_str).collect();
                match shared {
                    Some(shared) => shared.notify_stop(db, &ids).await,
                    None => Ok(()),
                }
            })
        })
        .await
    }

    /// Subscribes to changes by other servers; `None` with SQLite. The events are hints, and some may be lost.
    pub fn listen(&self) -> Option<Listener> {
        self.database.replica.as_ref().map(|shared| shared.listener())
    }

    /// Acquires the lock with this name, which one server can hold at a time. `None` with SQLite,
    /// where the only server must synchronize by itself.
    ///
    /// # Errors
    /// The database failed, or the lock was held for too long.
    pub async fn lock(&self, name: &str) -> Result<Option<Lock>, StoreError> {
        match &self.database.locks {
            Some(locks) => postgres::lock(locks, name).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the progress of a run; `None` when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn run_progress(&self, owner: &str, run_id: &str) -> Result<Option<RunProgress>, StoreError> {
        let find = sql::query(PROGRESS).bind(owner).bind(run_id);
        let progress = |row: &Row| {
            let last_seq = row.try_get::<Option<i64>>("last_seq")?.map(i64::cast_unsigned);
            Ok(RunProgress { is_over: row.try_get("is_over")?, last_seq })
        };
        self.optional_row(find, progress).await
    }

    /// Returns this server's id; `None` with SQLite.
    pub(crate) fn replica_id(&self) -> Option<String> {
        self.database.replica.as_ref().map(|shared| shared.id().to_owned())
    }
}

fn stop_request(row: &Row) -> Result<StopRequest, StoreError> {
    // Earlier versions do not store the reason: then the user stopped the run.
    let reason = row.try_get::<Option<&str>>("stop_reason")?.map_or(EndReason::StoppedByUser, EndReason::named);
    Ok(StopRequest { run_id: row.try_get("id")?, reason })
}

async fn renew_lease(db: &mut Db, id: String, lease: i64) -> Result<HeartbeatResult, StoreError> {
    let lapsed = sql::query(BEAT).bind(&id).bind(lease).execute(db).await?.rows_affected() == 0;
    if lapsed {
        sql::query(ENTER).bind(&id).bind(lease).execute(db).await?;
    }
    let others = sql::query_scalar(OTHERS).bind(id).fetch_one(db).await?;
    Ok(HeartbeatResult { lease_expired: lapsed, others })
}
