//! The timeline of a run: a bar for each step.

use super::state_names::symbol;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::numbers::duration;
use wire::workflow::{StepView, TimelineBar, timeline_bars};

/// Renders the timeline of a run that was created at `begin`. Steps that have not ended last until
/// `now`.
pub(super) fn timeline_view(steps: &[StepView], begin: i64, now: i64) -> AnyView {
    let row = |(step, bar): (&StepView, TimelineBar)| {
        let TimelineBar { from, width } = bar;
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
    let rows: Vec<_> = steps.iter().zip(timeline_bars(steps, begin, now)).map(row).collect();
    view! { <ol class="cw-timeline" aria-label=t(Text::RunTimeline)>{rows}</ol> }.into_any()
}
