//! The names of states for the user, with their symbols.

use crate::prelude::*;
use crate::texts::{Text, t};
use wire::workflow::{RunState, StepState};

/// Returns the name of a step's state.
pub(super) fn step_state_name(state: StepState) -> &'static str {
    t(match state {
        StepState::Pending => Text::StepPending,
        StepState::Skipped => Text::StepSkipped,
        StepState::Done => Text::RunDone,
        StepState::Running => Text::RunRunning,
        StepState::Retrying => Text::StepRetrying,
        StepState::Waiting => Text::RunWaiting,
        StepState::Failed => Text::RunFailed,
        StepState::Unknown => Text::StepUnknown,
    })
}

/// Returns the state of a step that looks like the state of a run, and the name of the latter.
fn run_state(state: RunState) -> (StepState, &'static str) {
    match state {
        RunState::Running => (StepState::Running, t(Text::RunRunning)),
        RunState::Waiting => (StepState::Waiting, t(Text::RunWaiting)),
        RunState::Done => (StepState::Done, t(Text::RunDone)),
        RunState::Failed => (StepState::Failed, t(Text::RunFailed)),
        RunState::Stopped => (StepState::Skipped, t(Text::RunStopped)),
    }
}

/// Renders the symbol of a state.
pub(super) fn symbol(state: StepState) -> AnyView {
    view! {
        <svg class="cw-icon cw-step-symbol" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
            <path d=state.symbol() />
        </svg>
    }
    .into_any()
}

/// Renders the state of a run: its symbol and its name.
pub(super) fn run_state_view(state: RunState) -> AnyView {
    let (like, name) = run_state(state);
    view! { <span class="cw-run-state" data-state=like.name()>{symbol(like)}{name}</span> }.into_any()
}

/// Renders the state of a step: its symbol and its name.
pub(super) fn step_state_view(state: StepState) -> AnyView {
    view! { <span class="cw-run-state" data-state=state.name()>{symbol(state)}{step_state_name(state)}</span> }
        .into_any()
}
