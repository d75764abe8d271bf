//! The block `WorkflowRuns`: starts runs, lists those of the user, and shows one of them.

use super::api::{start_workflow, workflow_runs};
use super::run::{OtherRuns, RunDetails};
use super::start::{StartForm, Started};
use super::state_names::run_state_view;
use crate::api::{ApiError, ServerData};
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, error_text, t};
use crate::ui::browser::is_visible;
use crate::ui::dates::{RelativeTime, use_now};
use crate::ui::icons::{Icon, Shape};
use leptos::task::spawn_local;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use wire::page::WorkflowRunsProperties;
use wire::workflow::{RunItem, RunList, WorkflowItem};

/// How often the list is loaded again while the page is visible.
const RELOAD_INTERVAL: Duration = Duration::from_secs(15);

/// The runs of the user.
#[component]
pub(super) fn WorkflowRunsBlock(
    /// The block's id.
    id: String,
    /// `title` and `workflowId`.
    properties: Properties,
) -> AnyView {
    let title_id = format!("runs-{id}");
    let titled = title_id.clone();
    let title = move || {
        let title = properties.get::<WorkflowRunsProperties>().title.filter(|title| !title.is_empty())?;
        Some(view! { <h2 class="cw-title" id=titled.clone() dir="auto">{title}</h2> }.into_any())
    };
    let workflow = move || (0, properties.get::<WorkflowRunsProperties>().workflow_id);
    let list = ServerData::new(workflow, |workflow| workflow_runs(None, workflow), false)
        .view(move |first| view! { <LoadedRuns id=id.clone() first properties /> }.into_any());
    view! {
        <section class="cw-runs" aria-labelledby=title_id>
            {title}
            {list}
        </section>
    }
    .into_any()
}

/// The runs on the page; a cheap handle.
#[derive(Clone, Copy)]
struct RunListState {
    items: RwSignal<Vec<RunItem>>,
    next: RwSignal<Option<String>>,
    error: RwSignal<Option<ApiError>>,
    /// The workflow whose runs are listed; `None` for all.
    workflow: StoredValue<Option<String>>,
    /// The run that is shown instead of the list.
    shown: RwSignal<Option<String>>,
}

impl RunListState {
    /// Loads the first page again. Later pages stay.
    fn reload(self) {
        let Some(workflow) = self.workflow.try_get_value() else { return };
        spawn_local(async move {
            let loaded = workflow_runs(None, workflow).await;
            let Some(known) = self.items.try_get_untracked() else { return };
            match loaded {
                Ok(list) => {
                    let mut items = list.items;
                    let last = items.last().map(|run| run.id.clone()).unwrap_or_default();
                    let older = known.iter().filter(|run| run.id < last).cloned();
                    if self.next.with_untracked(Option::is_none) && known.len() < items.len() {
                        self.next.set(list.next);
                    }
                    items.extend(older);
                    if items != known {
                        self.items.set(items);
                    }
                    self.error.set(None);
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn load_more(self) {
        let Some(workflow) = self.workflow.try_get_value() else { return };
        let after = self.next.get_untracked();
        spawn_local(async move {
            match workflow_runs(after, workflow).await {
                Ok(list) => {
                    self.next.try_set(list.next);
                    self.items.try_update(|items| items.extend(list.items));
                }
                Err(error) => drop(self.error.try_set(Some(error))),
            }
        });
    }

    /// Shows a run that was started, unless the page is gone.
    fn show_started(self, run: RunItem) {
        let id = run.id.clone();
        if self.items.try_update(|items| items.insert(0, run)).is_some() {
            self.shown.set(Some(id));
        }
    }

    fn keep_fresh(self) {
        Effect::new(move |_| {
            let look = move || {
                if is_visible() && self.shown.with_untracked(Option::is_none) {
                    self.reload();
                }
            };
            if let Ok(timer) = set_interval_with_handle(look, RELOAD_INTERVAL) {
                on_cleanup(move || timer.clear());
            }
        });
    }
}

#[component]
fn LoadedRuns(id: String, first: Result<RunList, ApiError>, properties: Properties) -> AnyView {
    let (first, error) = match first {
        Ok(first) => (first, None),
        Err(error) => (RunList::default(), Some(error)),
    };
    let list = RunListState {
        items: RwSignal::new(first.items),
        next: RwSignal::new(first.next),
        error: RwSignal::new(error),
        workflow: StoredValue::new(untrack(|| properties.get::<WorkflowRunsProperties>()).workflow_id),
        shown: RwSignal::new(None),
    };
    list.keep_fresh();
    let now = use_now();
    let workflows = StoredValue::new(first.workflows);
    let back_id = format!("runs-{id}-back");
    let content = move || match list.shown.get() {
        Some(run) => {
            let back = move |_| {
                list.shown.set(None);
                list.reload();
            };
            let others = OtherRuns {
                started: Arc::new(move |run| list.show_started(run)),
                show: Arc::new(move |id| drop(list.shown.try_set(Some(id)))),
            };
            let id = back_id.clone();
            let focused = id.clone();
            request_animation_frame(move || crate::blocks::control::focus(&focused));
            view! {
                <button type="button" class="cw-link" id=id on:click=back>{t(Text::RunsAll)}</button>
                <RunDetails id=run others />
            }
            .into_any()
        }
        None => {
            let own = list.workflow.get_value();
            let is_offered = |workflow: &&WorkflowItem| own.as_ref().is_none_or(|own| *own == workflow.id);
            let offered = workflows.with_value(|all| all.iter().filter(is_offered).cloned().collect::<Vec<_>>());
            view! {
                {offers(&id, offered, list)}
                {list_view(list, now)}
            }
            .into_any()
        }
    };
    let error = move || {
        let error = list.error.get()?;
        Some(view! { <p class="cw-list-error" role="alert">{error_text(&error.0)}</p> }.into_any())
    };
    view! {
        {error}
        {content}
    }
    .into_any()
}

/// The forms that start runs, folded unless there is only one.
fn offers(block: &str, workflows: Vec<WorkflowItem>, list: RunListState) -> AnyView {
    let is_open = workflows.len() == 1;
    let offer = |workflow: WorkflowItem| {
        let title = workflow.title.clone();
        let id = workflow.id.clone();
        let send = move |input: Map<String, Value>, started: Started| {
            let id = id.clone();
            spawn_local(async move {
                match start_workflow(id, input).await {
                    Ok(run) => list.show_started(run),
                    Err(error) => started(Err(error)),
                }
            });
        };
        view! {
            <details class="cw-run-offer" open=is_open>
                <summary><Icon of=Shape::CHEVRON /><span dir="auto">{title}</span></summary>
                {StartForm::new(block, workflow, Arc::new(send)).view()}
            </details>
        }
        .into_any()
    };
    let offers: Vec<_> = workflows.into_iter().map(offer).collect();
    offers.into_any()
}

fn list_view(list: RunListState, now: ReadSignal<Option<i64>>) -> AnyView {
    let is_empty = Memo::new(move |_| list.items.with(Vec::is_empty));
    let row = move |run: RunItem| {
        let (id, at) = (run.id.clone(), run.created_at);
        let cause = run.cause.map(|cause| view! { <span class="cw-run-cause" dir="auto">{cause}</span> });
        view! {
            <li>
                <button type="button" class="cw-run-row" on:click=move |_| list.shown.set(Some(id.clone()))>
                    {run_state_view(run.state)}
                    <span class="cw-run-title" dir="auto">{run.workflow}</span>
                    <span class="cw-run-when"><RelativeTime at=move || at now /></span>
                    {cause}
                </button>
            </li>
        }
        .into_any()
    };
    let rows = move || list.items.get().into_iter().map(row).collect::<Vec<_>>();
    let more = move || {
        let has_more = list.next.with(Option::is_some);
        has_more.then(|| {
            view! {
                <button type="button" class="cw-link cw-more" on:click=move |_| list.load_more()>
                    {t(Text::ShowMore)}
                </button>
            }
            .into_any()
        })
    };
    view! {
        {move || is_empty.get().then(|| view! { <p class="cw-tasks-none">{t(Text::RunsNone)}</p> }.into_any())}
        <ul class="cw-run-list" aria-label=t(Text::RunsList) hidden=move || is_empty.get()>{rows}</ul>
        {more}
    }
    .into_any()
}
