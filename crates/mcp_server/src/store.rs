//! The tables of running calls of agents, and of the questions that they have sent to their clients. Each function takes the owner.

use crate::asking::form::OpenCall;
use crate::running::CallKey;
use ::store::sql::{self, Query, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};

/// The tables. Rows are deleted with their conversation, and all with their owner.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "mcp_server",
    migrations: &[
        Migration {
            name: "mcp_calls",
            sqlite: include_str!("../migrations/sqlite/0001_mcp_calls.sql"),
            postgres: include_str!("../migrations/postgres/0001_mcp_calls.sql"),
        },
        Migration {
            name: "mcp_client_questions",
            sqlite: include_str!("../migrations/sqlite/0002_mcp_client_questions.sql"),
            postgres: include_str!("../migrations/postgres/0002_mcp_client_questions.sql"),
        },
    ],
    tables: &[
        Table { name: "mcp_calls", key: "owner, session_id, request_id", owner: Some("owner") },
        Table { name: "mcp_client_questions", key: "owner, id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// How long a row may be left by a server that died, in milliseconds: longer than any call.
const KEPT_MS: i64 = 2 * 24 * 60 * 60 * 1_000;

/// The most open questions of a user. The call of each of them waits, and reads the database meanwhile.
const MAX_OPEN: i64 = 20;

/// How long a question counts, in milliseconds: as long as a call waits at most. What servers that died have left
/// counts no longer.
const COUNTED_MS: i64 = 60 * 60 * 1_000;

const BEGIN: &str = "
    INSERT INTO mcp_calls (owner, session_id, request_id, conversation_id, started_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (owner, session_id, request_id) DO UPDATE SET conversation_id = $4, started_at = $5";

const CONVERSATION: &str =
    "SELECT conversation_id FROM mcp_calls WHERE owner = $1 AND session_id = $2 AND request_id = $3";

const END: &str = "
    DELETE FROM mcp_calls WHERE owner = $1 AND session_id = $2 AND request_id = $3 AND conversation_id = $4";

const CANCEL: &str = "DELETE FROM mcp_calls WHERE owner = $1 AND session_id = $2 AND request_id = $3";

const PRUNE: &str = "DELETE FROM mcp_calls WHERE started_at < $1";

const ASK: &str = "
    INSERT INTO mcp_client_questions
        (owner, id, session_id, request_id, conversation_id, tool_call_id, approval_id, input_hash, asked_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
    WHERE (SELECT count(*) FROM mcp_client_questions WHERE owner = $1 AND asked_at > $10) < $11
        AND EXISTS (SELECT 1 FROM mcp_calls WHERE owner = $1 AND session_id = $3 AND request_id = $4)";

const STATE: &str = "SELECT is_answered FROM mcp_client_questions WHERE owner = $1 AND id = $2";

const QUESTION: &str = "
    SELECT conversation_id, tool_call_id, approval_id, input_hash FROM mcp_client_questions
    WHERE owner = $1 AND session_id = $2 AND id = $3 AND is_answered = 0";

const CLAIM: &str = "UPDATE mcp_client_questions SET is_answered = 1 WHERE owner = $1 AND id = $2 AND is_answered = 0";

const END_QUESTION: &str = "DELETE FROM mcp_client_questions WHERE owner = $1 AND id = $2";

const END_UNANSWERED: &str = "DELETE FROM mcp_client_questions WHERE owner = $1 AND id = $2 AND is_answered = 0";

const END_QUESTIONS: &str = "DELETE FROM mcp_client_questions WHERE owner = $1 AND session_id = $2 AND request_id = $3";

const PRUNE_QUESTIONS: &str = "DELETE FROM mcp_client_questions WHERE asked_at < $1";

/// A question that a call sends to its client.
pub(crate) struct NewQuestion {
    pub(crate) key: CallKey,
    /// The id of the request to the client.
    pub(crate) id: String,
    pub(crate) conversation_id: String,
    /// The call that waits for the user.
    pub(crate) call: OpenCall,
}

/// The state of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionState {
    /// There is no answer.
    Open,
    /// An answer is being recorded.
    Answered,
    /// It is not asked any more.
    Ended,
}

/// A question that is open.
#[derive(Debug, PartialEq)]
pub(crate) struct AskedQuestion {
    pub(crate) conversation_id: String,
    /// The call that waits for the user.
    pub(crate) call: OpenCall,
}

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

/// Forgets a call that is cancelled, and ends its questions. The server that runs it asks no more of them.
pub(crate) async fn cancel(store: &Store, key: CallKey) -> Result<(), StoreError> {
    let CallKey { user_id, session_id, request_id } = &key;
    let delete = |from: &'static str| {
        sql::query(from).bind(user_id.as_str()).bind(session_id.as_str()).bind(request_id.as_str())
    };
    write_both(store, delete(CANCEL), delete(END_QUESTIONS)).await
}

/// Forgets a call that has ended. If another call has been stored with the same key, it stays.
pub(crate) async fn end(store: &Store, key: CallKey, conversation_id: String) -> Result<(), StoreError> {
    let delete = sql::query(END).bind(key.user_id).bind(key.session_id).bind(key.request_id).bind(conversation_id);
    store.write(move |db| Box::pin(async move { delete.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

/// Deletes the rows of all owners that were left by servers that died.
pub(crate) async fn prune(store: &Store, now: i64) -> Result<(), StoreError> {
    let [calls, questions] = [PRUNE, PRUNE_QUESTIONS].map(|prune| sql::query(prune).bind(now - KEPT_MS));
    write_both(store, calls, questions).await
}

/// Runs two statements in one transaction.
async fn write_both(store: &Store, first: Query, second: Query) -> Result<(), StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            first.execute(&mut *db).await?;
            second.execute(db).await?;
            Ok(())
        })
    });
    write.await
}

/// Stores a question. Returns false if the user has too many open ones, or the call is not known: it was cancelled. `now` is
/// Unix time in milliseconds.
pub(crate) async fn ask(store: &Store, new: NewQuestion, now: i64) -> Result<bool, StoreError> {
    let NewQuestion { key: CallKey { user_id, session_id, request_id }, id, conversation_id, call } = new;
    let insert = sql::query(ASK).bind(user_id).bind(id).bind(session_id).bind(request_id).bind(conversation_id);
    let insert = insert.bind(call.tool_call_id).bind(call.approval_id).bind(call.input_hash).bind(now);
    let insert = insert.bind(now - COUNTED_MS).bind(MAX_OPEN);
    store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await?.rows_affected() > 0) })).await
}

/// Returns the state of a question.
pub(crate) async fn question_state(store: &Store, owner: &str, id: &str) -> Result<QuestionState, StoreError> {
    let find = sql::query_scalar::<i64>(STATE).bind(owner).bind(id);
    let is_answered = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    Ok(match is_answered {
        Some(0) => QuestionState::Open,
        Some(_) => QuestionState::Answered,
        None => QuestionState::Ended,
    })
}

/// Returns a question of a session that is open and has no answer.
pub(crate) async fn question(
    store: &Store,
    owner: &str,
    session_id: &str,
    id: &str,
) -> Result<Option<AskedQuestion>, StoreError> {
    store.optional_row(sql::query(QUESTION).bind(owner).bind(session_id).bind(id), asked_question).await
}

fn asked_question(row: &Row) -> Result<AskedQuestion, StoreError> {
    let call = OpenCall {
        tool_call_id: row.try_get("tool_call_id")?,
        approval_id: row.try_get("approval_id")?,
        input_hash: row.try_get("input_hash")?,
    };
    Ok(AskedQuestion { conversation_id: row.try_get("conversation_id")?, call })
}

/// Stores that an answer has come, which is recorded next. Returns false if there was one before.
pub(crate) async fn claim(store: &Store, owner: &str, id: &str) -> Result<bool, StoreError> {
    let claim = sql::query(CLAIM).bind(owner).bind(id);
    store.write(move |db| Box::pin(async move { Ok(claim.execute(db).await?.rows_affected() > 0) })).await
}

/// Ends a question: its call goes on.
pub(crate) async fn end_question(store: &Store, owner: &str, id: &str) -> Result<(), StoreError> {
    let delete = sql::query(END_QUESTION).bind(owner).bind(id);
    store.write(move |db| Box::pin(async move { delete.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

/// Ends a question unless an answer is being recorded, whose request ends it afterwards.
pub(crate) async fn end_unanswered(store: &Store, owner: &str, id: &str) -> Result<(), StoreError> {
    let delete = sql::query(END_UNANSWERED).bind(owner).bind(id);
    store.write(move |db| Box::pin(async move { delete.execute(db).await.map(drop).map_err(StoreError::from) })).await
}

#[cfg(test)]
mod kill_tests;

#[cfg(test)]
mod tests {
    use super::kill_tests::add_conversation;
    use super::*;
    use ::store::Schema;
    use std::time::Duration;

    const ALL_TABLES: [CapabilityTables; 1] = [TABLES];

    fn key(user: &str, session: &str, request: &str) -> CallKey {
        CallKey { user_id: user.to_owned(), session_id: session.to_owned(), request_id: request.to_owned() }
    }

    #[tokio::test]
    async fn running_calls_are_found_by_their_owner() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
            add_conversation(&store).await;
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

    #[tokio::test]
    async fn questions_have_one_answer_of_their_owner() {
        for url in test_postgres::databases_of_each_kind().await {
            let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
            add_conversation(&store).await;
            let call =
                OpenCall { tool_call_id: "t".to_owned(), approval_id: "p".to_owned(), input_hash: "h".to_owned() };
            let put = async |id: &str, now: i64| {
                let (id, conversation_id) = (id.to_owned(), "c".to_owned());
                let new = NewQuestion { key: key("ada", "s", "1"), id, conversation_id, call: call.clone() };
                ask(&store, new, now).await.unwrap()
            };
            assert!(!put("q", 5).await, "the call is not known");
            begin(&store, key("ada", "s", "1"), "c".to_owned(), 20).await.unwrap();
            let state = async |id: &str| question_state(&store, "ada", id).await.unwrap();
            assert!(put("q", 5).await);
            for (owner, session, id) in [("eve", "s", "q"), ("ada", "t", "q"), ("ada", "s", "r")] {
                assert_eq!(question(&store, owner, session, id).await.unwrap(), None, "{owner} {session} {id}");
            }
            assert!(!claim(&store, "eve", "q").await.unwrap());
            assert_eq!(state("q").await, QuestionState::Open);
            let asked = AskedQuestion { conversation_id: "c".to_owned(), call: call.clone() };
            assert_eq!(question(&store, "ada", "s", "q").await.unwrap(), Some(asked));
            assert!(claim(&store, "ada", "q").await.unwrap());
            assert!(!claim(&store, "ada", "q").await.unwrap());
            // While the answer is recorded, nobody else answers, and another answer does not end the question.
            assert_eq!(question(&store, "ada", "s", "q").await.unwrap(), None);
            end_unanswered(&store, "ada", "q").await.unwrap();
            assert_eq!(state("q").await, QuestionState::Answered);
            end_question(&store, "eve", "q").await.unwrap();
            assert_eq!(state("q").await, QuestionState::Answered);
            end_question(&store, "ada", "q").await.unwrap();
            assert_eq!(state("q").await, QuestionState::Ended);
            assert!(put("q1", 10).await);
            end_unanswered(&store, "eve", "q1").await.unwrap();
            assert_eq!(state("q1").await, QuestionState::Open);
            end_unanswered(&store, "ada", "q1").await.unwrap();
            assert_eq!(state("q1").await, QuestionState::Ended);
            assert!(put("q2", 10).await);
            cancel(&store, key("ada", "s", "2")).await.unwrap();
            prune(&store, 10 + KEPT_MS).await.unwrap();
            assert_eq!(state("q2").await, QuestionState::Open);
            cancel(&store, key("ada", "s", "1")).await.unwrap();
            assert_eq!(state("q2").await, QuestionState::Ended);
            assert!(!put("q3", 10).await, "the call was cancelled");
            begin(&store, key("ada", "s", "1"), "c".to_owned(), 20).await.unwrap();
            assert!(put("q3", 10).await);
            prune(&store, 11 + KEPT_MS).await.unwrap();
            assert_eq!(state("q3").await, QuestionState::Ended);
            for number in 0..MAX_OPEN {
                assert!(put(&format!("many-{number}"), 10).await, "{number}");
            }
            assert!(!put("one more", 10 + COUNTED_MS - 1).await);
            // Those that a server has left do not count for ever.
            assert!(put("one more", 10 + COUNTED_MS).await);
        }
    }
}
