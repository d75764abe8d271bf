//! The source and the target of a transfer: a connection within a transaction, and what is done
//! before and after the rows are copied.

use crate::database::check_schema;
use crate::sql::{self, Db, Sql};
use crate::{Schema, Store, StoreError, postgres, sqlite};
use std::sync::Arc;

/// A connection within a transaction.
pub(super) struct TransferEnd {
    schema: Schema,
    pub(super) db: Db,
    /// The dropped triggers of a SQLite target, which are created again at the end.
    triggers: Vec<Arc<str>>,
    /// Keeps other processes from serving a file. Dropped after the connection.
    _claim: Option<Arc<sqlite::Claim>>,
}

/// Triggers are off during the copy, because their results, such as sums, are copied as well.
const TRIGGERS: &str = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name";

/// Continue after the highest number that was ever assigned, including those of pruned journals.
const NUMBERS: [&str; 5] = [
    "SELECT setval(pg_get_serial_sequence('messages', 'no'), coalesce((SELECT max(no) FROM messages), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('runs', 'no'), coalesce((SELECT max(no) FROM runs), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('steps', 'no'), coalesce((SELECT max(no) FROM steps), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('titles', 'no'), coalesce((SELECT max(no) FROM titles), 0) + 1, false)",
    "SELECT setval(pg_get_serial_sequence('run_events', 'no'), greatest(1, n), n > 0) FROM (SELECT greatest(
        (SELECT max(no) FROM run_events), (SELECT max(events_after) FROM runs), (SELECT max(events_until) FROM runs), 0) AS n) AS last",
];

/// The same for SQLite, where the other tables continue after their last row.
const LAST_EVENT: [&str; 2] = [
    "DELETE FROM sqlite_sequence WHERE name = 'run_events'",
    "INSERT INTO sqlite_sequence (name, seq) SELECT 'run_events', max(
        coalesce((SELECT max(no) FROM run_events), 0), coalesce((SELECT max(events_after) FROM runs), 0),
        coalesce((SELECT max(events_until) FROM runs), 0))",
];

/// The columns of a table that PostgreSQL numbers.
const NUMBERED: &str = "
    SELECT column_name::text FROM information_schema.columns WHERE table_schema = current_schema()
        AND table_name = $1 AND pg_get_serial_sequence(quote_ident(table_name), column_name) IS NOT NULL";

/// Lets the numbers that PostgreSQL assigns to new rows of a table continue after the highest one.
async fn continue_numbers(db: &mut Db, table: &'static str) -> Result<(), StoreError> {
    let numbered: Vec<String> = sql::query_scalar(NUMBERED).bind(table).fetch_all(&mut *db).await?;
    for column in numbered {
        let set = format!(
            "SELECT setval(pg_get_serial_sequence('{table}', '{column}'), coalesce(max({column}), 0) + 1, false) FROM {table}"
        );
        execute(db, set).await?;
    }
    Ok(())
}

/// Build the search index as the migrations do.
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

impl TransferEnd {
    /// Opens the source. All reads see the same snapshot.
    pub(super) async fn open_source(schema: Schema, url: &str) -> Result<Self, StoreError> {
        let claim = claim(url, "source")?;
        let (mut db, newest) = connect(url).await?;
        db.run(if db.is_postgres() { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" } else { "BEGIN" }).await?;
        let find = sql::query_scalar::<Option<i64>>("SELECT max(version) FROM _sqlx_migrations");
        check_schema(find.fetch_one(&mut db).await.ok().flatten(), newest)
            .map_err(|error| StoreError::Open(format!("cannot read the source: {error}")))?;
        schema
            .check(&mut db, true)
            .await
            .map_err(|error| StoreError::Open(format!("cannot read the source: {error}")))?;
        Ok(Self { schema, db, triggers: Vec::new(), _claim: claim })
    }

    /// Opens the target with exclusive access and disabled triggers.
    pub(super) async fn open_target(schema: Schema, url: &str, replace: bool) -> Result<Self, StoreError> {
        let claim = claim(url, "target")?;
        let (mut db, _) = connect(url).await?;
        let mut triggers = Vec::new();
        if db.is_postgres() {
            db.run("BEGIN").await?;
            let names: Vec<_> = schema.tables().map(|table| table.name).collect();
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
        let mut end = Self { schema, db, triggers, _claim: claim };
        end.clear(replace).await?;
        Ok(end)
    }

    async fn clear(&mut self, replace: bool) -> Result<(), StoreError> {
        for table in self.schema.tables().rev() {
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

    /// Sets sequences, builds the search index, enables triggers, and commits.
    pub(super) async fn finish(mut self) -> Result<(), StoreError> {
        let numbers: &[&str] = if self.db.is_postgres() { &NUMBERS } else { &LAST_EVENT };
        for sql in numbers {
            sql::query(*sql).execute(&mut self.db).await?;
        }
        if self.db.is_postgres() {
            for table in self.schema.capability_tables() {
                continue_numbers(&mut self.db, table.name).await?;
            }
        }
        for sql in INDEX {
            sql::query(sql).execute(&mut self.db).await?;
        }
        for trigger in std::mem::take(&mut self.triggers) {
            sql::query(trigger).execute(&mut self.db).await?;
        }
        if self.db.is_postgres() {
            for table in self.schema.tables() {
                execute(&mut self.db, format!("ALTER TABLE {} ENABLE TRIGGER USER", table.name)).await?;
            }
        }
        self.db.run("COMMIT").await?;
        Ok(self.db.close().await?)
    }
}

/// Keeps other processes from serving a file; `None` for a database on a server.
fn claim(url: &str, end: &str) -> Result<Option<Arc<sqlite::Claim>>, StoreError> {
    match Store::database_file(url)? {
        // A missing file is reported when it is opened.
        Some(file) if file.is_file() => sqlite::claim_unless_on_network(&file)
            .map_err(|error| StoreError::Open(format!("cannot open the {end}: {error}"))),
        _ => Ok(None),
    }
}

/// Opens a connection for the transfer; also returns the schema version of this program.
async fn connect(url: &str) -> Result<(Db, i64), StoreError> {
    if postgres::is_url(url) { postgres::connect_alone(url).await } else { sqlite::connect_alone(url).await }
}

/// Executes a statement that is built from constants of this crate.
async fn execute(db: &mut Db, sql: String) -> Result<(), StoreError> {
    Ok(sql::query(Arc::<str>::from(sql)).execute(db).await.map(drop)?)
}
