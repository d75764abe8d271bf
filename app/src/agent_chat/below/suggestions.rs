//! Suggestions of a model for the next message: after each answer, or when the user asks for them.

use crate::address::encode_component;
use crate::agent_chat::log::prompt::prompts;
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::api::ApiError;
use crate::api::transport::http::{self, Method};
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::browser;
use leptos::html;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlElement;
use serde::Deserialize;
use serde_json::json;
use wire::Role;
use wire::api::Outcome;
use wire::page::Prompt;

/// The answer of the server.
#[derive(Deserialize)]
struct SuggestionList {
    suggestions: Vec<String>,
}

/// The suggestions of an answer.
#[derive(Clone, PartialEq, Eq)]
struct Shown {
    /// The answer.
    message_id: String,
    suggestions: Vec<String>,
    /// The text that is shown instead of suggestions.
    problem: Option<String>,
}

/// The suggestions; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct SuggestionState {
    session: Session,
    /// The answer below which suggestions may stand: the newest message, complete, and nothing waits.
    answer: Memo<Option<String>>,
    shown: RwSignal<Option<Shown>>,
    /// The answer for which the server is asked.
    asked: RwSignal<Option<String>>,
    /// Whether the first suggestion gets the focus, in place of the button that asked for it.
    takes_focus: StoredValue<bool>,
}

impl SuggestionState {
    /// Creates the state, which follows the conversation.
    pub(super) fn new(session: Session, always: bool) -> Self {
        let answer = Memo::new(move |_| {
            let is_idle = session.phase.get() == Phase::Idle && session.queue.with(Vec::is_empty);
            let newest = session.messages.with(|all| all.last().filter(|_| is_idle).cloned())?;
            let is_done = newest.metadata.with(|metadata| metadata.outcome == Some(Outcome::Done));
            (newest.role == Role::Assistant && is_done).then_some(newest.id)
        });
        let (shown, asked) = (RwSignal::new(None), RwSignal::new(None));
        let state = Self { session, answer, shown, asked, takes_focus: StoredValue::new(false) };
        if always {
            state.ask_after_answers();
        }
        state
    }

    /// Asks after each answer that ends while the page is looked at. An answer that was there before costs
    /// nothing until the user asks.
    fn ask_after_answers(self) {
        let mut was_busy = false;
        Effect::new(move |_| {
            let is_busy = self.session.phase.get() != Phase::Idle;
            let answer = self.answer.get();
            if was_busy && !is_busy && answer.is_some() && browser::is_visible() {
                self.ask(false);
            }
            was_busy = is_busy;
        });
    }

    fn ask(self, is_by_user: bool) {
        let (id, answer) = untrack(|| (self.session.id.get(), self.answer.get()));
        let (Some(id), Some(message_id)) = (id, answer) else { return };
        if self.asked.with_untracked(|asked| asked.as_ref() == Some(&message_id)) {
            return;
        }
        self.asked.set(Some(message_id.clone()));
        spawn_local(async move {
            let path = ["/api/conversations/", &encode_component(&id), "/suggestions"].concat();
            let answer = http::send::<SuggestionList>(Method::Post, &path, &json!({})).await;
            if self.shown.is_disposed() {
                return;
            }
            self.asked.set(None);
            // The conversation may have gone on.
            if self.answer.with_untracked(|now| now.as_ref() == Some(&message_id)) {
                self.show(message_id, answer, is_by_user);
            }
        });
    }

    fn show(self, message_id: String, answer: Result<SuggestionList, ApiError>, is_by_user: bool) {
        let (suggestions, problem) = match answer {
            Ok(SuggestionList { suggestions }) if suggestions.is_empty() => {
                (suggestions, Some(t(Text::NoSuggestions).to_owned()))
            }
            Ok(SuggestionList { suggestions }) => (suggestions, None),
            Err(error) => (Vec::new(), Some(error_text(&error.0))),
        };
        // Only a user who has asked for suggestions learns why there are none.
        if is_by_user && let Some(problem) = &problem {
            self.session.announcement.set(problem.clone());
        }
        let problem = problem.filter(|_| is_by_user);
        self.takes_focus.set_value(is_by_user && !suggestions.is_empty());
        self.shown.set(Some(Shown { message_id, suggestions, problem }));
    }

    /// The suggestions, or the button that asks for them.
    pub(super) fn view(self) -> AnyView {
        let list = NodeRef::<html::Ul>::new();
        Effect::new(move |_| {
            if let Some(list) = list.get()
                && self.takes_focus.get_value()
            {
                self.takes_focus.set_value(false);
                let first = list.query_selector("button").ok().flatten();
                if let Some(first) = first.and_then(|first| first.dyn_into::<HtmlElement>().ok()) {
                    // The button is in the document, so it can be focused.
                    let _ = first.focus();
                }
            }
        });
        (move || {
            let answer = self.answer.get()?;
            let shown = self.shown.get().filter(|shown| shown.message_id == answer);
            Some(match shown {
                None => self.ask_button(),
                Some(Shown { problem: Some(problem), .. }) => {
                    view! { <p class="cw-below-text" dir="auto">{problem}</p> }.into_any()
                }
                Some(Shown { suggestions, .. }) if suggestions.is_empty() => ().into_any(),
                Some(Shown { suggestions, .. }) => {
                    let offered = suggestions.into_iter().map(|label| Prompt { label, ..Prompt::default() }).collect();
                    let send = |session: Session, text| session.dispatch(SessionAction::SendText(text));
                    let chips = prompts(self.session, offered, "cw-suggestion", send);
                    view! {
                        <ul class="cw-below-suggestions" aria-label=t(Text::Suggestions) node_ref=list>
                            {chips}
                        </ul>
                    }
                    .into_any()
                }
            })
        })
        .into_any()
    }

    fn ask_button(self) -> AnyView {
        let is_asking = Memo::new(move |_| self.asked.with(Option::is_some));
        view! {
            <button
                type="button"
                class="cw-suggestion"
                aria-busy=move || Some(is_asking.get().to_string())
                on:click=move |_| self.ask(true)
            >
                {t(Text::SuggestQuestions)}
            </button>
        }
        .into_any()
    }
}
