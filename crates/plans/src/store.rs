//! The table of plans. Each function takes whose conversation it is.

use ::store::sql::{self, Db, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use web::times::now_millis;
use wire::plan::{Plan, Todo};

/// The table. Its rows are deleted with their conversation.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "plans",
    migrations: &[Migration {
        name: "plans",
        sqlite: include_str!("../migrations/sqlite/0001_plans.sql"),
        postgres: include_str!("../migrations/postgres/0001_plans.sql"),
    }],
    tables: &[Table { name: "plans", key: "conversation_id, message_id", owner: None }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The most plans of a conversation. The oldest are deleted: they are those of answers long ago, after
/// which the agent has written newer plans.
const MAX_PLANS: i64 = 100;

/// The plan of the active branch: the newest message from the head upwards that has one. A parent is older
/// than its children, so the highest number is the newest. Without a plan in the conversation nothing is
/// searched.
const CURRENT: &str = "
    WITH RECURSIVE branch (no, id, parent_id) AS (
        SELECT m.no, m.id, m.parent_id
        FROM conversations c JOIN messages m ON m.conversation_id = c.id AND m.id = c.head
        WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
            AND EXISTS (SELECT 1 FROM plans WHERE conversation_id = $2)
        UNION
        SELECT m.no, m.id, m.parent_id
        FROM branch b JOIN messages m ON m.conversation_id = $2 AND m.id = b.parent_id
    )
    SELECT p.message_id, p.revision, p.todos, p.is_read
    FROM branch b JOIN plans p ON p.conversation_id = $2 AND p.message_id = b.id
    ORDER BY b.no DESC LIMIT 1";

const CONVERSATION: &str = "SELECT agent_id FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL";

const RUN: &str = "
    SELECT r.message_id FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL AND r.id = $3 AND r.status = 'running'";

const WRITE: &str = "
    INSERT INTO plans (conversation_id, message_id, revision, todos, is_read, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (conversation_id, message_id) DO UPDATE SET
        revision = excluded.revision, todos = excluded.todos, is_read = excluded.is_read, changed_at = excluded.changed_at";

const MARK_READ: &str = "UPDATE plans SET is_read = 1 WHERE conversation_id = $1 AND message_id = $2 AND revision = $3";

const DELETE_OLD: &str = "
    DELETE FROM plans WHERE conversation_id = $1 AND message_id IN (
        SELECT message_id FROM plans WHERE conversation_id = $1 ORDER BY changed_at DESC, message_id DESC LIMIT 1000 OFFSET $2)";

/// A conversation and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    pub(crate) owner: String,
    pub(crate) id: String,
}

/// The plan of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPlan {
    /// The message whose answer wrote it.
    message_id: String,
    pub(crate) plan: Plan,
    /// Whether the model has read this state.
    pub(crate) is_read: bool,
}

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// It is stored.
    Written(Plan),
    /// The plan has another state, which the writer does not know.
    Changed(Plan),
    /// There is no such conversation, run or plan.
    Gone,
}

/// Returns the agent of a conversation; `None` if the user has no such conversation.
pub(crate) async fn find_agent(store: &Store, conversation: Conversation) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(CONVERSATION).bind(conversation.owner).bind(conversation.id);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await
}

/// Returns the plan of the active branch.
pub(crate) async fn current(store: &Store, conversation: Conversation) -> Result<Option<StoredPlan>, StoreError> {
    store.read(move |db| Box::pin(async move { find(db, &conversation).await })).await
}

async fn find(db: &mut Db, conversation: &Conversation) -> Result<Option<StoredPlan>, StoreError> {
    let row =
        sql::query(CURRENT).bind(conversation.owner.clone()).bind(conversation.id.clone()).fetch_optional(db).await?;
    row.as_ref().map(stored_plan).transpose()
}

fn stored_plan(row: &Row) -> Result<StoredPlan, StoreError> {
    let todos: String = row.try_get("todos")?;
    Ok(StoredPlan {
        message_id: row.try_get("message_id")?,
        plan: Plan { revision: row.try_get("revision")?, todos: serde_json::from_str(&todos).unwrap_or_default() },
        is_read: row.try_get::<i64>("is_read")? != 0,
    })
}

/// Stores a plan that the model has written in a run, unless the user has changed the plan since the model
/// last read it.
pub(crate) async fn write_of_run(
    store: &Store,
    conversation: Conversation,
    run_id: String,
    todos: Vec<Todo>,
) -> Result<WriteOutcome, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            let run = sql::query_scalar::<String>(RUN)
                .bind(conversation.owner.clone())
                .bind(conversation.id.clone())
                .bind(run_id);
            let Some(message_id) = run.fetch_optional(&mut *db).await? else { return Ok(WriteOutcome::Gone) };
            if let Some(known) = find(db, &conversation).await?.filter(|known| !known.is_read) {
                mark_read_in(db, &conversation, &known).await?;
                return Ok(WriteOutcome::Changed(known.plan));
            }
            let plan = insert(db, &conversation, &message_id, todos, true).await?;
            sql::query(DELETE_OLD).bind(conversation.id).bind(MAX_PLANS).execute(db).await?;
            Ok(WriteOutcome::Written(plan))
        })
    });
    write.await
}

/// Stores a change of the user, who has seen the plan in the state `revision`.
pub(crate) async fn write_of_user(
    store: &Store,
    conversation: Conversation,
    revision: String,
    todos: Vec<Todo>,
) -> Result<WriteOutcome, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            match find(db, &conversation).await? {
                None => Ok(WriteOutcome::Gone),
                Some(known) if known.plan.revision != revision => Ok(WriteOutcome::Changed(known.plan)),
                Some(known) => {
                    Ok(WriteOutcome::Written(insert(db, &conversation, &known.message_id, todos, false).await?))
                }
            }
        })
    });
    write.await
}

/// Records that the model reads this state from now on.
pub(crate) async fn mark_read(store: &Store, conversation: Conversation, known: StoredPlan) -> Result<(), StoreError> {
    store.write(move |db| Box::pin(async move { mark_read_in(db, &conversation, &known).await })).await
}

async fn mark_read_in(db: &mut Db, conversation: &Conversation, known: &StoredPlan) -> Result<(), StoreError> {
    let mark = sql::query(MARK_READ).bind(conversation.id.clone()).bind(known.message_id.clone());
    mark.bind(known.plan.revision.clone()).execute(db).await?;
    Ok(())
}

async fn insert(
    db: &mut Db,
    conversation: &Conversation,
    message_id: &str,
    todos: Vec<Todo>,
    is_read: bool,
) -> Result<Plan, StoreError> {
    // Random, so that no text of a conversation happens to contain it.
    let plan = Plan { revision: uuid::Uuid::new_v4().simple().to_string()[..16].to_owned(), todos };
    let json = serde_json::to_string(&plan.todos)
        .map_err(|_| StoreError::Invalid("the steps of a plan cannot be written as JSON"))?;
    let write = sql::query(WRITE).bind(conversation.id.clone()).bind(message_id.to_owned()).bind(plan.revision.clone());
    write.bind(json).bind(i64::from(is_read)).bind(now_millis()).execute(db).await?;
    Ok(plan)
}
