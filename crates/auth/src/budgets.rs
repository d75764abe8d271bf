//! Limits how often each user may cause entries in the audit log, which keeps them permanently.

use super::rates::{LimitedClient, Limiter};
use config::{RateLimit, RateLimitKey, RateLimitTarget};
use governor::clock::DefaultClock;
use std::time::Duration;

/// The limit on API keys that a user may create per day. Each can be deleted, so this bounds two
/// entries.
const MAX_KEYS_PER_DAY: u32 = 100;
/// The limit on separate audit entries per user and day for sign-ins, sign-outs, ended sessions and
/// changed passwords. Beyond it these actions are still allowed, since each may protect an account;
/// they share an entry.
const MAX_ROWS_PER_DAY: u32 = 200;
/// One day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The budgets of all users, kept in memory.
pub struct Budgets {
    keys: Limiter,
    rows: Limiter,
}

impl Default for Budgets {
    fn default() -> Self {
        let a_day =
            |requests| RateLimit { target: RateLimitTarget::All, per: RateLimitKey::User, requests, window: DAY };
        let limiter = |requests| Limiter::new(&a_day(requests), DefaultClock::default());
        Self { keys: limiter(MAX_KEYS_PER_DAY), rows: limiter(MAX_ROWS_PER_DAY) }
    }
}

impl Budgets {
    /// Counts an API key that a user creates.
    ///
    /// # Errors
    /// The number of seconds until the user may create the next one.
    pub fn reserve_key(&self, user_id: &str) -> Result<(), u32> {
        self.keys.count(&LimitedClient::User(user_id.to_owned()))
    }

    /// Counts an audit entry; returns whether it is within the budget.
    pub fn reserve_row(&self, user_id: &str) -> bool {
        self.rows.count(&LimitedClient::User(user_id.to_owned())).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daily_limit_on_new_api_keys_applies_per_user() {
        let budgets = Budgets::default();
        for _ in 0..MAX_KEYS_PER_DAY {
            assert_eq!(budgets.reserve_key("ada"), Ok(()));
        }
        // The budget refills one key every hundredth of a day.
        assert!(budgets.reserve_key("ada").is_err_and(|wait| (860..=865).contains(&wait)));
        assert_eq!(budgets.reserve_key("bob"), Ok(()));
        assert!(budgets.reserve_row("ada"), "rows are counted for themselves");
    }
}
