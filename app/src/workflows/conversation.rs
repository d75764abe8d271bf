//! Runs in a conversation: their progress, their questions to the reader, and their results.

use super::api::workflow_progress;
use super::state_names::run_state_view;
use super::task_card::{OpenTask, TaskCard};
use super::tasks::merged;
use super::tool_question::tool_question;
use crate::approval::value_view;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser::is_visible;
use crate::ui::dates::use_now;
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use leptos::task::spawn_local;
use serde_json::Value;
use std::time::Duration;
use wire::TOOL_QUESTION;
use wire::error::ErrorCode;
use wire::message::DataPart;
use wire::workflow::{ConversationRun, RunItem, RunProgress, RunResult};

/// How often a run is looked at until the conversation has its result, while the page is visible.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// A run in a conversation; a cheap handle.
#[derive(Clone, Copy)]
struct Followed {
    id: StoredValue<String>,
    run: RwSignal<Option<RunItem>>,
    tasks: RwSignal<Vec<OpenTask>>,
    /// Whether nothing more is to come.
    is_over: RwSignal<bool>,
    /// Shows the message with the result; returns false if it cannot do so now.
    show_result: Callback<(String,), bool>,
}

impl Followed {
    fn look(self) {
        let id = self.id.get_value();
        spawn_local(async move {
            let loaded = workflow_progress(id).await;
            // The reader may have left the conversation.
            let Some(known) = self.tasks.try_get_untracked() else { return };
            match loaded {
                Ok(progress) => self.take(&known, progress),
                // Deleted, or a copy that another user has imported: the loaded runs stay.
                Err(error) if error.code() == ErrorCode::NotFound => self.is_over.set(true),
                Err(_) => {}
            }
        });
    }

    fn take(self, known: &[OpenTask], progress: RunProgress) {
        let RunProgress { run, tasks, result_id, is_awaited } = progress;
        if let Some(tasks) = merged(known, tasks, false) {
            self.tasks.set(tasks);
        }
        let has_ended = run.state.is_end();
        if self.run.with_untracked(|shown| shown.as_ref() != Some(&run)) {
            self.run.set(Some(run));
        }
        let is_shown = result_id.is_none_or(|id| self.show_result.run((id,)));
        self.is_over.set(has_ended && !is_awaited && is_shown);
    }
}

/// Renders a run that belongs to the conversation, or a question of a running tool, which looks the same.
pub(super) fn conversation_run(part: &DataPart, show_result: Callback<(String,), bool>) -> AnyView {
    if part.kind == TOOL_QUESTION {
        return serde_json::from_value(part.data.clone()).map_or_else(|_| ().into_any(), tool_question);
    }
    let Ok(ConversationRun { run_id, workflow }) = serde_json::from_value(part.data.clone()) else {
        return ().into_any();
    };
    let followed = Followed {
        id: StoredValue::new(run_id),
        run: RwSignal::new(None),
        tasks: RwSignal::new(Vec::new()),
        is_over: RwSignal::new(false),
        show_result,
    };
    let is_over = Memo::new(move |_| followed.is_over.get());
    Effect::new(move |_| {
        if is_over.get() {
            return;
        }
        followed.look();
        let look = move || {
            if is_visible() {
                followed.look();
            }
        };
        if let Ok(timer) = set_interval_with_handle(look, LOOK_INTERVAL) {
            on_cleanup(move || timer.clear());
        }
    });
    let state = Memo::new(move |_| followed.run.with(|run| run.as_ref().map(|run| run.state)));
    let state = move || state.get().map(run_state_view);
    let now = use_now();
    let tasks = move || {
        view! {
            <ul class="cw-task-list">
                <For
                    each=move || followed.tasks.get()
                    key=|open| open.task.id.clone()
                    children=move |open| view! { <TaskCard open now /> }
                />
            </ul>
        }
    };
    let has_tasks = Memo::new(move |_| !followed.tasks.with(Vec::is_empty));
    card(
        &workflow,
        view! { <span role="status">{state}</span> }.into_any(),
        (move || has_tasks.get().then(tasks)).into_any(),
    )
}

/// Renders the end of a run.
pub(super) fn conversation_result(part: &Value) -> AnyView {
    let Ok(result) = serde_json::from_value::<RunResult>(part.clone()) else { return ().into_any() };
    let cause = result.cause.map(|cause| {
        let cause = visible_nodes(&cause, TextKind::Prose);
        view! { <p class="cw-problem" dir="auto">{cause}</p> }.into_any()
    });
    let output = match &result.output {
        Value::Null => None,
        Value::String(text) => {
            let text = visible_nodes(text, TextKind::Prose);
            Some(view! { <p class="cw-plain" dir="auto">{text}</p> }.into_any())
        }
        output => Some(view! { <div class="cw-task-details">{value_view(output)}</div> }.into_any()),
    };
    let is_cut = result.is_cut.then(|| view! { <p class="cw-tasks-none">{t(Text::RunOutputCut)}</p> }.into_any());
    card(&result.workflow, run_state_view(result.state), view! { {cause}{output}{is_cut} }.into_any())
}

fn card(workflow: &str, state: AnyView, content: AnyView) -> AnyView {
    let label = text_with_code_points(workflow, TextKind::Prose).into_owned();
    let title = visible_nodes(workflow, TextKind::Prose);
    view! {
        <div class="cw-run-card" role="group" aria-label=label>
            <div class="cw-run-card-head">
                <Icon of=Shape::FORM />
                <h2 dir="auto">{title}</h2>
                {state}
            </div>
            {content}
        </div>
    }
    .into_any()
}
