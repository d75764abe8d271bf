//! The block `WorkflowTasks`: the questions of workflows that the user may answer.

use super::api::workflow_tasks;
use super::task_card::{OpenTask, Outcome, TaskCard};
use crate::api::{ApiError, ServerData};
use crate::chat_context::ChatContext;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, error_text, fill_count, t};
use crate::ui::browser::is_visible;
use crate::ui::dates::use_now;
use leptos::ev;
use leptos::task::spawn_local;
use std::time::Duration;
use wire::page::WorkflowTasksProperties;
use wire::workflow::{Task, TaskList};

/// How often the list is loaded again while the page is visible.
const RELOAD_INTERVAL: Duration = Duration::from_secs(15);

/// The questions of workflows that the user may answer.
#[component]
pub(super) fn WorkflowTasksBlock(
    /// The block's id.
    id: String,
    /// `title` and `empty`.
    properties: Properties,
) -> AnyView {
    let title_id = format!("tasks-{id}");
    let titled = title_id.clone();
    let title = move || {
        let title = properties.get::<WorkflowTasksProperties>().title.filter(|title| !title.is_empty())?;
        Some(view! { <h2 class="cw-title" id=titled.clone() dir="auto">{title}</h2> }.into_any())
    };
    let list = ServerData::new(|| (0, None), |_| workflow_tasks(None), false)
        .view(move |first| view! { <LoadedTasks first properties /> }.into_any());
    view! {
        <section class="cw-tasks" aria-labelledby=title_id>
            {title}
            {list}
        </section>
    }
    .into_any()
}

/// The questions on the page; a cheap handle.
#[derive(Clone, Copy)]
struct TaskListState {
    items: RwSignal<Vec<OpenTask>>,
    /// The cursor of the next page.
    next: RwSignal<Option<String>>,
    error: RwSignal<Option<ApiError>>,
}

impl TaskListState {
    fn new(first: Result<TaskList, ApiError>) -> Self {
        let (first, error) = match first {
            Ok(first) => (first, None),
            Err(error) => (TaskList::default(), Some(error)),
        };
        let items = first.items.into_iter().map(OpenTask::new).collect();
        Self { items: RwSignal::new(items), next: RwSignal::new(first.next), error: RwSignal::new(error) }
    }

    /// Counts the questions that have not been answered. Tracked.
    fn count(self) -> usize {
        self.items.with(|items| items.iter().filter(|item| item.outcome.with(Option::is_none)).count())
    }

    /// Loads the list again periodically, and when the user returns to the window.
    fn keep_fresh(self) {
        Effect::new(move |_| {
            let focused = window_event_listener(ev::focus, move |_| self.reload());
            on_cleanup(move || focused.remove());
            let look = move || {
                if is_visible() {
                    self.reload();
                }
            };
            if let Ok(timer) = set_interval_with_handle(look, RELOAD_INTERVAL) {
                on_cleanup(move || timer.clear());
            }
        });
        let chat = use_context::<ChatContext>();
        Effect::new(move |_| {
            let count = self.count();
            if let Some(chat) = chat {
                chat.set_waiting_tasks(count);
            }
        });
    }

    /// Loads as many pages again as are shown.
    fn reload(self) {
        let Some(shown) = self.items.try_with_untracked(Vec::len) else { return };
        self.load(Vec::new(), None, shown);
    }

    fn load_more(self) {
        let tasks: Vec<_> = self.items.with_untracked(|items| items.iter().map(|open| open.task.clone()).collect());
        let most = tasks.len() + 1;
        self.load(tasks, self.next.get_untracked(), most);
    }

    /// Loads the pages behind these questions until there are `wanted` ones.
    fn load(self, mut tasks: Vec<Task>, mut after: Option<String>, wanted: usize) {
        spawn_local(async move {
            loop {
                match workflow_tasks(after).await {
                    Ok(list) => {
                        tasks.extend(list.items);
                        after = list.next;
                    }
                    Err(error) => return drop(self.error.try_set(Some(error))),
                }
                if after.is_none() || tasks.len() >= wanted {
                    return self.merge(TaskList { items: tasks, next: after });
                }
            }
        });
    }

    /// Takes over a new list.
    fn merge(self, list: TaskList) {
        let Some(known) = self.items.try_get_untracked() else { return };
        if let Some(items) = merged(&known, list.items, list.next.is_some()) {
            self.items.set(items);
        }
        self.error.set(None);
        self.next.set(list.next);
    }
}

/// Returns the cards for a new list; `None` if they are the same. Cards stay as they are, with what the
/// user has entered; a question that does not wait any more disappears, unless the user has begun to answer
/// it or has just done so.
pub(super) fn merged(known: &[OpenTask], tasks: Vec<Task>, has_more: bool) -> Option<Vec<OpenTask>> {
    let is_open = |open: &OpenTask| tasks.iter().any(|task| task.id == open.task.id);
    // A full page does not tell whether later questions still wait. Only questions of workflows are sorted by their ids;
    // an id with a slash is that of an agent's call.
    let is_known = |open: &OpenTask| {
        let is_later = |task: &Task| task.id > open.task.id && !task.id.contains('/');
        !has_more || !open.task.id.contains('/') && tasks.iter().any(is_later)
    };
    let mut items = Vec::new();
    let mut has_changed = false;
    for open in known {
        let is_gone = is_known(open) && !is_open(open) && open.outcome.get_untracked().is_none();
        if is_gone && !open.is_touched.get_untracked() {
            has_changed = true;
            continue;
        }
        if is_gone {
            open.outcome.set(Some(Outcome::Gone));
        }
        items.push(open.clone());
    }
    for task in tasks {
        if known.iter().all(|open| open.task.id != task.id) {
            has_changed = true;
            items.push(OpenTask::new(task));
        }
    }
    has_changed.then_some(items)
}

#[component]
fn LoadedTasks(first: Result<TaskList, ApiError>, properties: Properties) -> AnyView {
    let list = TaskListState::new(first);
    list.keep_fresh();
    let now = use_now();
    let count = Memo::new(move |_| list.count());
    let status = move || match count.get() {
        0 => String::new(),
        1 => t(Text::TasksOne).to_owned(),
        count => fill_count(Text::TasksCount, count),
    };
    let is_empty = Memo::new(move |_| list.items.with(Vec::is_empty) && list.error.with(Option::is_none));
    let none = move || {
        is_empty.get().then(|| {
            let own = properties.get::<WorkflowTasksProperties>().empty;
            let text = own.filter(|text| !text.is_empty()).unwrap_or_else(|| t(Text::TasksNone).to_owned());
            view! { <p class="cw-tasks-none" dir="auto">{text}</p> }.into_any()
        })
    };
    let error = move || {
        list.error.get().map(|error| {
            let again = move |_| list.reload();
            view! {
                <p class="cw-list-error" role="alert">
                    {error_text(&error.0)}
                    <button type="button" class="cw-link" on:click=again>{t(Text::TryAgain)}</button>
                </p>
            }
            .into_any()
        })
    };
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
        <p class="cw-visually-hidden" role="status">{status}</p>
        {error}
        {none}
        <ul class="cw-task-list" hidden=move || list.items.with(Vec::is_empty)>
            <For
                each=move || list.items.get()
                key=|open| open.task.id.clone()
                children=move |open| view! { <TaskCard open now /> }
            />
        </ul>
        {more}
    }
    .into_any()
}
