//! The block: the list of libraries, or one of them.

use super::api;
use super::form::LibraryForm;
use super::labels::library_facts;
use super::library::LibraryView;
use super::problem::problem_view;
use super::route::{Shown, go};
use crate::address::Address;
use crate::api::ApiError;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use leptos::task::spawn_local;
use wire::library::{Library, LibraryList};
use wire::page::LibrariesProperties;

/// The libraries of the user.
#[component]
pub(super) fn LibrariesBlock(
    /// The block's id.
    id: String,
    /// `title`, `libraries` and `create`.
    properties: Properties,
) -> AnyView {
    let address = expect_context::<Address>();
    let title_id = format!("libraries-{id}");
    let titled = title_id.clone();
    let title = move || {
        let own = properties.get::<LibrariesProperties>().title.filter(|title| !title.is_empty());
        own.unwrap_or_else(|| t(Text::Libraries).to_owned())
    };
    // The only library is opened at once, and has no list to return to.
    let only = Memo::new(move |_| match properties.get::<LibrariesProperties>().libraries.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    });
    let shown = Memo::new(move |_| {
        let shown = Shown::read(address);
        let library = only.get().or(shown.library);
        Shown { library, ..shown }
    });
    let library = Memo::new(move |_| shown.with(|shown| shown.library.clone()));
    let content = move || match library.get() {
        Some(own) => {
            let back = only.with(Option::is_none);
            view! { <LibraryView block=id.clone() id=own shown back /> }.into_any()
        }
        None => view! { <LibraryListView block=id.clone() properties /> }.into_any(),
    };
    view! {
        <section class="cw-libraries" aria-labelledby=title_id>
            <h2 class="cw-title" id=titled dir="auto">{title}</h2>
            {content}
        </section>
    }
    .into_any()
}

/// The list, with the button that creates a library.
#[component]
fn LibraryListView(block: String, properties: Properties) -> AnyView {
    let items = RwSignal::new(None::<Vec<Library>>);
    let error = RwSignal::new(None::<ApiError>);
    let is_creating = RwSignal::new(false);
    let load = move || {
        spawn_local(async move {
            match api::get::<LibraryList>("/api/libraries").await {
                Ok(list) => {
                    error.try_set(None);
                    items.try_set(Some(list.items));
                }
                Err(problem) => drop(error.try_set(Some(problem))),
            }
        });
    };
    Effect::new(move |_| load());
    let chosen = move || {
        let wanted = properties.get::<LibrariesProperties>().libraries;
        let mut all = items.get()?;
        all.retain(|library| wanted.is_empty() || wanted.contains(&library.id));
        Some(all)
    };
    let list = move || match (chosen(), error.get()) {
        (None, None) => view! { <p class="cw-library-note" role="status">{t(Text::Loading)}</p> }.into_any(),
        (None, Some(_)) => ().into_any(),
        (Some(all), _) if all.is_empty() => {
            view! { <p class="cw-library-note">{t(Text::LibrariesNone)}</p> }.into_any()
        }
        (Some(all), _) => {
            let rows: Vec<_> = all.iter().map(row).collect();
            view! { <ul class="cw-library-list" aria-label=t(Text::Libraries)>{rows}</ul> }.into_any()
        }
    };
    let problem = move || error.get().map(|error| problem_view(&error, load));
    let can_create = move || {
        let is_signed_in = items.with(Option::is_some);
        is_signed_in && properties.get::<LibrariesProperties>().create
    };
    let created = move |library: Library| go(&Shown::library(&library.id), false);
    let create = move || {
        can_create().then(|| {
            if is_creating.get() {
                let done = move |library: Option<Library>| match library {
                    Some(library) => created(library),
                    None => is_creating.set(false),
                };
                view! { <LibraryForm block=block.clone() library=None done /> }.into_any()
            } else {
                view! {
                    <button type="button" class="cw-button cw-library-new" on:click=move |_| is_creating.set(true)>
                        <Icon of=Shape::PLUS />
                        {t(Text::LibraryNew)}
                    </button>
                }
                .into_any()
            }
        })
    };
    view! {
        {problem}
        {create}
        {list}
    }
    .into_any()
}

fn row(library: &Library) -> AnyView {
    let address = expect_context::<Address>();
    let url = untrack(|| Shown::library(&library.id).url(address));
    let about = library.description.clone().map(|about| {
        view! { <span class="cw-library-about" dir="auto">{visible_nodes(&about, TextKind::Prose)}</span> }
    });
    view! {
        <li>
            <a class="cw-library-row" href=url>
                <Icon of=Shape::FOLDER />
                <span class="cw-library-name" dir="auto">{visible_nodes(&library.name, TextKind::Value)}</span>
                {about}
                <span class="cw-library-facts">{library_facts(library)}</span>
            </a>
        </li>
    }
    .into_any()
}
