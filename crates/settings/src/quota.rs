//! Usage quotas (`limits.quotas`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A usage quota of each user that it applies to. All quotas that apply to a user are enforced.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// Applies to users with one of these roles.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Applies to the users with these ids. Without roles and users the quota applies to everybody.
    #[serde(default)]
    pub users: Vec<String>,
    /// The period, which starts at midnight UTC of each day, or of the first day of each month.
    #[serde(rename = "per")]
    pub period: QuotaPeriod,
    /// The most messages and invocations.
    pub messages: Option<u64>,
    /// The most tokens, input and output.
    pub tokens: Option<u64>,
    /// The highest cost in US dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
}

/// The period of a quota, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QuotaPeriod {
    /// A calendar day.
    Day,
    /// A calendar month.
    Month,
}

impl Quota {
    /// Returns a quota for everybody that bounds nothing yet.
    pub fn per(period: QuotaPeriod) -> Self {
        Self { roles: Vec::new(), users: Vec::new(), period, messages: None, tokens: None, cost_usd: None }
    }

    /// Returns whether the quota applies to a user with these roles.
    pub fn applies_to(&self, user_id: &str, roles: &[String]) -> bool {
        self.roles.is_empty() && self.users.is_empty()
            || self.users.iter().any(|user| user == user_id)
            || self.roles.iter().any(|role| roles.contains(role))
    }
}
