//! The card of a question that a workflow asks: the same look as the cards of an agent's questions.

use super::api::answer_workflow_task;
use super::form::SchemaForm;
use crate::approval::unseen_arguments::UnseenArguments;
use crate::approval::{is_early, value_view};
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::dates::{RelativeTime, local_time, utc_date};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, SubmitEvent};
use leptos::task::spawn_local;
use serde_json::Value;
use wire::error::ErrorCode;
use wire::workflow::{Task, TaskAnswer, TaskKind};

/// The most characters of a comment.
const MAX_COMMENT: &str = "2000";

/// How a question on this page has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Approved,
    Rejected,
    Answered,
    /// It does not wait any more, but the user has not answered it here.
    Gone,
}

/// A question on the page.
#[derive(Clone)]
pub(super) struct OpenTask {
    pub(super) task: Task,
    pub(super) outcome: ArcRwSignal<Option<Outcome>>,
    /// Whether the user has begun to answer, so that the card must not disappear.
    pub(super) is_touched: ArcRwSignal<bool>,
}

impl OpenTask {
    pub(super) fn new(task: Task) -> Self {
        Self { task, outcome: ArcRwSignal::new(None), is_touched: ArcRwSignal::new(false) }
    }
}

/// The user's input so far, and the state of sending it.
#[derive(Clone)]
struct Draft {
    id: StoredValue<String>,
    form: SchemaForm,
    choice: RwSignal<Option<String>>,
    comment: RwSignal<String>,
    problem: RwSignal<Option<String>>,
    is_sending: RwSignal<bool>,
    open: OpenTask,
}

impl Draft {
    fn send(&self, answer: TaskAnswer, outcome: Outcome) {
        if self.is_sending.get_untracked() {
            return;
        }
        let comment = self.comment.get_untracked();
        let comment = (!comment.trim().is_empty()).then(|| comment.trim().to_owned());
        let answer = TaskAnswer { comment, ..answer };
        self.problem.set(None);
        self.is_sending.set(true);
        let (draft, id) = (self.clone(), self.id.get_value());
        spawn_local(async move {
            let sent = answer_workflow_task(id, answer).await;
            // The page may be gone.
            if draft.is_sending.try_set(false).is_some() {
                return;
            }
            match sent {
                Ok(_) => draft.end(outcome),
                Err(error) if matches!(error.code(), ErrorCode::Busy | ErrorCode::NotFound) => draft.end(Outcome::Gone),
                Err(error) if draft.form.show_error(&error.0, "/values") => {
                    draft.problem.set(Some(t(Text::EntriesToCheck).to_owned()));
                }
                Err(error) => draft.problem.set(Some(error_text(&error.0))),
            }
        });
    }

    /// Shows the outcome. The buttons go, so the focus moves to it.
    fn end(&self, outcome: Outcome) {
        self.open.outcome.set(Some(outcome));
        let id = self.id.with_value(|id| outcome_id(id));
        request_animation_frame(move || focus(&id));
    }

    fn submit(&self, kind: TaskKind) {
        match kind {
            // The button says which; a line break in the comment decides nothing.
            TaskKind::Approve => {}
            TaskKind::Choose => match self.choice.get_untracked() {
                None => self.problem.set(Some(t(Text::TaskChoose).to_owned())),
                choice => self.send(TaskAnswer { choice, ..TaskAnswer::default() }, Outcome::Answered),
            },
            TaskKind::Form => match self.form.read() {
                None => self.problem.set(Some(t(Text::EntriesToCheck).to_owned())),
                values => self.send(TaskAnswer { values, ..TaskAnswer::default() }, Outcome::Answered),
            },
        }
    }
}

fn outcome_id(task: &str) -> String {
    format!("cw-task-{task}-outcome")
}

/// A question with its details and what answers it.
#[component]
pub(super) fn TaskCard(
    /// The question.
    open: OpenTask,
    /// The current time, for relative times.
    now: ReadSignal<Option<i64>>,
) -> AnyView {
    let task = open.task.clone();
    let form = SchemaForm::new(&task.form, format!("cw-task-{}", task.id));
    let (comment, choice) = (RwSignal::new(String::new()), RwSignal::new(None));
    let touched = open.is_touched.clone();
    Effect::new(move |_| {
        if form.is_touched.get() || choice.with(Option::is_some) || comment.with(|comment| !comment.is_empty()) {
            touched.set(true);
        }
    });
    let draft = Draft {
        id: StoredValue::new(task.id.clone()),
        form,
        choice,
        comment,
        problem: RwSignal::new(None),
        is_sending: RwSignal::new(false),
        open: open.clone(),
    };
    let label = text_with_code_points(&task.title, TextKind::Prose).into_owned();
    let head = head(&task, now);
    // "Approve" is disabled until the user has seen all of the details.
    let unseen = (task.ask == TaskKind::Approve).then(|| {
        let unseen = UnseenArguments::for_arguments(Some(&task.details), None, &task.id);
        unseen.watch();
        unseen
    });
    let details = details(&task.details, unseen);
    let note = task.is_cut_off.then(|| view! { <p class="cw-question-context">{t(Text::CutOffNote)}</p> }.into_any());
    let outcome = open.outcome.clone();
    let ended = Memo::new(move |_| outcome.get());
    let id = outcome_id(&task.id);
    let content = move || match ended.get() {
        Some(outcome) => outcome_view(id.clone(), outcome),
        None => untrack(|| answer_form(&draft, &task, unseen)),
    };
    view! {
        <li>
            <div class="cw-approval cw-question cw-task" role="group" aria-label=label>
                {head}
                {note}
                {details}
                {content}
            </div>
        </li>
    }
    .into_any()
}

fn head(task: &Task, now: ReadSignal<Option<i64>>) -> AnyView {
    let heading = visible_nodes(&task.title, TextKind::Prose);
    let shape = match task.ask {
        TaskKind::Approve => Shape::SHIELD,
        TaskKind::Choose => Shape::INFO,
        TaskKind::Form => Shape::FORM,
    };
    let started_by = task.started_by.as_deref().map(|name| {
        let name = text_with_code_points(name, TextKind::Prose);
        view! { <span>{fill(Text::TaskStartedBy, &[&name])}</span> }
    });
    let workflow = visible_nodes(&task.workflow, TextKind::Prose);
    let created_at = task.created_at;
    let due = task.due_at.map(|due| {
        let words = move || match now.get() {
            Some(_) => fill(Text::TaskDue, &[&local_time(due)]),
            None => fill(Text::TaskDue, &[&utc_date(due)]),
        };
        view! { <span class="cw-task-due"><Icon of=Shape::CLOCK />{words}</span> }
    });
    view! {
        <div class="cw-approval-head">
            <span class="cw-tool-icon"><Icon of=shape /></span>
            <div>
                <h3 class="cw-task-title" dir="auto">{heading}</h3>
                <p class="cw-task-about">
                    <span dir="auto">{workflow}</span>
                    {started_by}
                    <RelativeTime at=move || created_at now />
                    {due}
                </p>
            </div>
        </div>
    }
    .into_any()
}

/// Renders the facts for the decision. The details of an approval are between the ends that its guard watches.
fn details(details: &Value, unseen: Option<UnseenArguments>) -> Option<AnyView> {
    let Some(unseen) = unseen else {
        return match details {
            Value::Null => None,
            Value::String(text) => {
                let text = visible_nodes(text, TextKind::Value);
                Some(view! { <p class="cw-question-context" dir="auto">{text}</p> }.into_any())
            }
            details => Some(view! { <div class="cw-task-details">{value_view(details)}</div> }.into_any()),
        };
    };
    let [begin, end] = unseen.ends();
    let shown =
        (!details.is_null()).then(|| view! { <div class="cw-approval-input">{value_view(details)}</div> }.into_any());
    let view = view! {
        <div class="cw-approval-arguments" node_ref=unseen.area() on:click=move |_| unseen.recount()>
            {begin}
            {shown}
            {end}
        </div>
    };
    Some(view.into_any())
}

fn outcome_view(id: String, outcome: Outcome) -> AnyView {
    let (text, shape) = match outcome {
        Outcome::Approved => (Text::TaskApproved, Shape::CHECK),
        Outcome::Rejected => (Text::TaskRejected, Shape::DENIED),
        Outcome::Answered => (Text::TaskAnswered, Shape::CHECK),
        Outcome::Gone => (Text::TaskGone, Shape::INFO),
    };
    view! {
        <p class="cw-task-outcome" id=id tabindex="-1">
            <Icon of=shape />
            {t(text)}
        </p>
    }
    .into_any()
}

fn answer_form(draft: &Draft, task: &Task, unseen: Option<UnseenArguments>) -> AnyView {
    let kind = task.ask;
    let fields = match kind {
        TaskKind::Approve => None,
        TaskKind::Choose => Some(choices(task, draft.choice)),
        TaskKind::Form => Some(draft.form.view()),
    };
    let buttons = match unseen {
        Some(unseen) => decision_buttons(draft, unseen),
        None => {
            let is_sending = draft.is_sending;
            view! {
                <button type="submit" class="cw-button cw-primary" disabled=move || is_sending.get()>
                    {t(Text::Answer)}
                </button>
            }
            .into_any()
        }
    };
    let (submitted, comment, problem) = (draft.clone(), draft.comment, draft.problem);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        submitted.submit(kind);
    };
    view! {
        <form class="cw-task-form" novalidate on:submit=submit>
            {fields}
            {unseen.map(UnseenArguments::view)}
            <div class="cw-approval-actions">
                <input
                    class="cw-approval-note"
                    type="text"
                    dir="auto"
                    maxlength=MAX_COMMENT
                    placeholder=t(Text::TaskComment)
                    aria-label=t(Text::TaskComment)
                    autocomplete="off"
                    on:input=move |event: Event| comment.set(event_target_value(&event))
                />
                {buttons}
            </div>
            <div role="alert">
                {move || Some(view! { <p class="cw-problem" dir="auto">{problem.get()?}</p> }.into_any())}
            </div>
        </form>
    }
    .into_any()
}

fn decision_buttons(draft: &Draft, unseen: UnseenArguments) -> AnyView {
    let (rejecting, approving, is_sending) = (draft.clone(), draft.clone(), draft.is_sending);
    let decision = |approved| TaskAnswer { approved: Some(approved), ..TaskAnswer::default() };
    let early = is_early();
    view! {
        <button
            type="button"
            class="cw-button"
            disabled=move || is_sending.get()
            on:click=move |_| rejecting.send(decision(false), Outcome::Rejected)
        >
            {t(Text::TaskReject)}
        </button>
        <button
            type="button"
            class="cw-button cw-primary"
            disabled=move || early.get() || is_sending.get() || unseen.are_any()
            aria-describedby=move || unseen.id()
            on:click=move |_| approving.send(decision(true), Outcome::Approved)
        >
            {t(Text::Approve)}
        </button>
    }
    .into_any()
}

fn choices(task: &Task, chosen: RwSignal<Option<String>>) -> AnyView {
    let group = format!("cw-task-{}-choice", task.id);
    let option = |text: &String| {
        let own = text.clone();
        let choose = move |_: Event| chosen.set(Some(own.clone()));
        view! {
            <label>
                <input on:change=choose type="radio" name=group.clone() value=text.clone() />
                <span dir="auto">{visible_nodes(text, TextKind::Prose)}</span>
            </label>
        }
        .into_any()
    };
    let options: Vec<_> = task.choices.iter().map(option).collect();
    view! {
        <fieldset class="cw-question-options">
            <legend class="cw-visually-hidden">{t(Text::Answers)}</legend>
            {options.collect_view()}
        </fieldset>
    }
    .into_any()
}
