//! Table `steps`: requests to models with their usage and cost. Rows are only ever added, and
//! outlive their conversation.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use wire::api::TokenUsage;

/// The maximum number of listed steps of a conversation, the last ones.
pub const MAX_STEPS: u32 = 500;

/// A completed request to a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    /// When the reply ended; Unix time, milliseconds.
    pub at: i64,
    /// The user on whose behalf the request was made.
    #[serde(skip)]
    pub owner: String,
    /// The conversation; `None` for an invocation.
    #[serde(skip)]
    pub conversation_id: Option<String>,
    /// The assistant message that the reply is part of.
    pub message_id: Option<String>,
    /// The run, or the invocation.
    pub run_id: String,
    /// The agent.
    pub agent_id: String,
    /// For a sub-agent: the call that started it; for a nested one, the ids of all calls on the
    /// path, separated by `/`. `generateTitle` for the title of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The step's number within the run of its agent; counts from 1.
    pub number: u32,
    /// The provider of the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The reason why the reply ended.
    pub finish_reason: String,
    /// The token usage.
    pub usage: TokenUsage,
    /// The cost in US dollars; absent if the price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The savings by the provider's cache, in US dollars: the cost without it, less the cost. Below zero
    /// if writing to the cache cost more than reading saved; absent if the price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
    /// The time from the request to the first part of the reply, in milliseconds.
    pub first_part_ms: i64,
    /// The time from the request to the end of the reply, in milliseconds.
    pub whole_ms: i64,
}

/// The sums over several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepTotals {
    /// The number of requests.
    pub steps: u64,
    /// The token usage.
    pub usage: TokenUsage,
    /// The cost in US dollars, as far as prices are known; absent if no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The savings by the caches of providers, in US dollars, as far as prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved_usd: Option<f64>,
}

const INSERT: &str = "
    INSERT INTO steps
        (at, owner, conversation_id, message_id, run_id, agent_id, call_id, number, provider, model, finish_reason,
         input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, first_part_ms, whole_ms,
         saved_usd)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";

const LIST: &str = "SELECT * FROM steps WHERE owner = $1 AND conversation_id = $2 ORDER BY no DESC LIMIT $3";

const TOTALS: &str = "
    SELECT count(*) AS steps, total(input_tokens) AS input_tokens, total(output_tokens) AS output_tokens,
           total(cache_read_tokens) AS cache_read_tokens, total(cache_write_tokens) AS cache_write_tokens,
           total(reasoning_tokens) AS reasoning_tokens, sum(cost_usd) AS cost_usd, sum(saved_usd) AS saved_usd
    FROM steps WHERE owner = $1 AND conversation_id = $2";

impl Store {
    /// Records requests to models.
    ///
    /// # Errors
    /// The database failed.
    pub async fn append_steps(&self, steps: Vec<StepRecord>) -> Result<(), StoreError> {
        self.write_repeatable(move |db| Box::pin(append_steps(db, steps.clone()))).await
    }

    /// Returns the last [`MAX_STEPS`] steps of a conversation, oldest first; none if it belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn steps(&self, owner: &str, conversation_id: &str) -> Result<Vec<StepRecord>, StoreError> {
        let list = sql::query(LIST).bind(owner.to_owned()).bind(conversation_id.to_owned()).bind(MAX_STEPS);
        self.read(move |db| {
            Box::pin(async move {
                let rows = list.fetch_all(db).await?;
                rows.iter().rev().map(step).collect::<Result<_, sql::Error>>().map_err(StoreError::from)
            })
        })
        .await
    }

    /// Returns the usage of a conversation, including branches that are no longer shown; zero if it
    /// belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn totals(&self, owner: &str, conversation_id: &str) -> Result<StepTotals, StoreError> {
        let totals = sql::query(TOTALS).bind(owner.to_owned()).bind(conversation_id.to_owned());
        self.read(move |db| Box::pin(async move { Ok(read_totals(&totals.fetch_one(db).await?)?) })).await
    }
}

/// Records requests to models in a transaction.
///
/// # Errors
/// The database failed.
pub async fn append_steps(db: &mut Db, steps: Vec<StepRecord>) -> Result<(), StoreError> {
    for step in steps {
        sql::query(INSERT)
            .bind(step.at)
            .bind(step.owner)
            .bind(step.conversation_id)
            .bind(step.message_id)
            .bind(step.run_id)
            .bind(step.agent_id)
            .bind(step.call_id)
            .bind(step.number)
            .bind(step.provider)
            .bind(step.model)
            .bind(step.finish_reason)
            .bind(count(step.usage.input_tokens))
            .bind(count(step.usage.output_tokens))
            .bind(count(step.usage.cache_read_tokens))
            .bind(count(step.usage.cache_write_tokens))
            .bind(count(step.usage.reasoning_tokens))
            .bind(step.cost_usd)
            .bind(step.first_part_ms)
            .bind(step.whole_ms)
            .bind(step.saved_usd)
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}

/// Clamps a provider's implausible number, which must not become negative.
fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

fn step(row: &Row) -> Result<StepRecord, sql::Error> {
    let tokens = |column: &str| row.try_get::<i64>(column).map(i64::cast_unsigned);
    Ok(StepRecord {
        at: row.try_get("at")?,
        owner: row.try_get("owner")?,
        conversation_id: row.try_get("conversation_id")?,
        message_id: row.try_get("message_id")?,
        run_id: row.try_get("run_id")?,
        agent_id: row.try_get("agent_id")?,
        call_id: row.try_get("call_id")?,
        number: u32::try_from(row.try_get::<i64>("number")?).unwrap_or(u32::MAX),
        provider: row.try_get("provider")?,
        model: row.try_get("model")?,
        finish_reason: row.try_get("finish_reason")?,
        usage: TokenUsage {
            input_tokens: tokens("input_tokens")?,
            output_tokens: tokens("output_tokens")?,
            cache_read_tokens: tokens("cache_read_tokens")?,
            cache_write_tokens: tokens("cache_write_tokens")?,
            reasoning_tokens: tokens("reasoning_tokens")?,
        },
        cost_usd: row.try_get("cost_usd")?,
        saved_usd: row.try_get("saved_usd")?,
        first_part_ms: row.try_get("first_part_ms")?,
        whole_ms: row.try_get("whole_ms")?,
    })
}

/// Reads sums, which are computed in floating point: SQLite's integer sums fail on overflow.
fn read_totals(row: &Row) -> Result<StepTotals, sql::Error> {
    let tokens = |column: &str| row.try_get::<f64>(column).map(|sum| sum as u64);
    Ok(StepTotals {
        steps: row.try_get::<i64>("steps")?.cast_unsigned(),
        usage: TokenUsage {
            input_tokens: tokens("input_tokens")?,
            output_tokens: tokens("output_tokens")?,
            cache_read_tokens: tokens("cache_read_tokens")?,
            cache_write_tokens: tokens("cache_write_tokens")?,
            reasoning_tokens: tokens("reasoning_tokens")?,
        },
        cost_usd: row.try_get("cost_usd")?,
        saved_usd: row.try_get("saved_usd")?,
    })
}
