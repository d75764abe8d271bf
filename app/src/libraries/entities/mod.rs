//! The entities of a library, and one of them with its connections.

mod entity;

use crate::address::{Address, encode_component};
use crate::api::ApiError;
use crate::libraries::api::{self, Method, library_path};
use crate::libraries::problem::problem_view;
use crate::libraries::route::{ENTITIES, Shown};
use crate::libraries::search::search_field;
use crate::prelude::*;
use crate::texts::{Text, fill, group_digits, t};
use crate::ui::browser::{is_visible, sleep};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use entity::EntityView;
use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::task::spawn_local;
use std::time::Duration;
use wire::library::{EntityList, ExtractionStatus, LibraryEntity};

/// The pause until the page looks again how far the extraction is.
const PAUSE: Duration = Duration::from_secs(3);
/// The longest name in a search, in characters.
const MAX_NAME: &str = "200";

/// Whether the extraction is followed.
#[derive(Default)]
struct Following {
    is_begun: bool,
    looks_again: bool,
}

/// The list; a cheap handle.
#[derive(Clone, Copy)]
struct ListState {
    library: StoredValue<String>,
    status: RwSignal<Option<ExtractionStatus>>,
    items: RwSignal<Option<Vec<LibraryEntity>>>,
    next: RwSignal<Option<String>>,
    name: RwSignal<String>,
    kind: RwSignal<String>,
    error: RwSignal<Option<ApiError>>,
    following: StoredValue<Following>,
}

impl ListState {
    fn new(library: String) -> Self {
        Self {
            library: StoredValue::new(library),
            status: RwSignal::new(None),
            items: RwSignal::new(None),
            next: RwSignal::new(None),
            name: RwSignal::new(String::new()),
            kind: RwSignal::new(String::new()),
            error: RwSignal::new(None),
            following: StoredValue::new(Following::default()),
        }
    }

    /// Follows the extraction until it is done or the view is gone, and loads the list whenever it has changed. If it is
    /// followed already, that looks once more at least.
    async fn follow(self) {
        let begin = |following: &mut Following| {
            following.looks_again = true;
            !std::mem::replace(&mut following.is_begun, true)
        };
        if self.following.try_update_value(begin) != Some(true) {
            return;
        }
        loop {
            self.following.try_update_value(|following| following.looks_again = false);
            if !self.look().await && self.following.try_with_value(|following| following.looks_again) != Some(true) {
                break;
            }
            sleep(PAUSE).await;
        }
        self.following.try_update_value(|following| following.is_begun = false);
    }

    /// Looks how far the extraction is. Returns whether it goes on.
    async fn look(self) -> bool {
        let Some(library) = self.library.try_get_value() else { return false };
        if !is_visible() {
            return true;
        }
        let status = match api::get::<ExtractionStatus>(&library_path(&library, "/graph")).await {
            Ok(status) => status,
            Err(error) => {
                let is_final = error.is_final();
                self.error.try_set(Some(error));
                return !is_final;
            }
        };
        let is_done = status.done + status.failed >= status.documents;
        let Some(before) = self.status.try_get_untracked() else { return false };
        if before.as_ref() != Some(&status) || self.error.with_untracked(Option::is_some) {
            self.status.set(Some(status));
            self.load(None, self.items.with_untracked(|items| items.as_ref().map_or(0, Vec::len)));
        }
        !is_done
    }

    /// Loads the list, or what follows a cursor: a page, or as many as are wanted.
    fn load(self, after: Option<String>, wanted: usize) {
        let (name, kind) = (self.name.get_untracked(), self.kind.get_untracked());
        let query = ["/graph/entities?name=", &encode_component(&name), "&type=", &encode_component(&kind)].concat();
        let path = library_path(&self.library.get_value(), &query);
        spawn_local(async move {
            let (mut all, mut next) = (Vec::new(), after.clone());
            let failed = loop {
                let cursor = next.as_ref().map_or(String::new(), |next| ["&cursor=", &encode_component(next)].concat());
                match api::get::<EntityList>(&[&path[..], &cursor].concat()).await {
                    Ok(EntityList { items, cursor }) => {
                        all.extend(items);
                        next = cursor;
                    }
                    Err(error) => break Some(error),
                }
                if next.is_none() || all.len() >= wanted {
                    break None;
                }
            };
            // The answer to an earlier question is not shown under a later one.
            if self.name.try_get_untracked() != Some(name) || self.kind.try_get_untracked() != Some(kind) {
                return;
            }
            // A page counts once, and only after the list that it continues.
            if after.is_some() && self.next.try_get_untracked() != Some(after.clone()) {
                return;
            }
            if failed.is_none() {
                self.next.set(next);
                match after {
                    Some(_) => self.items.update(|items| items.get_or_insert_default().extend(all)),
                    None => self.items.set(Some(all)),
                }
            }
            self.error.set(failed);
        });
    }

    /// Has everything extracted anew.
    fn redo(self) {
        let path = library_path(&self.library.get_value(), "/graph/redo");
        spawn_local(async move {
            match api::act(Method::Post, &path).await {
                Ok(()) => self.follow().await,
                Err(error) => drop(self.error.try_set(Some(error))),
            }
        });
    }
}

/// The entities of a library, or one of them.
#[component]
pub(in crate::libraries) fn EntitiesView(
    /// The block's id.
    block: String,
    /// The id of the library.
    library: String,
    /// The shown entity: an id, or [`ENTITIES`].
    entity: Memo<Option<String>>,
) -> AnyView {
    let list = ListState::new(library.clone());
    Effect::new(move |_| spawn_local(list.follow()));
    let content = move || match entity.get() {
        Some(id) if id != ENTITIES => {
            view! { <EntityView block=block.clone() library=library.clone() id /> }.into_any()
        }
        _ => entity_list(&block, list),
    };
    content.into_any()
}

fn entity_list(block: &str, list: ListState) -> AnyView {
    let address = expect_context::<Address>();
    let field = NodeRef::<html::Input>::new();
    let [name_id, kind_id] = ["entity", "kind"].map(|name| format!("library-{block}-{name}"));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if let Some(field) = field.get_untracked() {
            list.name.set(field.value());
        }
        list.load(None, 0);
    };
    let chosen = move |event| {
        list.kind.set(event_target_value(&event));
        list.load(None, 0);
    };
    let options = move || {
        let kinds = list.status.with(|status| status.as_ref().map(|status| status.entity_types.clone()));
        let option = |kind: String| {
            let is_chosen = list.kind.with_untracked(|chosen| *chosen == kind);
            view! { <option value=kind.clone() selected=is_chosen>{kind.clone()}</option> }
        };
        kinds.unwrap_or_default().into_iter().map(option).collect::<Vec<_>>()
    };
    let rows = move || {
        let row = |entity: &LibraryEntity| {
            let url = untrack(|| Shown::entity(&list.library.get_value(), &entity.id).url(address));
            view! {
                <li class="cw-entity-row">
                    <a class="cw-document-name" href=url dir="auto">{visible_nodes(&entity.name, TextKind::Value)}</a>
                    <span class="cw-document-about" dir="auto">
                        {[&entity.kind, " · ", &fill(Text::EntityMentions, &[&group_digits(entity.mentions)])].concat()}
                    </span>
                </li>
            }
        };
        list.items.with(|items| items.iter().flatten().map(row).collect::<Vec<_>>())
    };
    let note = move || {
        let text = match list.items.with(|items| items.as_ref().map(Vec::len)) {
            None if list.error.with(Option::is_some) => return None,
            None => Text::Loading,
            Some(0) => Text::EntitiesNone,
            Some(_) => return None,
        };
        Some(view! { <p class="cw-library-note">{t(text)}</p> }.into_any())
    };
    let more = move || {
        let next = list.next.get()?;
        let more = view! {
            <button type="button" class="cw-link cw-more" on:click=move |_| list.load(Some(next.clone()), 0)>
                {t(Text::ShowMore)}
            </button>
        };
        Some(more.into_any())
    };
    let problem = move || list.error.get().map(|error| problem_view(&error, move || list.load(None, 0)));
    view! {
        {status_view(list)}
        <form class="cw-library-search" role="search" aria-label=t(Text::EntitiesSearch) on:submit=submit>
            {search_field(name_id, Text::EntitiesSearch, MAX_NAME, list.name.get_untracked(), field)}
            <label class="cw-visually-hidden" for=kind_id.clone()>{t(Text::EntitiesType)}</label>
            <div class="cw-select">
                <select class="cw-control" id=kind_id on:change=chosen>
                    <option value="">{t(Text::EntitiesAllTypes)}</option>
                    {options}
                </select>
            </div>
            <button type="submit" class="cw-button">{t(Text::Search)}</button>
        </form>
        {problem}
        {note}
        <ul class="cw-document-list" aria-label=t(Text::EntitiesTab)>{rows}</ul>
        {more}
    }
    .into_any()
}

/// How much there is, how far the extraction is, and the button that does it anew.
fn status_view(list: ListState) -> AnyView {
    let facts = move || {
        let Some(status) = list.status.get() else { return String::new() };
        let mut facts =
            vec![fill(Text::EntitiesCount, &[&group_digits(status.entities), &group_digits(status.relations)])];
        if status.done + status.failed < status.documents {
            facts.push(fill(Text::EntitiesProgress, &[&group_digits(status.done), &group_digits(status.documents)]));
        }
        for (text, count) in [(Text::EntitiesFailed, status.failed), (Text::EntitiesDropped, status.dropped)] {
            if count > 0 {
                facts.push(fill(text, &[&group_digits(count)]));
            }
        }
        facts.extend(status.error);
        facts.join(" · ")
    };
    let redo = move || {
        let may_redo = list.status.with(|status| status.as_ref().is_some_and(|status| status.may_redo));
        may_redo.then(|| {
            view! {
                <button type="button" class="cw-link" on:click=move |_| list.redo()>{t(Text::EntitiesRedo)}</button>
            }
            .into_any()
        })
    };
    view! {
        <p class="cw-library-facts"><span role="status">{facts}</span>{redo}</p>
    }
    .into_any()
}
