//! The menu of libraries: a popover with check boxes, and its button.

use super::state::{MAX_LIBRARIES, Offer};
use crate::address::encode_component;
use crate::agent_chat::session::Session;
use crate::api::transport::http;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::html;
use leptos::task::spawn_local;
use serde::Deserialize;
use wire::api::RunOptions;

/// A library that may be chosen.
#[derive(Clone, PartialEq, Eq, Deserialize)]
struct Library {
    id: String,
    name: String,
    #[serde(default)]
    description: Option<String>,
}

/// The answer of the server.
#[derive(Deserialize)]
struct Libraries {
    items: Vec<Library>,
}

/// The menu; a cheap handle.
#[derive(Clone, Copy)]
struct Menu {
    session: Session,
    offer: StoredValue<Offer>,
    chosen: RwSignal<RunOptions>,
    /// The libraries, once they are known, or why they are not.
    known: RwSignal<Option<Result<Vec<Library>, String>>>,
    is_loading: StoredValue<bool>,
}

/// The button and its menu.
pub(super) fn libraries(session: Session, offer: Offer, chosen: RwSignal<RunOptions>) -> AnyView {
    let menu = Menu {
        session,
        offer: StoredValue::new(offer),
        chosen,
        known: RwSignal::new(None),
        is_loading: StoredValue::new(false),
    };
    // A choice that was kept may name libraries that are gone.
    Effect::new(move |_| {
        if chosen.with(|chosen| chosen.libraries.is_some()) && untrack(|| menu.known.with(Option::is_none)) {
            menu.load();
        }
    });
    let id = format!("{}-libraries", session.block_id());
    let popover = NodeRef::<html::Div>::new();
    let toggled = move |_: leptos::ev::Event| {
        let is_open = popover.get_untracked().is_some_and(|own| own.matches(":popover-open").unwrap_or_default());
        if is_open {
            menu.load();
        }
    };
    let is_off = move || {
        let at_first = menu.offer.with_value(|offer| offer.documents);
        at_first.is_some_and(|at_first| !chosen.with(|chosen| chosen.documents.unwrap_or(at_first)))
    };
    view! {
        <button type="button" class="cw-switch-button cw-chosen-button" popovertarget=id.clone() disabled=is_off>
            {move || menu.label()}
            <Icon of=Shape::CHEVRON />
        </button>
        <div
            id=id
            node_ref=popover
            class="cw-chosen-libraries"
            popover="auto"
            role="group"
            aria-label=t(Text::Libraries)
            on:toggle=toggled
        >
            {move || menu.content()}
        </div>
    }
    .into_any()
}

impl Menu {
    /// Gets the libraries, which may have changed since the menu was last open.
    fn load(self) {
        if self.is_loading.get_value() {
            return;
        }
        self.is_loading.set_value(true);
        let path = format!("/api/libraries?agentId={}", encode_component(&self.session.agent_id()));
        spawn_local(async move {
            let answer = http::get::<Libraries>(&path).await;
            if self.session.is_disposed() {
                return;
            }
            self.is_loading.set_value(false);
            let known = answer.map(|answer| answer.items).map_err(|error| error_text(&error.0));
            if let Ok(known) = &known {
                self.forget_unknown(known);
            }
            if self.known.with_untracked(|before| before.as_ref() != Some(&known)) {
                self.known.set(Some(known));
            }
        });
    }

    /// Takes libraries back that the user may not choose any more.
    fn forget_unknown(self, known: &[Library]) {
        let is_known = |id: &String| known.iter().any(|library| library.id == *id);
        let has_unknown = |chosen: &RunOptions| chosen.libraries.iter().flatten().any(|id| !is_known(id));
        if self.chosen.with_untracked(has_unknown) {
            self.chosen.update(|chosen| chosen.libraries.iter_mut().for_each(|ids| ids.retain(is_known)));
        }
    }

    /// The label of the button, with the number of libraries if the user has chosen some.
    fn label(self) -> String {
        let count = self.chosen.with(|chosen| chosen.libraries.as_ref().map(Vec::len));
        match count {
            Some(count) => format!("{} ({count})", t(Text::Libraries)),
            None => t(Text::Libraries).to_owned(),
        }
    }

    fn content(self) -> AnyView {
        match self.known.get() {
            None => view! { <p role="status">{t(Text::Loading)}</p> }.into_any(),
            Some(Err(problem)) => view! { <p role="alert">{problem}</p> }.into_any(),
            Some(Ok(known)) if known.is_empty() => view! { <p>{t(Text::LibrariesNone)}</p> }.into_any(),
            Some(Ok(known)) => {
                let ids: Vec<_> = known.iter().map(|library| library.id.clone()).collect();
                let ids = StoredValue::new(ids);
                known.into_iter().map(|library| self.row(library, ids)).collect_view().into_any()
            }
        }
    }

    fn row(self, Library { id, name, description }: Library, ids: StoredValue<Vec<String>>) -> AnyView {
        let searched = move || {
            self.chosen.with(|chosen| {
                let of = |offer: &Offer| ids.with_value(|ids| offer.searched(chosen.libraries.as_deref(), ids));
                self.offer.with_value(of)
            })
        };
        let own = id.clone();
        let is_on = Memo::new(move |_| searched().contains(&own));
        let is_full = Memo::new(move |_| searched().len() >= MAX_LIBRARIES);
        let change = move |event: leptos::ev::Event| {
            let change = (id.as_str(), event_target_checked(&event));
            self.chosen.update(|chosen| {
                let of =
                    |offer: &Offer| ids.with_value(|ids| offer.with_library(chosen.libraries.as_deref(), ids, change));
                chosen.libraries = self.offer.with_value(of);
            });
        };
        let about = description.map(|text| view! { <span class="cw-chosen-about" dir="auto">{text}</span> });
        view! {
            <label class="cw-chosen-library">
                <input
                    type="checkbox"
                    prop:checked=move || is_on.get()
                    disabled=move || is_full.get() && !is_on.get()
                    on:change=change
                />
                <span dir="auto">{name}</span>
                {about}
            </label>
        }
        .into_any()
    }
}
