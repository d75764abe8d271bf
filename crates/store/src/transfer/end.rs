//! The two ends of a move: a connection within a transaction, and what is done around the rows.

use super::tables::TABLES;
use crate::database::check_schema;
use crate::sql::{self, Db, Sql};
use crate::{Store, StoreError, postgres, sqlite};
use std::sync::Arc;

/// A connection within a transaction.
pub(super) struct End {
    pub(super) db: Db,
    /// The triggers of a target in SQLite, which come back at the end.
    triggers: Vec<Arc<str>>,
    /// Keeps others from serving a file. Dropped after the connection.
    _claim: Option<Arc<sqlite::Claim>>,
}

/// What is written is as it was read: nothing is counted a second time.
const TRIGGERS: &str = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name";

/// Numbers go on after the highest one that was ever given: journals that are gone count, too.
const NUMBERS: [&str; 5] = [
    "SELECT setval(pg_get_serial_sequence('messages', 'no'), coalesce((SELECT max(no) FROM messages), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('runs', 'no'), coalesce((SELECT max(no) FROM runs), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('steps', 'no'), coalesce((SELECT max(no) FROM steps), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('titles', 'no'), coalesce((SELECT max(no) FROM titles), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('run_events', 'no'), greatest(1, n), n > 0) FROM (SELECT greatest(
        (SELECT max(no) FROM run_events), (SELECT max(events_after) FROM runs), (SELECT max(events_until) FROM runs), 0) AS n) AS last",
];

/// The same for SQLite, whose other numbers follow the rows.
const LAST_EVENT: [&str; 2] = [
    "DELETE FROM sqlite_sequence WHERE name = 'run_events'",
    "INSERT INTO sqlite_sequence (name, seq) SELECT 'run_events', max(
        coalesce((SELECT max(no) FROM run_events), 0), coalesce((SELECT max(events_after) FROM runs), 0),
        coalesce((SELECT max(events_until) FROM runs), 0))",
];

/// The index of the search, as the migrations make it of what is there.
const INDEX: [Sql; 2] = [
    Sql::pair(
        "INSERT INTO search (rowid, owner, text)
         SELECT -t.no, 'o' || hex(c.owner), c.title FROM titles t JOIN conversations c ON c.id = t.conversation_id",
        "INSERT INTO search (no, owner, words)
         SELECT -t.no, c.owner, search_words(c.title) FROM titles t JOIN conversations c ON c.id = t.conversation_id",
    ),
    Sql::pair(
        "INSERT INTO search (rowid, owner, text)
         SELECT m.no, 'o' || hex(c.owner), texts.text
         FROM (
             SELECT m.no, group_concat(json_extract(m.body, part.fullkey || '.text'), char(10)) AS text
             FROM messages m, json_each(CASE WHEN json_valid(m.body) THEN m.body ELSE '{}' END, '$.parts') part
             WHERE json_extract(m.body, part.fullkey || '.type') = 'text'
             GROUP BY m.no
         ) texts
         JOIN messages m ON m.no = texts.no JOIN conversations c ON c.id = m.conversation_id
         WHERE texts.text <> ''",
        "INSERT INTO search (no, owner, words)
         SELECT m.no, c.owner, search_words(message_text(m.body))
         FROM messages m JOIN conversations c ON c.id = m.conversation_id WHERE message_text(m.body) IS NOT NULL",
    ),
];

const SERVED: &str = "SELECT EXISTS (SELECT 1 FROM replicas WHERE alive_until >= now_ms())";

impl End {
    /// Everything that is read is as it was when the first row was.
    pub(super) async fn source(url: &str) -> Result<Self, StoreError> {
        let claim = claim(url, "source")?;
        let (mut db, newest) = connect(url).await?;
        db.run(if db.is_postgres() { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" } else { "BEGIN" }).await?;
        let find = sql::query_scalar::<Option<i64>>("SELECT max(version) FROM _sqlx_migrations");
        check_schema(find.fetch_one(&mut db).await.ok().flatten(), newest)
            .map_err(|error| StoreError::Open(format!("cannot read the source: {error}")))?;
        Ok(Self { db, triggers: Vec::new(), _claim: claim })
    }

    /// Nobody else writes, and nothing happens by itself.
    pub(super) async fn target(url: &str, replace: bool) -> Result<Self, StoreError> {
        let claim = claim(url, "target")?;
        let (mut db, _) = connect(url).await?;
        let mut triggers = Vec::new();
        if db.is_postgres() {
            db.run("BEGIN").await?;
            let names: Vec<_> = TABLES.iter().map(|table| table.name).collect();
            execute(&mut db, format!("LOCK TABLE {}, search, replicas IN ACCESS EXCLUSIVE MODE", names.join(", ")))
                .await?;
            if sql::query_scalar(SERVED).fetch_one(&mut db).await? {
                return Err(StoreError::Open("a server serves the target; stop it first".to_owned()));
            }
            for name in &names {
                execute(&mut db, format!("ALTER TABLE {name} DISABLE TRIGGER USER")).await?;
            }
        } else {
            db.run("BEGIN IMMEDIATE").await?;
            for trigger in sql::query(TRIGGERS).fetch_all(&mut db).await? {
                let (name, made): (&str, &str) = (trigger.try_get("name")?, trigger.try_get("sql")?);
                execute(&mut db, format!("DROP TRIGGER {name}")).await?;
                triggers.push(made.into());
            }
        }
        let mut end = Self { db, triggers, _claim: claim };
        end.empty(replace).await?;
        Ok(end)
    }

    async fn empty(&mut self, replace: bool) -> Result<(), StoreError> {
        for table in TABLES.iter().rev() {
            let find: Arc<str> = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name).into();
            if !sql::query_scalar::<bool>(find).fetch_one(&mut self.db).await? {
                continue;
            }
            if !replace {
                return Err(StoreError::Open("the target is not empty".to_owned()));
            }
            execute(&mut self.db, format!("DELETE FROM {}", table.name)).await?;
        }
        Ok(sql::query("DELETE FROM search").execute(&mut self.db).await.map(drop)?)
    }

    /// What follows from the rows, and then all of it counts.
    pub(super) async fn finish(mut self) -> Result<(), StoreError> {
        let numbers: &[&str] = if self.db.is_postgres() { &NUMBERS } else { &LAST_EVENT };
        for sql in numbers {
            sql::query(*sql).execute(&mut self.db).await?;
        }
        for sql in INDEX {
            sql::query(sql).execute(&mut self.db).await?;
        }
        for trigger in std::mem::take(&mut self.triggers) {
            sql::query(trigger).execute(&mut self.db).await?;
        }
        if self.db.is_postgres() {
            for table in TABLES {
                execute(&mut self.db, format!("ALTER TABLE {} ENABLE TRIGGER USER", table.name)).await?;
            }
        }
        self.db.run("COMMIT").await?;
        Ok(self.db.close().await?)
    }
}

/// Keeps others from serving one that is a file.
fn claim(url: &str, end: &str) -> Result<Option<Arc<sqlite::Claim>>, StoreError> {
    match Store::database_file(url)? {
        // Whoever connects says that it is not there.
        Some(file) if file.is_file() => {
            sqlite::hold(&file).map_err(|error| StoreError::Open(format!("cannot move the {end}: {error}")))
        }
        _ => Ok(None),
    }
}

/// A connection for this alone, and the schema of this version.
async fn connect(url: &str) -> Result<(Db, i64), StoreError> {
    if postgres::is_url(url) { postgres::connect_alone(url).await } else { sqlite::connect_alone(url).await }
}

/// Statements of our own names.
async fn execute(db: &mut Db, sql: String) -> Result<(), StoreError> {
    Ok(sql::query(Arc::<str>::from(sql)).execute(db).await.map(drop)?)
}
