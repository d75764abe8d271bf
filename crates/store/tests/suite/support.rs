//! A new store for each test, and helpers for common operations.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection};
use store::{BeginRun, BeginRunOutcome, FinishRun, JournalBatch, NewMessage, Store};
use tempfile::TempDir;
use wire::api::Outcome;
use wire::{EndReason, Role, UiMessage};

/// Runs a test with every kind of database.
pub(crate) async fn on_each_database(test: impl AsyncFn(&Store)) {
    let store = Store::open("sqlite::memory:").await.unwrap();
    test(&store).await;
    on_each_url(async |url| {
        let store = Store::open(&url).await.unwrap();
        test(&store).await;
        store.close().await;
    })
    .await;
}

/// Runs a test with every kind of database that can be opened more than once.
pub(crate) async fn on_each_url(test: impl AsyncFn(String)) {
    let folder = tempfile::tempdir().unwrap();
    test(url_in(&folder)).await;
    if let Some(url) = test_postgres::new_database().await {
        test(url).await;
    }
}

/// A connection to a database that does not use the store, as another process has.
pub(crate) enum OutsideConnection {
    /// To a file.
    Sqlite(SqliteConnection),
    /// To a server.
    Postgres(PgConnection),
}

impl OutsideConnection {
    pub(crate) async fn connect(url: &str) -> Self {
        match url.strip_prefix("sqlite://") {
            Some(path) => Self::Sqlite(SqliteConnectOptions::new().filename(path).connect().await.unwrap()),
            None => Self::Postgres(PgConnection::connect(url).await.unwrap()),
        }
    }

    /// Runs statements that must succeed.
    pub(crate) async fn execute(&mut self, sql: &str) {
        match self {
            Self::Sqlite(db) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(db).await.map(drop).unwrap(),
            Self::Postgres(db) => sqlx::raw_sql(AssertSqlSafe(sql)).execute(db).await.map(drop).unwrap(),
        }
    }

    /// Returns the number that a statement yields.
    pub(crate) async fn number(&mut self, sql: &str) -> i64 {
        let sql = sql.to_owned();
        match self {
            Self::Sqlite(db) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(db).await.unwrap(),
            Self::Postgres(db) => sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(db).await.unwrap(),
        }
    }
}

/// Returns the URL of a database file in a folder.
pub(crate) fn url_in(folder: &TempDir) -> String {
    format!("sqlite://{}", folder.path().join("data/chat.db").display())
}

/// Opens a connection to the same file without the store.
pub(crate) async fn connect_outside(folder: &TempDir) -> SqliteConnection {
    SqliteConnectOptions::new().filename(folder.path().join("data/chat.db")).connect().await.unwrap()
}

/// Runs statements that must succeed.
pub(crate) async fn execute(db: &mut SqliteConnection, sql: &str) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(db).await.unwrap();
}

/// Returns a submission of one user message with id `key`, answered by message `a-KEY` in run
/// `r-KEY` at time `now`.
pub(crate) fn submission(conversation_id: &str, key: &str, parent: Option<&str>, now: i64) -> BeginRun {
    let user = UiMessage::user(key, format!("text of {key}"));
    let answer = UiMessage::new(format!("a-{key}"), Role::Assistant);
    BeginRun {
        conversation_id: conversation_id.to_owned(),
        page_id: "page".to_owned(),
        agent_id: "agent".to_owned(),
        title: format!("title of {key}"),
        submission_key: key.to_owned(),
        message_id: answer.id.clone(),
        insert: vec![
            NewMessage { parent_id: parent.map(str::to_owned), message: user },
            NewMessage { parent_id: Some(key.to_owned()), message: answer },
        ],
        update: Vec::new(),
        run_id: format!("r-{key}"),
        now,
        lease_until: now + 15_000,
        audit: Vec::new(),
        grants: Vec::new(),
    }
}

/// Stores a submission of Ada's that must start a run; returns its epoch.
pub(crate) async fn begin(store: &Store, conversation_id: &str, key: &str, parent: Option<&str>, now: i64) -> u64 {
    match store.begin_run("ada", submission(conversation_id, key, parent, now)).await.unwrap() {
        BeginRunOutcome::Started { epoch } => epoch,
        begun => panic!("{begun:?}"),
    }
}

/// Returns the end of run `r-KEY` with the text `done KEY`.
pub(crate) fn end(key: &str, epoch: u64, now: i64) -> FinishRun {
    let message = UiMessage { role: Role::Assistant, ..UiMessage::user(format!("a-{key}"), format!("done {key}")) };
    FinishRun {
        run_id: format!("r-{key}"),
        epoch,
        status: Outcome::Done,
        reason: EndReason::Done,
        message,
        usage: None,
        error: None,
        now,
        title: None,
        audit: Vec::new(),
        steps: Vec::new(),
    }
}

/// Begins a run of Ada's and ends it at once.
pub(crate) async fn turn(store: &Store, conversation_id: &str, key: &str, parent: Option<&str>, now: i64) {
    let epoch = begin(store, conversation_id, key, parent, now).await;
    store.finish_run(end(key, epoch, now)).await.unwrap();
}

/// Returns a batch with the events `first..=last` of run `r-KEY`.
pub(crate) fn batch(key: &str, epoch: u64, first_seq: u64, last_seq: u64) -> JournalBatch {
    let frames: String = (first_seq..=last_seq).map(|seq| format!("id: {epoch}.{seq}\ndata: {key}\n\n")).collect();
    JournalBatch { run_id: format!("r-{key}"), epoch, first_seq, last_seq, frames: frames.into() }
}

/// Returns the journal's rows of Ada's run `r-KEY` after a number, as `first-last`.
pub(crate) async fn journal(store: &Store, key: &str, after: u64, limit: u32) -> String {
    let rows = store.events("ada", &format!("r-{key}"), after, limit).await.unwrap();
    rows.iter().map(|row| format!("{}-{}", row.first_seq, row.last_seq)).collect::<Vec<_>>().join(" ")
}

/// Returns the message ids and texts of Ada's active branch.
pub(crate) async fn branch(store: &Store, conversation_id: &str) -> String {
    let messages = store.branch("ada", conversation_id).await.unwrap();
    let show = |stored: &store::StoredMessage| match stored.message.text() {
        text if text.is_empty() => stored.id.clone(),
        text => format!("{}={text}", stored.id),
    };
    messages.iter().map(show).collect::<Vec<_>>().join(" | ")
}
