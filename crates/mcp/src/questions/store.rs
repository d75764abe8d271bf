//! The table of open questions. A call waits on the server that runs it, and the answer may arrive at another one.

use super::Answer;
use ::store::sql::{self, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use serde_json::Value;

/// The table. Questions belong to a user and a conversation, and are deleted with them.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "mcp",
    migrations: &[Migration {
        name: "questions",
        sqlite: include_str!("../../migrations/sqlite/0001_questions.sql"),
        postgres: include_str!("../../migrations/postgres/0001_questions.sql"),
    }],
    tables: &[Table { name: "mcp_questions", key: "id", owner: Some("owner") }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The maximum number of open questions of a user.
const MAX_OPEN: i64 = 20;

const INSERT: &str = "
    INSERT INTO mcp_questions (id, owner, conversation_id, form, expires_at) SELECT $1, $2, $3, $4, $5
    WHERE (SELECT count(*) FROM mcp_questions WHERE owner = $2) < $6
        AND EXISTS (SELECT 1 FROM conversations WHERE id = $3 AND owner = $2)";

/// Without a run that is being written, the call is gone with its server.
const WAITING: &str = "
    SELECT q.form FROM mcp_questions q
    WHERE q.id = $1 AND q.owner = $2 AND q.answer IS NULL AND q.expires_at > $3 AND EXISTS (
        SELECT 1 FROM runs r WHERE r.conversation_id = q.conversation_id AND r.status = 'running')";

const ANSWER: &str = "
    UPDATE mcp_questions SET answer = $4 WHERE id = $1 AND owner = $2 AND answer IS NULL AND expires_at > $3";

const ANSWERED: &str = "SELECT answer FROM mcp_questions WHERE id = $1";

const DELETE: &str = "DELETE FROM mcp_questions WHERE id = $1";

const DELETE_EXPIRED: &str = "DELETE FROM mcp_questions WHERE expires_at < $1";

/// A question that waits.
#[derive(Clone, Debug)]
pub(crate) struct NewQuestion {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) conversation_id: String,
    /// The JSON Schema of the values.
    pub(crate) form: Option<Value>,
    /// Unix time, milliseconds.
    pub(crate) expires_at: i64,
}

/// Stores a question. Returns false if the user has too many, or no such conversation.
pub(crate) async fn insert(store: &Store, question: NewQuestion) -> Result<bool, StoreError> {
    let NewQuestion { id, owner, conversation_id, form, expires_at } = question;
    let insert = sql::query(INSERT).bind(id).bind(owner).bind(conversation_id);
    let insert = insert.bind(form.map(|form| form.to_string())).bind(expires_at).bind(MAX_OPEN);
    store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await?.rows_affected() > 0) })).await
}

/// Returns the form of a question of the user that waits: `None` if there is no such question, `Some(None)` if it has
/// no form.
pub(crate) async fn waiting_form(
    store: &Store,
    owner: &str,
    id: &str,
    now: i64,
) -> Result<Option<Option<Value>>, StoreError> {
    let find = sql::query(WAITING).bind(id.to_owned()).bind(owner.to_owned()).bind(now);
    let row: Option<Row> = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    let form: Option<String> = row.try_get("form")?;
    Ok(Some(form.and_then(|form| serde_json::from_str(&form).ok())))
}

/// Stores the answer of the user. Returns false if the question does not wait any more.
pub(crate) async fn answer(
    store: &Store,
    owner: &str,
    id: &str,
    answer: &Answer,
    now: i64,
) -> Result<bool, StoreError> {
    let text = serde_json::to_string(answer).map_err(|error| StoreError::Failed(error.to_string()))?;
    let update = sql::query(ANSWER).bind(id.to_owned()).bind(owner.to_owned()).bind(now).bind(text);
    store.write(move |db| Box::pin(async move { Ok(update.execute(db).await?.rows_affected() > 0) })).await
}

/// Returns the answer to a question: `None` if the question is gone, `Some(None)` if it waits.
pub(crate) async fn answered(store: &Store, id: &str) -> Result<Option<Option<Answer>>, StoreError> {
    let find = sql::query(ANSWERED).bind(id.to_owned());
    let row: Option<Row> = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    let answer: Option<String> = row.try_get("answer")?;
    Ok(Some(answer.and_then(|answer| serde_json::from_str(&answer).ok())))
}

/// Deletes a question.
pub(crate) async fn delete(store: &Store, id: String) -> Result<(), StoreError> {
    let delete = sql::query(DELETE).bind(id);
    store.write(move |db| Box::pin(async move { delete.execute(db).await.map(|_| ()).map_err(StoreError::from) })).await
}

/// Deletes the questions that a killed server has left, once they have expired.
pub(crate) async fn delete_expired(store: &Store, now: i64) -> Result<(), StoreError> {
    let delete = sql::query(DELETE_EXPIRED).bind(now);
    store.write(move |db| Box::pin(async move { delete.execute(db).await.map(|_| ()).map_err(StoreError::from) })).await
}
