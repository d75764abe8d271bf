//! The table `workflow_conversation_runs`.

use super::{RunCaller, json, to_json};
use crate::store::tasks::MAY_ANSWER;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use chat::Caller;
use contract::Exposure;

/// The conversation to which a run belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConversationLink {
    pub(crate) run_id: String,
    pub(crate) owner: String,
    /// `None` if the agent was asked outside of a conversation.
    pub(crate) conversation_id: Option<String>,
    /// The key of the call that has started the run.
    pub(crate) call_key: Option<String>,
    pub(crate) caller: RunCaller,
    /// Whether the agent continues when the run has ended.
    pub(crate) goes_on: bool,
    /// The exposure that the result adds to the agent that reads it.
    pub(crate) exposure: Exposure,
    pub(crate) is_delivered: bool,
}

/// A conversation that is not stored, such as that of a trial, gets no result.
const INSERT: &str = "
    INSERT INTO workflow_conversation_runs
        (run_id, owner, conversation_id, call_key, caller, goes_on, exposure, is_delivered)
    VALUES ($1, $2, (SELECT id FROM conversations WHERE id = $3 AND owner = $2), $4, $5, $6, $7, 0)";

const LINK: &str = "
    SELECT run_id, owner, conversation_id, call_key, caller, goes_on, exposure, is_delivered
    FROM workflow_conversation_runs WHERE run_id = $1";

const OF_CALL: &str = "SELECT run_id FROM workflow_conversation_runs WHERE owner = $1 AND call_key = $2";

const IS_TO_DELIVER: &str = "
    SELECT EXISTS (SELECT 1 FROM workflow_conversation_runs
    WHERE run_id = $1 AND conversation_id IS NOT NULL AND is_delivered = 0)";

const SET_DELIVERED: &str = "UPDATE workflow_conversation_runs SET is_delivered = $2 WHERE run_id = $1";

/// The conversations of `$3` with a run, or a run below it, that asks a user.
const WAITING: &str = "
    SELECT DISTINCT link.conversation_id AS id FROM workflow_conversation_runs AS link
    JOIN workflow_runs AS below ON below.root_id = link.run_id AND below.ended_at IS NULL
    JOIN workflow_tasks ON workflow_tasks.run_id = below.id
    WHERE link.owner = $1 AND workflow_tasks.state = 'open' AND ";

const AMONG: Sql =
    Sql::pair(" AND link.conversation_id IN (SELECT value FROM json_each($3))", " AND link.conversation_id = ANY($3)");

impl ConversationLink {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            run_id: row.try_get("run_id")?,
            owner: row.try_get("owner")?,
            conversation_id: row.try_get("conversation_id")?,
            call_key: row.try_get("call_key")?,
            caller: json(row.try_get("caller")?)?,
            goes_on: row.try_get("goes_on")?,
            exposure: json(row.try_get("exposure")?)?,
            is_delivered: row.try_get("is_delivered")?,
        })
    }
}

/// Stores to which conversation a run belongs.
pub(crate) async fn insert_link(db: &mut Db, link: &ConversationLink) -> Result<(), StoreError> {
    let insert = sql::query(INSERT).bind(&link.run_id).bind(&link.owner).bind(&link.conversation_id);
    let insert = insert.bind(&link.call_key).bind(to_json(&link.caller)).bind(i64::from(link.goes_on));
    insert.bind(to_json(&link.exposure)).execute(db).await?;
    Ok(())
}

/// Returns to which conversation a run belongs.
pub(crate) async fn link(store: &Store, run_id: &str) -> Result<Option<ConversationLink>, StoreError> {
    let find = sql::query(LINK).bind(run_id);
    store.optional_row(find, ConversationLink::read).await
}

/// Returns the run that a call has started before.
pub(crate) async fn run_of_call(store: &Store, owner: &str, key: &str) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(OF_CALL).bind(owner).bind(key);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}

/// Returns whether a conversation is to get the result of a run.
pub(crate) async fn is_to_deliver(db: &mut Db, run_id: &str) -> Result<bool, StoreError> {
    let found: Option<bool> = sql::query_scalar(IS_TO_DELIVER).bind(run_id).fetch_optional(db).await?;
    Ok(found.unwrap_or_default())
}

/// Stores that the conversation has the result.
pub(crate) async fn set_delivered(db: &mut Db, run_id: &str) -> Result<(), StoreError> {
    sql::query(SET_DELIVERED).bind(run_id).bind(1_i64).execute(db).await?;
    Ok(())
}

/// Stores that the conversation is to get a further result, because the run continues.
pub(crate) async fn reopen_link(db: &mut Db, run_id: &str) -> Result<(), StoreError> {
    sql::query(SET_DELIVERED).bind(run_id).bind(0_i64).execute(db).await?;
    Ok(())
}

/// Returns those of the caller's conversations in which a run asks the caller something.
pub(crate) async fn waiting_conversations(
    store: &Store,
    caller: &Caller,
    ids: Vec<String>,
) -> Result<Vec<String>, StoreError> {
    let mut query = sql::QueryBuilder::new(WAITING);
    query.push(MAY_ANSWER).push(AMONG);
    let query = query.build().bind(&caller.user_id).bind(caller.roles().to_vec()).bind(ids);
    store.rows(query, |row| Ok(row.try_get("id")?)).await
}
