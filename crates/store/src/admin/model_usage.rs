//! Usage statistics by model: sums over table `model_days`, which a trigger maintains.

use super::UsageFilter;
use super::usage::{MAX_GROUPS, push_filter};
use crate::sql::{QueryBuilder, Row};
use crate::{Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// The usage of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// The provider, as the connection names it.
    pub provider: String,
    /// The model.
    pub model: String,
    /// The number of requests.
    pub steps: i64,
    /// The number of users for whom it was asked; over several days, each user counts once.
    pub users: i64,
    /// Input tokens.
    pub input_tokens: f64,
    /// Output tokens.
    pub output_tokens: f64,
    /// The cost in US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// The savings by the provider's cache, in US dollars, as far as prices are known.
    pub saved_usd: f64,
    /// The time to the first part of a reply, in milliseconds, summed over the requests.
    pub first_part_ms: f64,
    /// The time to the end of a reply, in milliseconds, summed over the requests.
    pub whole_ms: f64,
}

const SUMS: &str = "
    SELECT provider, model, CAST(sum(steps) AS BIGINT) AS steps, count(DISTINCT owner) AS users,
    sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cost_usd) AS cost_usd,
    sum(saved_usd) AS saved_usd, sum(first_part_ms) AS first_part_ms, sum(whole_ms) AS whole_ms
    FROM model_days u WHERE u.day >= ";

impl Store {
    /// Returns the usage by model, the most expensive first, at most 50.
    ///
    /// # Errors
    /// The database failed.
    pub async fn usage_by_model(&self, filter: &UsageFilter) -> Result<Vec<ModelUsage>, StoreError> {
        let mut query = QueryBuilder::new(SUMS);
        push_filter(&mut query, filter);
        if let Some(model) = filter.model.clone() {
            query.push(" AND u.model = ").push_bind(model);
        }
        query.push(" GROUP BY provider, model ORDER BY cost_usd DESC, steps DESC, provider, model LIMIT ");
        query.push_bind(MAX_GROUPS);
        self.rows(query.build(), read).await
    }
}

fn read(row: &Row) -> Result<ModelUsage, StoreError> {
    Ok(ModelUsage {
        provider: row.try_get("provider")?,
        model: row.try_get("model")?,
        steps: row.try_get("steps")?,
        users: row.try_get("users")?,
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        cost_usd: row.try_get("cost_usd")?,
        saved_usd: row.try_get("saved_usd")?,
        first_part_ms: row.try_get("first_part_ms")?,
        whole_ms: row.try_get("whole_ms")?,
    })
}
