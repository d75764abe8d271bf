//! Search in titles and messages, while it is typed.

use super::ListEvents;
use super::item::href;
use super::list::{Conversations, use_conversations};
use super::organizing::ORGANIZING;
use crate::agent_chat::notice::mark;
use crate::api::search_conversations;
use crate::bidi::is_mixed;
use crate::chat_context::use_chat_context;
use crate::erase::{Erase, Erased, Item, Key, each, handler, optional, spawn_local};
use crate::node::{Node, drawn, element};
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::reactive::{Memo, RwSignal};
use crate::texts::{Text, fill, t};
use leptos::ev::{Event, KeyboardEvent};
use std::time::Duration;
use wire::order::{Found, FoundList};

/// A pause in typing that starts the search.
const PAUSE: Duration = Duration::from_millis(200);
/// How often a message that was found is looked for, until its conversation is there.
const TRIES: u32 = 60;
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is searched for and what is found; a cheap handle.
#[derive(Clone, Copy)]
pub struct Search {
    text: RwSignal<String>,
    found: RwSignal<Option<FoundList>>,
}

impl Default for Search {
    fn default() -> Self {
        Self { text: RwSignal::new(String::new()), found: RwSignal::new(None) }
    }
}

impl Search {
    /// Whether something is searched for. Tracked.
    pub fn is_on(self) -> bool {
        self.text.with(|text| !text.trim().is_empty())
    }

    fn typed(self, list: Conversations, text: String) {
        self.text.set(text.clone());
        if text.trim().is_empty() {
            self.found.set(None);
            return;
        }
        // Its code comes while the reader pauses.
        ORGANIZING.request();
        let is_meant = move || self.text.try_with_untracked(|now| *now == text) == Some(true);
        let ask = move || {
            spawn_local(async move {
                match ORGANIZING.load().await {
                    Ok(code) if is_meant() => (code.search)(self, list, None),
                    Err(_) if is_meant() => list.lacks_code(),
                    _ => {}
                }
            });
        };
        set_timeout(ask, PAUSE);
    }

    /// Asks the server: for what fits, or for more of it.
    pub(super) fn ask(self, list: Conversations, cursor: Option<String>) {
        let text = self.text.get_untracked();
        spawn_local(async move {
            let answer = search_conversations(text.clone(), cursor.clone()).await;
            if self.text.try_get_untracked().as_ref() != Some(&text) {
                return;
            }
            match answer {
                Ok(page) => self.found.update(|found| match (found, cursor) {
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

/// The field.
#[component]
pub fn SearchField() -> Erased {
    let (search, list) = (expect_context::<Search>(), use_conversations());
    let field = NodeRef::<leptos::html::Input>::new();
    let by_key = move |event: KeyboardEvent| {
        // Escape would close the drawer as well.
        if event.key() == "Escape" && search.text.with_untracked(|text| !text.is_empty()) {
            event.prevent_default();
            event.stop_propagation();
            search.typed(list, String::new());
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
            maxlength="200"
            autocomplete="off"
            node_ref=field
            on:input=handler(move |event: Event| search.typed(list, event_target_value(&event)))
            on:keydown=handler(by_key)
        />
    }
    .erase()
}

/// What was found.
#[component]
pub fn Finds() -> Erased {
    let (search, list) = (expect_context::<Search>(), use_conversations());
    let events = expect_context::<ListEvents>();
    let item = move |found: Found, events: ListEvents| Item {
        key: Key::Text(found.conversation.id.clone() + "\u{1f}" + &found.passage.join("\u{1f}")),
        view: Box::new(move || find(found, events)),
    };
    let items = each(move || {
        let found = search.found.with(|found| found.as_ref().map(|found| found.items.clone()));
        found.unwrap_or_default().into_iter().map(|found| item(found, events.clone())).collect()
    });
    let words = crate::erase::text(move || {
        match search.found.with(|found| found.as_ref().map(|found| (found.items.len(), found.next.is_some()))) {
            None => String::new(),
            Some((0, _)) => t(Text::NothingFound).to_owned(),
            Some((1, false)) => t(Text::FoundOne).to_owned(),
            Some((count, more)) => fill(Text::FoundCount, &[&format!("{count}{}", if more { "+" } else { "" })]),
        }
    });
    let next = Memo::new(move |_| search.found.with(|found| found.as_ref().and_then(|found| found.next.clone())));
    let more = optional(move || next.get().map(|next| more_button(search, list, next)));
    view! {
        <p class="cw-list-empty" role="status">
            {words}
        </p>
        <ul class="cw-finds">{items}</ul>
        {more}
    }
    .erase()
}

fn more_button(search: Search, list: Conversations, next: String) -> Erased {
    view! {
        <button type="button" class="cw-link cw-more" on:click=handler(move |_| search.ask(list, Some(next.clone())))>
            {t(Text::ShowMore)}
        </button>
    }
    .erase()
}

fn find(found: Found, ListEvents(events): ListEvents) -> Erased {
    let href = href(&found.conversation);
    let chat = use_chat_context();
    let Found { conversation, message_id, outcome, passage } = found;
    let open = move |_| {
        close_drawers();
        events.emit("onSelect", serde_json::json!({ "id": conversation.id }));
        chat.wanted.set(message_id.clone());
        if let Some(id) = &message_id {
            scroll_to(id.clone(), TRIES);
        }
    };
    let piece = |(at, piece): (usize, &String)| match at % 2 {
        0 => Node::Text(piece.clone()),
        _ => element("mark").text(piece.clone()),
    };
    let passage = move || passage.iter().enumerate().filter(|(_, piece)| !piece.is_empty()).map(piece).collect();
    let mark = outcome.and_then(mark).map(|mark| view! { <span class="cw-find-mark">{mark}</span> }.erase());
    let mixed = is_mixed(&conversation.title);
    view! {
        <li class="cw-find">
            <a class="cw-conversation-link" href=href on:click=handler(open)>
                <span class="cw-conversation-title" class:cw-mixed=mixed dir="auto">{conversation.title}</span>
                <span class="cw-find-passage" dir="auto">{drawn(passage)}</span>
                {mark}
            </a>
        </li>
    }
    .erase()
}

/// Brings a message before the reader, as soon as its conversation is there. One of another branch is nowhere.
fn scroll_to(id: String, tries: u32) {
    let Some(tries) = tries.checked_sub(1) else { return };
    let look = move || match document().query_selector(&format!("[data-message=\"{id}\"]")).ok().flatten() {
        Some(message) => message.scroll_into_view(),
        None => scroll_to(id, tries),
    };
    set_timeout(look, LOOK_EVERY);
}
