//! The card of a question of a running tool: a form, or a page to open.

use super::form::SchemaForm;
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::SubmitEvent;
use leptos::task::spawn_local;
use serde_json::{Map, Value, json};
use wire::error::ErrorCode;
use wire::question::{QuestionOutcome, ToolQuestion};

/// The form of a question, its errors, and whether its answer is being sent; a cheap handle.
#[derive(Clone, Copy)]
struct Draft {
    path: StoredValue<String>,
    form: SchemaForm,
    problem: RwSignal<Option<String>>,
    is_sending: RwSignal<bool>,
    /// How the question has ended; `None` while it is open.
    outcome: RwSignal<Option<QuestionOutcome>>,
}

impl Draft {
    fn send(self, action: &str, content: Map<String, Value>, outcome: QuestionOutcome) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.problem.set(None);
        self.is_sending.set(true);
        let (path, body) = (self.path.get_value(), json!({ "action": action, "content": content }));
        spawn_local(async move {
            let sent = http::send::<Value>(Method::Post, &path, &body).await;
            // The page may be gone.
            if self.is_sending.try_set(false).is_some() {
                return;
            }
            match sent {
                Ok(_) => self.outcome.set(Some(outcome)),
                Err(error) if error.code() == ErrorCode::NotFound => {
                    self.outcome.set(Some(QuestionOutcome::Cancelled));
                }
                Err(error) if self.form.show_error(&error.0, "/content") => {
                    self.problem.set(Some(t(Text::EntriesToCheck).to_owned()));
                }
                Err(error) => self.problem.set(Some(error_text(&error.0))),
            }
        });
    }

    fn decline(self) -> AnyView {
        let decline = move |_| self.send("decline", Map::new(), QuestionOutcome::Declined);
        view! {
            <button type="button" class="cw-button" disabled=move || self.is_sending.get() on:click=decline>
                {t(Text::QuestionDecline)}
            </button>
        }
        .into_any()
    }
}

/// Renders a question.
pub(super) fn tool_question(question: ToolQuestion) -> AnyView {
    // It becomes a part of the path to which the answer is sent.
    if !wire::is_id(&question.id) {
        return ().into_any();
    }
    let outcome = RwSignal::new(question.outcome);
    let draft = Draft {
        path: StoredValue::new(format!("/api/tool-questions/{}", question.id)),
        form: SchemaForm::new(&question.form, format!("cw-tool-question-{}", question.id)),
        problem: RwSignal::new(None),
        is_sending: RwSignal::new(false),
        outcome,
    };
    let label = fill(Text::QuestionFromTool, &[&text_with_code_points(&question.server, TextKind::Value)]);
    let message = visible_nodes(&question.message, TextKind::Prose);
    let ended = Memo::new(move |_| outcome.get());
    // As a view of any kind, like the message: of another type, it would be compiled once more, into what every page loads.
    let title = label.clone().into_any();
    let content = move || match ended.get() {
        Some(outcome) => outcome_view(outcome),
        None => untrack(|| match &question.url {
            Some(url) => page(draft, &question, url),
            None => form(draft, &question),
        }),
    };
    view! {
        <div class="cw-approval cw-question cw-task" role="group" aria-label=label>
            <div class="cw-approval-head">
                <span class="cw-tool-icon"><Icon of=Shape::INFO /></span>
                <p class="cw-task-title" dir="auto">{title}</p>
            </div>
            <p class="cw-question-context" dir="auto">{message}</p>
            {content}
        </div>
    }
    .into_any()
}

fn outcome_view(outcome: QuestionOutcome) -> AnyView {
    let (text, shape) = match outcome {
        QuestionOutcome::Accepted => (Text::StateAnswered, Shape::CHECK),
        QuestionOutcome::Declined => (Text::QuestionDeclined, Shape::DENIED),
        QuestionOutcome::Cancelled => (Text::QuestionGone, Shape::INFO),
    };
    view! { <p class="cw-task-outcome" role="status"><Icon of=shape />{t(text)}</p> }.into_any()
}

fn form(draft: Draft, question: &ToolQuestion) -> AnyView {
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        match draft.form.read() {
            None => draft.problem.set(Some(t(Text::EntriesToCheck).to_owned())),
            Some(values) => draft.send("accept", values, QuestionOutcome::Accepted),
        }
    };
    let warning = fill(Text::QuestionFormWarning, &[&text_with_code_points(&question.server, TextKind::Value)]);
    view! {
        <form class="cw-task-form" novalidate on:submit=submit>
            {draft.form.view()}
            <p class="cw-tasks-none" dir="auto">{warning}</p>
            <div class="cw-approval-actions">
                {draft.decline()}
                <button type="submit" class="cw-button cw-primary" disabled=move || draft.is_sending.get()>
                    {t(Text::Answer)}
                </button>
            </div>
            {problem(draft)}
        </form>
    }
    .into_any()
}

/// Shows the whole address with its host emphasised. The server has checked it; a part that says something else is not
/// from there, so nothing is opened then.
fn page(draft: Draft, question: &ToolQuestion, url: &str) -> AnyView {
    // A page of this site, on which the user connects an account. The call goes on when they have done it.
    if url.starts_with("/account/") {
        return open_page(draft, ().into_any(), url);
    }
    let host = &question.host;
    let rest = url.strip_prefix("https://").and_then(|rest| rest.strip_prefix(host.as_str()));
    let Some(rest) = rest.filter(|rest| !host.is_empty() && rest.starts_with(['/', ':', '?', '#'])) else {
        return outcome_view(QuestionOutcome::Cancelled);
    };
    let (host, rest) = (visible_nodes(host, TextKind::Value), visible_nodes(rest, TextKind::Value));
    let address = view! {
        <p class="cw-question-address" dir="ltr">"https://"<strong>{host}</strong>{rest}</p>
        <p class="cw-tasks-none">{t(Text::QuestionPageWarning)}</p>
    };
    open_page(draft, address.into_any(), url)
}

/// The buttons that open a page in another tab, or decline.
fn open_page(draft: Draft, address: AnyView, url: &str) -> AnyView {
    let agree = move |_| draft.send("accept", Map::new(), QuestionOutcome::Accepted);
    view! {
        {address}
        <div class="cw-approval-actions">
            {draft.decline()}
            <a
                class="cw-button cw-primary"
                href=url.to_owned()
                target="_blank"
                rel="noopener noreferrer nofollow"
                on:click=agree
            >
                {t(Text::QuestionOpenPage)}
            </a>
        </div>
        {problem(draft)}
    }
    .into_any()
}

fn problem(draft: Draft) -> AnyView {
    view! {
        <div role="alert">
            {move || Some(view! { <p class="cw-problem" dir="auto">{draft.problem.get()?}</p> }.into_any())}
        </div>
    }
    .into_any()
}
