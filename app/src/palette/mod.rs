//! The command palette, which finds conversations, agents, pages and commands, and the list of
//! keyboard shortcuts. This file is what every page needs; the rest is a chunk.

mod chunk_table;
mod field;
mod options;
mod shortcuts;
mod view;

pub(crate) use chunk_table::PALETTE;
pub(crate) use options::{go_to, hand_over};

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{self, KeyboardEvent};
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;

/// A dialog of the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaletteDialog {
    /// The palette itself.
    Palette,
    /// The list of keyboard shortcuts.
    Shortcuts,
}

/// Which dialog is open; a context of the page and a cheap handle.
#[derive(Clone, Copy)]
pub(crate) struct PaletteState(RwSignal<Option<PaletteDialog>>);

impl PaletteState {
    /// Provides the palette to the components of the page.
    pub(crate) fn provide() -> Self {
        let state = Self(RwSignal::new(None));
        provide_context(state);
        state
    }

    /// Opens the palette.
    pub(crate) fn open(self) {
        self.0.set(Some(PaletteDialog::Palette));
    }

    /// Opens a dialog, or closes the open one.
    fn toggle(self, dialog: PaletteDialog) {
        self.0.update(|open| *open = if open.is_some() { None } else { Some(dialog) });
    }

    fn on_key(self, event: &KeyboardEvent) {
        let (key, is_command) = (event.key(), event.ctrl_key() != event.meta_key());
        // The code of the key, because not every keyboard has Latin letters.
        let is_k = key.eq_ignore_ascii_case("k") || !key.is_ascii() && event.code() == "KeyK";
        let dialog = match key.as_str() {
            // Loads the code early: the shortcut may follow.
            "Control" | "Meta" => return PALETTE.request(),
            _ if event.default_prevented() || event.alt_key() || event.is_composing() => return,
            _ if is_command && is_k && !event.shift_key() => PaletteDialog::Palette,
            "?" if !is_command && !is_typing(event) => PaletteDialog::Shortcuts,
            _ => return,
        };
        event.prevent_default();
        self.toggle(dialog);
    }
}

/// Whether the user writes in a field.
fn is_typing(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| target.matches("input,textarea,select,[contenteditable]").unwrap_or_default())
}

/// Listens to the shortcuts, and shows the dialogs once one was opened.
pub(crate) fn palette(state: PaletteState) -> AnyView {
    Effect::new(move |_| {
        let keys = window_event_listener(ev::keydown, move |event| state.on_key(&event));
        on_cleanup(move || keys.remove());
    });
    let is_needed = Memo::new(move |before: Option<&bool>| before == Some(&true) || state.0.with(Option::is_some));
    (move || is_needed.get().then(|| PALETTE.view(move |code| (code.dialogs)(state)))).into_any()
}

/// The button that opens the palette; nothing on pages without one.
pub(crate) fn palette_button() -> Option<AnyView> {
    let state = use_context::<PaletteState>()?;
    Some(
        view! {
            <button
                type="button"
                class="cw-icon-button"
                aria-haspopup="dialog"
                aria-keyshortcuts="Control+K Meta+K"
                aria-label=t(Text::PaletteOpen)
                title=t(Text::PaletteOpen)
                // The user may open it next.
                on:pointerenter=move |_| PALETTE.request()
                on:click=move |_| state.toggle(PaletteDialog::Palette)
            >
                <Icon of=Shape::SEARCH />
            </button>
        }
        .into_any(),
    )
}
