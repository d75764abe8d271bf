//! The section of the account page that shows how much of each quota the user has used.

use chat::{QuotaPeriod, QuotaUsage};
use leptos::prelude::*;
use web::html::{account_part, dollars, number};
use web::times::minute;

/// Renders the section.
pub(crate) fn usage_view(usage: &[QuotaUsage]) -> AnyView {
    let lines = usage.iter().flat_map(lines).map(|UsageLine { name, used, share, note }| {
        let label = format!("Used: {name}");
        let bar = share.map(|share| {
            view! { <progress class="cw-account-bar" max="1" value=format!("{share:.3}") aria-label=label></progress> }
        });
        view! {
            <li class="cw-account-line">
                <div>
                    <strong>{name}</strong>
                    <p class="cw-account-note">{used}</p>
                    {bar}
                    <p class="cw-account-note">{note}</p>
                </div>
            </li>
        }
    });
    let lines = lines.collect_view();
    account_part("usage", "Usage", view! { <ul class="cw-account-list">{lines}</ul> })
}

/// A line of the section: how much of a quota's limit was used, or how much in all if it has none.
#[derive(Debug, PartialEq)]
struct UsageLine {
    name: String,
    used: String,
    /// The used share of the limit, from 0 to 1.
    share: Option<f64>,
    note: String,
}

/// Returns a line for each bound of a quota, or one for all that was used if there is none.
fn lines(QuotaUsage { quota, used, renews_at }: &QuotaUsage) -> Vec<UsageLine> {
    let period = match quota.period {
        QuotaPeriod::Day => "today",
        QuotaPeriod::Month => "this month",
    };
    let renews = minute(*renews_at);
    let tokens = used.input_tokens + used.output_tokens;
    let line = |what: &str, used: f64, most: f64, shown: fn(f64) -> String| UsageLine {
        name: format!("{what} {period}"),
        used: format!("{} of {}, {} left", shown(used), shown(most), shown((most - used).max(0.0))),
        share: Some(if most > 0.0 { (used / most).clamp(0.0, 1.0) } else { 1.0 }),
        note: if used >= most {
            format!("Used up. You can continue from {renews} UTC.")
        } else {
            format!("Renews on {renews} UTC")
        },
    };
    let messages = quota.messages.map(|most| line("Messages", used.messages as f64, most as f64, number));
    let of_tokens = quota.tokens.map(|most| line("Tokens", tokens, most as f64, number));
    let cost = quota.cost_usd.map(|most| line("Cost", used.cost_usd, most, dollars));
    let bounded: Vec<_> = [messages, of_tokens, cost].into_iter().flatten().collect();
    if !bounded.is_empty() {
        return bounded;
    }
    let all = format!(
        "Messages: {}, tokens: {}, cost: {}",
        number(used.messages as f64),
        number(tokens),
        dollars(used.cost_usd)
    );
    vec![UsageLine {
        name: format!("All usage {period}"),
        used: all,
        share: None,
        note: format!("Counted until {renews} UTC"),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::Quota;
    use store::UsageTotals;

    #[test]
    fn every_bound_of_a_quota_has_a_line() {
        let check = |quota: Quota, expected: &[&str]| {
            let used = UsageTotals {
                messages: 3,
                input_tokens: 60.0,
                output_tokens: 40.0,
                cost_usd: 0.5,
                ..Default::default()
            };
            let shown = lines(&QuotaUsage { quota, used, renews_at: 1_700_000_000_000 });
            let shown: Vec<_> =
                shown.into_iter().map(|line| format!("{} | {} | {}", line.name, line.used, line.note)).collect();
            assert_eq!(shown, expected);
        };
        let day = || Quota::per(QuotaPeriod::Day);
        check(
            Quota { messages: Some(20), cost_usd: Some(0.5), ..day() },
            &[
                "Messages today | 3 of 20, 17 left | Renews on 14 Nov 2023, 22:13 UTC",
                "Cost today | $0.50 of $0.50, $0.00 left | Used up. You can continue from 14 Nov 2023, 22:13 UTC.",
            ],
        );
        check(
            Quota { tokens: Some(1000), ..Quota::per(QuotaPeriod::Month) },
            &["Tokens this month | 100 of 1,000, 900 left | Renews on 14 Nov 2023, 22:13 UTC"],
        );
        check(
            Quota::per(QuotaPeriod::Month),
            &["All usage this month | Messages: 3, tokens: 100, cost: $0.50 | Counted until 14 Nov 2023, 22:13 UTC"],
        );
        check(
            Quota { messages: Some(0), ..day() },
            &["Messages today | 3 of 0, 0 left | Used up. You can continue from 14 Nov 2023, 22:13 UTC."],
        );
    }
}
