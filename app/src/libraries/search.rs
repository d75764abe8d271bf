//! The search in a library.

use super::api::{self, Method, library_path};
use super::labels::place_label;
use super::problem::problem_view;
use super::route::Shown;
use crate::address::Address;
use crate::api::ApiError;
use crate::prelude::*;
use crate::texts::{Text, fill_count, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::task::spawn_local;
use serde_json::json;
use wire::library::{LibraryResult, LibraryResults};

/// The most results.
const LIMIT: u32 = 20;
/// The longest query, in characters.
const MAX_QUERY: &str = "1000";
/// The ways to search, as the API names them.
const MODES: [(&str, Text); 3] =
    [("hybrid", Text::SearchHybrid), ("keyword", Text::SearchKeyword), ("semantic", Text::SearchSemantic)];

/// A search and its results; a cheap handle. It outlives the view, so that the results are still
/// there after a document was opened.
#[derive(Clone, Copy)]
pub(super) struct SearchState {
    library: StoredValue<String>,
    query: RwSignal<String>,
    mode: RwSignal<String>,
    results: RwSignal<Option<Vec<LibraryResult>>>,
    error: RwSignal<Option<ApiError>>,
    is_searching: RwSignal<bool>,
}

impl SearchState {
    pub(super) fn new(library: String) -> Self {
        Self {
            library: StoredValue::new(library),
            query: RwSignal::new(String::new()),
            mode: RwSignal::new(MODES[0].0.to_owned()),
            results: RwSignal::new(None),
            error: RwSignal::new(None),
            is_searching: RwSignal::new(false),
        }
    }

    fn search(self) {
        let (query, mode) = (self.query.get_untracked(), self.mode.get_untracked());
        if query.trim().is_empty() {
            return;
        }
        let path = library_path(&self.library.get_value(), "/search");
        let body = json!({ "query": query, "mode": mode, "limit": LIMIT });
        self.is_searching.set(true);
        spawn_local(async move {
            let found = api::send::<LibraryResults>(Method::Post, &path, &body).await;
            // The answer to an earlier question is not shown under a later one.
            if self.query.try_get_untracked().as_ref() != Some(&query) {
                return;
            }
            self.is_searching.set(false);
            match found {
                Ok(LibraryResults { results }) => {
                    self.error.set(None);
                    self.results.set(Some(results));
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn clear(self) {
        self.query.set(String::new());
        self.results.set(None);
        self.error.set(None);
        self.is_searching.set(false);
    }
}

/// The field with its results.
#[component]
pub(super) fn LibrarySearch(block: String, search: SearchState) -> AnyView {
    let field = NodeRef::<html::Input>::new();
    let [query_id, mode_id] = ["query", "mode"].map(|name| format!("library-{block}-{name}"));
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if let Some(field) = field.get_untracked() {
            search.query.set(field.value());
        }
        search.search();
    };
    let option = |(name, label): (&'static str, Text)| {
        view! { <option value=name selected=search.mode.with_untracked(|mode| mode == name)>{t(label)}</option> }
    };
    let options: Vec<_> = MODES.into_iter().map(option).collect();
    let chosen = move |event| {
        search.mode.set(event_target_value(&event));
        if search.results.with_untracked(Option::is_some) {
            search.search();
        }
    };
    let status =
        move || match (search.is_searching.get(), search.results.with(|results| results.as_ref().map(Vec::len))) {
            (true, _) => t(Text::Loading).to_owned(),
            (_, Some(0)) => t(Text::SearchNothing).to_owned(),
            (_, Some(1)) => t(Text::SearchFoundOne).to_owned(),
            (_, Some(count)) => fill_count(Text::SearchFound, count),
            _ => String::new(),
        };
    // An error is about how the search was asked, so the server's own words are shown.
    let problem = move || {
        search.error.get().map(|error| {
            if error.0.message.is_empty() {
                problem_view(&error, move || search.search())
            } else {
                view! { <p class="cw-list-error" role="alert">{error.0.message}</p> }.into_any()
            }
        })
    };
    let close = move |_| {
        search.clear();
        if let Some(field) = field.get_untracked() {
            field.set_value("");
            // Cannot fail: the field is on the page.
            let _ = field.focus();
        }
    };
    let results = move || {
        let hits = search.results.get()?;
        let library = search.library.get_value();
        let hits: Vec<_> = hits.iter().map(|hit| hit_view(&library, hit)).collect();
        let list = (!hits.is_empty()).then(|| {
            view! { <ol class="cw-hits" aria-label=t(Text::SearchResults)>{hits}</ol> }
        });
        Some(
            view! {
                {list}
                <button type="button" class="cw-link" on:click=close>{t(Text::SearchClear)}</button>
            }
            .into_any(),
        )
    };
    view! {
        <form class="cw-library-search" role="search" aria-label=t(Text::SearchLibrary) on:submit=submit>
            {search_field(query_id, Text::SearchLibrary, MAX_QUERY, search.query.get_untracked(), field)}
            <label class="cw-visually-hidden" for=mode_id.clone()>{t(Text::SearchMode)}</label>
            <div class="cw-select">
                <select class="cw-control" id=mode_id on:change=chosen>{options}</select>
            </div>
            <button type="submit" class="cw-button">{t(Text::Search)}</button>
        </form>
        <p class="cw-library-note cw-search-status" role="status">{status}</p>
        {problem}
        {results}
    }
    .into_any()
}

/// Renders the input of a search form. Its label is visually hidden, and also its placeholder.
pub(super) fn search_field(
    id: String,
    label: Text,
    max_length: &'static str,
    value: String,
    field: NodeRef<html::Input>,
) -> AnyView {
    view! {
        <label class="cw-visually-hidden" for=id.clone()>{t(label)}</label>
        <input
            class="cw-control"
            id=id
            type="search"
            dir="auto"
            placeholder=t(label)
            maxlength=max_length
            autocomplete="off"
            value=value
            node_ref=field
        />
    }
    .into_any()
}

fn hit_view(library: &str, hit: &LibraryResult) -> AnyView {
    let address = expect_context::<Address>();
    let url = untrack(|| Shown::document(library, &hit.document_id, hit.passage()).url(address));
    let place: Vec<_> =
        [place_label(&hit.place), hit.heading.clone()].into_iter().filter(|text| !text.is_empty()).collect();
    let piece = |(at, piece): (usize, String)| match at % 2 {
        0 => visible_nodes(&piece, TextKind::Prose).into_any(),
        _ => view! { <mark>{visible_nodes(&piece, TextKind::Prose)}</mark> }.into_any(),
    };
    let text: Vec<_> = hit.pieces().into_iter().enumerate().map(piece).collect();
    view! {
        <li>
            <a class="cw-document-name" href=url dir="auto">{visible_nodes(&hit.file_name, TextKind::Value)}</a>
            <p class="cw-document-place" dir="auto">{visible_nodes(&place.join(" · "), TextKind::Prose)}</p>
            <p class="cw-document-text" dir="auto">{text}</p>
        </li>
    }
    .into_any()
}
