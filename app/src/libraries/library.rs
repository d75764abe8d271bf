//! A library: its description, its documents, uploads and searches, one of its documents, its entities, or what was
//! asked of it.

use super::api::{self, Method, library_path};
use super::confirm::{Confirm, Question};
use super::document::DocumentView;
use super::documents::DocumentRows;
use super::entities::EntitiesView;
use super::form::LibraryForm;
use super::labels::{library_facts, library_rights};
use super::problem::problem_view;
use super::questions::QuestionsView;
use super::route::{ENTITIES, Shown};
use super::search::{LibrarySearch, SearchState};
use super::state::LibraryState;
use super::upload::Uploads;
use super::upload_view::UploadArea;
use crate::address::Address;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use crate::ui::node::reactive_nodes;
use crate::ui::numbers::duration;
use leptos::task::spawn_local;
use std::sync::Arc;
use wire::library::{Library, LibraryAccess};

/// The parts of a library among which the user chooses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tab {
    Documents,
    Entities,
    Questions,
}

/// A library.
#[component]
pub(super) fn LibraryView(
    /// The block's id.
    block: String,
    /// The library's id.
    id: String,
    /// The view of the block.
    shown: Memo<Shown>,
    /// Whether there is a list to return to.
    back: bool,
) -> AnyView {
    let address = expect_context::<Address>();
    let state = LibraryState::new(id.clone());
    let uploads = Uploads::new(id.clone());
    let search = SearchState::new(id.clone());
    let is_editing = RwSignal::new(false);
    state.follow();
    let back = back.then(|| {
        view! { <a class="cw-link" href=move || Shown::default().url(address)>{t(Text::LibraryAll)}</a> }
    });
    let problem = move || state.error.get().map(|error| problem_view(&error, move || state.reload()));
    let loading = move || {
        let is_loading = state.library.with(Option::is_none) && state.error.with(Option::is_none);
        is_loading.then(|| view! { <p class="cw-library-note" role="status">{t(Text::Loading)}</p> }.into_any())
    };
    let is_there = Memo::new(move |_| state.library.with(Option::is_some));
    let document = Memo::new(move |_| shown.with(|shown| shown.document.clone().zip(Some(shown.passage))));
    let entity = Memo::new(move |_| shown.with(|shown| shown.entity.clone()));
    let tab = Memo::new(move |_| match shown.with(|shown| (shown.entity.is_some(), shown.questions)) {
        (true, _) => Tab::Entities,
        (_, true) => Tab::Questions,
        _ => Tab::Documents,
    });
    let heading = block.clone();
    let content = move || {
        if !is_there.get() {
            return ().into_any();
        }
        match document.get() {
            Some((id, passage)) => {
                let library = state.id.get_value();
                view! { <DocumentView block=block.clone() library id passage /> }.into_any()
            }
            None => {
                let tab = tab.get();
                let content = match tab {
                    Tab::Entities => view! {
                        <EntitiesView block=block.clone() library=state.id.get_value() entity />
                    }
                    .into_any(),
                    Tab::Questions => view! { <QuestionsView library=state.id.get_value() /> }.into_any(),
                    Tab::Documents => view! {
                        {upload_area(&block, state, uploads)}
                        <LibrarySearch block=block.clone() search />
                        <DocumentRows block=block.clone() state />
                    }
                    .into_any(),
                };
                view! {
                    {head(&block, state, is_editing)}
                    {tabs(state, tab)}
                    {content}
                }
                .into_any()
            }
        }
    };
    view! {
        {back}
        {problem}
        {loading}
        {content}
        <Confirm asked=state.asked id=format!("library-{heading}-confirm") />
    }
    .into_any()
}

/// The choice between the documents, the entities and what was asked, if there is one.
fn tabs(state: LibraryState, shown: Tab) -> AnyView {
    let address = expect_context::<Address>();
    let has = move |has: fn(&Library) -> bool| {
        Memo::new(move |_| state.library.with(|library| library.as_ref().is_some_and(has)))
    };
    let (has_entities, has_questions) = (has(|own| own.graph == Some(true)), has(|own| own.questions));
    let link = move |tab: Tab| {
        let id = state.id.get_value();
        let (to, label) = match tab {
            Tab::Documents => (Shown::library(&id), Text::LibraryDocuments),
            Tab::Entities => (Shown::entity(&id, ENTITIES), Text::EntitiesTab),
            Tab::Questions => (Shown::questions(&id), Text::QuestionsTab),
        };
        let current = (tab == shown).then_some("page");
        view! { <a class="cw-link" href=move || to.url(address) aria-current=current>{t(label)}</a> }.into_any()
    };
    let tabs = move || {
        let (entities, questions) = (has_entities.get(), has_questions.get());
        (entities || questions).then(|| {
            view! {
                <nav class="cw-library-tabs" aria-label=move || state.library.with(|library| library.as_ref().map(|own| own.name.clone()))>
                    {link(Tab::Documents)}
                    {entities.then(|| link(Tab::Entities))}
                    {questions.then(|| link(Tab::Questions))}
                </nav>
            }
            .into_any()
        })
    };
    tabs.into_any()
}

fn upload_area(block: &str, state: LibraryState, uploads: Uploads) -> AnyView {
    let block = block.to_owned();
    let may_write = Memo::new(move |_| {
        state.library.with(|library| library.as_ref().is_some_and(|library| library.access >= LibraryAccess::Write))
    });
    (move || may_write.get().then(|| view! { <UploadArea block=block.clone() uploads /> }.into_any())).into_any()
}

/// The name, the facts and the rights of the library, with what its owner can do with it.
fn head(block: &str, state: LibraryState, is_editing: RwSignal<bool>) -> AnyView {
    let block = block.to_owned();
    let own = move |read: fn(&Library) -> String| {
        state.library.with(|library| library.as_ref().map(read).unwrap_or_default())
    };
    let may_manage = Memo::new(move |_| {
        state.library.with(|library| library.as_ref().is_some_and(|library| library.access == LibraryAccess::Manage))
    });
    let left = move || {
        // Seconds that are not right are worse than none.
        let left = state.left.get().filter(|left| *left >= 2_000)?;
        Some(view! { <span>{fill(Text::LibraryLeft, &[&duration(left / 1_000 * 1_000)])}</span> }.into_any())
    };
    let buttons = move || {
        may_manage.get().then(|| {
            view! {
                <span class="cw-library-actions">
                    <button type="button" class="cw-icon-button" aria-label=t(Text::LibraryEdit) title=t(Text::LibraryEdit) on:click=move |_| is_editing.set(true)>
                        <Icon of=Shape::PENCIL />
                    </button>
                    <button type="button" class="cw-icon-button" aria-label=t(Text::LibraryDelete) title=t(Text::LibraryDelete) on:click=move |_| ask_to_delete(state)>
                        <Icon of=Shape::BIN />
                    </button>
                </span>
            }
            .into_any()
        })
    };
    let text = move || {
        if is_editing.get() {
            let done = move |changed: Option<Library>| {
                if changed.is_some() {
                    state.library.try_set(changed);
                }
                is_editing.try_set(false);
            };
            let library = state.library.get_untracked();
            return view! { <LibraryForm block=block.clone() library done /> }.into_any();
        }
        let name = move || visible_nodes(&own(|library| library.name.clone()), TextKind::Value);
        let about = move || {
            let about = own(|library| library.description.clone().unwrap_or_default());
            (!about.is_empty()).then(|| view! { <p dir="auto">{visible_nodes(&about, TextKind::Prose)}</p> }.into_any())
        };
        let rights = move || {
            let said = state.library.with(|library| library.as_ref().map(library_rights).unwrap_or_default());
            let said = said.into_iter().map(|line| view! { <p class="cw-library-note">{line}</p> }.into_any());
            said.collect::<Vec<_>>()
        };
        view! {
            <div class="cw-library-head">
                <div class="cw-library-title">
                    <h3 dir="auto">{reactive_nodes(name)}</h3>
                    {buttons}
                </div>
                {about}
                <p class="cw-library-facts"><span>{move || own(library_facts)}</span>{left}</p>
                {rights}
            </div>
        }
        .into_any()
    };
    text.into_any()
}

fn ask_to_delete(state: LibraryState) {
    let Some(library) = state.library.get_untracked() else { return };
    let address = expect_context::<Address>();
    let agreed = move || {
        spawn_local(async move {
            let Some(id) = state.id.try_get_value() else { return };
            state.is_deleting.try_set_value(true);
            match api::act(Method::Delete, &library_path(&id, "")).await {
                Ok(()) => address.navigate(&untrack(|| Shown::default().url(address)), false),
                Err(error) => {
                    state.is_deleting.try_set_value(false);
                    state.error.try_set(Some(error));
                }
            }
        });
    };
    state.asked.set(Some(Question {
        title: fill(Text::LibraryDeleteNamed, &[&library.name]),
        note: t(Text::LibraryDeleteNote),
        agreed: Arc::new(agreed),
    }));
}
