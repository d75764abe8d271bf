//! The palette as a native modal dialog, which keeps the focus, closes with Escape, and gives the
//! focus back.

use super::chunk_table::{PALETTE, PaletteFunctions};
use super::field::OptionCursor;
use super::options::{Group, PaletteOption, PaletteSearch};
use super::shortcuts::shortcuts_dialog;
use super::{PaletteDialog, PaletteState};
use crate::chunks::{ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent, MouseEvent, PointerEvent};
use leptos::html;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlDialogElement;
use wasm_split_helpers::wasm_split;

impl ChunkTable for PaletteFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { PALETTE.set_functions(functions().await?) })
    }
}

#[wasm_split(palette, fallible)]
fn functions() -> Result<PaletteFunctions, ChunkError> {
    Ok(PaletteFunctions { dialogs })
}

/// The id of the list of options.
pub(super) const LIST: &str = "cw-palette-options";

fn dialogs(state: PaletteState) -> AnyView {
    view! {
        {command_palette(state)}
        {shortcuts_dialog(state)}
    }
    .into_any()
}

/// Opens and closes a dialog as the state says.
pub(super) fn follow(
    state: PaletteState,
    which: PaletteDialog,
    dialog: NodeRef<html::Dialog>,
    begin: impl Fn() + 'static,
) {
    Effect::new(move |_| {
        let is_wanted = state.0.get() == Some(which);
        let Some(dialog) = dialog.get() else { return };
        if is_wanted && !dialog.open() {
            begin();
            // Fails only if the dialog is open, or not in the document.
            let _ = dialog.show_modal();
        } else if !is_wanted && dialog.open() {
            dialog.close();
        }
    });
}

/// Clears the state after the user has closed a dialog.
pub(super) fn forget(state: PaletteState, which: PaletteDialog) {
    if state.0.get_untracked() == Some(which) {
        state.0.set(None);
    }
}

/// Closes the palette on a click beside it: its backdrop is the dialog itself, whose content fills it.
fn close_beside(event: &MouseEvent) {
    if let Some(dialog) = event.target().and_then(|target| target.dyn_into::<HtmlDialogElement>().ok()) {
        dialog.close();
    }
}

fn command_palette(state: PaletteState) -> AnyView {
    let dialog = NodeRef::<html::Dialog>::new();
    let search = PaletteSearch::new();
    let options = Memo::new(move |_| search.options());
    let cursor = OptionCursor::new(options);
    follow(state, PaletteDialog::Palette, dialog, move || {
        search.begin();
        cursor.reset();
    });
    let run = move |at: usize| {
        if let Some(option) = options.with_untracked(|options| options.get(at).cloned()) {
            // First, because it gives the focus back, which the action may move.
            state.0.set(None);
            if let Some(dialog) = dialog.get_untracked() {
                dialog.close();
            }
            search.run(option, state);
        }
    };
    let by_key = move |event: KeyboardEvent| {
        if event.is_composing() || event.key_code() == 229 {
            return;
        }
        match event.key().as_str() {
            "Enter" => run(cursor.at()),
            key if cursor.moves(key) => {}
            _ => return,
        }
        event.prevent_default();
    };
    let typed = move |event: Event| {
        search.set_text(event_target_value(&event));
        cursor.reset();
    };
    let notice = move || match () {
        () if search.failed.get() => t(Text::PaletteNotLoaded),
        () if options.with(Vec::is_empty) => t(Text::PaletteNothing),
        () => "",
    };
    let groups = move || {
        let all = options.get();
        Group::ALL.into_iter().filter_map(|group| group_view(group, &all, cursor, run)).collect_view()
    };
    view! {
        <dialog
            node_ref=dialog
            class="cw-palette"
            aria-label=t(Text::PaletteTitle)
            on:close=move |_| forget(state, PaletteDialog::Palette)
            on:click=|event| close_beside(&event)
        >
            <div class="cw-palette-head">
                <Icon of=Shape::SEARCH />
                <input
                    type="text"
                    role="combobox"
                    aria-expanded="true"
                    aria-autocomplete="list"
                    aria-controls=LIST
                    aria-activedescendant=move || cursor.active_id()
                    aria-label=t(Text::PaletteField)
                    placeholder=t(Text::PaletteField)
                    dir="auto"
                    maxlength="200"
                    autocomplete="off"
                    spellcheck="false"
                    autofocus=true
                    prop:value=move || search.text.get()
                    on:input=typed
                    on:keydown=by_key
                />
                <kbd aria-hidden="true">"Esc"</kbd>
            </div>
            <div id=LIST class="cw-palette-options" role="listbox" aria-label=t(Text::PaletteTitle) tabindex="-1">
                {groups}
            </div>
            <p class="cw-palette-notice" role="status">
                {notice}
            </p>
        </dialog>
    }
    .into_any()
}

fn group_view(
    group: Group,
    all: &[PaletteOption],
    cursor: OptionCursor,
    run: impl Fn(usize) + Copy + 'static,
) -> Option<AnyView> {
    let in_group = all.iter().enumerate().filter(|(_, option)| option.group == group);
    let options: Vec<_> = in_group.map(|(at, option)| option_view(at, option, cursor, run)).collect();
    if options.is_empty() {
        return None;
    }
    let title = group.title();
    Some(
        view! {
            <div role="group" aria-label=title>
                <div class="cw-palette-group" aria-hidden="true">
                    {title}
                </div>
                {options}
            </div>
        }
        .into_any(),
    )
}

fn option_view(at: usize, option: &PaletteOption, cursor: OptionCursor, run: impl Fn(usize) + 'static) -> AnyView {
    let about = option.about.clone();
    let about = about.map(|about| view! { <span class="cw-palette-about" dir="auto">{about}</span> }.into_any());
    view! {
        <div
            id=OptionCursor::id(at)
            class="cw-palette-option"
            role="option"
            aria-selected=move || Some(cursor.is_at(at).to_string())
            // Keeps the focus in the field.
            on:pointerdown=|event: PointerEvent| event.prevent_default()
            on:click=move |_| run(at)
        >
            <Icon of=option.icon />
            <span class="cw-palette-title" dir="auto">{option.title.clone()}</span>
            {about}
        </div>
    }
    .into_any()
}
