//! SQL connections. SQLite for now; in memory, too, for what need not outlive the process.

use crate::named;
use futures::TryStreamExt;
use serde_json::{Map, Value, json};
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteRow};
use sqlx::{Arguments, AssertSqlSafe, Column, Executor, Row, SqlSafeStr, TypeInfo, ValueRef};
use std::str::FromStr;
use std::time::Duration;

/// Rows of one answer.
const MAX_ROWS: usize = 1_000;
/// One statement must be done by then.
const TIME: Duration = Duration::from_secs(30);

/// Which database, and how it may be used.
#[derive(Clone, Debug)]
pub struct SqlSettings {
    /// `sqlite://PATH` or `sqlite::memory:`.
    pub url: String,
    /// Refuse every statement that writes.
    pub read_only: bool,
    /// SQL that is run once, when the connection is opened.
    pub init: Option<String>,
}

/// An open database; a cheap handle.
#[derive(Clone)]
pub struct Sql {
    pool: SqlitePool,
}

impl Sql {
    /// Opens a database.
    ///
    /// # Errors
    /// One line for the operator.
    pub async fn open(settings: &SqlSettings) -> Result<Self, String> {
        let options = SqliteConnectOptions::from_str(&settings.url).map_err(|error| error.to_string())?;
        let in_memory = settings.url.contains(":memory:");
        let options = options.create_if_missing(true).busy_timeout(Duration::from_secs(5));
        // Each connection to a database in memory would be a database of its own.
        let pool = SqlitePoolOptions::new().max_connections(if in_memory { 1 } else { 4 });
        let pool = pool.idle_timeout(None).max_lifetime(None).acquire_timeout(Duration::from_secs(5));
        let read_only = settings.read_only;
        let pool = pool.after_connect(move |connection, _| {
            Box::pin(async move {
                // Lifted for the set-up alone, below.
                let pragma = if read_only && !in_memory { "PRAGMA query_only = 1" } else { "PRAGMA query_only = 0" };
                connection.execute(pragma).await.map(|_| ())
            })
        });
        let pool = pool.connect_with(options).await.map_err(|error| error.to_string())?;
        let sql = Self { pool };
        sql.set_up(settings).await.map_err(|error| error.to_string())?;
        Ok(sql)
    }

    async fn set_up(&self, settings: &SqlSettings) -> Result<(), sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        if let Some(init) = &settings.init {
            connection.execute("PRAGMA query_only = 0").await?;
            connection.execute(AssertSqlSafe(init.clone()).into_sql_str()).await?;
        }
        if settings.read_only {
            connection.execute("PRAGMA query_only = 1").await?;
        }
        Ok(())
    }

    /// The rows of a query, at most 1000, as a list of objects.
    ///
    /// # Errors
    /// For the caller: what is wrong with the statement or its parameters.
    pub async fn query(&self, sql: &str, parameters: &Map<String, Value>) -> Result<Value, String> {
        let (sql, arguments) = prepare(sql, parameters)?;
        let rows = async {
            let mut stream = sqlx::query_with(AssertSqlSafe(sql), arguments).fetch(&self.pool);
            let mut rows = Vec::new();
            while let Some(row) = stream.try_next().await? {
                if rows.len() == MAX_ROWS {
                    break;
                }
                rows.push(object(&row));
            }
            Ok(Value::Array(rows))
        };
        within_time(rows).await
    }

    /// Runs a statement; answers `{rowsAffected}`.
    ///
    /// # Errors
    /// As [`Sql::query`].
    pub async fn execute(&self, sql: &str, parameters: &Map<String, Value>) -> Result<Value, String> {
        let (sql, arguments) = prepare(sql, parameters)?;
        let done = async {
            let done = sqlx::query_with(AssertSqlSafe(sql), arguments).execute(&self.pool).await?;
            Ok(json!({ "rowsAffected": done.rows_affected() }))
        };
        within_time(done).await
    }
}

async fn within_time<T>(work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, String> {
    match tokio::time::timeout(TIME, work).await {
        Ok(done) => done.map_err(|error| match error {
            sqlx::Error::Database(error) => error.message().to_owned(),
            sqlx::Error::PoolTimedOut => "the database is busy".to_owned(),
            error => {
                tracing::warn!(%error, "a statement failed");
                "the database failed".to_owned()
            }
        }),
        Err(_) => Err(format!("the statement did not finish within {} s", TIME.as_secs())),
    }
}

/// The statement with numbered parameters. The text is the config's; what callers send is only ever bound.
fn prepare(sql: &str, parameters: &Map<String, Value>) -> Result<(String, SqliteArguments), String> {
    let numbered = named::number(sql);
    let mut arguments = SqliteArguments::default();
    for name in &numbered.names {
        let value = parameters.get(name).ok_or_else(|| format!("the parameter `{name}` is not given"))?;
        bind(&mut arguments, value).map_err(|error| error.to_string())?;
    }
    Ok((numbered.sql, arguments))
}

fn bind(arguments: &mut SqliteArguments, value: &Value) -> Result<(), sqlx::error::BoxDynError> {
    match value {
        Value::Null => arguments.add(None::<String>),
        Value::Bool(yes) => arguments.add(*yes),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => arguments.add(whole),
            None => arguments.add(number.as_f64()),
        },
        Value::String(text) => arguments.add(text.clone()),
        Value::Array(_) | Value::Object(_) => arguments.add(value.to_string()),
    }
}

fn object(row: &SqliteRow) -> Value {
    let columns = row.columns().iter();
    Value::Object(columns.map(|column| (column.name().to_owned(), cell(row, column.ordinal()))).collect())
}

/// A value by the type that it has in this row; bytes have no place in JSON and are told by their length.
fn cell(row: &SqliteRow, at: usize) -> Value {
    let Ok(raw) = row.try_get_raw(at) else { return Value::Null };
    if raw.is_null() {
        return Value::Null;
    }
    match raw.type_info().name() {
        "INTEGER" => row.try_get::<i64, _>(at).map_or(Value::Null, Value::from),
        "BOOLEAN" => row.try_get::<bool, _>(at).map_or(Value::Null, Value::from),
        "REAL" => row.try_get::<f64, _>(at).map_or(Value::Null, Value::from),
        "BLOB" => row.try_get::<Vec<u8>, _>(at).map_or(Value::Null, |bytes| json!({ "bytes": bytes.len() })),
        _ => row.try_get::<String, _>(at).map_or(Value::Null, Value::from),
    }
}
