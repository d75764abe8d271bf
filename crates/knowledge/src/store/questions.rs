//! The table `knowledge_questions`: the questions that were asked of libraries.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The most questions that are kept of a library.
const MOST: i64 = 1_000;

/// A question that was asked of libraries.
#[derive(Clone, Debug)]
pub(crate) struct NewQuestion {
    /// The user who has asked.
    pub(crate) owner: String,
    /// Whether they had an account on this server when they asked. Nothing is stored about one who has been deleted since.
    pub(crate) is_account: bool,
    /// The agent that has searched; empty without one.
    pub(crate) agent_id: String,
    /// The conversation of the agent; empty without one. Nothing is stored about one that is temporary or unknown.
    pub(crate) conversation_id: String,
    pub(crate) text: String,
    /// The libraries, each with the number of passages that were found in it.
    pub(crate) found: Vec<(String, i64)>,
    /// Unix time in milliseconds.
    pub(crate) now: i64,
    /// The time since which the same question counts as repeated.
    pub(crate) repeated_since: i64,
}

/// A question of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuestionRow {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) agent_id: String,
    pub(crate) text: String,
    pub(crate) found: i64,
    pub(crate) asked: i64,
    /// Unix time in milliseconds.
    pub(crate) asked_at: i64,
}

const REPEAT: &str = "
    UPDATE knowledge_questions SET id = $1, found = $7, asked = asked + 1, asked_at = $8
    WHERE id = (SELECT max(id) FROM knowledge_questions WHERE library_id = $2 AND owner = $3 AND agent_id = $4
        AND coalesce(conversation_id, '') = $5 AND question = $6 AND asked_at > $9)";
/// The libraries of attached files have nobody who looks after them.
const INSERT: &str = "
    INSERT INTO knowledge_questions
        (id, library_id, owner, agent_id, conversation_id, question, found, asked, asked_at)
    SELECT $1, id, $3, $4, nullif($5, ''), $6, $7, 1, $8 FROM knowledge_libraries
    WHERE id = $2 AND conversation_id IS NULL
        AND ($5 = '' OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = $5 AND c.expires_at IS NULL))
        AND ($9 = 0 OR EXISTS (SELECT 1 FROM users u WHERE u.id = $3 AND u.deleted_at IS NULL))";
const HAS_ACCOUNT: &str = "SELECT EXISTS (SELECT 1 FROM users WHERE id = $1)";
const TRIM: &str = "
    DELETE FROM knowledge_questions WHERE library_id = $1 AND id <=
        (SELECT id FROM knowledge_questions WHERE library_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
const LIST: &str = "
    SELECT id, owner, agent_id, question, found, asked, asked_at FROM knowledge_questions
    WHERE library_id = $1 AND ($2 = '' OR id < $2) AND ($3 = 0 OR found = 0) ORDER BY id DESC LIMIT $4";
const PURGE: &str = "DELETE FROM knowledge_questions WHERE asked_at <= $1";

/// Returns whether a user has an account on this server.
///
/// # Errors
/// The database failed.
pub(crate) async fn has_account(store: &Store, user_id: &str) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<bool>(HAS_ACCOUNT).bind(user_id);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await
}

/// Stores a question for each of its libraries.
///
/// # Errors
/// The database failed.
pub(crate) async fn add_question(store: &Store, question: NewQuestion) -> Result<(), StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            for (library_id, found) in &question.found {
                add(db, &question, library_id, *found).await?;
            }
            Ok(())
        })
    });
    write.await
}

async fn add(db: &mut Db, question: &NewQuestion, library_id: &str, found: i64) -> Result<(), StoreError> {
    let id = crate::new_id();
    let bound = |statement: &'static str| {
        let NewQuestion { owner, agent_id, conversation_id, text, now, .. } = question;
        let statement = sql::query(statement).bind(&id).bind(library_id).bind(owner).bind(agent_id);
        statement.bind(conversation_id).bind(text).bind(found).bind(*now)
    };
    let repeated = bound(REPEAT).bind(question.repeated_since).execute(&mut *db).await?.rows_affected();
    let insert = bound(INSERT).bind(question.is_account);
    if repeated == 0 && insert.execute(&mut *db).await?.rows_affected() > 0 {
        sql::query(TRIM).bind(library_id).bind(MOST).execute(db).await?;
    }
    Ok(())
}

fn read(row: &Row) -> Result<QuestionRow, StoreError> {
    Ok(QuestionRow {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        agent_id: row.try_get("agent_id")?,
        text: row.try_get("question")?,
        found: row.try_get("found")?,
        asked: row.try_get("asked")?,
        asked_at: row.try_get("asked_at")?,
    })
}

/// Returns at most `most` questions of a library, the newest first: all of them, or those to which nothing was found.
/// `after` is the last one of the page before; empty for the first page.
///
/// # Errors
/// The database failed.
pub(crate) async fn questions(
    store: &Store,
    library_id: &str,
    after: String,
    only_unanswered: bool,
    most: u32,
) -> Result<Vec<QuestionRow>, StoreError> {
    let find = sql::query(LIST).bind(library_id).bind(after).bind(only_unanswered).bind(most);
    store.rows(find, read).await
}

/// Deletes the questions that were asked before a time.
///
/// # Errors
/// The database failed.
pub(crate) async fn purge_questions(store: &Store, before: i64) -> Result<(), StoreError> {
    let purge = sql::query(PURGE).bind(before);
    store.write(move |db| Box::pin(async move { Ok(purge.execute(db).await.map(drop)?) })).await
}
