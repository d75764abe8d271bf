//! Cases and their versions.

use super::UNREADABLE;
use super::consents::hold_consent;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// The most cases of a version.
const MAX_CASES: usize = 5_000;
/// The most cases of all versions together.
const MAX_ROWS: i64 = 20_000;

/// Locks the dataset, so that changes follow each other.
const LOCK: &str = "UPDATE eval_datasets SET updated_at = $2 WHERE id = $1";
const NEXT_VERSION: &str = "UPDATE eval_datasets SET version = version + 1 WHERE id = $1";
const VERSION: &str = "SELECT version FROM eval_datasets WHERE id = $1";
const ROWS: &str = "SELECT count(*) FROM eval_cases WHERE dataset_id = $1";
const CURRENT_IDS: &str = "SELECT case_id FROM eval_cases WHERE dataset_id = $1 AND removed_in IS NULL";

/// Finds the case of a user that a new version may replace. An unmasked version replaces only an unmasked one: that is
/// deleted when the user withdraws, and an administrator may have kept the answer again since, masked.
const IS_REPLACEABLE: &str = "
    SELECT count(*) FROM eval_cases
    WHERE dataset_id = $1 AND case_id = $2 AND owner = $3 AND removed_in IS NULL AND (is_masked = 0 OR is_masked = $4)";

const INSERT: &str = "
    INSERT INTO eval_cases
        (id, dataset_id, case_id, added_in, owner, conversation_id, message_id, is_masked, created_by, created_at, content)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

const REMOVE: &str =
    "UPDATE eval_cases SET removed_in = $3 WHERE dataset_id = $1 AND case_id = $2 AND removed_in IS NULL";

const BY_SOURCE: &str = "SELECT id FROM eval_cases WHERE dataset_id = $1 AND message_id = $2 AND removed_in IS NULL";

const CURRENT: &str = "
    SELECT id, case_id, owner, conversation_id, message_id, is_masked, created_by, created_at, content
    FROM eval_cases WHERE dataset_id = $1 AND removed_in IS NULL ORDER BY id LIMIT $2";

const CURRENT_CASE: &str = "
    SELECT id, case_id, owner, conversation_id, message_id, is_masked, created_by, created_at, content
    FROM eval_cases WHERE dataset_id = $1 AND id = $2 AND removed_in IS NULL";

const OF_VERSION: &str = "
    SELECT id, case_id, owner, conversation_id, message_id, is_masked, created_by, created_at, content
    FROM eval_cases WHERE dataset_id = $1 AND added_in <= $2 AND (removed_in IS NULL OR removed_in > $2)
    ORDER BY case_id LIMIT $3";

const CASE_OF_VERSION: &str = "
    SELECT id, case_id, owner, conversation_id, message_id, is_masked, created_by, created_at, content
    FROM eval_cases
    WHERE dataset_id = $1 AND case_id = $3 AND added_in <= $2 AND (removed_in IS NULL OR removed_in > $2)";

/// A case of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EvaluationCase")]
pub(crate) struct CaseRow {
    /// The id of this version of the case.
    pub(crate) id: String,
    /// The id that stays the same when the case changes.
    pub(crate) case_id: String,
    /// The user whose conversation it comes from (id); empty if it comes from none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) owner: String,
    /// The conversation that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation_id: Option<String>,
    /// The answer that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message_id: Option<String>,
    /// Whether personal data was masked.
    pub(crate) is_masked: bool,
    /// The administrator who made this version (id).
    pub(crate) created_by: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// The case, as in a line of a dataset file.
    pub(crate) content: Value,
}

/// A case that is stored.
#[derive(Clone, Debug)]
pub(crate) struct NewCase {
    pub(crate) id: String,
    pub(crate) case_id: String,
    pub(crate) owner: String,
    /// The conversation and the answer.
    pub(crate) source: Option<(String, String)>,
    pub(crate) is_masked: bool,
    pub(crate) created_by: String,
    pub(crate) created_at: i64,
    pub(crate) content: Value,
}

/// The outcome of storing a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is stored, in a new version of the dataset.
    Stored,
    /// The answer is a case of the dataset already: its id.
    Known(String),
    /// The dataset is full.
    Full,
    /// There is no such dataset.
    Gone,
}

/// Stores the case of an answer in a new version of its dataset, unless the answer is a case already.
pub(crate) async fn add_case(db: &mut Db, dataset_id: &str, case: NewCase) -> Result<Put, StoreError> {
    let dataset = || dataset_id.to_owned();
    if !lock(db, dataset_id, case.created_at).await? {
        return Ok(Put::Gone);
    }
    if let Some((_, message)) = &case.source {
        let known = sql::query_scalar::<String>(BY_SOURCE).bind(dataset()).bind(message.clone());
        if let Some(known) = known.fetch_optional(&mut *db).await? {
            return Ok(Put::Known(known));
        }
    }
    insert(db, dataset_id, vec![case]).await
}

/// Stores cases in one new version of their dataset. Each replaces the one with the same id. If it returns [`Put::Full`],
/// some may be stored: the transaction must be undone. A case of a user that was deleted meanwhile, or of which only a masked
/// form is left, is [`Put::Gone`]: the user has withdrawn their consent.
pub(crate) async fn put_cases(db: &mut Db, dataset_id: &str, cases: Vec<NewCase>) -> Result<Put, StoreError> {
    let Some(first) = cases.first() else { return Ok(Put::Stored) };
    let unmasked: BTreeSet<_> = cases.iter().filter(|case| !case.is_masked).map(|case| case.owner.as_str()).collect();
    for owner in unmasked.into_iter().filter(|owner| !owner.is_empty()) {
        // A withdrawal waits from here on. Whether there was one before, the rows tell: it has deleted them.
        hold_consent(db, owner).await?;
    }
    if !lock(db, dataset_id, first.created_at).await? {
        return Ok(Put::Gone);
    }
    for case in cases.iter().filter(|case| !case.owner.is_empty()) {
        let find = sql::query_scalar::<i64>(IS_REPLACEABLE).bind(dataset_id.to_owned()).bind(case.case_id.clone());
        if find.bind(case.owner.clone()).bind(case.is_masked).fetch_one(&mut *db).await? == 0 {
            return Ok(Put::Gone);
        }
    }
    insert(db, dataset_id, cases).await
}

/// Locks a dataset. Returns whether it exists.
async fn lock(db: &mut Db, dataset_id: &str, now: i64) -> Result<bool, StoreError> {
    Ok(sql::query(LOCK).bind(dataset_id.to_owned()).bind(now).execute(db).await?.rows_affected() > 0)
}

/// Makes a new version of a dataset. Returns its number.
async fn next_version(db: &mut Db, dataset_id: &str) -> Result<i64, StoreError> {
    sql::query(NEXT_VERSION).bind(dataset_id.to_owned()).execute(&mut *db).await?;
    Ok(sql::query_scalar(VERSION).bind(dataset_id.to_owned()).fetch_one(db).await?)
}

/// Inserts cases as long as there is room in the dataset, which is locked. Before the first of them nothing is changed.
async fn insert(db: &mut Db, dataset_id: &str, cases: Vec<NewCase>) -> Result<Put, StoreError> {
    let dataset = || dataset_id.to_owned();
    let mut rows: i64 = sql::query_scalar(ROWS).bind(dataset()).fetch_one(&mut *db).await?;
    let current = sql::query_scalar::<String>(CURRENT_IDS).bind(dataset()).fetch_all(&mut *db).await?;
    let mut current: HashSet<String> = current.into_iter().collect();
    let mut version = None;
    for case in cases {
        let is_replaced = !current.insert(case.case_id.clone());
        if rows >= MAX_ROWS || current.len() > MAX_CASES {
            return Ok(Put::Full);
        }
        let version = match version {
            Some(version) => version,
            None => *version.insert(next_version(db, dataset_id).await?),
        };
        if is_replaced {
            sql::query(REMOVE).bind(dataset()).bind(case.case_id.clone()).bind(version).execute(&mut *db).await?;
        }
        let (conversation, message) = case.source.unzip();
        let insert = sql::query(INSERT).bind(case.id).bind(dataset()).bind(case.case_id).bind(version).bind(case.owner);
        let insert = insert.bind(conversation).bind(message).bind(case.is_masked).bind(case.created_by);
        insert.bind(case.created_at).bind(case.content.to_string()).execute(&mut *db).await?;
        rows += 1;
    }
    Ok(Put::Stored)
}

/// Removes a case in a new version of its dataset. Returns whether it existed.
pub(crate) async fn remove_case(db: &mut Db, dataset_id: &str, case_id: &str, now: i64) -> Result<bool, StoreError> {
    if !lock(db, dataset_id, now).await? {
        return Ok(false);
    }
    let version = next_version(db, dataset_id).await?;
    let remove = sql::query(REMOVE).bind(dataset_id.to_owned()).bind(case_id.to_owned()).bind(version);
    Ok(remove.execute(db).await?.rows_affected() > 0)
}

/// Returns the cases of the newest version, in the order in which they were added.
pub(crate) async fn current_cases(store: &Store, dataset_id: &str) -> Result<Vec<CaseRow>, StoreError> {
    list(store, sql::query(CURRENT).bind(dataset_id.to_owned()).bind(MAX_CASES as i64)).await
}

/// Returns a case of the newest version by the id of its row.
pub(crate) async fn current_case(store: &Store, dataset_id: &str, id: &str) -> Result<Option<CaseRow>, StoreError> {
    let find = sql::query(CURRENT_CASE).bind(dataset_id.to_owned()).bind(id.to_owned());
    Ok(list(store, find).await?.into_iter().next())
}

/// Returns the cases of a version.
pub(crate) async fn cases_of_version(
    store: &Store,
    dataset_id: &str,
    version: i64,
) -> Result<Vec<CaseRow>, StoreError> {
    list(store, sql::query(OF_VERSION).bind(dataset_id.to_owned()).bind(version).bind(MAX_CASES as i64)).await
}

/// Returns a case of a version by the id that stays the same.
pub(crate) async fn case_of_version(
    store: &Store,
    dataset_id: &str,
    version: i64,
    case_id: &str,
) -> Result<Option<CaseRow>, StoreError> {
    let find = sql::query(CASE_OF_VERSION).bind(dataset_id.to_owned()).bind(version).bind(case_id.to_owned());
    Ok(list(store, find).await?.into_iter().next())
}

async fn list(store: &Store, query: sql::Query) -> Result<Vec<CaseRow>, StoreError> {
    store.rows(query, read).await
}

fn read(row: &Row) -> Result<CaseRow, StoreError> {
    let content: String = row.try_get("content")?;
    Ok(CaseRow {
        id: row.try_get("id")?,
        case_id: row.try_get("case_id")?,
        owner: row.try_get("owner")?,
        conversation_id: row.try_get("conversation_id")?,
        message_id: row.try_get("message_id")?,
        is_masked: row.try_get("is_masked")?,
        created_by: row.try_get("created_by")?,
        created_at: row.try_get("created_at")?,
        content: serde_json::from_str(&content).map_err(|_| UNREADABLE)?,
    })
}
