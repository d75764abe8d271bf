//! What was used, by day: sums over table `usage_days`, which triggers keep.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use serde::Serialize;

/// Sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Used {
    /// Messages of users, and questions of programs.
    pub messages: i64,
    /// Who sent one; of several days, each user once.
    pub users: i64,
    /// Answers that failed or were cut off.
    pub failures: i64,
    /// Requests to models.
    pub steps: i64,
    /// Tokens that models read.
    pub input_tokens: f64,
    /// Tokens that they wrote.
    pub output_tokens: f64,
    /// US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// Until the first part of a reply, in milliseconds, summed over the requests.
    pub first_part_ms: f64,
    /// Until its end.
    pub whole_ms: f64,
}

/// What was used on a day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DayUsage {
    /// Days since 1970, UTC.
    pub day: i64,
    /// What.
    #[serde(flatten)]
    pub used: Used,
}

/// What an agent was used for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentUsage {
    /// The agent.
    pub agent_id: String,
    /// What.
    #[serde(flatten)]
    pub used: Used,
}

/// Agents of one overview, the dearest first.
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
    /// What all used from day `first` to day `last` (days since 1970, UTC).
    ///
    /// # Errors
    /// The database failed.
    pub async fn used(&self, first: i64, last: i64) -> Result<Used, StoreError> {
        self.read(move |db| {
            Box::pin(async move { used(sql::query(TOTAL).bind(first).bind(last).fetch_one(db).await?) })
        })
        .await
    }

    /// The same of one user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn used_by(&self, owner: &str, first: i64, last: i64) -> Result<Used, StoreError> {
        let owner = owner.to_owned();
        self.read(move |db| {
            Box::pin(async move { used(sql::query(OF_OWNER).bind(first).bind(last).bind(owner).fetch_one(db).await?) })
        })
        .await
    }

    /// The same by day; days on which nothing was used are left out.
    ///
    /// # Errors
    /// The database failed.
    pub async fn used_by_day(&self, first: i64, last: i64) -> Result<Vec<DayUsage>, StoreError> {
        self.read(move |db| Box::pin(by_day(db, first, last))).await
    }

    /// The same by agent, the dearest first, at most 50.
    ///
    /// # Errors
    /// The database failed.
    pub async fn used_by_agent(&self, first: i64, last: i64) -> Result<Vec<AgentUsage>, StoreError> {
        self.read(move |db| {
            Box::pin(async move {
                let rows = sql::query(BY_AGENT).bind(first).bind(last).bind(MAX_AGENTS).fetch_all(db).await?;
                let of = |row: Row| Ok(AgentUsage { agent_id: row.try_get("agent_id")?, used: used(row)? });
                rows.into_iter().map(of).collect()
            })
        })
        .await
    }
}

async fn by_day(db: &mut Db, first: i64, last: i64) -> Result<Vec<DayUsage>, StoreError> {
    let rows = sql::query(BY_DAY).bind(first).bind(last).fetch_all(db).await?;
    rows.into_iter().map(|row| Ok(DayUsage { day: row.try_get("day")?, used: used(row)? })).collect()
}

fn used(row: Row) -> Result<Used, StoreError> {
    Ok(Used {
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
