//! Server-rendered bar charts. A label describes each chart in words, and the tables below contain
//! the numbers.

use leptos::prelude::*;

/// The size of the SVG's view box.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 64.0;
/// The thickness of a line that marks a value of the period before.
const LINE: f64 = 2.0;

/// Values by day, and those of the period before, which has as many days or none.
pub(crate) struct Series {
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) before: Vec<Option<f64>>,
}

/// Renders a bar for each day, with a line where the same day of the period before was; the highest of both fills the
/// chart. A day without data has neither.
pub(crate) fn bars(title: &'static str, series: &Series, shown: fn(f64) -> String) -> impl IntoView + use<> {
    let Series { values, before } = series;
    let highest = |values: &[Option<f64>]| values.iter().copied().flatten().reduce(f64::max);
    let (most, most_before) = (highest(values), highest(before));
    let top = most.into_iter().chain(most_before).fold(0.0, f64::max);
    let shown = |value: Option<f64>| value.map_or_else(|| "no data".to_owned(), shown);
    let slot = WIDTH / values.len().max(1) as f64;
    let gap = (slot * 0.2).min(3.0);
    let place = |value: f64| format!("{value:.1}");
    let height = |value: &Option<f64>| value.filter(|value| *value > 0.0).map(|value| (value / top * HEIGHT).max(1.0));
    let bar = |(i, value): (usize, &Option<f64>)| {
        let height = height(value)?;
        let (x, y) = (place((i as f64).mul_add(slot, gap / 2.0)), place(HEIGHT - height));
        Some(view! { <rect x=x y=y width=place(slot - gap) height=place(height) rx="1"></rect> })
    };
    let line = |(i, value): (usize, &Option<f64>)| {
        let (x, y) = (place(i as f64 * slot), place((HEIGHT - height(value)?).max(LINE / 2.0) - LINE / 2.0));
        Some(view! { <rect class="cw-before" x=x y=y width=place(slot) height=place(LINE)></rect> })
    };
    let bars = values.iter().enumerate().map(bar).collect_view();
    let lines = before.iter().enumerate().map(line).collect_view();
    let last = values.last().copied().flatten();
    let compared = |begin: &str| most_before.map(|most| format!("{begin}{}", shown(Some(most)))).unwrap_or_default();
    let label = format!(
        "{title} by day: maximum {}, today {}{}",
        shown(most),
        shown(last),
        compared(", maximum of the period before ")
    );
    view! {
        <figure class="cw-admin-chart">
            <figcaption>
                <strong>{title}</strong>
                <span>{format!("daily maximum {}{}", shown(most), compared(", before "))}</span>
            </figcaption>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=label>
                {bars}
                {lines}
            </svg>
        </figure>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(title: &'static str, values: &[Option<f64>], before: &[Option<f64>]) -> String {
        let series = Series { values: values.to_vec(), before: before.to_vec() };
        bars(title, &series, |value| format!("{value:.0}")).to_html()
    }

    fn numbers(html: &str, attribute: &str) -> Vec<String> {
        let values = html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
        values.map(str::to_owned).collect()
    }

    #[test]
    fn the_highest_day_fills_the_chart_and_an_empty_one_has_no_bar() {
        let shown = html("Messages", &[Some(0.0), Some(5.0), Some(10.0)], &[]);
        assert!(shown.contains(r#"aria-label="Messages by day: maximum 10, today 10""#), "{shown}");
        assert_eq!(numbers(&shown, " height=\""), ["32.0", "64.0"]);
        let shown = html("Reply time", &[None, Some(5.0), None], &[]);
        assert!(shown.contains(r#"aria-label="Reply time by day: maximum 5, today no data""#), "{shown}");
        let shown = html("Reply time", &[None, None], &[]);
        assert!(shown.contains("maximum no data") && !shown.contains("<rect"), "{shown}");
    }

    #[test]
    fn the_period_before_is_a_line_in_the_same_scale() {
        let shown = html("Cost", &[Some(5.0), None], &[Some(10.0), Some(5.0)]);
        let label = r#"aria-label="Cost by day: maximum 5, today no data, maximum of the period before 10""#;
        assert!(shown.contains(label) && shown.contains("daily maximum 5, before 10"), "{shown}");
        assert_eq!(numbers(&shown, " y=\""), ["32.0", "0.0", "31.0"]);
        assert_eq!(shown.matches("cw-before").count(), 2);
    }
}
