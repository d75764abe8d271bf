//! The table `memory_facts`.

use super::{damaged, users, with_deleted};
use crate::fact::{Category, Fact, Source, Topic, comparable};
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit};

/// The most facts in a list: those of all agents with facts of their own, too.
const MAX_LISTED: i64 = 5_000;

/// A fact to store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewFact {
    pub(crate) content: String,
    pub(crate) category: Category,
    pub(crate) topic: Topic,
    pub(crate) confidence: f64,
    pub(crate) message_id: String,
    /// The ids of facts that it replaces.
    pub(crate) replaces: Vec<String>,
}

/// A change of a fact by its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FactChange {
    pub(crate) content: String,
    pub(crate) category: Category,
}

/// The user, agent and conversation for which facts are added.
pub(crate) struct FactTarget<'a> {
    pub(crate) owner: &'a str,
    pub(crate) agent_id: &'a str,
    pub(crate) conversation_id: &'a str,
    /// The most facts of the user with this agent.
    pub(crate) most: u32,
}

const LIST: &str = with_deleted!(
    "SELECT conversation_id FROM memory_facts WHERE owner = $1",
    "SELECT f.id, f.agent_id, f.content, f.category, f.topic, f.confidence, f.conversation_id, f.message_id,
        f.created_at, f.updated_at, f.edited, c.title, c.page_id
     FROM memory_facts f JOIN conversations c ON c.id = f.conversation_id
     WHERE f.owner = $1 AND f.retired_by IS NULL AND c.deleted_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM deleted d WHERE d.conversation_id = f.conversation_id AND d.id = f.message_id)
     ORDER BY f.confidence DESC, f.updated_at DESC, f.id LIMIT $2"
);

const INSERT: &str = "
    INSERT INTO memory_facts (id, owner, agent_id, content, category, topic, confidence, conversation_id, message_id,
        created_at, updated_at, edited, update_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, 0, $11)";

const MERGE: &str = "
    UPDATE memory_facts SET updated_at = $3, confidence = CASE WHEN confidence < $4 THEN $4 ELSE confidence END
    WHERE owner = $1 AND id = $2 AND retired_by IS NULL";

const RETIRE: &str = "
    UPDATE memory_facts SET retired_by = $4 WHERE owner = $1 AND agent_id = $2 AND id = $3 AND retired_by IS NULL";

/// The least certain facts, and of equally certain ones the oldest, beyond a number.
const RETIRE_REST: &str = "
    UPDATE memory_facts SET retired_by = $4
    WHERE owner = $1 AND agent_id = $2 AND retired_by IS NULL AND id NOT IN (
        SELECT id FROM memory_facts WHERE owner = $1 AND agent_id = $2 AND retired_by IS NULL
        ORDER BY confidence DESC, updated_at DESC, id DESC LIMIT $3)";

const INSERT_UPDATE: &str = "
    INSERT INTO memory_updates (id, owner, conversation_id, created_at) VALUES ($1, $2, $3, $4)";

const CHANGE: &str = "
    UPDATE memory_facts SET content = $3, category = $4, updated_at = $5, edited = 1, confidence = 1
    WHERE owner = $1 AND id = $2 AND retired_by IS NULL";

const DELETE: &str = "DELETE FROM memory_facts WHERE owner = $1 AND id = $2";

/// Returns the facts of a user, the most certain ones first. Those whose messages or conversations
/// are deleted are not among them.
pub(crate) async fn facts(db: &mut Db, owner: &str) -> Result<Vec<Fact>, StoreError> {
    let rows = sql::query(LIST).bind(owner).bind(MAX_LISTED).fetch_all(db).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Fact, StoreError> {
    Ok(Fact {
        id: row.try_get("id")?,
        agent_id: row.try_get("agent_id")?,
        content: row.try_get("content")?,
        category: Category::named(row.try_get("category")?).ok_or_else(damaged)?,
        topic: Topic::named(row.try_get("topic")?).ok_or_else(damaged)?,
        confidence: row.try_get("confidence")?,
        source: Source {
            conversation_id: row.try_get("conversation_id")?,
            message_id: row.try_get("message_id")?,
            title: row.try_get("title")?,
            page_id: row.try_get("page_id")?,
        },
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        is_edited: row.try_get("edited")?,
    })
}

/// Stores facts as one update that can be undone, with its row in the audit log. A fact that is
/// stored already only gets the confidence of the new one. If nothing changes, nothing is recorded.
pub(crate) async fn add_facts(
    db: &mut Db,
    target: &FactTarget<'_>,
    new: &[NewFact],
    audit: AuditEntry,
    now: i64,
) -> Result<(), StoreError> {
    let FactTarget { owner, agent_id, conversation_id, most } = *target;
    users::lock(db, owner).await?;
    let mut known = facts(db, owner).await?;
    known.retain(|fact| fact.agent_id == agent_id);
    let update_id = crate::new_id();
    let mut is_changed = false;
    for fact in new {
        let wanted = comparable(&fact.content);
        let same = known.iter().find(|known| comparable(&known.content) == wanted).map(|known| known.id.as_str());
        for old in fact.replaces.iter().filter(|old| Some(old.as_str()) != same) {
            let retire = sql::query(RETIRE).bind(owner).bind(agent_id).bind(old).bind(&update_id);
            is_changed |= retire.execute(&mut *db).await?.rows_affected() > 0;
        }
        if let Some(same) = same {
            sql::query(MERGE).bind(owner).bind(same).bind(now).bind(fact.confidence).execute(&mut *db).await?;
            continue;
        }
        is_changed = true;
        let insert = sql::query(INSERT).bind(crate::new_id()).bind(owner).bind(agent_id).bind(&fact.content);
        let insert = insert.bind(fact.category.name()).bind(fact.topic.name()).bind(fact.confidence);
        let insert = insert.bind(conversation_id).bind(&fact.message_id).bind(now).bind(&update_id);
        insert.execute(&mut *db).await?;
    }
    if !is_changed {
        return Ok(());
    }
    sql::query(RETIRE_REST).bind(owner).bind(agent_id).bind(most).bind(&update_id).execute(&mut *db).await?;
    sql::query(INSERT_UPDATE).bind(&update_id).bind(owner).bind(conversation_id).bind(now).execute(&mut *db).await?;
    append_audit(db, vec![audit]).await
}

/// Changes a fact of a user. Returns false if there is none.
pub(crate) async fn change_fact(
    store: &Store,
    (owner, id): (&str, &str),
    change: FactChange,
    audit: AuditEntry,
    now: i64,
) -> Result<bool, StoreError> {
    let update = sql::query(CHANGE).bind(owner).bind(id).bind(change.content).bind(change.category.name()).bind(now);
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            let is_changed = update.execute(&mut *db).await?.rows_affected() > 0;
            if is_changed {
                users::changed(db, &owner).await?;
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_changed)
        })
    });
    write.await
}

/// Deletes a fact of a user. Returns false if there is none.
pub(crate) async fn delete_fact(store: &Store, owner: &str, id: &str, audit: AuditEntry) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE).bind(owner).bind(id);
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            let is_deleted = delete.execute(&mut *db).await?.rows_affected() > 0;
            if is_deleted {
                users::changed(db, &owner).await?;
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_deleted)
        })
    });
    write.await
}

/// Deletes all facts about a user.
pub(crate) async fn delete_all(store: &Store, owner: &str, audit: AuditEntry) -> Result<(), StoreError> {
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query("DELETE FROM memory_facts WHERE owner = $1").bind(&owner).execute(&mut *db).await?;
            sql::query("DELETE FROM memory_updates WHERE owner = $1").bind(&owner).execute(&mut *db).await?;
            users::changed(db, &owner).await?;
            append_audit(db, vec![audit]).await
        })
    });
    write.await
}
