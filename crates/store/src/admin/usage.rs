//! Usage statistics by day: sums over table `usage_days`, which triggers maintain.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// Usage totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageTotals {
    /// The number of messages of users and of invocations.
    pub messages: i64,
    /// The number of users who sent a message; over several days, each user counts once.
    pub users: i64,
    /// The number of answers that failed or were interrupted.
    pub failures: i64,
    /// The number of requests to models.
    pub steps: i64,
    /// Input tokens.
    pub input_tokens: f64,
    /// Output tokens.
    pub output_tokens: f64,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// The time to the first part of a reply, in milliseconds, summed over the requests.
    pub first_part_ms: f64,
    /// The time to the end of a reply, in milliseconds, summed over the requests.
    pub whole_ms: f64,
}

/// The usage of a day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DayUsage {
    /// Days since 1970, UTC.
    pub day: i64,
    /// Its totals.
    #[serde(flatten)]
    pub totals: UsageTotals,
}

/// The usage of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentUsage {
    /// The agent.
    pub agent_id: String,
    /// Its totals.
    #[serde(flatten)]
    pub totals: UsageTotals,
}

/// The maximum number of agents in an overview, the most expensive ones.
const MAX_AGENTS: u32 = 50;

macro_rules! sums {
    ($before:literal, $after:literal) => {
        concat!(
            "SELECT ",
            $before,
            " CAST(coalesce(sum(messages), 0) AS BIGINT) AS messages, count(DISTINCT CASE WHEN messages > 0 THEN owner END) AS users,
              CAST(coalesce(sum(failures), 0) AS BIGINT) AS failures, CAST(coalesce(sum(steps), 0) AS BIGINT) AS steps,
              total(input_tokens) AS input_tokens, total(output_tokens) AS output_tokens, total(cost_usd) AS cost_usd, total(first_part_ms) AS first_part_ms,
              total(whole_ms) AS whole_ms
            FROM usage_days WHERE ",
            $after
        )
    };
}

const TOTAL: &str = sums!("", "day >= $1 AND day <= $2");
const BY_DAY: &str = sums!("day,", "day >= $1 AND day <= $2 GROUP BY day ORDER BY day");
const BY_AGENT: &str =
    sums!("agent_id,", "day >= $1 AND day <= $2 GROUP BY agent_id ORDER BY 8 DESC, 2 DESC, agent_id LIMIT $3");
const OF_OWNER: &str = sums!("", "owner = $3 AND day >= $1 AND day <= $2");

impl Store {
    /// Returns the usage of all users from day `first` to day `last` (days since 1970, UTC).
    ///
    /// # Errors
    /// The database failed.
    pub async fn total_usage(&self, first: i64, last: i64) -> Result<UsageTotals, StoreError> {
        self.read(move |db| {
            Box::pin(async move { read_totals(sql::query(TOTAL).bind(first).bind(last).fetch_one(db).await?) })
        })
        .await
    }

    /// Returns the usage of one user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_of_user(&self, owner: &str, first: i64, last: i64) -> Result<UsageTotals, StoreError> {
        let owner = owner.to_owned();
        self.read(move |db| {
            Box::pin(async move {
                read_totals(sql::query(OF_OWNER).bind(first).bind(last).bind(owner).fetch_one(db).await?)
            })
        })
        .await
    }

    /// Returns the usage by day; days without usage are left out.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_day(&self, first: i64, last: i64) -> Result<Vec<DayUsage>, StoreError> {
        self.read(move |db| Box::pin(by_day(db, first, last))).await
    }

    /// Returns the usage by agent, the most expensive first, at most 50.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_agent(&self, first: i64, last: i64) -> Result<Vec<AgentUsage>, StoreError> {
        self.read(move |db| {
            Box::pin(async move {
                let rows = sql::query(BY_AGENT).bind(first).bind(last).bind(MAX_AGENTS).fetch_all(db).await?;
                let of = |row: Row| Ok(AgentUsage { agent_id: row.try_get("agent_id")?, totals: read_totals(row)? });
                rows.into_iter().map(of).collect()
            })
        })
        .await
    }
}

async fn by_day(db: &mut Db, first: i64, last: i64) -> Result<Vec<DayUsage>, StoreError> {
    let rows = sql::query(BY_DAY).bind(first).bind(last).fetch_all(db).await?;
    rows.into_iter().map(|row| Ok(DayUsage { day: row.try_get("day")?, totals: read_totals(row)? })).collect()
}

fn read_totals(row: Row) -> Result<UsageTotals, StoreError> {
    Ok(UsageTotals {
        messages: row.try_get("messages")?,
        users: row.try_get("users")?,
        failures: row.try_get("failures")?,
        steps: row.try_get("steps")?,
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        cost_usd: row.try_get("cost_usd")?,
        first_part_ms: row.try_get("first_part_ms")?,
        whole_ms: row.try_get("whole_ms")?,
    })
}
