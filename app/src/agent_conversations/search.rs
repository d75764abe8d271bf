//! Full-text search in titles and messages, as the user types.

use super::chunk_table::{ListEvents, ORGANIZING};
use super::highlight::{self, highlight_message};
use super::item::conversation_href;
use super::list::{ConversationListState, use_conversations};
use crate::agent_chat::message::notice::outcome_label;
use crate::api::search_conversations;
use crate::chat_context::use_chat_context;
use crate::markdown::plain_passage;
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::bidi::{direction, has_mixed_directions};
use crate::ui::hidden_characters::{TextKind, text_with_code_points, visible_nodes};
use crate::ui::node::{element, reactive_nodes};
use leptos::ev::{Event, KeyboardEvent};
use leptos::task::spawn_local;
use std::time::Duration;
use wire::organize::{SearchHit, SearchHitList};

/// The pause in typing that starts the search.
const TYPING_PAUSE: Duration = Duration::from_millis(200);

/// The search text and its results; a cheap handle.
#[derive(Clone, Copy)]
pub struct ConversationSearch {
    text: RwSignal<String>,
    results: RwSignal<Option<SearchHitList>>,
    /// The key of the result that was opened last.
    opened: RwSignal<Option<String>>,
}

impl Default for ConversationSearch {
    fn default() -> Self {
        Self { text: RwSignal::new(String::new()), results: RwSignal::new(None), opened: RwSignal::new(None) }
    }
}

impl ConversationSearch {
    /// Returns whether there is a search text. Tracked.
    pub fn is_active(self) -> bool {
        self.text.with(|text| !text.trim().is_empty())
    }

    fn set_text(self, list: ConversationListState, text: String) {
        self.text.set(text.clone());
        if text.trim().is_empty() {
            self.results.set(None);
            self.opened.set(None);
            highlight::clear_highlight();
            return;
        }
        // The code is loaded during the pause.
        ORGANIZING.request();
        let is_meant = move || self.text.try_with_untracked(|now| *now == text) == Some(true);
        let ask = move || {
            spawn_local(async move {
                match ORGANIZING.load().await {
                    Ok(code) if is_meant() => (code.search)(self, list, None),
                    Err(_) if is_meant() => list.report_missing_code(),
                    _ => {}
                }
            });
        };
        set_timeout(ask, TYPING_PAUSE);
    }

    /// Requests the first page of results, or the next one.
    pub(super) fn request(self, list: ConversationListState, cursor: Option<String>) {
        let text = self.text.get_untracked();
        spawn_local(async move {
            let answer = search_conversations(text.clone(), cursor.clone()).await;
            if self.text.try_get_untracked().as_ref() != Some(&text) {
                return;
            }
            match answer {
                Ok(page) => self.results.update(|found| match (found, cursor) {
                    (Some(found), Some(_)) => {
                        found.items.extend(page.items);
                        found.next = page.next;
                    }
                    (found, _) => *found = Some(page),
                }),
                Err(error) => list.error.set(Some(error)),
            }
        });
    }
}

/// The search field.
#[component]
pub fn SearchField() -> AnyView {
    let (search, list) = (expect_context::<ConversationSearch>(), use_conversations());
    let field = NodeRef::<leptos::html::Input>::new();
    let by_key = move |event: KeyboardEvent| {
        // Otherwise Escape would also close the drawer.
        if event.key() == "Escape" && search.text.with_untracked(|text| !text.is_empty()) {
            event.prevent_default();
            event.stop_propagation();
            search.set_text(list, String::new());
            if let Some(field) = field.get_untracked() {
                field.set_value("");
            }
        }
    };
    view! {
        <input
            class="cw-control cw-search"
            type="search"
            aria-label=t(Text::SearchConversations)
            placeholder=t(Text::Search)
            dir=move || search.text.with(|text| direction(text))
            maxlength="200"
            autocomplete="off"
            node_ref=field
            on:input=move |event: Event| search.set_text(list, event_target_value(&event))
            on:keydown=by_key
        />
    }
    .into_any()
}

/// The results.
#[component]
pub fn SearchResults() -> AnyView {
    let (search, list) = (expect_context::<ConversationSearch>(), use_conversations());
    let events = expect_context::<ListEvents>();
    let key = |found: &SearchHit| found.conversation.id.clone() + "\u{1f}" + &found.passage.join("\u{1f}");
    let items = move || {
        let found = search.results.with(|found| found.as_ref().map(|found| found.items.clone()));
        found.unwrap_or_default()
    };
    let item = move |found: SearchHit| result_item(search, key(&found), found, events.clone());
    let words = move || match search
        .results
        .with(|found| found.as_ref().map(|found| (found.items.len(), found.next.is_some())))
    {
        None => String::new(),
        Some((0, _)) => t(Text::NothingFound).to_owned(),
        Some((1, false)) => t(Text::FoundOne).to_owned(),
        Some((count, more)) => fill(Text::FoundCount, &[&format!("{count}{}", if more { "+" } else { "" })]),
    };
    let next = Memo::new(move |_| search.results.with(|found| found.as_ref().and_then(|found| found.next.clone())));
    let more = move || next.get().map(|next| more_button(search, list, next));
    view! {
        <p class="cw-list-empty" role="status">
            {words}
        </p>
        <ul class="cw-finds"><For each=items key=key children=item /></ul>
        {more}
    }
    .into_any()
}

fn more_button(search: ConversationSearch, list: ConversationListState, next: String) -> AnyView {
    view! {
        <button type="button" class="cw-link cw-more" on:click=move |_| search.request(list, Some(next.clone()))>
            {t(Text::ShowMore)}
        </button>
    }
    .into_any()
}

fn result_item(
    search: ConversationSearch,
    key: String,
    found: SearchHit,
    ListEvents(events, _): ListEvents,
) -> AnyView {
    let href = conversation_href(&found.conversation);
    let chat = use_chat_context();
    let SearchHit { conversation, message_id, outcome, passage } = found;
    let title = text_with_code_points(&conversation.title, TextKind::Prose).into_owned();
    let words = highlight::matches(&passage);
    let is_current = {
        let key = key.clone();
        move || search.opened.with(|opened| (opened.as_ref() == Some(&key)).then(|| "true".to_owned()))
    };
    let open = move |_| {
        close_drawers();
        let previous = chat.conversation.get_untracked();
        let id = &conversation.id;
        events.emit("onSelect", serde_json::json!({ "id": id, "key": id, "previousKey": previous }));
        chat.target_message.set(message_id.clone());
        search.opened.set(Some(key.clone()));
        highlight::clear_highlight();
        if let Some(id) = &message_id {
            highlight_message(id.clone(), words.clone());
        }
    };
    let passage = plain_passage(&passage);
    let piece = |(at, piece): (usize, &String)| match at % 2 {
        0 => visible_nodes(piece, TextKind::Prose),
        _ => vec![element("mark").children(visible_nodes(piece, TextKind::Prose))],
    };
    let passage = move || passage.iter().enumerate().filter(|(_, piece)| !piece.is_empty()).flat_map(piece).collect();
    let mark =
        outcome.and_then(outcome_label).map(|mark| view! { <span class="cw-find-mark">{mark}</span> }.into_any());
    let mixed = has_mixed_directions(&title);
    view! {
        <li class="cw-find">
            <a class="cw-conversation-link" href=href aria-current=is_current on:click=open>
                <span class="cw-conversation-title" class:cw-mixed=mixed dir="auto">{title}</span>
                <span class="cw-find-passage" dir="auto">{reactive_nodes(passage)}</span>
                {mark}
            </a>
        </li>
    }
    .into_any()
}
