//! Usage statistics by day: sums over table `usage_days`, which triggers maintain.

use crate::sql::{QueryBuilder, Row};
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
    /// The savings by the caches of providers, in US dollars, as far as prices are known.
    pub saved_usd: f64,
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

/// The usage of a user.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnerUsage {
    /// The user's id.
    pub user_id: String,
    /// Their totals.
    #[serde(flatten)]
    pub totals: UsageTotals,
}

/// The usage of the members of a group.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupUsage {
    /// The group's id.
    pub group_id: String,
    /// Its name.
    pub name: String,
    /// The totals of its members. A user in several groups counts in each of them.
    #[serde(flatten)]
    pub totals: UsageTotals,
}

/// Which usage is summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// The first day, counted from 1970 in UTC.
    pub first_day: i64,
    /// The last day.
    pub last_day: i64,
    /// Only of this agent.
    pub agent_id: Option<String>,
    /// Only of this user.
    pub user_id: Option<String>,
    /// Only of the members of this group, as it is now.
    pub group_id: Option<String>,
    /// Only requests to this model. Messages and failures are not counted then: they belong to no model.
    pub model: Option<String>,
}

/// The maximum number of agents, users or models in an overview, the most expensive ones.
pub(super) const MAX_GROUPS: u32 = 50;

impl UsageFilter {
    /// The usage of all agents and users from one day to another.
    pub fn days(first_day: i64, last_day: i64) -> Self {
        Self { first_day, last_day, ..Self::default() }
    }
}

const SUMS: &str = "
    CAST(coalesce(sum(messages), 0) AS BIGINT) AS messages, count(DISTINCT CASE WHEN messages > 0 THEN owner END) AS users,
    CAST(coalesce(sum(failures), 0) AS BIGINT) AS failures, CAST(coalesce(sum(steps), 0) AS BIGINT) AS steps,
    total(input_tokens) AS input_tokens, total(output_tokens) AS output_tokens, total(cost_usd) AS cost_usd,
    total(saved_usd) AS saved_usd,
    total(first_part_ms) AS first_part_ms, total(whole_ms) AS whole_ms
    FROM usage_days u";

/// As [`SUMS`], for one model.
const MODEL_SUMS: &str = "
    CAST(0 AS BIGINT) AS messages, count(DISTINCT owner) AS users, CAST(0 AS BIGINT) AS failures,
    CAST(coalesce(sum(steps), 0) AS BIGINT) AS steps,
    total(input_tokens) AS input_tokens, total(output_tokens) AS output_tokens, total(cost_usd) AS cost_usd,
    total(saved_usd) AS saved_usd,
    total(first_part_ms) AS first_part_ms, total(whole_ms) AS whole_ms
    FROM model_days u";

impl Store {
    /// Returns the usage in total; over several days, each user counts once.
    ///
    /// # Errors
    /// The database failed.
    pub async fn total_usage(&self, filter: &UsageFilter) -> Result<UsageTotals, StoreError> {
        let query = sums("", filter);
        self.read(move |db| Box::pin(async move { read_totals(&query.build().fetch_one(db).await?) })).await
    }

    /// Returns the usage by day; days without usage are left out.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_day(&self, filter: &UsageFilter) -> Result<Vec<DayUsage>, StoreError> {
        let mut query = sums("day, ", filter);
        query.push(" GROUP BY day ORDER BY day");
        let of = |row: &Row| Ok(DayUsage { day: row.try_get("day")?, totals: read_totals(row)? });
        self.rows(query.build(), of).await
    }

    /// Returns the usage by agent, the most expensive first, at most 50.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_agent(&self, filter: &UsageFilter) -> Result<Vec<AgentUsage>, StoreError> {
        let query = groups("agent_id, ", filter);
        let of = |row: &Row| Ok(AgentUsage { agent_id: row.try_get("agent_id")?, totals: read_totals(row)? });
        self.rows(query.build(), of).await
    }

    /// Returns the usage by user, the most expensive first, at most 50.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_user(&self, filter: &UsageFilter) -> Result<Vec<OwnerUsage>, StoreError> {
        let query = groups("owner, ", filter);
        let of = |row: &Row| Ok(OwnerUsage { user_id: row.try_get("owner")?, totals: read_totals(row)? });
        self.rows(query.build(), of).await
    }

    /// Returns the usage of the members of each group, as the groups are now: the most expensive first, at most 50.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_group(&self, filter: &UsageFilter) -> Result<Vec<GroupUsage>, StoreError> {
        const GROUPS: &str =
            " JOIN user_group_members m ON m.user_id = u.owner JOIN user_groups g ON g.id = m.group_id";
        let mut query = sums_of("g.id AS group_id, g.name, ", GROUPS, filter);
        query.push(" GROUP BY g.id, g.name ORDER BY cost_usd DESC, messages DESC, g.id LIMIT ").push_bind(MAX_GROUPS);
        let of = |row: &Row| {
            let (group_id, name) = (row.try_get("group_id")?, row.try_get("name")?);
            Ok(GroupUsage { group_id, name, totals: read_totals(row)? })
        };
        self.rows(query.build(), of).await
    }
}

/// Returns the query for the sums of a filter; `before` is the list of columns before them.
fn sums(before: &'static str, filter: &UsageFilter) -> QueryBuilder {
    sums_of(before, "", filter)
}

/// As [`sums`], with tables that are joined.
fn sums_of(before: &'static str, joined: &'static str, filter: &UsageFilter) -> QueryBuilder {
    let mut query = QueryBuilder::new("SELECT ");
    query.push(before).push(if filter.model.is_some() { MODEL_SUMS } else { SUMS }).push(joined);
    query.push(" WHERE u.day >= ");
    push_filter(&mut query, filter);
    if let Some(model) = filter.model.clone() {
        query.push(" AND u.model = ").push_bind(model);
    }
    query
}

/// Appends the first day and all other conditions on the rows `u` of a day, an agent and a user.
pub(super) fn push_filter(query: &mut QueryBuilder, filter: &UsageFilter) {
    query.push_bind(filter.first_day).push(" AND u.day <= ").push_bind(filter.last_day);
    if let Some(agent) = filter.agent_id.clone() {
        query.push(" AND u.agent_id = ").push_bind(agent);
    }
    if let Some(user) = filter.user_id.clone() {
        query.push(" AND u.owner = ").push_bind(user);
    }
    if let Some(group) = filter.group_id.clone() {
        query.push(" AND u.owner IN (SELECT user_id FROM user_group_members WHERE group_id = ");
        query.push_bind(group).push(")");
    }
}

/// Returns the query for the sums of each value of a column, which is the first one: the most expensive values.
fn groups(column: &'static str, filter: &UsageFilter) -> QueryBuilder {
    let mut query = sums(column, filter);
    query.push(" GROUP BY 1 ORDER BY cost_usd DESC, messages DESC, 1 LIMIT ").push_bind(MAX_GROUPS);
    query
}

fn read_totals(row: &Row) -> Result<UsageTotals, StoreError> {
    Ok(UsageTotals {
        messages: row.try_get("messages")?,
        users: row.try_get("users")?,
        failures: row.try_get("failures")?,
        steps: row.try_get("steps")?,
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        cost_usd: row.try_get("cost_usd")?,
        saved_usd: row.try_get("saved_usd")?,
        first_part_ms: row.try_get("first_part_ms")?,
        whole_ms: row.try_get("whole_ms")?,
    })
}
