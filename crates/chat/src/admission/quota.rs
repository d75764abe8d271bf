//! Quotas of a user per day or month, checked before an answer starts. The store sums usage by day,
//! and keeps it when conversations are deleted.

use crate::errors::Result;
use crate::{Caller, Inner, errors};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use settings::{Quota, QuotaPeriod};
use store::UsageTotals;
use wire::{ErrorCode, UserError};

/// A day in milliseconds.
const DAY: i64 = 86_400_000;

impl Inner {
    /// Checks the caller's quotas. `is_message` is set if the request counts as a message; a
    /// continuation does not. `unpriced` is a model that may be used and has no known price.
    ///
    /// # Errors
    /// 429 with the time at which the quota renews; 503 for a cost quota that cannot be enforced.
    pub(crate) async fn check_quotas(&self, caller: &Caller, is_message: bool, unpriced: Option<&str>) -> Result<()> {
        let now = self.clock.now();
        for quota in self.agents.quotas(caller) {
            if let (Some(_), Some(model)) = (quota.cost_usd, unpriced) {
                return Err(errors::unknown_price(model).into());
            }
            let (first, next) = span(quota.period, now);
            let used = self.store.usage_of_user(&caller.user_id, first, now.div_euclid(DAY)).await?;
            if let Some(what) = exceeded(&quota, &used, is_message) {
                return Err(used_up(quota.period, what, next, now).into());
            }
        }
        Ok(())
    }
}

/// Returns the name of the quota that is used up, if any.
fn exceeded(quota: &Quota, used: &UsageTotals, is_message: bool) -> Option<&'static str> {
    let messages = quota.messages.filter(|_| is_message);
    if messages.is_some_and(|most| u64::try_from(used.messages).unwrap_or_default() >= most) {
        Some("messages")
    } else if quota.tokens.is_some_and(|most| used.input_tokens + used.output_tokens >= most as f64) {
        Some("tokens")
    } else if quota.cost_usd.is_some_and(|most| used.cost_usd >= most) {
        Some("costs")
    } else {
        None
    }
}

/// Returns the first day of the current period (days since 1970), and when the next one starts
/// (Unix time, milliseconds).
fn span(span: QuotaPeriod, now: i64) -> (i64, i64) {
    let today = now.div_euclid(DAY);
    let month = || {
        let date = Timestamp::from_millisecond(now).ok()?.to_zoned(TimeZone::UTC).date();
        let begin = |date: Date| Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
        let next = begin(date.last_of_month().tomorrow().ok()?)?;
        Some((begin(date.first_of_month())?.div_euclid(DAY), next))
    };
    let day = (today, (today + 1) * DAY);
    match span {
        QuotaPeriod::Day => day,
        QuotaPeriod::Month => month().unwrap_or(day),
    }
}

fn used_up(span: QuotaPeriod, what: &str, next: i64, now: i64) -> UserError {
    let when = Timestamp::from_millisecond(next).map(|at| at.strftime("%-d %B %Y, %H:%M UTC").to_string());
    let in_span = if span == QuotaPeriod::Day { "today" } else { "this month" };
    let message = format!(
        "You have used up your {what} for {in_span}. You can continue from {}.",
        when.unwrap_or_else(|_| "tomorrow".to_owned())
    );
    let retry_after = u32::try_from((next - now) / 1_000).unwrap_or(u32::MAX).max(1);
    UserError { retry_after: Some(retry_after), ..UserError::new(ErrorCode::RateLimited, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn quota_periods_are_calendar_days_and_months() {
        let check = |kind: QuotaPeriod, now: &str, first: &str, next: &str| {
            assert_eq!(span(kind, at(now)), (at(first) / DAY, at(next)), "{now}");
        };
        let (midnight, last) = ("2026-11-21T00:00:00Z", "2026-11-21T23:59:59.999Z");
        check(QuotaPeriod::Day, midnight, midnight, "2026-11-22T00:00:00Z");
        check(QuotaPeriod::Day, last, midnight, "2026-11-22T00:00:00Z");
        check(QuotaPeriod::Month, last, "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z");
        check(QuotaPeriod::Month, "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z");
        check(QuotaPeriod::Month, "2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z");
    }

    #[test]
    fn exceeded_quota_is_named() {
        let none = || Quota::per(QuotaPeriod::Day);
        let used = UsageTotals {
            messages: 3,
            input_tokens: 60.0,
            output_tokens: 40.0,
            cost_usd: 0.5,
            ..UsageTotals::default()
        };
        let check = |quota: Quota, is_message: bool, expected: Option<&str>| {
            assert_eq!(exceeded(&quota, &used, is_message), expected, "{quota:?}");
        };
        check(none(), true, None);
        check(Quota { messages: Some(4), tokens: Some(101), cost_usd: Some(0.51), ..none() }, true, None);
        check(Quota { messages: Some(3), ..none() }, true, Some("messages"));
        check(Quota { messages: Some(3), ..none() }, false, None);
        check(Quota { tokens: Some(100), ..none() }, false, Some("tokens"));
        check(Quota { cost_usd: Some(0.5), ..none() }, false, Some("costs"));
        check(Quota { messages: Some(0), ..none() }, true, Some("messages"));
    }

    #[test]
    fn error_says_when_the_quota_renews() {
        let error = used_up(QuotaPeriod::Day, "messages", at("2026-11-22T00:00:00Z"), at("2026-11-21T23:00:00Z"));
        assert_eq!(
            error.message,
            "You have used up your messages for today. You can continue from 22 November 2026, 00:00 UTC."
        );
        assert_eq!((error.code.status(), error.retry_after), (429, Some(3_600)));
    }
}
