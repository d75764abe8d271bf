//! The timeline of a run: a bar for each step.

use super::state_names::symbol;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::numbers::duration;
use wire::workflow::StepView;

/// The width of the timeline in the units of its bars.
const WIDTH: i64 = 1_000;
/// The narrowest bar.
const NARROWEST: i64 = 6;

/// Renders the timeline of a run that was created at `begin`. Steps that have not ended last until
/// `now`.
pub(super) fn timeline_view(steps: &[StepView], begin: i64, now: i64) -> AnyView {
    let end = steps.iter().map(|step| step.ended_at.unwrap_or(now)).max().unwrap_or(begin).max(begin + 1);
    let place = |at: i64| (at - begin).clamp(0, end - begin) * WIDTH / (end - begin);
    let row = |step: &StepView| {
        let (from, to) = (place(step.started_at), place(step.ended_at.unwrap_or(now)));
        let from = from.min(WIDTH - NARROWEST);
        let width = (to - from).max(NARROWEST);
        let lasted = step.ended_at.map(|ended| duration((ended - step.started_at).max(0) as u64));
        view! {
            <li data-state=step.state.name()>
                <span class="cw-timeline-name">{symbol(step.state)}{step.path.clone()}</span>
                <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
                    <rect class="cw-timeline-row" x="0" y="0" width="1000" height="10" />
                    <rect class="cw-timeline-bar" x=from.to_string() y="0" width=width.to_string() height="10" />
                </svg>
                <span class="cw-timeline-time">{lasted}</span>
            </li>
        }
        .into_any()
    };
    let rows: Vec<_> = steps.iter().map(row).collect();
    view! { <ol class="cw-timeline" aria-label=t(Text::RunTimeline)>{rows}</ol> }.into_any()
}
