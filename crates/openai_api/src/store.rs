//! The table of stored responses. Each function takes their owner.

use ::store::sql::{self, Db, Row};
use ::store::{CapabilityTables, Migration, SqliteBaseline, Store, StoreError, Table};
use serde_json::Value;

/// The table. Rows with a conversation are deleted with it, and all with their owner.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "openai_api",
    migrations: &[
        Migration {
            name: "openai_responses",
            sqlite: include_str!("../migrations/sqlite/0001_openai_responses.sql"),
            postgres: include_str!("../migrations/postgres/0001_openai_responses.sql"),
        },
        Migration {
            name: "openai_chains",
            sqlite: include_str!("../migrations/sqlite/0002_openai_chains.sql"),
            postgres: include_str!("../migrations/postgres/0002_openai_chains.sql"),
        },
    ],
    tables: &[Table { name: "openai_responses", key: "id", owner: Some("owner") }],
    user_deletion: &[],
    sqlite_baseline: Some(SqliteBaseline { version: 2, statements: include_str!("../migrations/sqlite_baseline.sql") }),
};

/// The most earlier responses whose instructions are read.
const MAX_CHAIN: i64 = 1_000;

/// How long a response without a conversation is kept, in milliseconds: 30 days, as at OpenAI.
const KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

const INSERT: &str = "
    INSERT INTO openai_responses (id, owner, agent_id, run_id, status, body, input, created_at, conversation_id, previous_id, instructions)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

const FINISH: &str = "
    UPDATE openai_responses SET status = $3, body = $4, conversation_id = $5, message_id = $6 WHERE owner = $1 AND id = $2";

/// A conversation or message that the user has deleted is no longer there, although it can be restored for some time.
const ONE: &str = "
    SELECT r.agent_id, r.run_id, r.conversation_id, r.message_id, r.status, r.body, r.input
    FROM openai_responses r LEFT JOIN conversations c ON c.id = r.conversation_id
    WHERE r.owner = $1 AND r.id = $2 AND (r.conversation_id IS NULL OR (c.deleted_at IS NULL AND NOT EXISTS (
        WITH RECURSIVE above (id) AS (
            SELECT r.message_id
            UNION
            SELECT m.parent_id FROM above a JOIN messages m ON m.conversation_id = r.conversation_id AND m.id = a.id
        )
        SELECT 1 FROM above a JOIN deleted_messages d ON d.conversation_id = r.conversation_id AND d.message_id = a.id)))";

/// Responses whose server died while it wrote them.
const FAIL: &str = "
    UPDATE openai_responses SET status = 'failed', body = $3 WHERE owner = $1 AND id = $2 AND status = 'in_progress'";

/// The instructions of a response and of those that it continues, the oldest first.
const INSTRUCTIONS: &str = "
    WITH RECURSIVE chain (id, depth) AS (
        SELECT id, 0 FROM openai_responses WHERE owner = $1 AND id = $2
        UNION ALL
        SELECT r.previous_id, c.depth + 1 FROM chain c JOIN openai_responses r ON r.id = c.id
        WHERE r.owner = $1 AND r.previous_id IS NOT NULL AND c.depth < $3
    )
    SELECT r.instructions FROM chain c JOIN openai_responses r ON r.id = c.id
    WHERE r.owner = $1 AND r.instructions IS NOT NULL ORDER BY c.depth DESC";

/// Leaves responses that are being written.
const DELETE: &str = "DELETE FROM openai_responses WHERE owner = $1 AND id = $2 AND status <> 'in_progress'";

/// Whether a conversation has nothing but what deleted responses have left.
const IS_LEFT: &str = "
    SELECT NOT EXISTS (SELECT 1 FROM openai_responses WHERE conversation_id = $1)
        AND NOT EXISTS (SELECT 1 FROM runs WHERE conversation_id = $1)";

const PRUNE: &str = "DELETE FROM openai_responses WHERE conversation_id IS NULL AND created_at < $1";

/// Messages that were deleted are purged after some time, and what was said in them must not be left here.
const PRUNE_WITHOUT_MESSAGE: &str = "
    DELETE FROM openai_responses WHERE message_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM messages m WHERE m.conversation_id = openai_responses.conversation_id AND m.id = openai_responses.message_id)";

/// A response that begins.
#[derive(Clone, Debug)]
pub(crate) struct NewResponse {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) agent_id: String,
    pub(crate) run_id: String,
    pub(crate) body: Value,
    pub(crate) input: Vec<Value>,
    /// The response that it continues, and its conversation.
    pub(crate) previous: Option<(String, String)>,
    /// The system and developer messages of its input.
    pub(crate) instructions: Option<String>,
    /// Unix time in milliseconds.
    pub(crate) created_at: i64,
}

/// The end of a response.
#[derive(Clone, Debug)]
pub(crate) struct FinishedResponse {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) status: String,
    pub(crate) body: Value,
    /// The conversation, and the id of the answer in it.
    pub(crate) kept: Option<(String, String)>,
}

/// A stored response.
#[derive(Clone, Debug)]
pub(crate) struct StoredResponse {
    pub(crate) agent_id: String,
    pub(crate) run_id: String,
    /// The conversation, and the id of the answer in it.
    pub(crate) kept: Option<(String, String)>,
    pub(crate) status: String,
    pub(crate) body: Value,
    pub(crate) input: Vec<Value>,
}

/// Stores a response that begins.
pub(crate) async fn begin(store: &Store, new: NewResponse) -> Result<(), StoreError> {
    let input = Value::Array(new.input).to_string();
    let (previous, conversation) = new.previous.unzip();
    let insert = sql::query(INSERT).bind(new.id).bind(new.owner).bind(new.agent_id).bind(new.run_id);
    let insert = insert.bind("in_progress").bind(new.body.to_string()).bind(input).bind(new.created_at);
    let insert = insert.bind(conversation).bind(previous).bind(new.instructions);
    store.write(move |db| Box::pin(async move { insert.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

/// Stores the end of a response.
pub(crate) async fn finish(db: &mut Db, end: FinishedResponse) -> Result<(), StoreError> {
    let (conversation, message) = end.kept.unzip();
    let update = sql::query(FINISH).bind(end.owner).bind(end.id).bind(end.status).bind(end.body.to_string());
    update.bind(conversation).bind(message).execute(db).await?;
    Ok(())
}

/// Marks a response as failed whose server died while it wrote it.
pub(crate) async fn fail(store: &Store, owner: &str, id: &str, body: &Value) -> Result<(), StoreError> {
    let update = sql::query(FAIL).bind(owner).bind(id).bind(body.to_string());
    store.write(move |db| Box::pin(async move { Ok(update.execute(db).await.map(drop)?) })).await
}

/// Returns the instructions of a response and of those that it continues, the oldest first.
pub(crate) async fn instructions(store: &Store, owner: &str, id: &str) -> Result<Vec<String>, StoreError> {
    let find = sql::query_scalar::<String>(INSTRUCTIONS).bind(owner).bind(id).bind(MAX_CHAIN);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await
}

/// Returns a response of the owner.
pub(crate) async fn one(store: &Store, owner: &str, id: &str) -> Result<Option<StoredResponse>, StoreError> {
    let find = sql::query(ONE).bind(owner).bind(id);
    store.optional_row(find, read).await
}

fn read(row: &Row) -> Result<StoredResponse, StoreError> {
    let json = |text: &str| serde_json::from_str(text).map_err(|error| StoreError::Failed(error.to_string()));
    let conversation: Option<String> = row.try_get("conversation_id")?;
    let message: Option<String> = row.try_get("message_id")?;
    let input: String = row.try_get("input")?;
    Ok(StoredResponse {
        agent_id: row.try_get("agent_id")?,
        run_id: row.try_get("run_id")?,
        kept: conversation.zip(message),
        status: row.try_get("status")?,
        body: json(&row.try_get::<String>("body")?)?,
        input: serde_json::from_str(&input).map_err(|error| StoreError::Failed(error.to_string()))?,
    })
}

/// The outcome of deleting a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deletion {
    /// Nothing was deleted: the response is gone, or is being written.
    Nothing,
    /// The response.
    Response,
    /// The response, and this conversation of it has nothing left that anybody else has written or that another
    /// response needs.
    Last(String),
}

/// Deletes a response of the owner.
pub(crate) async fn delete(
    store: &Store,
    owner: &str,
    id: &str,
    conversation: Option<String>,
) -> Result<Deletion, StoreError> {
    let delete = sql::query(DELETE).bind(owner).bind(id);
    store
        .write(move |db| {
            Box::pin(async move {
                if delete.execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(Deletion::Nothing);
                }
                let Some(id) = conversation else { return Ok(Deletion::Response) };
                let is_last = sql::query_scalar::<bool>(IS_LEFT).bind(id.clone()).fetch_one(db).await?;
                Ok(if is_last { Deletion::Last(id) } else { Deletion::Response })
            })
        })
        .await
}

/// Deletes old responses of all owners that have no conversation, which only retention deletes, and those whose message
/// is gone.
pub(crate) async fn prune(store: &Store, now: i64) -> Result<(), StoreError> {
    let prune = [sql::query(PRUNE).bind(now - KEPT_MS), sql::query(PRUNE_WITHOUT_MESSAGE)];
    store
        .write(move |db| {
            Box::pin(async move {
                for prune in prune {
                    prune.execute(&mut *db).await?;
                }
                Ok(())
            })
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::store::{AddMessages, Deletion as MessageDeletion, NewMessage, Schema, SetBranch};
    use serde_json::json;
    use std::time::Duration;
    use wire::UiMessage;

    const ALL_TABLES: [CapabilityTables; 1] = [TABLES];

    fn new(id: &str, at: i64) -> NewResponse {
        NewResponse {
            id: id.to_owned(),
            owner: "ada".to_owned(),
            agent_id: "helper".to_owned(),
            run_id: format!("run-{id}"),
            body: json!({ "id": id, "status": "in_progress" }),
            input: vec![json!({ "type": "message" })],
            previous: None,
            instructions: None,
            created_at: at,
        }
    }

    /// Stores the end of a response with a message in the conversation `c`.
    async fn end(store: &Store, id: &str) {
        let message = UiMessage::user(format!("message-{id}"), "Hi");
        let add = AddMessages {
            conversation_id: "c".to_owned(),
            page_id: String::new(),
            agent_id: "helper".to_owned(),
            title: "Hi".to_owned(),
            insert: vec![NewMessage { parent_id: None, message }],
            now: 1,
        };
        let end = FinishedResponse {
            id: id.to_owned(),
            owner: "ada".to_owned(),
            status: "completed".to_owned(),
            body: json!({ "id": id, "status": "completed" }),
            kept: Some(("c".to_owned(), format!("message-{id}"))),
        };
        store.add_branch("ada", add, Box::new(move |db| Box::pin(finish(db, end)))).await.unwrap();
    }

    #[tokio::test]
    async fn responses_belong_to_their_owner_and_go_with_their_conversation() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
            for (id, at) in [("a", 5), ("b", 5), ("old", 5), ("new", KEPT_MS)] {
                begin(&store, new(id, at)).await.unwrap();
            }
            assert_eq!(one(&store, "ada", "a").await.unwrap().unwrap().status, "in_progress");
            assert!(one(&store, "eve", "a").await.unwrap().is_none());
            end(&store, "a").await;
            end(&store, "b").await;
            let found = one(&store, "ada", "a").await.unwrap().unwrap();
            assert_eq!(found.kept, Some(("c".to_owned(), "message-a".to_owned())));
            assert_eq!((found.body["status"].as_str(), found.input.len()), (Some("completed"), 1));
            prune(&store, KEPT_MS + 10).await.unwrap();
            let left = async |id: &str| one(&store, "ada", id).await.unwrap().is_some();
            assert_eq!((left("a").await, left("old").await, left("new").await), (true, false, true));
            let conversation = Some("c".to_owned());
            // A response that is being written needs the conversation that it continues.
            let previous = Some(("b".to_owned(), "c".to_owned()));
            begin(&store, NewResponse { previous, ..new("next", KEPT_MS) }).await.unwrap();
            let delete = async |owner: &str, id: &str| delete(&store, owner, id, conversation.clone()).await.unwrap();
            assert_eq!(delete("eve", "a").await, Deletion::Nothing, "it is another user's");
            assert_eq!(delete("ada", "a").await, Deletion::Response, "`b` needs the conversation");
            assert_eq!(delete("ada", "b").await, Deletion::Response, "`next` needs the conversation");
            assert_eq!(delete("ada", "next").await, Deletion::Nothing, "it is being written");
            fail(&store, "ada", "next", &json!({ "status": "failed" })).await.unwrap();
            assert_eq!(delete("ada", "next").await, Deletion::Last("c".to_owned()));
        }
    }

    #[tokio::test]
    async fn instructions_of_a_chain_are_in_its_order() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
            begin(&store, NewResponse { instructions: Some("Be kind.".to_owned()), ..new("z", 5) }).await.unwrap();
            end(&store, "z").await;
            let chain = [("y", "z", None), ("x", "y", Some("Be brief.")), ("other", "z", Some("Rhyme."))];
            for (id, previous, instructions) in chain {
                let previous = Some((previous.to_owned(), "c".to_owned()));
                let instructions = instructions.map(str::to_owned);
                begin(&store, NewResponse { previous, instructions, ..new(id, 5) }).await.unwrap();
            }
            assert_eq!(instructions(&store, "ada", "x").await.unwrap(), ["Be kind.", "Be brief."]);
            assert_eq!(instructions(&store, "ada", "y").await.unwrap(), ["Be kind."]);
            assert!(instructions(&store, "eve", "x").await.unwrap().is_empty());
        }
    }

    #[tokio::test]
    async fn a_response_goes_with_its_message() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
            begin(&store, new("a", 5)).await.unwrap();
            end(&store, "a").await;
            let there = async || one(&store, "ada", "a").await.unwrap().is_some();
            let change = async |deletion: MessageDeletion| {
                let branch = SetBranch { deletion: Some(deletion), ..SetBranch::default() };
                store.set_branch("ada", "c", branch).await.unwrap();
            };
            let message_id = "message-a".to_owned();
            change(MessageDeletion::Delete { message_id: message_id.clone(), now: 1 }).await;
            assert!(!there().await);
            change(MessageDeletion::Restore { message_id: message_id.clone() }).await;
            assert!(there().await);
            change(MessageDeletion::Delete { message_id, now: 1 }).await;
            store.purge_deleted(KEPT_MS).await.unwrap();
            prune(&store, 10).await.unwrap();
            let count = sql::query_scalar::<i64>("SELECT count(*) FROM openai_responses");
            let left = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap();
            assert_eq!(left, 0);
        }
    }
}
