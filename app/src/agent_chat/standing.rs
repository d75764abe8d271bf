//! Standing approvals: the line about a call that ran by one, and the dialog that lists them all and takes them back.

use super::session::Session;
use super::words::tool_words;
use crate::api::{list_grants, revoke_grant};
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{self, Text, fill, t};
use crate::visible::{Kind, plain};
use leptos::ev::Event;
use leptos::html;
use leptos::task::spawn_local;
use serde_json::Value;
use wire::api::StandingApproval;

/// The approvals as the chat around knows them; opens its dialog. A cheap handle.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    asked: RwSignal<u32>,
    /// Whether somebody has turned to the chat: nothing is asked for before.
    is_wanted: RwSignal<bool>,
    are_any: RwSignal<bool>,
}

impl Standing {
    /// For one chat. Whoever shows its conversations provides it: several chats may stand side by side.
    pub(super) fn new() -> Self {
        Self { asked: RwSignal::new(0), is_wanted: RwSignal::new(false), are_any: RwSignal::new(false) }
    }

    /// Whether the dialog was opened, so that it is there from then on. Tracked.
    pub(super) fn is_asked_for(self) -> Memo<bool> {
        Memo::new(move |_| self.asked.get() > 0)
    }

    /// Somebody turns to the chat.
    pub(super) fn want(self) {
        if !self.is_wanted.get_untracked() {
            self.is_wanted.set(true);
        }
    }

    /// Whether somebody has. Tracked.
    pub(super) fn is_wanted(self) -> Memo<bool> {
        Memo::new(move |_| self.is_wanted.get())
    }

    /// Whether there are any, as far as is known. Tracked.
    pub(super) fn are_any(self) -> bool {
        self.are_any.get()
    }

    /// There are some, or none any more. The chat may be gone by then.
    pub(super) fn found(self, any: bool) {
        // What is known already draws nothing anew: the button may have the focus.
        if self.are_any.try_get_untracked() == Some(!any) {
            self.are_any.set(any);
        }
    }

    /// Opens the dialog.
    pub(super) fn open(self) {
        self.asked.update(|count| *count += 1);
    }
}

/// A button that opens the dialog.
fn manage() -> AnyView {
    let standing = expect_context::<Standing>();
    view! {
        <button type="button" class="cw-link-button" on:click=move |_| standing.open()>
            {t(Text::Manage)}
        </button>
    }
    .into_any()
}

/// Below a call that needed no question: why not.
pub(super) fn line(data: &Value) -> AnyView {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    let said = match text("scope") {
        "conversation" => Text::StandingAllowsHere,
        _ => Text::StandingAllows,
    };
    let said = fill(said, &[&tool_words(text("toolName"))]);
    view! {
        <p class="cw-standing">
            <Icon of=Shape::Shield />
            <span>{said}</span>
            {manage()}
        </p>
    }
    .into_any()
}

/// What the dialog shows.
#[derive(Clone)]
enum Shown {
    Loading,
    List(Vec<StandingApproval>),
    Failed(String),
}

/// A native modal dialog: it keeps the focus, and Escape closes it.
#[component]
pub(super) fn StandingDialog() -> AnyView {
    let (standing, session) = (expect_context::<Standing>(), expect_context::<Session>());
    let asked = standing.asked;
    let dialog = NodeRef::<html::Dialog>::new();
    let shown = RwSignal::new(Shown::Loading);
    let load = move || {
        spawn_local(async move {
            let loaded = list_grants().await;
            shown.try_set(match loaded {
                Ok(list) => Shown::List(list.items),
                Err(error) => Shown::Failed(texts::said(&error.0)),
            });
        });
    };
    Effect::new(move |_| {
        if asked.get() > 0
            && let Some(dialog) = dialog.get()
        {
            shown.set(Shown::Loading);
            load();
            // Refused only by one that is open.
            let _ = dialog.show_modal();
        }
    });
    let closed = move |_: Event| {
        let is_empty = shown.with_untracked(|shown| matches!(shown, Shown::List(items) if items.is_empty()));
        standing.found(!is_empty);
        if is_empty {
            // The button that led here goes with the last one.
            session.focus.update(|count| *count += 1);
        }
    };
    let content = move || match shown.get() {
        Shown::Loading => view! { <p>{t(Text::Loading)}</p> }.into_any(),
        Shown::Failed(error) => view! { <p role="alert">{error}</p> }.into_any(),
        Shown::List(items) if items.is_empty() => view! { <p>{t(Text::StandingNone)}</p> }.into_any(),
        Shown::List(items) => {
            let items = items.into_iter().map(|item| item_view(item, shown));
            view! { <ul class="cw-standing-list" role="list">{items.collect_view()}</ul> }.into_any()
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class="cw-dialog cw-standing-dialog"
            aria-labelledby="cw-standing-title"
            on:close=closed
        >
            <h2 id="cw-standing-title">{t(Text::StandingTitle)}</h2>
            <div aria-live="polite">{content}</div>
            <form method="dialog" class="cw-dialog-buttons">
                <button type="submit" class="cw-button" autofocus=true>
                    {t(Text::Close)}
                </button>
            </form>
        </dialog>
    }
    .into_any()
}

fn item_view(item: StandingApproval, shown: RwSignal<Shown>) -> AnyView {
    let busy = RwSignal::new(false);
    let id = StoredValue::new(item.id);
    let revoke = move |_| {
        busy.set(true);
        spawn_local(async move {
            let id = id.get_value();
            let revoked = revoke_grant(id.clone()).await;
            shown.try_update(|shown| match (revoked, &mut *shown) {
                // One that is not there any more is what was wanted, too.
                (Err(error), _) if error.code().status() != 404 => *shown = Shown::Failed(texts::said(&error.0)),
                (_, Shown::List(items)) => items.retain(|item| item.id != id),
                _ => {}
            });
        });
    };
    let (tool, agent) = (tool_words(&item.tool_name), tool_words(&item.agent_id));
    let place = match (item.conversation_id, item.conversation_title) {
        (Some(_), title) => {
            fill(Text::StandingInConversation, &[&plain(&title.unwrap_or_default(), Kind::Prose), &agent])
        }
        (None, _) => fill(Text::StandingEverywhere, &[&agent]),
    };
    let label = fill(Text::RevokeApproval, &[&tool]);
    view! {
        <li>
            <div>
                <strong>{tool}</strong>
                <span dir="auto">{place}</span>
            </div>
            <button type="button" class="cw-button" aria-label=label disabled=move || busy.get() on:click=revoke>
                {t(Text::Revoke)}
            </button>
        </li>
    }
    .into_any()
}
