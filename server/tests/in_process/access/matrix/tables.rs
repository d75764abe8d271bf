//! Reads the contents of the database directly.

use sqlx::{AssertSqlSafe, Row, SqlitePool};
use std::time::Duration;

/// Tables that change with every request, even a refused one: sessions and the audit log.
const VOLATILE_TABLES: [&str; 2] = ["sessions", "audit"];

/// Columns that only say that work of an earlier request goes on.
const SIGNS_OF_LIFE: [&str; 2] = ["beat", "lease_until"];

/// A connection to the server's database.
pub(super) struct Tables {
    pool: SqlitePool,
    /// The tables with their columns.
    known: Vec<(String, Vec<String>)>,
}

impl Tables {
    pub(super) async fn open(url: &str) -> Self {
        let pool = SqlitePool::connect(url).await.unwrap();
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%sqlx%' \
                      AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%\\_data' ESCAPE '\\' ORDER BY name";
        let mut known = Vec::new();
        for table in sqlx::query(tables).fetch_all(&pool).await.unwrap() {
            let table: String = table.get(0);
            let columns = format!("SELECT name FROM pragma_table_info('{table}')");
            let columns = sqlx::query(AssertSqlSafe(columns)).fetch_all(&pool).await.unwrap();
            known.push((table, columns.iter().map(|column| column.get(0)).collect()));
        }
        let has = |name: &str| known.iter().any(|(table, _)| table == name);
        assert!(known.len() > 15 && ["conversations", "messages", "users"].iter().all(|name| has(name)), "{known:?}");
        let tables = Self { pool, known };
        tables.count_writes().await;
        tables
    }

    /// Returns the columns that contain exactly this value, as `table.column`.
    pub(super) async fn columns_with(&self, value: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (table, columns) in &self.known {
            let counts: Vec<_> = columns.iter().map(|column| format!("total(\"{column}\" = ?1)")).collect();
            let counts = format!("SELECT {} FROM \"{table}\"", counts.join(", "));
            let counts = sqlx::query(AssertSqlSafe(counts)).bind(value).fetch_one(&self.pool).await.unwrap();
            let holds = columns.iter().enumerate().filter(|(at, _)| counts.get::<f64, _>(*at) > 0.0);
            found.extend(holds.map(|(_, column)| format!("{table}.{column}")));
        }
        found
    }

    /// Counts each row that is inserted, changed or deleted from now on. Reading all rows instead, after each of
    /// thousands of requests, takes minutes.
    async fn count_writes(&self) {
        // The tables of an index for searches change with the tables that it is for, and have no triggers.
        let indexes = "SELECT name FROM pragma_table_list WHERE type = 'shadow'";
        let indexes: Vec<String> = sqlx::query_scalar(indexes).fetch_all(&self.pool).await.unwrap();
        let is_counted = |table: &String| !VOLATILE_TABLES.contains(&table.as_str()) && !indexes.contains(table);
        let counted = self.known.iter().filter(|(table, _)| is_counted(table));
        let triggers: String = counted.map(|(table, columns)| counting_triggers(table, columns)).collect();
        let statements = format!(
            "BEGIN IMMEDIATE; CREATE TABLE test_writes (name TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL); {triggers} COMMIT"
        );
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&self.pool).await.unwrap();
    }

    /// Returns how many rows of each table were written.
    pub(super) async fn writes(&self) -> Writes {
        let counts = "SELECT ifnull(group_concat(name || ' ' || number), '') FROM test_writes WHERE number > 0";
        Writes(sqlx::query_scalar(counts).fetch_one(&self.pool).await.unwrap())
    }

    /// Returns how many rows were written when nothing is written any more: a run ends shortly after its response.
    pub(super) async fn settled_writes(&self) -> Writes {
        let mut writes = self.writes().await;
        loop {
            tokio::time::sleep(Duration::from_millis(60)).await;
            let now = self.writes().await;
            if now == writes {
                return now;
            }
            writes = now;
        }
    }
}

/// Returns the statements that count the writes to a table.
fn counting_triggers(table: &str, columns: &[String]) -> String {
    let columns = columns.iter().filter(|column| !SIGNS_OF_LIFE.contains(&column.as_str()));
    let columns: Vec<_> = columns.map(|column| format!("\"{column}\"")).collect();
    let update = format!("UPDATE OF {}", columns.join(", "));
    let mut statements = format!("INSERT INTO test_writes VALUES ('{table}', 0);");
    for (name, event, row) in [("insert", "INSERT", "NEW"), ("update", &update, "NEW"), ("delete", "DELETE", "OLD")] {
        // The server's own recurring jobs run beside the requests.
        let condition = if table == "jobs" { format!("WHEN {row}.every_ms IS NULL") } else { String::new() };
        statements += &format!(
            "CREATE TRIGGER test_{name}_{table} AFTER {event} ON \"{table}\" {condition}
             BEGIN UPDATE test_writes SET number = number + 1 WHERE name = '{table}'; END;"
        );
    }
    statements
}

/// How many rows of each table were written.
#[derive(PartialEq)]
pub(super) struct Writes(String);

impl Writes {
    /// Returns the tables that were written to between `before` and these.
    pub(super) fn since(&self, before: &Self) -> Vec<&str> {
        let known: Vec<_> = before.0.split(',').collect();
        self.0.split(',').filter(|count| !known.contains(count)).collect()
    }
}
