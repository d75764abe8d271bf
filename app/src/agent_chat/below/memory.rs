//! A line that says that facts about the user were remembered from this conversation. It opens the facts, and
//! they can be forgotten there. A job finds facts some time after the newest message, so the page asks for them
//! then.

use crate::address::encode_component;
use crate::agent_chat::session::{Phase, Session};
use crate::api::transport::http::{self, Method};
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::browser;
use crate::ui::icons::{Icon, Shape};
use leptos::ev::KeyboardEvent;
use leptos::task::spawn_local;
use serde::Deserialize;
use std::time::Duration;

/// When the page looks after an answer, in seconds after the conversation has rested: a model finds the
/// facts, which takes some time.
const LOOKS: [u64; 4] = [2, 4, 8, 30];

/// A change of the remembered facts, made from this conversation.
#[derive(Clone, Deserialize, PartialEq, Eq)]
struct Remembered {
    id: String,
    /// The facts that were added and are still known.
    added: Vec<String>,
    undone: bool,
}

/// The answer of the server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateList {
    items: Vec<Remembered>,
    may_change: bool,
}

/// The state of the line; cheap to copy.
#[derive(Clone, Copy)]
pub(super) struct MemoryState {
    session: Session,
    updates: RwSignal<Vec<Remembered>>,
    is_open: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    rest_seconds: u64,
    page: StoredValue<String>,
    /// Counts the answers; the page looks after the newest one only.
    turn: StoredValue<u32>,
}

impl MemoryState {
    /// Creates the state, which follows the conversation.
    pub(super) fn new(session: Session, rest_seconds: u64, page: String) -> Self {
        let state = Self {
            session,
            updates: RwSignal::new(Vec::new()),
            is_open: RwSignal::new(false),
            problem: RwSignal::new(None),
            rest_seconds,
            page: StoredValue::new(page),
            turn: StoredValue::new(0),
        };
        Effect::new(move |_| {
            let is_idle = session.phase.get() == Phase::Idle;
            if let Some(id) = session.id.get().filter(|_| is_idle) {
                state.turn.update_value(|turn| *turn = turn.wrapping_add(1));
                spawn_local(state.look_for_updates(id, state.turn.get_value()));
            }
        });
        state
    }

    /// Looks at once, for what a tool has kept, and some times after the conversation has rested.
    async fn look_for_updates(self, id: String, turn: u32) {
        let mut found = self.look(&id).await;
        for (index, seconds) in LOOKS.into_iter().enumerate() {
            if found.is_none() {
                return;
            }
            let rest = if index == 0 { self.rest_seconds } else { 0 };
            browser::sleep(Duration::from_secs(rest + seconds)).await;
            if self.turn.try_get_value() != Some(turn) {
                return;
            }
            found = self.look(&id).await;
            if found == Some(true) {
                self.session.announcement.set(t(Text::MemoryUpdated).to_owned());
                return;
            }
        }
    }

    /// Loads the changes that the conversation has caused. Returns whether there is something new; `None` if nothing
    /// will come, as for a visitor, or it cannot be loaded.
    async fn look(self, id: &str) -> Option<bool> {
        let path = ["/api/memory/updates?conversationId=", &encode_component(id)].concat();
        let UpdateList { mut items, may_change } = http::get(&path).await.ok()?;
        if !may_change || self.updates.is_disposed() || self.session.id.with_untracked(|now| now.as_deref() != Some(id))
        {
            return None;
        }
        items.retain(|update| !update.undone && !update.added.is_empty());
        let is_known =
            |update: &Remembered| self.updates.with_untracked(|known| known.iter().any(|old| old.id == update.id));
        let has_new = !items.iter().all(is_known);
        if self.updates.with_untracked(|known| *known != items) {
            self.updates.set(items);
        }
        Some(has_new)
    }

    fn undo(self, id: String) {
        let Some(conversation) = self.session.id.get_untracked() else { return };
        self.problem.set(None);
        spawn_local(async move {
            let path = ["/api/memory/updates/", &encode_component(&id), "/undo"].concat();
            let undone = http::act(Method::Post, &path).await;
            if self.updates.is_disposed() {
                return;
            }
            if let Err(error) = undone {
                return self.problem.set(Some(error_text(&error.0)));
            }
            self.session.announcement.set(t(Text::MemoryForgotten).to_owned());
            self.updates.update(|updates| updates.retain(|update| update.id != id));
            // The button that had the focus is gone.
            if self.updates.with_untracked(Vec::is_empty) {
                self.is_open.set(false);
                self.session.focus_requests.update(|count| *count = count.wrapping_add(1));
            } else {
                focus(&self.button_id());
            }
            // Facts that it had replaced are back, and other updates may list them.
            let _ = self.look(&conversation).await;
        });
    }

    fn button_id(self) -> String {
        [&self.session.block_id(), "-memory"].concat()
    }

    fn panel_id(self) -> String {
        [&self.session.block_id(), "-memory-facts"].concat()
    }

    /// The line, once something was remembered.
    pub(super) fn button(self) -> AnyView {
        let exists = Memo::new(move |_| self.updates.with(|updates| !updates.is_empty()));
        let button = move || {
            view! {
                <button
                    type="button"
                    id=self.button_id()
                    class="cw-below-memory"
                    aria-expanded=move || Some(self.is_open.get().to_string())
                    aria-controls=self.panel_id()
                    on:click=move |_| self.is_open.update(|open| *open = !*open)
                >
                    <Icon of=Shape::CHEVRON />
                    {t(Text::MemoryUpdated)}
                </button>
            }
            .into_any()
        };
        (move || exists.get().then(button)).into_any()
    }

    /// The remembered facts, if the line is open.
    pub(super) fn panel(self) -> AnyView {
        (move || (self.is_open.get() && self.updates.with(|updates| !updates.is_empty())).then(|| self.opened()))
            .into_any()
    }

    fn opened(self) -> AnyView {
        let updates =
            move || self.updates.get().into_iter().map(|update| self.update(update)).collect_view().into_any();
        let problem = move || self.problem.get().map(|text| view! { <p role="alert">{text}</p> });
        let close = move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                event.stop_propagation();
                self.is_open.set(false);
                focus(&self.button_id());
            }
        };
        view! {
            <div id=self.panel_id() class="cw-below-facts" on:keydown=close>
                {updates}
                {problem}
                <a href=self.page.get_value() rel="external">{t(Text::MemoryAll)}</a>
            </div>
        }
        .into_any()
    }

    /// The facts of an update, with the button that undoes it.
    fn update(self, Remembered { id, added, .. }: Remembered) -> AnyView {
        let facts = added.into_iter().map(|fact| view! { <li dir="auto">{fact}</li> }).collect_view().into_any();
        view! {
            <div class="cw-below-update">
                <ul>{facts}</ul>
                <button type="button" class="cw-button" on:click=move |_| self.undo(id.clone())>
                    {t(Text::Undo)}
                </button>
            </div>
        }
        .into_any()
    }
}
