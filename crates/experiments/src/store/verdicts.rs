//! The verdicts of people on the answers in results, with which judges are compared.

use super::UNREADABLE;
use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};
use evaluation::CaseResult;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// The most verdicts of an experiment that are read.
const MAX_VERDICTS: i64 = 50_000;

const FIND_RESULT: &str = "
    SELECT content FROM experiment_results
    WHERE experiment_id = $1 AND kind = 'result' AND config = $2 AND case_id = $3 AND repeat = $4";

const PUT: &str = "
    INSERT INTO experiment_verdicts
        (experiment_id, kind, config, case_id, repeat, person, conversation_id, liked, given_at)
    VALUES ($1, 'result', $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (experiment_id, kind, config, case_id, repeat, person) DO UPDATE SET
        conversation_id = excluded.conversation_id, liked = excluded.liked, given_at = excluded.given_at";

const WITHDRAW: &str = "
    DELETE FROM experiment_verdicts
    WHERE experiment_id = $1 AND config = $2 AND case_id = $3 AND repeat = $4 AND person = $5";

const LIST: &str = "
    SELECT config, case_id, repeat, person, conversation_id, liked, given_at FROM experiment_verdicts
    WHERE experiment_id = $1 ORDER BY config, case_id, repeat, person LIMIT $2";

const LIST_OF_CASE: &str = "
    SELECT config, case_id, repeat, person, conversation_id, liked, given_at FROM experiment_verdicts
    WHERE experiment_id = $1 AND case_id = $3 ORDER BY config, case_id, repeat, person LIMIT $2";

/// A person's verdict on the answer in a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ExperimentVerdict")]
pub(crate) struct Verdict {
    /// The config of the result.
    pub(crate) config: String,
    /// Its case.
    pub(crate) case: String,
    /// Its repetition, from 0.
    pub(crate) repeat: u32,
    /// The administrator (id).
    pub(crate) person: String,
    /// The conversation of the answer.
    #[serde(skip)]
    pub(crate) conversation_id: String,
    /// Whether the answer is good.
    pub(crate) liked: bool,
    /// Unix time, milliseconds.
    pub(crate) given_at: i64,
}

/// A verdict that is given, or withdrawn.
#[derive(Clone, Debug)]
pub(crate) struct NewVerdict {
    pub(crate) config: String,
    pub(crate) case: String,
    pub(crate) repeat: u32,
    /// Whether the answer is good; `None` withdraws the verdict.
    pub(crate) liked: Option<bool>,
    /// The conversation of the answer that the person has read; `None` if it is that of the result.
    pub(crate) conversation_id: Option<String>,
}

/// The outcome of storing or withdrawing a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// It is stored, or withdrawn.
    Stored,
    /// There is no such result, or no answer in it.
    Gone,
    /// The result has another answer by now.
    Replaced,
}

/// Stores a person's verdict on an answer, in place of their earlier one.
pub(crate) async fn give_verdict(
    db: &mut Db,
    experiment_id: &str,
    (person, now): (String, i64),
    new: NewVerdict,
) -> Result<Given, StoreError> {
    let NewVerdict { config, case, repeat, liked, conversation_id } = new;
    let place = |statement: &'static str| {
        let statement = sql::query(statement).bind(experiment_id.to_owned()).bind(config.clone());
        statement.bind(case.clone()).bind(i64::from(repeat))
    };
    let Some(row) = place(FIND_RESULT).fetch_optional(&mut *db).await? else { return Ok(Given::Gone) };
    let content: String = row.try_get("content")?;
    let result: CaseResult = serde_json::from_str(&content).map_err(|_| UNREADABLE)?;
    if conversation_id.is_some_and(|read| read != result.conversation_id) {
        return Ok(Given::Replaced);
    }
    match liked {
        Some(_) if result.error.is_some() => return Ok(Given::Gone),
        Some(liked) => {
            let put = place(PUT).bind(person).bind(result.conversation_id).bind(liked).bind(now);
            put.execute(db).await?;
        }
        None => {
            place(WITHDRAW).bind(person).execute(db).await?;
        }
    }
    Ok(Given::Stored)
}

/// Returns the verdicts about the answers in results, of a case or of all. Those about answers that were replaced since
/// are left out.
pub(super) async fn verdicts_about(
    store: &Store,
    (experiment_id, case): (&str, Option<&str>),
    results: &[CaseResult],
) -> Result<Vec<Verdict>, StoreError> {
    let list = sql::query(if case.is_some() { LIST_OF_CASE } else { LIST });
    let list = list.bind(experiment_id.to_owned()).bind(MAX_VERDICTS);
    let list = match case {
        Some(case) => list.bind(case.to_owned()),
        None => list,
    };
    let all: Vec<Verdict> = store.rows(list, read).await?;
    if all.is_empty() {
        return Ok(all);
    }
    let place = |result: &CaseResult| (result.config.clone(), result.case.clone(), result.repeat);
    let answers: HashMap<_, _> =
        results.iter().map(|result| (place(result), result.conversation_id.as_str())).collect();
    let is_current = |verdict: &Verdict| {
        let place = (verdict.config.clone(), verdict.case.clone(), verdict.repeat);
        answers.get(&place).is_some_and(|answer| *answer == verdict.conversation_id)
    };
    Ok(all.into_iter().filter(is_current).collect())
}

fn read(row: &Row) -> Result<Verdict, StoreError> {
    let repeat: i64 = row.try_get("repeat")?;
    Ok(Verdict {
        config: row.try_get("config")?,
        case: row.try_get("case_id")?,
        repeat: u32::try_from(repeat).map_err(|_| UNREADABLE)?,
        person: row.try_get("person")?,
        conversation_id: row.try_get("conversation_id")?,
        liked: row.try_get("liked")?,
        given_at: row.try_get("given_at")?,
    })
}
