//! The filter of the list: all conversations, those of a folder, or the archive.

use super::chunk_table::ORGANIZING;
use super::import::ImportButton;
use super::list::{ConversationListState, use_conversations};
use super::move_dialog::NAME_LENGTH;
use super::tree::focus_scope;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent};
use wire::organize::{Folder, ListFilter};

/// The value of the option for the archive; ids of folders have no spaces.
const ARCHIVE: &str = "in the archive";

/// The selection of the filter, with the actions on the selected folder.
#[component]
pub fn ListScope() -> AnyView {
    let list = use_conversations();
    let key = |folder: &Folder| format!("{} {}", folder.id, folder.name);
    let option = move |Folder { id, name, .. }: Folder| {
        // A renamed folder is a new option, which must stay selected.
        let of = id.clone();
        let chosen = move || list.filter.with(|filter| filter.folder_id.as_ref() == Some(&of));
        view! { <option value=id prop:selected=chosen dir="auto">{name}</option> }
    };
    let naming = RwSignal::new(false);
    let change = move |event: Event| {
        naming.set(false);
        list.set_filter(match event_target_value(&event).as_str() {
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
            <ImportButton />
        </div>
    }
    .into_any()
}

/// Returns the buttons to rename and to delete a folder.
pub(super) fn folder_tools(list: ConversationListState, id: String, naming: RwSignal<bool>) -> AnyView {
    let of = id.clone();
    let field = move || naming.get().then(|| name_field(list, of.clone(), naming));
    let about = Memo::new({
        let id = id.clone();
        move |_| list.folders.with(|folders| folders.iter().find(|folder| folder.id == id).cloned())
    });
    let delete = move |_| {
        // The button with the focus is removed.
        focus_scope();
        list.update_folders(Some(id.clone()), None);
        list.set_filter(ListFilter::default());
    };
    let about = move || about.get().map(folder_about);
    view! {
        {about}
        {field}
        <button
            type="button"
            class="cw-icon-button"
            aria-label=t(Text::RenameFolder)
            title=t(Text::RenameFolder)
            on:click=move |_| naming.update(|naming| *naming = !*naming)
        >
            <Icon of=Shape::PENCIL />
        </button>
        <button
            type="button"
            class="cw-icon-button"
            aria-label=t(Text::DeleteFolder)
            title=t(Text::DeleteFolder)
            on:click=delete
        >
            <Icon of=Shape::BIN />
        </button>
    }
    .into_any()
}

/// Returns the colour of a folder, how many conversations it has, its download, and the link to its project.
fn folder_about(folder: Folder) -> AnyView {
    let export = format!("/api/folders/{}/export", folder.id);
    let settings = folder.settings.clone().map(|href| {
        view! {
            <a class="cw-icon-button" href=href aria-label=t(Text::ProjectSettings) title=t(Text::ProjectSettings)>
                <Icon of=Shape::FOLDER />
            </a>
        }
    });
    view! {
        {folder_marks(&folder)}
        <a class="cw-icon-button" download="" href=export aria-label=t(Text::ExportFolder) title=t(Text::ExportFolder)>
            <Icon of=Shape::DOWNLOAD />
        </a>
        {settings}
    }
    .into_any()
}

/// Returns the colour of a folder and how many conversations it has.
pub(super) fn folder_marks(folder: &Folder) -> AnyView {
    let dot = folder.color.clone().map(|color| view! { <span class="cw-folder-dot" data-color=color></span> });
    view! {
        {dot}
        <span class="cw-folder-count">{folder.count}</span>
    }
    .into_any()
}

/// Returns the field for a folder's new name: Enter saves, Escape cancels.
fn name_field(list: ConversationListState, id: String, naming: RwSignal<bool>) -> AnyView {
    let now = list.folders.with_untracked(|folders| folders.iter().find(|folder| folder.id == id).cloned());
    let by_key = move |event: KeyboardEvent| {
        match event.key().as_str() {
            "Enter" => list.update_folders(Some(id.clone()), Some(event_target_value(&event))),
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
            dir="auto"
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
