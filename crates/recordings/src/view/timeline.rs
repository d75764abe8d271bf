//! The timeline: the steps of both sides as bars, whose length is the time of the model.

use super::ComparisonNumber;
use crate::report::{Comparison, StepPair, Totals};
use leptos::prelude::*;

/// The size of the view box.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 56.0;
/// The height of a bar, and the tops of the two lanes.
const BAR: f64 = 20.0;
const LANES: [f64; 2] = [4.0, 32.0];
/// The minimum length of a bar in milliseconds, so that it is visible.
const MIN_MS: f64 = 5.0;

/// Renders the timeline. The table of the totals and the steps below have its numbers.
pub(super) fn timeline_view(comparison: &Comparison, names: (&str, &str), place: ComparisonNumber) -> AnyView {
    let length = |totals: Totals| (totals.ms as f64).max(MIN_MS);
    let sum = |has: fn(&StepPair) -> bool, of: fn(&StepPair) -> Totals| {
        comparison.steps.iter().filter(|step| has(step)).map(|step| length(of(step))).sum::<f64>()
    };
    let longest = sum(has_before, |step| step.before).max(sum(has_after, |step| step.after)).max(MIN_MS);
    let lane = |has: fn(&StepPair) -> bool, of: fn(&StepPair) -> Totals, top: f64| {
        let mut x = 0.0;
        let mut bars = Vec::new();
        for (at, step) in comparison.steps.iter().enumerate().filter(|(_, step)| has(step)) {
            let width = length(of(step)) / longest * WIDTH;
            bars.push(bar(comparison, (at, step), (x, top, width), of(step)));
            x += width;
        }
        bars
    };
    let label = label(comparison, names);
    let title = format!("timeline-{place}");
    view! {
        <figure class="cw-replay-timeline">
            <figcaption id=title>
                <strong>"Timeline"</strong>
                <span>{format!("above: {}, below: {}", names.0, names.1)}</span>
            </figcaption>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=label>
                {lane(has_before, |step| step.before, LANES[0])}
                {lane(has_after, |step| step.after, LANES[1])}
            </svg>
            <p class="cw-replay-legend">
                <span class="cw-replay-key">"same"</span>
                <span class="cw-replay-key cw-replay-changed">"differs"</span>
                <span class="cw-replay-key cw-replay-first">"first divergence"</span>
            </p>
        </figure>
    }
    .into_any()
}

fn has_before(step: &StepPair) -> bool {
    step.recorded.is_some()
}

fn has_after(step: &StepPair) -> bool {
    step.replayed.is_some()
}

fn bar(comparison: &Comparison, (at, step): (usize, &StepPair), (x, y, width): (f64, f64, f64), of: Totals) -> AnyView {
    let class = match (comparison.first_divergence == Some(at), step.findings.is_empty()) {
        (true, _) => "cw-replay-first",
        (false, true) => "cw-replay-same",
        (false, false) => "cw-replay-changed",
    };
    let number = |value: f64| format!("{value:.1}");
    let title = format!("Step {} of {}: {}", step.number, step.agent, super::time(of));
    view! {
        <rect
            class=class
            x=number(x + 0.75)
            y=number(y)
            width=number((width - 1.5).max(1.0))
            height=number(BAR)
            rx="2"
        >
            <title>{title}</title>
        </rect>
    }
    .into_any()
}

/// Returns the timeline in words.
fn label(comparison: &Comparison, (first, second): (&str, &str)) -> String {
    let count = |has: fn(&StepPair) -> bool| comparison.steps.iter().filter(|step| has(step)).count();
    let divergence = match comparison.first_divergence.and_then(|at| comparison.steps.get(at)) {
        Some(step) => format!("the first divergence is in step {}", step.number),
        None => "no step diverges".to_owned(),
    };
    format!(
        "Timeline: {} steps of {first} in {}, {} steps of {second} in {}; {divergence}",
        count(has_before),
        super::time(comparison.before),
        count(has_after),
        super::time(comparison.after)
    )
}
