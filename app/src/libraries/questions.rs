//! The questions that were asked of a library, for those who may change its documents.

use super::api::{self, library_path};
use super::problem::problem_view;
use crate::address::encode_component;
use crate::api::ApiError;
use crate::prelude::*;
use crate::texts::{Text, fill_count, t};
use crate::ui::dates::local_time;
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use leptos::task::spawn_local;
use wire::library::{LibraryQuestion, QuestionList};

/// The list; a cheap handle.
#[derive(Clone, Copy)]
struct QuestionState {
    library: StoredValue<String>,
    items: RwSignal<Option<Vec<LibraryQuestion>>>,
    next: RwSignal<Option<String>>,
    /// Whether only questions without results are listed.
    unanswered: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
}

impl QuestionState {
    /// Loads the list, or what follows a cursor.
    fn load(self, after: Option<String>) {
        let unanswered = self.unanswered.get_untracked();
        let query = if unanswered { "/questions?unanswered=true" } else { "/questions?unanswered=false" };
        let cursor = after.as_ref().map_or(String::new(), |after| ["&cursor=", &encode_component(after)].concat());
        let path = library_path(&self.library.get_value(), &[query, &cursor].concat());
        spawn_local(async move {
            let found = api::get::<QuestionList>(&path).await;
            // The answer for another filter is not shown under this one, and a page counts once.
            let is_current = self.unanswered.try_get_untracked() == Some(unanswered);
            if !is_current || after.is_some() && self.next.try_get_untracked() != Some(after.clone()) {
                return;
            }
            match found {
                Ok(QuestionList { items, cursor }) => {
                    self.error.set(None);
                    self.next.set(cursor);
                    match after {
                        Some(_) => self.items.update(|known| known.get_or_insert_default().extend(items)),
                        None => self.items.set(Some(items)),
                    }
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }
}

/// The questions with the choice of those to which nothing was found.
#[component]
pub(super) fn QuestionsView(
    /// The id of the library.
    library: String,
) -> AnyView {
    let state = QuestionState {
        library: StoredValue::new(library),
        items: RwSignal::new(None),
        next: RwSignal::new(None),
        unanswered: RwSignal::new(false),
        error: RwSignal::new(None),
    };
    Effect::new(move |_| state.load(None));
    let chosen = move |event| {
        state.unanswered.set(event_target_checked(&event));
        state.items.set(None);
        state.next.set(None);
        state.load(None);
    };
    let note = move || {
        let text = match state.items.with(|items| items.as_ref().map(Vec::len)) {
            None if state.error.with(Option::is_some) => return None,
            None => Text::Loading,
            Some(0) if state.unanswered.get() => Text::QuestionsAllAnswered,
            Some(0) => Text::QuestionsNone,
            Some(_) => return None,
        };
        Some(view! { <p class="cw-library-note">{t(text)}</p> }.into_any())
    };
    let rows = move || state.items.with(|items| items.iter().flatten().map(question_row).collect::<Vec<_>>());
    let more = move || {
        let next = state.next.get()?;
        let more = view! {
            <button type="button" class="cw-link cw-more" on:click=move |_| state.load(Some(next.clone()))>
                {t(Text::ShowMore)}
            </button>
        };
        Some(more.into_any())
    };
    let problem = move || state.error.get().map(|error| problem_view(&error, move || state.load(None)));
    view! {
        <div class="cw-documents">
            <label class="cw-library-role">
                <input
                    type="checkbox"
                    prop:checked=move || state.unanswered.get()
                    on:change=chosen
                />
                {t(Text::QuestionsUnanswered)}
            </label>
            {problem}
            <div role="status">{note}</div>
            <ul class="cw-document-list" aria-label=t(Text::QuestionsTab)>{rows}</ul>
            {more}
        </div>
    }
    .into_any()
}

/// A question with the number of results, the agent that has searched, and the time.
fn question_row(question: &LibraryQuestion) -> AnyView {
    let found = match question.found {
        0 => t(Text::SearchNothing).to_owned(),
        1 => t(Text::SearchFoundOne).to_owned(),
        count => fill_count(Text::SearchFound, count as usize),
    };
    let agent = question.agent_id.clone().unwrap_or_else(|| t(Text::Search).to_owned());
    let mut facts = vec![agent];
    if question.own {
        facts.push(t(Text::QuestionsOwn).to_owned());
    }
    if question.asked > 1 {
        facts.push(fill_count(Text::QuestionsAsked, question.asked as usize));
    }
    facts.push(local_time(question.asked_at));
    let unanswered = (question.found == 0).then_some("");
    view! {
        <li class="cw-question-row" data-unanswered=unanswered>
            <span class="cw-question" dir="auto">{visible_nodes(&question.question, TextKind::Prose)}</span>
            <span class="cw-question-found">{found}</span>
            <span class="cw-document-about">{facts.join(" · ")}</span>
        </li>
    }
    .into_any()
}
