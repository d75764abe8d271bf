//! Plots, as SVG without scripts. A label says each in words, and a table beside it has its numbers.

use super::experiments::{measure_label, percent};
use crate::store::{Experiment, MeasureSummary, State};
use leptos::prelude::*;
use std::collections::BTreeSet;

/// The size of a trend's view box, and the space around the points.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 64.0;
const MARGIN: f64 = 5.0;
/// The size of an interval's view box.
const BAR_WIDTH: f64 = 100.0;
const BAR_HEIGHT: f64 = 12.0;
/// The most measures with a plot.
const MAX_MEASURES: usize = 8;

fn place(value: f64) -> String {
    format!("{value:.1}")
}

/// Renders a mean with its interval on a line from 0 to 1.
pub(super) fn interval(mean: f64, low: f64, high: f64) -> AnyView {
    let x = |part: f64| place(part.clamp(0.0, 1.0) * BAR_WIDTH);
    let width = place(((high - low).clamp(0.0, 1.0) * BAR_WIDTH).max(1.0));
    view! {
        <svg class="cw-eval-interval" viewBox=format!("-3 0 {} {BAR_HEIGHT}", BAR_WIDTH + 6.0) aria-hidden="true" focusable="false">
            <line x1="0" x2=place(BAR_WIDTH) y1="6" y2="6"></line>
            <rect x=x(low) y="3" width=width height="6" rx="1"></rect>
            <circle cx=x(mean) cy="6" r="3"></circle>
        </svg>
    }
    .into_any()
}

/// Renders the measures of complete experiments over time, oldest first: a plot for each measure. `experiments` begins with
/// the newest. With less than two there is nothing to see.
pub(super) fn trends(experiments: &[Experiment]) -> Option<AnyView> {
    let complete: Vec<_> = experiments.iter().rev().filter(|experiment| experiment.state == State::Done).collect();
    if complete.len() < 2 {
        return None;
    }
    let mut names: Vec<&str> = vec!["passed"];
    let measures = complete.iter().filter_map(|experiment| experiment.summary.last()).flat_map(|last| &last.measures);
    let others: BTreeSet<_> = measures.map(|measure| measure.name.as_str()).filter(|name| *name != "passed").collect();
    names.extend(others);
    let plots: Vec<_> = names.into_iter().take(MAX_MEASURES).map(|name| trend(name, &complete)).collect();
    Some(view! { <div class="cw-admin-charts">{plots}</div> }.into_any())
}

fn trend(name: &str, experiments: &[&Experiment]) -> AnyView {
    let measure = |experiment: &&Experiment| -> Option<MeasureSummary> {
        experiment.summary.last()?.measures.iter().find(|measure| measure.name == name).cloned()
    };
    let points: Vec<_> = experiments.iter().map(measure).collect();
    let step = 2.0_f64.mul_add(-MARGIN, WIDTH) / (points.len() - 1).max(1) as f64;
    let x = |index: usize| MARGIN + step * index as f64;
    let y = |part: f64| (1.0 - part.clamp(0.0, 1.0)).mul_add(2.0_f64.mul_add(-MARGIN, HEIGHT), MARGIN);
    let known: Vec<_> = points.iter().enumerate().filter_map(|(at, point)| Some((at, point.as_ref()?))).collect();
    let line: Vec<_> = known.iter().map(|(at, point)| format!("{},{}", place(x(*at)), place(y(point.mean)))).collect();
    let whisker = |(at, point): &(usize, &MeasureSummary)| {
        let (x, low, high) = (place(x(*at)), place(y(point.low)), place(y(point.high)));
        view! { <line class="cw-eval-whisker" x1=x.clone() x2=x y1=low y2=high></line> }
    };
    let dot = |(at, point): &(usize, &MeasureSummary)| {
        let title = format!("{}: {}", experiments[*at].name, percent(point.mean));
        view! { <circle cx=place(x(*at)) cy=place(y(point.mean)) r="3"><title>{title}</title></circle> }
    };
    let whiskers = known.iter().map(whisker).collect_view();
    let dots = known.iter().map(dot).collect_view();
    let label = match (known.first(), known.last()) {
        (Some((_, first)), Some((_, last))) => {
            format!(
                "{name} in {} experiments: {} in the first, {} in the last",
                known.len(),
                percent(first.mean),
                percent(last.mean)
            )
        }
        _ => format!("{name}: no data"),
    };
    let last = known.last().map(|(_, last)| percent(last.mean)).unwrap_or_default();
    let title = measure_label(name);
    view! {
        <figure class="cw-admin-chart cw-eval-trend">
            <figcaption><strong>{title}</strong><span>{format!("last: {last}")}</span></figcaption>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=label>
                {whiskers}
                <polyline points=line.join(" ")></polyline>
                {dots}
            </svg>
        </figure>
    }
    .into_any()
}
