//! A document: its text by pages, its passages, and its file.

use super::api::{self, document_path};
use super::documents::{file_path, state_view};
use super::labels::{passage_label, place_label};
use super::problem::problem_view;
use super::route::Shown;
use crate::address::Address;
use crate::api::ApiError;
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::browser::{is_visible, sleep};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use leptos::task::spawn_local;
use std::time::Duration;
use wire::library::{Document, DocumentState, TextParts, TextPassage};

/// The pause until the page looks again how far the document is read.
const PAUSE: Duration = Duration::from_secs(3);

/// The views of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Text,
    Passages,
}

/// The loaded parts of a document, in one view; a cheap handle.
#[derive(Clone, Copy)]
struct Pages {
    id: StoredValue<String>,
    view: RwSignal<View>,
    parts: RwSignal<Vec<TextPassage>>,
    next: RwSignal<Option<u64>>,
    is_loaded: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
}

impl Pages {
    /// Loads the parts from a number on, after those that are shown.
    fn load(self, from: u64) {
        let Some(id) = self.id.try_get_value() else { return };
        let view = self.view.get_untracked();
        let rest = match view {
            View::Text => "/text?page=",
            View::Passages => "/chunks?from=",
        };
        let path = document_path(&id, &[rest, &from.to_string()].concat());
        spawn_local(async move {
            let loaded = api::get::<TextParts>(&path).await;
            if self.view.try_get_untracked() != Some(view) {
                return;
            }
            match loaded {
                Ok(page) => {
                    self.parts.update(|parts| parts.extend(page.parts));
                    self.next.set(page.next);
                    self.is_loaded.set(true);
                    self.error.set(None);
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    /// Shows the text or the passages from a number on.
    fn show(self, view: View, from: u64) {
        self.view.set(view);
        self.parts.set(Vec::new());
        self.next.set(None);
        self.is_loaded.set(false);
        self.load(from);
    }
}

/// A document.
#[component]
pub(super) fn DocumentView(
    /// The block's id.
    block: String,
    /// The id of the library.
    library: String,
    /// The id of the document.
    id: String,
    /// The passage with which it is opened.
    passage: Option<u64>,
) -> AnyView {
    let address = expect_context::<Address>();
    let pages = Pages {
        id: StoredValue::new(id.clone()),
        view: RwSignal::new(if passage.is_some() { View::Passages } else { View::Text }),
        parts: RwSignal::new(Vec::new()),
        next: RwSignal::new(None),
        is_loaded: RwSignal::new(false),
        error: RwSignal::new(None),
    };
    let document = RwSignal::new(None::<Document>);
    let path = document_path(&id, "");
    let heading = format!("library-{block}-document");
    let focused = heading.clone();
    Effect::new(move |_| {
        pages.load(passage.unwrap_or(1));
        let (path, focused) = (path.clone(), focused.clone());
        spawn_local(async move {
            if load(&path, document, pages).await {
                // The link that the user followed is no longer on the page, so the heading takes the focus.
                request_animation_frame(move || focus(&focused));
                follow(&path, document, pages, passage).await;
            }
        });
    });
    let back = move || Shown::library(&library).url(address);
    // The heading stays the same element while the state changes, so that it keeps the focus.
    let name =
        Memo::new(move |_| document.with(|document| document.as_ref().map(|document| document.file_name.clone())));
    let state = move || {
        let document = document.get()?;
        let state =
            view! { <span class="cw-document-state" data-state=document.state.name()>{state_view(&document)}</span> };
        Some(state.into_any())
    };
    let reason = move || {
        let document = document.get()?;
        let reason = document.error.filter(|_| document.state == DocumentState::Failed)?;
        Some(view! { <p class="cw-document-reason" dir="auto">{reason.message}</p> }.into_any())
    };
    let head = move || {
        let name = name.get()?;
        Some(
            view! {
                <div class="cw-library-title">
                    <h3 id=heading.clone() tabindex="-1" dir="auto">{visible_nodes(&name, TextKind::Value)}</h3>
                    {state}
                </div>
                {reason}
            }
            .into_any(),
        )
    };
    let choice = move |view: View, label: Text| {
        view! {
            <button
                type="button"
                class="cw-button"
                aria-pressed=move || (pages.view.get() == view).to_string()
                on:click=move |_| pages.show(view, 1)
            >
                {t(label)}
            </button>
        }
    };
    let parts = move || {
        let view = pages.view.get();
        let part = |part: &TextPassage| part_view(part, view, passage);
        pages.parts.with(|parts| parts.iter().map(part).collect::<Vec<_>>())
    };
    let note = move || {
        let text = match (pages.is_loaded.get(), pages.error.with(Option::is_some)) {
            (false, false) => Text::Loading,
            (true, _) if pages.parts.with(Vec::is_empty) => Text::DocumentNoText,
            _ => return None,
        };
        Some(view! { <p class="cw-library-note" role="status">{t(text)}</p> }.into_any())
    };
    let more = move || {
        let next = pages.next.get()?;
        let load = move |_| pages.load(next);
        Some(
            view! { <button type="button" class="cw-link cw-more" on:click=load>{t(Text::ShowMore)}</button> }
                .into_any(),
        )
    };
    let again = move || pages.show(pages.view.get_untracked(), passage.unwrap_or(1));
    let problem = move || pages.error.get().map(|error| problem_view(&error, again));
    view! {
        <a class="cw-link" href=back>{t(Text::DocumentBack)}</a>
        {head}
        {problem}
        <div class="cw-document-bar">
            {choice(View::Text, Text::DocumentText)}
            {choice(View::Passages, Text::LibraryPassages)}
            <a class="cw-button" href=file_path(&id) download="" rel="external">{t(Text::DocumentDownload)}</a>
        </div>
        <ol class="cw-document-parts">{parts}</ol>
        {note}
        {more}
    }
    .into_any()
}

/// Loads the state of a document. Returns whether it is shown.
async fn load(path: &str, document: RwSignal<Option<Document>>, pages: Pages) -> bool {
    match api::get::<Document>(path).await {
        Ok(loaded) => document.try_set(Some(loaded)).is_none(),
        Err(error) => {
            pages.error.try_set(Some(error));
            false
        }
    }
}

/// Looks again until the document is read or the view is gone, and then shows the text that was read.
async fn follow(path: &str, document: RwSignal<Option<Document>>, pages: Pages, passage: Option<u64>) {
    let is_open =
        || document.try_with_untracked(|document| document.as_ref().is_some_and(|known| known.state.is_open()));
    if is_open() != Some(true) {
        return;
    }
    while is_open() == Some(true) {
        sleep(PAUSE).await;
        if !is_visible() {
            continue;
        }
        match api::get::<Document>(path).await {
            Ok(loaded) => drop(document.try_set(Some(loaded))),
            Err(error) if error.is_final() => {
                pages.error.try_set(Some(error));
                return;
            }
            Err(_) => {}
        }
    }
    if is_open() == Some(false) {
        pages.show(pages.view.get_untracked(), passage.unwrap_or(1));
    }
}

fn part_view(part: &TextPassage, view: View, passage: Option<u64>) -> AnyView {
    let label = match view {
        View::Passages => {
            let all =
                [fill(Text::PlacePassage, &[&part.no.to_string()]), place_label(&part.place), part.heading.clone()];
            all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
        }
        View::Text => passage_label(part),
    };
    let is_found = view == View::Passages && passage == Some(part.no);
    view! {
        <li data-found=is_found.then_some("")>
            <p class="cw-document-place" dir="auto">{label}</p>
            <p class="cw-document-text" dir="auto">{visible_nodes(&part.text, TextKind::Prose)}</p>
        </li>
    }
    .into_any()
}
