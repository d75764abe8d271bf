//! The table of running calls of agents. Each function takes their owner.

use crate::running::CallKey;
use ::store::sql;
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};

/// The table. Rows are deleted with their conversation, and all with their owner.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "mcp_server",
    migrations: &[Migration {
        name: "mcp_calls",
        sqlite: include_str!("../migrations/sqlite/0001_mcp_calls.sql"),
        postgres: include_str!("../migrations/postgres/0001_mcp_calls.sql"),
    }],
    tables: &[Table { name: "mcp_calls", key: "owner, session_id, request_id", owner: Some("owner") }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// How long a row may be left by a server that died, in milliseconds: longer than any call.
const KEPT_MS: i64 = 2 * 24 * 60 * 60 * 1_000;

const BEGIN: &str = "
    INSERT INTO mcp_calls (owner, session_id, request_id, conversation_id, started_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (owner, session_id, request_id) DO UPDATE SET conversation_id = $4, started_at = $5";

const CONVERSATION: &str =
    "SELECT conversation_id FROM mcp_calls WHERE owner = $1 AND session_id = $2 AND request_id = $3";

const END: &str = "
    DELETE FROM mcp_calls WHERE owner = $1 AND session_id = $2 AND request_id = $3 AND conversation_id = $4";

const PRUNE: &str = "DELETE FROM mcp_calls WHERE started_at < $1";

/// Stores a call that begins. `now` is Unix time in milliseconds.
pub(crate) async fn begin(store: &Store, key: CallKey, conversation_id: String, now: i64) -> Result<(), StoreError> {
    let insert = sql::query(BEGIN).bind(key.user_id).bind(key.session_id).bind(key.request_id);
    let insert = insert.bind(conversation_id).bind(now);
    store.write(move |db| Box::pin(async move { insert.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

/// Returns the conversation of a running call.
pub(crate) async fn conversation(store: &Store, key: CallKey) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(CONVERSATION).bind(key.user_id).bind(key.session_id).bind(key.request_id);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}

/// Forgets a call that has ended. If another call has been stored with the same key, it stays.
pub(crate) async fn end(store: &Store, key: CallKey, conversation_id: String) -> Result<(), StoreError> {
    let delete = sql::query(END).bind(key.user_id).bind(key.session_id).bind(key.request_id).bind(conversation_id);
    store.write(move |db| Box::pin(async move { delete.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

/// Deletes what servers that died have left, of all owners.
pub(crate) async fn prune(store: &Store, now: i64) -> Result<(), StoreError> {
    let prune = sql::query(PRUNE).bind(now - KEPT_MS);
    store.write(move |db| Box::pin(async move { prune.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::store::{AddMessages, NewMessage, Schema};
    use std::time::Duration;
    use wire::UiMessage;

    const ALL_TABLES: [CapabilityTables; 1] = [TABLES];

    fn key(user: &str, session: &str, request: &str) -> CallKey {
        CallKey { user_id: user.to_owned(), session_id: session.to_owned(), request_id: request.to_owned() }
    }

    #[tokio::test]
    async fn running_calls_are_found_by_their_owner() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
            let message = UiMessage::user("m", "Hi");
            let add = AddMessages {
                conversation_id: "c".to_owned(),
                page_id: String::new(),
                agent_id: "helper".to_owned(),
                title: "Hi".to_owned(),
                insert: vec![NewMessage { parent_id: None, message }],
                now: 1,
            };
            store.add_branch("ada", add, Box::new(|_| Box::pin(async { Ok(()) }))).await.unwrap();
            let own = key("ada", "s", "1");
            for now in [5, 10] {
                begin(&store, own.clone(), "c".to_owned(), now).await.unwrap();
            }
            let found = async |key: CallKey| conversation(&store, key).await.unwrap();
            assert_eq!(found(own.clone()).await.as_deref(), Some("c"));
            for other in [key("eve", "s", "1"), key("ada", "t", "1"), key("ada", "s", "2")] {
                assert_eq!(found(other).await, None);
            }
            prune(&store, 10 + KEPT_MS).await.unwrap();
            assert!(found(own.clone()).await.is_some());
            prune(&store, 11 + KEPT_MS).await.unwrap();
            assert_eq!(found(own.clone()).await, None);
            begin(&store, own.clone(), "c".to_owned(), 20).await.unwrap();
            end(&store, own.clone(), "other".to_owned()).await.unwrap();
            assert_eq!(found(own.clone()).await.as_deref(), Some("c"));
            end(&store, own.clone(), "c".to_owned()).await.unwrap();
            assert_eq!(found(own).await, None);
        }
    }
}
