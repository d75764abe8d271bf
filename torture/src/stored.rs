//! Reads conversations directly from the database.

use anyhow::Result;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection, Row};
use std::path::Path;

/// The stored data that the checker reads.
#[derive(Default)]
pub(crate) struct DatabaseContents {
    pub(crate) messages: Vec<Message>,
    pub(crate) runs: Vec<Run>,
    /// The inputs of all calls in the table `tool_calls`.
    pub(crate) calls: Vec<Value>,
    /// The jobs that name conversations.
    pub(crate) title_jobs: Vec<TitleJob>,
    /// `ok`, or the problems that SQLite finds.
    pub(crate) integrity: String,
}

/// A stored message.
pub(crate) struct Message {
    pub(crate) conversation: String,
    pub(crate) owner: String,
    pub(crate) id: String,
    pub(crate) role: String,
    pub(crate) body: Value,
}

/// A stored run.
pub(crate) struct Run {
    pub(crate) conversation: String,
    pub(crate) epoch: u64,
    pub(crate) status: String,
    pub(crate) message: String,
    /// The start as Unix time in milliseconds.
    pub(crate) started_at: i64,
    /// The end, or none while the run is active.
    pub(crate) ended_at: Option<i64>,
}

/// A job that names a conversation.
pub(crate) struct TitleJob {
    pub(crate) conversation: String,
    pub(crate) state: String,
    /// The title of the conversation.
    pub(crate) title: String,
}

impl Message {
    /// Returns the concatenated text parts.
    pub(crate) fn text(&self) -> String {
        let parts = self.body["parts"].as_array().into_iter().flatten();
        parts.filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect()
    }

    /// Returns the parts of tool calls.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &Value> {
        self.body["parts"].as_array().into_iter().flatten().filter(|part| part["toolCallId"].is_string())
    }
}

const MESSAGES: &str = "SELECT m.conversation_id, c.owner, m.id, m.role, m.body
    FROM messages m JOIN conversations c ON c.id = m.conversation_id ORDER BY m.no";
const RUNS: &str = "SELECT conversation_id, epoch, status, message_id, started_at, ended_at FROM runs ORDER BY no";
const TITLE_JOBS: &str = "SELECT j.unique_key, j.state, c.title
    FROM jobs j JOIN conversations c ON c.id = j.unique_key WHERE j.kind = 'chat.title'";
const CALLS: &str = "SELECT input FROM tool_calls";

/// Reads the rows of either kind of database.
macro_rules! read {
    ($db:expr, $integrity:expr) => {{
        let mut stored = DatabaseContents { integrity: $integrity, ..DatabaseContents::default() };
        for row in sqlx::query(MESSAGES).fetch_all(&mut $db).await? {
            let body: String = row.try_get(4)?;
            stored.messages.push(Message {
                conversation: row.try_get(0)?,
                owner: row.try_get(1)?,
                id: row.try_get(2)?,
                role: row.try_get(3)?,
                body: json(&body),
            });
        }
        for row in sqlx::query(RUNS).fetch_all(&mut $db).await? {
            let epoch: i64 = row.try_get(1)?;
            stored.runs.push(Run {
                conversation: row.try_get(0)?,
                epoch: epoch.cast_unsigned(),
                status: row.try_get(2)?,
                message: row.try_get(3)?,
                started_at: row.try_get(4)?,
                ended_at: row.try_get(5)?,
            });
        }
        for row in sqlx::query(TITLE_JOBS).fetch_all(&mut $db).await? {
            stored.title_jobs.push(TitleJob {
                conversation: row.try_get(0)?,
                state: row.try_get(1)?,
                title: row.try_get(2)?,
            });
        }
        for row in sqlx::query(CALLS).fetch_all(&mut $db).await? {
            let input: String = row.try_get(0)?;
            stored.calls.push(json(&input));
        }
        Ok(stored)
    }};
}

impl DatabaseContents {
    /// Reads a database file that no server has open.
    pub(crate) async fn read(file: &Path) -> Result<Self> {
        let mut db = SqliteConnectOptions::new().filename(file).connect().await?;
        let integrity = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut db).await?;
        read!(db, integrity)
    }

    /// Reads a PostgreSQL database, whose integrity is not checked.
    pub(crate) async fn read_postgres(url: &str) -> Result<Self> {
        let mut db = PgConnection::connect(url).await?;
        read!(db, "ok".to_owned())
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
