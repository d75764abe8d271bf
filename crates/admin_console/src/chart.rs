//! Server-rendered bar charts. A label describes each chart in words, and the tables below contain
//! the numbers.

use leptos::prelude::*;

/// The size of the SVG's view box.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 64.0;

/// Renders a bar for each day; the highest bar fills the chart. A day without data has no bar.
pub(crate) fn bars(title: &'static str, values: &[Option<f64>], shown: fn(f64) -> String) -> impl IntoView + use<> {
    let most = values.iter().copied().flatten().reduce(f64::max);
    let shown = |value: Option<f64>| value.map_or_else(|| "no data".to_owned(), shown);
    let slot = WIDTH / values.len().max(1) as f64;
    let gap = (slot * 0.2).min(3.0);
    let bar = |(i, value): (usize, &Option<f64>)| {
        let value = value.filter(|value| *value > 0.0)?;
        let height = value / most.unwrap_or(value) * HEIGHT;
        let place = |value: f64| format!("{value:.1}");
        Some(view! {
            <rect
                x=place((i as f64).mul_add(slot, gap / 2.0))
                y=place(HEIGHT - height.max(1.0))
                width=place(slot - gap)
                height=place(height.max(1.0))
                rx="1"
            ></rect>
        })
    };
    let bars = values.iter().enumerate().map(bar).collect_view();
    let last = values.last().copied().flatten();
    let label = format!("{title} by day: maximum {}, today {}", shown(most), shown(last));
    view! {
        <figure class="cw-admin-chart">
            <figcaption>
                <strong>{title}</strong>
                <span>{format!("daily maximum {}", shown(most))}</span>
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
        let shown: fn(f64) -> String = |value| format!("{value:.0}");
        let html = bars("Messages", &[Some(0.0), Some(5.0), Some(10.0)], shown).to_html();
        assert!(html.contains(r#"aria-label="Messages by day: maximum 10, today 10""#), "{html}");
        let heights: Vec<_> = html.split(" height=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(heights, ["32.0", "64.0"]);
        let html = bars("Reply time", &[None, Some(5.0), None], shown).to_html();
        assert!(html.contains(r#"aria-label="Reply time by day: maximum 5, today no data""#), "{html}");
        let html = bars("Reply time", &[None, None], shown).to_html();
        assert!(html.contains("maximum no data") && !html.contains("<rect"), "{html}");
    }
}
