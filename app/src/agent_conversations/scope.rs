//! Which conversations are listed: all, those of a folder, or those in the archive.

use super::import::Import;
use super::list::{Conversations, use_conversations};
use super::move_dialog::NAME_LENGTH;
use super::organizing::ORGANIZING;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev::{Event, KeyboardEvent};
use wire::order::{Folder, ListFilter};

/// The value of the choice that shows the archive; no id of a folder has a space.
const ARCHIVE: &str = "in the archive";

/// The choice, with what can be done to a folder that is chosen.
#[component]
pub fn Scope() -> AnyView {
    let list = use_conversations();
    let key = |folder: &Folder| format!("{} {}", folder.id, folder.name);
    let option = move |Folder { id, name }: Folder| {
        // A folder with a new name is a new option, which must not lose the choice.
        let of = id.clone();
        let chosen = move || list.filter.with(|filter| filter.folder_id.as_ref() == Some(&of));
        view! { <option value=id prop:selected=chosen>{name}</option> }
    };
    let naming = RwSignal::new(false);
    let change = move |event: Event| {
        naming.set(false);
        list.show(match event_target_value(&event).as_str() {
            "" => ListFilter::default(),
            ARCHIVE => ListFilter { archived: true, folder_id: None },
            id => ListFilter { archived: false, folder_id: Some(id.to_owned()) },
        });
    };
    let folder = Memo::new(move |_| list.filter.with(|filter| filter.folder_id.clone()));
    let tools =
        move || folder.get().map(|id| ORGANIZING.view(move |code| (code.folder_tools)(list, id.clone(), naming)));
    view! {
        <div class="cw-scope">
            <div class="cw-select">
                <select class="cw-control" aria-label=t(Text::Show) on:change=change>
                    <option value="">{t(Text::AllConversations)}</option>
                    <For each=move || list.folders.get() key=key children=option />
                    <option value=ARCHIVE>{t(Text::Archive)}</option>
                </select>
            </div>
            {tools}
            <Import />
        </div>
    }
    .into_any()
}

/// Its new name, and its end.
pub(super) fn folder_tools(list: Conversations, id: String, naming: RwSignal<bool>) -> AnyView {
    let of = id.clone();
    let field = move || naming.get().then(|| name_field(list, of.clone(), naming));
    let delete = move |_| {
        list.load_folders(Some(id.clone()), None);
        list.show(ListFilter::default());
    };
    view! {
        {field}
        <button
            type="button"
            class="cw-icon-button"
            aria-label=t(Text::RenameFolder)
            title=t(Text::RenameFolder)
            on:click=move |_| naming.update(|naming| *naming = !*naming)
        >
            <Icon of=Shape::Pencil />
        </button>
        <button
            type="button"
            class="cw-icon-button"
            aria-label=t(Text::DeleteFolder)
            title=t(Text::DeleteFolder)
            on:click=delete
        >
            <Icon of=Shape::Bin />
        </button>
    }
    .into_any()
}

/// Enter keeps the new name, Escape and leaving do not.
fn name_field(list: Conversations, id: String, naming: RwSignal<bool>) -> AnyView {
    let now = list.folders.with_untracked(|folders| folders.iter().find(|folder| folder.id == id).cloned());
    let by_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" => list.load_folders(Some(id.clone()), Some(event_target_value(&event))),
            "Escape" => {}
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
        naming.set(false);
    };
    view! {
        <input
            class="cw-control cw-rename"
            type="text"
            aria-label=t(Text::FolderName)
            maxlength=NAME_LENGTH
            autocomplete="off"
            autofocus=true
            value=now.map(|folder| folder.name)
            on:keydown=by_key
        />
    }
    .into_any()
}
