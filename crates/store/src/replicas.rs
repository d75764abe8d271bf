//! Table `replicas`: the servers of one database, and what each of them drives. A server that shows no sign of life loses its runs to
//! another one; from then on it cannot write to them. Where there is one server (SQLite) it drives everything, and nothing here waits.

use crate::runs::{open_columns, open_run};
use crate::sql::{self, Db, Row, Sql};
use crate::{Listener, Lock, OpenRun, Store, StoreError, postgres};
use std::time::Duration;
use wire::EndReason;

/// What a sign of life found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// The server's time was over: others may have taken its runs.
    pub lapsed: bool,
    /// Whether other servers serve the database, too.
    pub others: bool,
}

/// A run that is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopRequest {
    /// The run.
    pub run_id: String,
    /// Why.
    pub reason: EndReason,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// It has ended.
    pub is_over: bool,
    /// The number of its last event, if it has ended and the journal has all of them.
    pub last_seq: Option<u64>,
}

const BEAT: &str = "UPDATE replicas SET alive_until = now_ms() + $2 WHERE id = $1 AND alive_until >= now_ms()";

const ENTER: &str = "
    INSERT INTO replicas (id, alive_until) VALUES ($1, now_ms() + $2)
    ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until";

const OTHERS: &str = "SELECT EXISTS (SELECT 1 FROM replicas WHERE id <> $1 AND alive_until >= now_ms())";

const LEAVE: &str = "DELETE FROM replicas WHERE id = $1";

/// Those whose time was over an hour ago; what they drove was taken over long since.
const FORGET: &str = "DELETE FROM replicas WHERE alive_until < now_ms() - 3600000";

/// The driver's row is gone or its time is over. From then on the run is the caller's.
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
    RETURNING id";

const PROGRESS: &str = "
    SELECT r.status <> 'running' AS is_over, r.last_seq
    FROM runs r JOIN conversations c ON c.id = r.conversation_id WHERE c.owner = $1 AND r.id = $2";

impl Store {
    /// Whether other servers may serve the same database at the same time.
    pub fn is_shared(&self) -> bool {
        self.database.shared.is_some()
    }

    /// Whether others do, as of the last sign of life.
    pub fn has_others(&self) -> bool {
        self.database.shared.as_ref().is_some_and(|shared| shared.has_others())
    }

    /// Shows a sign of life that holds for `lease`. Without a shared database there is nobody to see it.
    ///
    /// # Errors
    /// The database failed.
    pub async fn beat(&self, lease: Duration) -> Result<Pulse, StoreError> {
        let Some(shared) = &self.database.shared else { return Ok(Pulse { lapsed: false, others: false }) };
        let (id, lease) = (shared.id().to_owned(), lease.as_millis() as i64);
        let pulse = self.write(move |db| Box::pin(beat(db, id, lease))).await?;
        shared.set_others(pulse.others);
        Ok(pulse)
    }

    /// The server goes: what it still drives is anybody's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn leave(&self) -> Result<(), StoreError> {
        let Some(id) = self.own_id() else { return Ok(()) };
        let leave = sql::query(LEAVE).bind(id);
        self.write(move |db| Box::pin(async move { Ok(leave.execute(db).await.map(drop)?) })).await
    }

    /// Active runs of all owners that nobody drives any more. They are this server's from now on: whoever drove them cannot write
    /// to them. In a file that is all of them, since no other process serves it; this one must drive none yet.
    ///
    /// # Errors
    /// The database failed, or it was opened with [`Store::open_existing`]: another server may drive its runs.
    pub async fn take_over(&self) -> Result<Vec<OpenRun>, StoreError> {
        if !self.database.serves {
            return Err(StoreError::Invalid("only the server of a database takes its runs over"));
        }
        let own = self.own_id();
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

    /// The runs that this server drives, as the database knows them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn driven_runs(&self) -> Result<Vec<String>, StoreError> {
        let driven = sql::query_scalar(DRIVEN).bind(self.own_id());
        self.read(move |db| Box::pin(async move { Ok(driven.fetch_all(db).await?) })).await
    }

    /// Runs of this server that another one was asked to end.
    ///
    /// # Errors
    /// The database failed.
    pub async fn runs_to_stop(&self) -> Result<Vec<StopRequest>, StoreError> {
        let wanted = sql::query(TO_STOP).bind(self.own_id());
        self.read(move |db| Box::pin(async move { wanted.fetch_all(db).await?.iter().map(stop_request).collect() }))
            .await
    }

    /// Asks whoever drives the owner's runs to end them for this reason: that of one conversation, or all.
    ///
    /// # Errors
    /// The database failed.
    pub async fn request_stop(
        &self,
        owner: &str,
        conversation_id: Option<&str>,
        reason: EndReason,
    ) -> Result<(), StoreError> {
        let request = sql::query_scalar::<String>(REQUEST_STOP).bind(owner).bind(conversation_id).bind(reason.name());
        let shared = self.database.shared.clone();
        self.write(move |db| {
            Box::pin(async move {
                let stopped = request.fetch_all(db).await?;
                let ids: Vec<_> = stopped.iter().map(String::as_str).collect();
                match shared {
                    Some(shared) => shared.tell_stop(db, &ids).await,
                    None => Ok(()),
                }
            })
        })
        .await
    }

    /// What other servers write, as it comes; none where there are no others. Hints only: some may be missing.
    pub fn listen(&self) -> Option<Listener> {
        self.database.shared.as_ref().map(|shared| shared.listener())
    }

    /// One at a time, over all servers, for each name. None where there is one server, which sees to that itself.
    ///
    /// # Errors
    /// The database failed, or somebody held it for too long.
    pub async fn lock(&self, name: &str) -> Result<Option<Lock>, StoreError> {
        match &self.database.locks {
            Some(locks) => postgres::lock(locks, name).await.map(Some),
            None => Ok(None),
        }
    }

    /// How far a run has come; none when it is unknown or someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn progress(&self, owner: &str, run_id: &str) -> Result<Option<RunProgress>, StoreError> {
        let find = sql::query(PROGRESS).bind(owner).bind(run_id);
        self.read(move |db| {
            Box::pin(async move {
                let row = find.fetch_optional(db).await?;
                row.map(|row| {
                    let last_seq = row.try_get::<Option<i64>>("last_seq")?.map(i64::cast_unsigned);
                    Ok(RunProgress { is_over: row.try_get("is_over")?, last_seq })
                })
                .transpose()
            })
        })
        .await
    }

    /// This server's id; none where it is the only one.
    pub(crate) fn own_id(&self) -> Option<String> {
        self.database.shared.as_ref().map(|shared| shared.id().to_owned())
    }
}

fn stop_request(row: &Row) -> Result<StopRequest, StoreError> {
    // An earlier version does not say why; then it was the user.
    let reason = row.try_get::<Option<&str>>("stop_reason")?.map_or(EndReason::StoppedByUser, EndReason::named);
    Ok(StopRequest { run_id: row.try_get("id")?, reason })
}

async fn beat(db: &mut Db, id: String, lease: i64) -> Result<Pulse, StoreError> {
    let lapsed = sql::query(BEAT).bind(&id).bind(lease).execute(db).await?.rows_affected() == 0;
    if lapsed {
        sql::query(ENTER).bind(&id).bind(lease).execute(db).await?;
    }
    let others = sql::query_scalar(OTHERS).bind(id).fetch_one(db).await?;
    Ok(Pulse { lapsed, others })
}
