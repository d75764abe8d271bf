//! The list of all keyboard shortcuts.

use super::view::{follow, forget};
use super::{PaletteDialog, PaletteState};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::html;

/// A shortcut: its keys, each a list of keys that are pressed together, and what it does.
type Shortcut = (Vec<&'static str>, Text);

/// The dialog with the list.
pub(super) fn shortcuts_dialog(state: PaletteState) -> AnyView {
    let dialog = NodeRef::<html::Dialog>::new();
    let content = RwSignal::new(Vec::new());
    // Read when the dialog opens: the page may have another chat by then.
    follow(state, PaletteDialog::Shortcuts, dialog, move || content.set(groups()));
    let sections = move || content.get().into_iter().map(section).collect_view();
    view! {
        <dialog
            node_ref=dialog
            class="cw-dialog cw-shortcuts"
            aria-labelledby="cw-shortcuts-title"
            on:close=move |_| forget(state, PaletteDialog::Shortcuts)
        >
            <form method="dialog">
                <h2 id="cw-shortcuts-title">{t(Text::PaletteKeys)}</h2>
                {sections}
                <div class="cw-dialog-buttons">
                    <button type="submit" class="cw-button" autofocus=true>
                        {t(Text::Close)}
                    </button>
                </div>
            </form>
        </dialog>
    }
    .into_any()
}

fn section((title, shortcuts): (Text, Vec<Shortcut>)) -> AnyView {
    let rows = shortcuts.into_iter().map(|(keys, text)| {
        let keys = keys.into_iter().map(|key| view! { <kbd dir="ltr">{key}</kbd> }.into_any()).collect_view();
        view! {
            <div>
                <dt>{t(text)}</dt>
                <dd>{keys}</dd>
            </div>
        }
        .into_any()
    });
    view! {
        <h3>{t(title)}</h3>
        <dl>{rows.collect_view()}</dl>
    }
    .into_any()
}

/// The shortcuts of the page, by where they work.
fn groups() -> Vec<(Text, Vec<Shortcut>)> {
    let mut groups = vec![(
        Text::KeyAnywhere,
        vec![
            (vec![if is_apple() { "⌘ K" } else { "Ctrl K" }], Text::KeyPalette),
            (vec!["?"], Text::KeyHelp),
            (vec!["Esc"], Text::KeyClose),
        ],
    )];
    if exists(".cw-composer") {
        let (send, line) =
            if exists(".cw-composer[data-shift-sends]") { ("Shift Enter", "Enter") } else { ("Enter", "Shift Enter") };
        let keys = vec![
            (vec![send], Text::KeySend),
            (vec![line], Text::KeyNewLine),
            (vec!["↑"], Text::KeyRecall),
            (vec!["Esc"], Text::KeyStop),
        ];
        groups.push((Text::KeyInChat, keys));
    }
    if exists(".cw-conversation-list") {
        let mut keys = vec![
            (vec!["↑", "↓", "Home", "End"], Text::KeyMove),
            (vec!["F2"], Text::KeyRename),
            (vec!["Space"], Text::KeySelect),
            (vec!["Delete"], Text::KeyDelete),
        ];
        if exists(".cw-folder-tree") {
            keys.push((vec!["Alt ↑", "Alt ↓"], Text::KeyMoveFolder));
        }
        groups.push((Text::KeyInList, keys));
    }
    groups
}

fn exists(selector: &str) -> bool {
    document().query_selector(selector).ok().flatten().is_some()
}

/// Whether the user's keyboard has a command key.
fn is_apple() -> bool {
    window().navigator().platform().is_ok_and(|platform| platform.starts_with("Mac") || platform.starts_with("iP"))
}
