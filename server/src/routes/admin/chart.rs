//! Bars, drawn by the server. What they show is said in words, too, and stands in the table below them.

use leptos::prelude::*;

/// The size of a drawing, in its own units.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 64.0;

/// A bar for each day, the highest as high as there is room.
pub(super) fn bars(title: &'static str, values: &[f64], shown: fn(f64) -> String) -> impl IntoView + use<> {
    let most = values.iter().copied().fold(0.0, f64::max);
    let slot = WIDTH / values.len().max(1) as f64;
    let gap = (slot * 0.2).min(3.0);
    let bar = |(i, value): (usize, &f64)| {
        let height = if most > 0.0 { value / most * HEIGHT } else { 0.0 };
        let place = |value: f64| format!("{value:.1}");
        (*value > 0.0).then(|| {
            view! {
                <rect
                    x=place((i as f64).mul_add(slot, gap / 2.0))
                    y=place(HEIGHT - height.max(1.0))
                    width=place(slot - gap)
                    height=place(height.max(1.0))
                    rx="1"
                ></rect>
            }
        })
    };
    let bars = values.iter().enumerate().map(bar).collect_view();
    let last = values.last().copied().unwrap_or_default();
    let label = format!("{title} by day: {} at most, {} today", shown(most), shown(last));
    view! {
        <figure class="cw-admin-chart">
            <figcaption>
                <strong>{title}</strong>
                <span>{format!("most in a day {}", shown(most))}</span>
            </figcaption>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=label>
                {bars}
            </svg>
        </figure>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_day_fills_the_chart_and_an_empty_one_has_no_bar() {
        let html = bars("Messages", &[0.0, 5.0, 10.0], |value| format!("{value:.0}")).to_html();
        assert!(html.contains(r#"aria-label="Messages by day: 10 at most, 10 today""#), "{html}");
        let heights: Vec<_> = html.split(" height=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(heights, ["32.0", "64.0"]);
    }
}
