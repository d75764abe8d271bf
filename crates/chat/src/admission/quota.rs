//! Quotas of a user per day or month, checked before an answer starts. The store sums usage by day,
//! and keeps it when conversations are deleted.

use crate::admission::quota_locks::QuotaPass;
use crate::errors::Result;
use crate::{Caller, Chat, Inner, errors};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use settings::{Quota, QuotaPeriod};
use store::{UsageFilter, UsageTotals};
use wire::{ErrorCode, ErrorReason, UserError};

/// A day in milliseconds.
const DAY: i64 = 86_400_000;

/// The usage of a user in a period, with the quota that bounds it.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotaUsage {
    /// The quota. Without a bound, it is only the period.
    pub quota: Quota,
    /// The usage since the period began.
    pub used: UsageTotals,
    /// When the next period begins; Unix time, milliseconds.
    pub renews_at: i64,
}

impl Chat {
    /// Returns what the caller has used of each quota that applies to them, and in this month if no
    /// quota is about a month.
    ///
    /// # Errors
    /// 503 if the store fails.
    pub async fn quota_usage(&self, caller: &Caller) -> Result<Vec<QuotaUsage>, UserError> {
        let mut quotas = self.inner.agents.quotas(caller);
        if quotas.iter().all(|quota| quota.period != QuotaPeriod::Month) {
            quotas.push(Quota::per(QuotaPeriod::Month));
        }
        let mut found = Vec::new();
        for quota in quotas {
            let (used, renews_at) = self.inner.used_in(&caller.user_id, quota.period).await?;
            found.push(QuotaUsage { quota, used, renews_at });
        }
        Ok(found)
    }
}

impl Inner {
    /// Returns what a user has used in the current period, and when the next one begins.
    async fn used_in(&self, user_id: &str, period: QuotaPeriod) -> Result<(UsageTotals, i64)> {
        let now = self.clock.now();
        let (first, next) = quota_span(period, now);
        let filter = UsageFilter { user_id: Some(user_id.to_owned()), ..UsageFilter::days(first, now.div_euclid(DAY)) };
        Ok((self.store.total_usage(&filter).await?, next))
    }

    /// Checks the caller's quotas. `is_message` is set if the request counts as a message; a
    /// continuation does not. `unpriced` is a model that may be used and has no known price. The pass
    /// is held until the message is stored, so that further messages of the user at the same time
    /// are checked after it is counted. That holds on this server: on others, a message can be
    /// checked at the same time.
    ///
    /// # Errors
    /// 429 with the time at which the quota renews; 503 for a cost quota that cannot be enforced.
    pub(crate) async fn check_quotas(
        &self,
        caller: &Caller,
        is_message: bool,
        unpriced: Option<&str>,
    ) -> Result<QuotaPass> {
        let quotas = self.agents.quotas(caller);
        let is_counted = is_message && quotas.iter().any(|quota| quota.messages.is_some());
        let mut pass = if is_counted { self.quota_locks.lock(&caller.user_id).await } else { QuotaPass::UNLIMITED };
        for quota in quotas {
            if let (Some(_), Some(model)) = (quota.cost_usd, unpriced) {
                return Err(errors::unknown_price(model).into());
            }
            let (used, next) = self.used_in(&caller.user_id, quota.period).await?;
            if let Some(what) = exceeded(&quota, &used, is_message) {
                return Err(used_up(quota.period, &what, next, self.clock.now()).into());
            }
            if let Some(what) = nearly_exceeded(&quota, &used).filter(|_| is_message && pass.warning.is_none()) {
                pass.warning = Some(warning(quota.period, &what, next));
            }
        }
        Ok(pass)
    }
}

/// Returns what is used up, in words: "200 of 200 messages".
fn exceeded(quota: &Quota, used: &UsageTotals, is_message: bool) -> Option<String> {
    let messages = u64::try_from(used.messages).unwrap_or_default();
    let tokens = used.input_tokens + used.output_tokens;
    if let Some(most) = quota.messages.filter(|most| is_message && messages >= *most) {
        Some(format!("{messages} of {most} messages"))
    } else if let Some(most) = quota.tokens.filter(|most| tokens >= *most as f64) {
        Some(format!("{tokens:.0} of {most} tokens"))
    } else {
        let most = quota.cost_usd.filter(|most| used.cost_usd >= *most);
        most.map(|most| format!("${:.2} of ${most:.2}", used.cost_usd))
    }
}

/// Returns what is nearly used up once a message is counted that is about to be sent, in words: "19 of 20 messages". At
/// most a tenth is left, or one message.
fn nearly_exceeded(quota: &Quota, used: &UsageTotals) -> Option<String> {
    const NEAR: f64 = 0.9;
    let messages = u64::try_from(used.messages).unwrap_or_default() + 1;
    let tokens = used.input_tokens + used.output_tokens;
    if let Some(most) = quota.messages.filter(|most| most.saturating_sub(messages) <= (most / 10).max(1)) {
        Some(format!("{messages} of {most} messages"))
    } else if let Some(most) = quota.tokens.filter(|most| tokens >= NEAR * *most as f64) {
        Some(format!("{tokens:.0} of {most} tokens"))
    } else {
        let most = quota.cost_usd.filter(|most| used.cost_usd >= NEAR * most);
        most.map(|most| format!("${:.2} of ${most:.2}", used.cost_usd))
    }
}

impl QuotaUsage {
    /// Returns the used share of the quota in percent: of the bound that is nearest. 0 without a bound.
    pub fn percent(&self) -> f64 {
        let Self { quota, used, .. } = self;
        #[expect(clippy::cast_precision_loss, reason = "shares need no more digits")]
        let shares = [
            quota.messages.map(|most| used.messages as f64 / most as f64),
            quota.tokens.map(|most| (used.input_tokens + used.output_tokens) / most as f64),
            quota.cost_usd.map(|most| used.cost_usd / most),
        ];
        // A bound of 0 is used up from the start, by nothing.
        shares.into_iter().flatten().filter(|share| !share.is_nan()).fold(0.0, f64::max) * 100.0
    }
}

/// Returns the first day of the current period (days since 1970), and when the next one starts. Times are Unix times in
/// milliseconds.
pub fn quota_span(span: QuotaPeriod, now: i64) -> (i64, i64) {
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

/// Returns a time in words.
fn time(at: i64) -> String {
    let when = Timestamp::from_millisecond(at).map(|at| at.strftime("%-d %B %Y, %H:%M UTC").to_string());
    when.unwrap_or_else(|_| "tomorrow".to_owned())
}

fn warning(span: QuotaPeriod, what: &str, next: i64) -> String {
    let in_span = match span {
        QuotaPeriod::Day => "today",
        QuotaPeriod::Month => "this month",
    };
    format!("You have used {what} for {in_span}. The next period begins on {}.", time(next))
}

fn used_up(span: QuotaPeriod, what: &str, next: i64, now: i64) -> UserError {
    let (in_span, reason) = match span {
        QuotaPeriod::Day => ("today", ErrorReason::QuotaDay),
        QuotaPeriod::Month => ("this month", ErrorReason::QuotaMonth),
    };
    let message = format!("You have used {what} for {in_span}. You can continue from {}.", time(next));
    let retry_after = u32::try_from((next - now) / 1_000).unwrap_or(u32::MAX).max(1);
    UserError { retry_after: Some(retry_after), ..UserError::new(ErrorCode::RateLimited, message).because(reason) }
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
            assert_eq!(quota_span(kind, at(now)), (at(first) / DAY, at(next)), "{now}");
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
            assert_eq!(exceeded(&quota, &used, is_message).as_deref(), expected, "{quota:?}");
        };
        check(none(), true, None);
        check(Quota { messages: Some(4), tokens: Some(101), cost_usd: Some(0.51), ..none() }, true, None);
        check(Quota { messages: Some(3), ..none() }, true, Some("3 of 3 messages"));
        check(Quota { messages: Some(3), ..none() }, false, None);
        check(Quota { tokens: Some(100), ..none() }, false, Some("100 of 100 tokens"));
        check(Quota { cost_usd: Some(0.5), ..none() }, false, Some("$0.50 of $0.50"));
        check(Quota { messages: Some(0), ..none() }, true, Some("3 of 0 messages"));
    }

    #[test]
    fn warning_begins_at_a_tenth_and_at_the_last_message() {
        let none = || Quota::per(QuotaPeriod::Day);
        let check = |quota: Quota, messages: i64, expected: Option<&str>| {
            let used = UsageTotals {
                messages,
                input_tokens: 60.0,
                output_tokens: 30.0,
                cost_usd: 0.9,
                ..UsageTotals::default()
            };
            assert_eq!(nearly_exceeded(&quota, &used).as_deref(), expected, "{quota:?}, {messages}");
        };
        let messages = |most: u64| Quota { messages: Some(most), ..none() };
        check(none(), 100, None);
        check(messages(200), 178, None);
        check(messages(200), 179, Some("180 of 200 messages"));
        check(messages(5), 2, None);
        check(messages(5), 3, Some("4 of 5 messages"));
        check(messages(1), 0, Some("1 of 1 messages"));
        check(Quota { tokens: Some(101), cost_usd: Some(1.01), ..none() }, 0, None);
        check(Quota { tokens: Some(100), ..none() }, 0, Some("90 of 100 tokens"));
        check(Quota { cost_usd: Some(1.0), ..none() }, 0, Some("$0.90 of $1.00"));
        assert_eq!(
            warning(QuotaPeriod::Month, "19 of 20 messages", at("2026-12-01T00:00:00Z")),
            "You have used 19 of 20 messages for this month. The next period begins on 1 December 2026, 00:00 UTC."
        );
    }

    #[test]
    fn error_says_when_the_quota_renews() {
        let error =
            used_up(QuotaPeriod::Day, "20 of 20 messages", at("2026-11-22T00:00:00Z"), at("2026-11-21T23:00:00Z"));
        assert_eq!(
            error.message,
            "You have used 20 of 20 messages for today. You can continue from 22 November 2026, 00:00 UTC."
        );
        assert_eq!((error.code.status(), error.retry_after), (429, Some(3_600)));
        assert_eq!(error.reason, Some(ErrorReason::QuotaDay));
    }
}
