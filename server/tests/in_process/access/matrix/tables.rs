//! Reads the contents of the database directly.

use sqlx::{AssertSqlSafe, Row, SqlitePool};

/// Tables that change with every request, even a refused one: sessions and the audit log.
const VOLATILE_TABLES: [&str; 2] = ["sessions", "audit"];

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
        Self { pool, known }
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

    /// Returns all rows as text.
    pub(super) async fn rows(&self) -> String {
        let tables = self.known.iter().filter(|(table, _)| !VOLATILE_TABLES.contains(&table.as_str()));
        let tables = tables.map(|(table, columns)| {
            let columns: Vec<_> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
            // The server's own recurring jobs run beside the requests.
            let condition = if table == "jobs" { " WHERE every_ms IS NULL" } else { "" };
            format!(
                "SELECT '{table}: ' || ifnull(group_concat({}, '; '), '') FROM \"{table}\"{condition}",
                columns.join(" || ',' || ")
            )
        });
        let all = tables.collect::<Vec<_>>().join(" UNION ALL ");
        let rows = sqlx::query(AssertSqlSafe(all)).fetch_all(&self.pool).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect::<Vec<String>>().join("\n")
    }

    /// Returns all rows when nothing is written any more: a run ends shortly after its response.
    pub(super) async fn settled_rows(&self) -> String {
        let mut rows = self.rows().await;
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(60)).await;
            let now = self.rows().await;
            if now == rows {
                return now;
            }
            rows = now;
        }
    }
}
