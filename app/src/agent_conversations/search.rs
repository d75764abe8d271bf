//! Search in titles and messages, while it is typed.

use super::ListEvents;
use super::found::{self, show_found};
use super::item::href;
use super::list::{Conversations, use_conversations};
use super::organizing::ORGANIZING;
use crate::agent_chat::notice::mark;
use crate::api::search_conversations;
use crate::bidi::is_mixed;
use crate::chat_context::use_chat_context;
use crate::markdown::plain_passage;
use crate::node::{drawn, element};
use crate::pages::drawer::close_drawers;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::visible::{Kind, nodes, plain};
use leptos::ev::{Event, KeyboardEvent};
use leptos::task::spawn_local;
use std::time::Duration;
use wire::order::{Found, FoundList};

/// A pause in typing that starts the search.
const PAUSE: Duration = Duration::from_millis(200);

/// What is searched for and what is found; a cheap handle.
#[derive(Clone, Copy)]
pub struct Search {
    text: RwSignal<String>,
    found: RwSignal<Option<FoundList>>,
    /// The find that was opened last, by its key.
    opened: RwSignal<Option<String>>,
}

impl Default for Search {
    fn default() -> Self {
        Self { text: RwSignal::new(String::new()), found: RwSignal::new(None), opened: RwSignal::new(None) }
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
            self.opened.set(None);
            found::clear();
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
pub fn SearchField() -> AnyView {
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
            on:input=move |event: Event| search.typed(list, event_target_value(&event))
            on:keydown=by_key
        />
    }
    .into_any()
}

/// What was found.
#[component]
pub fn Finds() -> AnyView {
    let (search, list) = (expect_context::<Search>(), use_conversations());
    let events = expect_context::<ListEvents>();
    let key = |found: &Found| found.conversation.id.clone() + "\u{1f}" + &found.passage.join("\u{1f}");
    let items = move || {
        let found = search.found.with(|found| found.as_ref().map(|found| found.items.clone()));
        found.unwrap_or_default()
    };
    let item = move |found: Found| find(search, key(&found), found, events.clone());
    let words = move || match search
        .found
        .with(|found| found.as_ref().map(|found| (found.items.len(), found.next.is_some())))
    {
        None => String::new(),
        Some((0, _)) => t(Text::NothingFound).to_owned(),
        Some((1, false)) => t(Text::FoundOne).to_owned(),
        Some((count, more)) => fill(Text::FoundCount, &[&format!("{count}{}", if more { "+" } else { "" })]),
    };
    let next = Memo::new(move |_| search.found.with(|found| found.as_ref().and_then(|found| found.next.clone())));
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

fn more_button(search: Search, list: Conversations, next: String) -> AnyView {
    view! {
        <button type="button" class="cw-link cw-more" on:click=move |_| search.ask(list, Some(next.clone()))>
            {t(Text::ShowMore)}
        </button>
    }
    .into_any()
}

fn find(search: Search, key: String, found: Found, ListEvents(events): ListEvents) -> AnyView {
    let href = href(&found.conversation);
    let chat = use_chat_context();
    let Found { conversation, message_id, outcome, passage } = found;
    let title = plain(&conversation.title, Kind::Prose).into_owned();
    let words: Vec<String> = passage.iter().skip(1).step_by(2).cloned().collect();
    let is_current = {
        let key = key.clone();
        move || search.opened.with(|opened| (opened.as_ref() == Some(&key)).then(|| "true".to_owned()))
    };
    let open = move |_| {
        close_drawers();
        events.emit("onSelect", serde_json::json!({ "id": conversation.id }));
        chat.wanted.set(message_id.clone());
        search.opened.set(Some(key.clone()));
        found::clear();
        if let Some(id) = &message_id {
            show_found(id.clone(), words.clone());
        }
    };
    let passage = plain_passage(&passage);
    let piece = |(at, piece): (usize, &String)| match at % 2 {
        0 => nodes(piece, Kind::Prose),
        _ => vec![element("mark").around(nodes(piece, Kind::Prose))],
    };
    let passage = move || passage.iter().enumerate().filter(|(_, piece)| !piece.is_empty()).flat_map(piece).collect();
    let mark = outcome.and_then(mark).map(|mark| view! { <span class="cw-find-mark">{mark}</span> }.into_any());
    let mixed = is_mixed(&title);
    view! {
        <li class="cw-find">
            <a class="cw-conversation-link" href=href aria-current=is_current on:click=open>
                <span class="cw-conversation-title" class:cw-mixed=mixed dir="auto">{title}</span>
                <span class="cw-find-passage" dir="auto">{drawn(passage)}</span>
                {mark}
            </a>
        </li>
    }
    .into_any()
}
