//! The timeline of a run: a bar for each step.

use super::StepView;

/// The width of a timeline in the units of its bars.
const TIMELINE_WIDTH: i64 = 1_000;
/// The narrowest bar of a timeline.
const NARROWEST_BAR: i64 = 6;

/// The bar of a step in a timeline, which is 1,000 units wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineBar {
    /// Where it begins.
    pub from: i64,
    /// Its width.
    pub width: i64,
}

/// Returns the bars of the steps of a run that was created at `begin`. Steps that have not ended last
/// until `now`. The times are Unix times in milliseconds.
pub fn timeline_bars(steps: &[StepView], begin: i64, now: i64) -> Vec<TimelineBar> {
    let end = steps.iter().map(|step| step.ended_at.unwrap_or(now)).max().unwrap_or(begin).max(begin + 1);
    let place = |at: i64| (at - begin).clamp(0, end - begin) * TIMELINE_WIDTH / (end - begin);
    let bar = |step: &StepView| {
        let (from, to) = (place(step.started_at), place(step.ended_at.unwrap_or(now)));
        let from = from.min(TIMELINE_WIDTH - NARROWEST_BAR);
        TimelineBar { from, width: (to - from).max(NARROWEST_BAR) }
    };
    steps.iter().map(bar).collect()
}
