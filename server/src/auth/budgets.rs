//! How often each user may do what leaves a row in the audit log, which keeps its rows for good.

use super::rates::{Counted, Limiter};
use config::{Rate, RateOf, RatePer};
use governor::clock::DefaultClock;
use std::time::Duration;

/// API keys that a user may create in a day. Each can be deleted, so this bounds two rows.
const KEYS: u32 = 100;
/// Rows of their own that a user's sign-ins, sign-outs, ended sessions and new passwords have in a
/// day. None of these is refused beyond it, since each may be what protects an account.
const ROWS: u32 = 200;
/// A day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The budgets of all users; they begin anew with the server.
pub(crate) struct Budgets {
    keys: Limiter,
    rows: Limiter,
}

impl Default for Budgets {
    fn default() -> Self {
        let a_day = |requests| Rate { what: RateOf::All, per: RatePer::User, requests, span: DAY };
        let limiter = |requests| Limiter::new(&a_day(requests), DefaultClock::default());
        Self { keys: limiter(KEYS), rows: limiter(ROWS) }
    }
}

impl Budgets {
    /// Counts an API key that a user creates.
    ///
    /// # Errors
    /// The seconds after which the user may create the next one.
    pub(crate) fn take_key(&self, user_id: &str) -> Result<(), u32> {
        self.keys.count(&Counted::User(user_id.to_owned()))
    }

    /// Counts a row; whether the user may have it.
    pub(crate) fn has_row(&self, user_id: &str) -> bool {
        self.rows.count(&Counted::User(user_id.to_owned())).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_creates_so_many_keys_a_day() {
        let budgets = Budgets::default();
        for _ in 0..KEYS {
            assert_eq!(budgets.take_key("ada"), Ok(()));
        }
        // One comes back after a hundredth of a day.
        assert!(budgets.take_key("ada").is_err_and(|wait| (860..=865).contains(&wait)));
        assert_eq!(budgets.take_key("bob"), Ok(()));
        assert!(budgets.has_row("ada"), "rows are counted for themselves");
    }
}
