//! The document of a citation, beside the chat: its text from the cited place on, with the quote marked. On a narrow
//! screen it takes the whole page.

use super::card::place;
use super::quotes::quote_ranges;
use super::state::{Citation, CitationState};
use super::text::{has_markup, is_markdown, is_pdf, joined_lines, text_nodes};
use crate::address::encode_component;
use crate::api::ApiError;
use crate::libraries::api::{self, document_path};
use crate::libraries::documents::file_path;
use crate::libraries::labels::passage_label;
use crate::libraries::problem::problem_view;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{Node, element, reactive_nodes};
use crate::ui::pdf::{PdfPlace, pdf};
use crate::ui::side_panel::{PanelParts, focus_element, side_panel};
use leptos::task::spawn_local;
use std::ops::Range;
use wire::citations::CitedPassage;
use wire::error::ErrorCode;
use wire::library::{TextParts, TextPassage};

/// The width of the document, in pixels.
const WIDTH: f64 = 512.0;

/// The loaded document; a cheap handle.
#[derive(Clone, Copy)]
struct Loaded {
    state: CitationState,
    parts: RwSignal<Vec<TextPassage>>,
    /// The part in which the cited chunk begins; `None` if the document has changed since.
    chunk_part: RwSignal<Option<u64>>,
    next: RwSignal<Option<u64>>,
    is_loaded: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
    /// Whether the user wants the text of a document that has pages.
    is_text: RwSignal<bool>,
}

/// Where the text that is asked for is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextAt {
    /// At the citation.
    Citation,
    /// The text before the shown one.
    Before(u64),
    /// The text after the shown one.
    Next(u64),
}

impl Loaded {
    /// Shows a citation.
    fn open(self) {
        self.parts.set(Vec::new());
        self.chunk_part.set(None);
        self.next.set(None);
        self.is_loaded.set(false);
        self.error.set(None);
        self.is_text.set(false);
        self.load(TextAt::Citation);
    }

    /// Shows the text of a document that has pages, or its pages.
    fn show_text(self, is_text: bool) {
        self.is_text.set(is_text);
        if is_text {
            request_animation_frame(scroll_to_quote);
        }
    }

    /// Returns whether the document is still there for the user. Tracked.
    fn can_be_read(self) -> bool {
        self.error.with(Option::is_none)
    }

    fn load(self, from: TextAt) {
        let Some(citation) = self.state.panel.get_untracked() else { return };
        let Some(passage) = &citation.source.passage else { return };
        let at = match from {
            TextAt::Citation => ["chunk=", &encode_component(&passage.chunk_id)].concat(),
            // One part at a time, so that the user keeps the place.
            TextAt::Before(no) => ["page=", &no.saturating_sub(1).to_string()].concat(),
            TextAt::Next(no) => ["page=", &no.to_string()].concat(),
        };
        let path = document_path(&passage.document_id, &with_conversation(&["/text?", &at].concat(), &citation));
        spawn_local(async move {
            let loaded = api::get::<TextParts>(&path).await;
            // Another citation may have been opened, or the panel closed.
            if self.state.panel.try_get_untracked().flatten().as_ref() != Some(&citation) {
                return;
            }
            match loaded {
                Ok(page) => self.show(from, page),
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn show(self, from: TextAt, page: TextParts) {
        self.error.set(None);
        match from {
            TextAt::Before(no) => {
                let before = page.parts.into_iter().filter(|part| part.no < no);
                self.parts.update(|parts| drop(parts.splice(0..0, before)));
            }
            TextAt::Citation => {
                self.chunk_part.set(page.chunk_part);
                self.next.set(page.next);
                self.parts.set(page.parts);
                self.is_loaded.set(true);
                request_animation_frame(scroll_to_quote);
            }
            TextAt::Next(_) => {
                self.next.set(page.next);
                self.parts.update(|parts| parts.extend(page.parts));
            }
        }
    }
}

/// Scrolls the text to the quote, or to the part with the passage.
fn scroll_to_quote() {
    let find = |selector: &str| document().query_selector(selector).ok().flatten();
    if let Some(found) = find(".cw-cited mark").or_else(|| find(".cw-cited [data-found]")) {
        found.scroll_into_view();
    }
}

/// The panel.
#[component]
pub(in crate::libraries) fn CitedPanel(state: CitationState) -> AnyView {
    let heading = StoredValue::new(state.element_id("heading"));
    let loaded = Loaded {
        state,
        parts: RwSignal::new(Vec::new()),
        chunk_part: RwSignal::new(None),
        next: RwSignal::new(None),
        is_loaded: RwSignal::new(false),
        error: RwSignal::new(None),
        is_text: RwSignal::new(false),
    };
    Effect::new(move |_| {
        if state.is_open() {
            untrack(|| loaded.open());
        }
    });
    let head = reactive_nodes(move || {
        let is_gone =
            loaded.error.with(|error| error.as_ref().is_some_and(|error| error.code() == ErrorCode::NotFound));
        let head = |open: &Citation| head(open, heading.get_value(), is_gone);
        state.panel.with(|open| open.as_ref().map(head).unwrap_or_default())
    });
    let body = move || {
        let citation = state.panel.get()?;
        Some(body(loaded, &citation))
    };
    let body = view! {
        <div class="cw-cited-text" tabindex="0" role="region" aria-label=t(Text::CitedText)>
            {body}
        </div>
    };
    let switch = move || {
        let has_pages = state.panel.with(|open| open.as_ref().and_then(pages).is_some());
        // The button stays the same, so that it keeps the focus.
        let label = move || t(if loaded.is_text.get() { Text::CitedShowPages } else { Text::CitedShowText });
        let switch = move |_| loaded.show_text(!loaded.is_text.get_untracked());
        let button = || view! { <button type="button" class="cw-link" on:click=switch>{label}</button> };
        (has_pages && loaded.can_be_read()).then(|| button().into_any())
    };
    let parts = PanelParts {
        class: "cw-cited",
        heading: heading.get_value(),
        width: |_| WIDTH,
        title: head,
        buttons: switch.into_any(),
        body: body.into_any(),
    };
    let is_open = Signal::derive(move || state.is_open());
    side_panel(parts, is_open, Callback::new(move |()| focus_element(state.close_panel())))
}

fn with_conversation(path: &str, citation: &Citation) -> String {
    match &citation.conversation_id {
        Some(id) => {
            [path, if path.contains('?') { "&" } else { "?" }, "conversationId=", &encode_component(id)].concat()
        }
        None => path.to_owned(),
    }
}

fn head(citation: &Citation, id: String, is_gone: bool) -> Vec<Node> {
    let Some(passage) = &citation.source.passage else { return Vec::new() };
    let heading = element("h2").attr("id", id).attr("tabindex", "-1").attr("dir", "auto");
    let at = element("p").attr("class", "cw-document-place").attr("dir", "auto");
    let mut head = vec![
        heading.children(visible_nodes(&passage.file, TextKind::Prose)),
        at.children(visible_nodes(&place(passage), TextKind::Prose)),
    ];
    head.extend((!is_gone).then(|| file_link(passage, citation)));
    head
}

/// The link to the file; PDF is opened at its page.
fn file_link(passage: &CitedPassage, citation: &Citation) -> Node {
    let page = page_number(passage).map(|page| ["#page=", &page.to_string()].concat());
    let path = [file_address(passage, citation), page.unwrap_or_default()].concat();
    let link = element("a").attr("class", "cw-link").attr("href", path);
    link.attr("target", "_blank").attr("rel", "external").text(t(Text::CitedOpenFile))
}

fn file_address(passage: &CitedPassage, citation: &Citation) -> String {
    with_conversation(&file_path(&passage.document_id), citation)
}

/// Returns the number of the page with the passage, if the file has pages.
fn page_number(passage: &CitedPassage) -> Option<u64> {
    passage.place.strip_prefix("page ")?.parse().ok()
}

/// Returns the address of a PDF, and the place in it that is cited.
fn pages(citation: &Citation) -> Option<(String, PdfPlace)> {
    let passage = citation.source.passage.as_ref()?;
    let page = page_number(passage).filter(|_| is_pdf(&passage.file))?;
    let place = PdfPlace { page: Some(page), quote: citation.source.quote.clone() };
    Some((file_address(passage, citation), place))
}

fn body(loaded: Loaded, citation: &Citation) -> AnyView {
    let passage = citation.source.passage.as_ref();
    let file = passage.map(|passage| passage.file.clone()).unwrap_or_default();
    let pages = StoredValue::new(pages(citation));
    let quote = StoredValue::new(citation.source.quote.clone());
    let ranges = Memo::new(move |_| {
        let quote = quote.get_value().unwrap_or_default();
        loaded.parts.with(|parts| {
            let first = loaded.chunk_part.get().and_then(|no| parts.iter().position(|part| part.no == no));
            let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
            quote_ranges(&texts, first, &quote)
        })
    });
    let is_marked = move || ranges.with(|ranges| ranges.iter().any(|found| !found.is_empty()));
    let problem = move || {
        let error = loaded.error.get()?;
        Some(match error.code() {
            ErrorCode::NotFound | ErrorCode::Unauthenticated => note(Text::CitedGone),
            _ => problem_view(&error, move || loaded.load(TextAt::Citation)),
        })
    };
    let changed = move || (loaded.is_loaded.get() && !is_marked()).then(|| note(Text::CitedChanged));
    // The quotation is shown here only if it is not marked in the text.
    let words = move || {
        let has_failed = loaded.error.with(Option::is_some) && !loaded.is_loaded.get();
        let is_missing = loaded.is_loaded.get() && !is_marked();
        let quote = quote.get_value().filter(|_| has_failed || is_missing)?;
        let words = reactive_nodes(move || visible_nodes(&quote, TextKind::Prose));
        Some(
            view! { <blockquote class="cw-cited-quote" aria-label=t(Text::CitedQuote) dir="auto">{words}</blockquote> }
                .into_any(),
        )
    };
    let loading = move || {
        let is_loading = !loaded.is_loaded.get() && loaded.error.with(Option::is_none);
        is_loading.then(|| note(Text::Loading))
    };
    let content = move || {
        let shows_pages = pages.with_value(Option::is_some) && !loaded.is_text.get();
        if !shows_pages {
            text(loaded, &file, ranges)
        } else if loaded.can_be_read() {
            reactive_nodes(move || pages.get_value().map(|(file, place)| pdf(file, place)).into_iter().collect())
                .into_any()
        } else {
            ().into_any()
        }
    };
    view! {
        {problem}
        {changed}
        {words}
        {loading}
        {content}
    }
    .into_any()
}

/// The parts of the text that are loaded, with the buttons that load more.
fn text(loaded: Loaded, file: &str, ranges: Memo<Vec<Vec<Range<usize>>>>) -> AnyView {
    let (has_markup, is_markdown) = (has_markup(file), is_markdown(file));
    let parts = reactive_nodes(move || {
        loaded.parts.with(|parts| {
            ranges.with(|ranges| {
                parts
                    .iter()
                    .zip(ranges)
                    .map(|(part, found)| {
                        let label = element("p").attr("class", "cw-document-place").attr("dir", "auto");
                        let label = label.children(visible_nodes(&passage_label(part), TextKind::Prose));
                        let text = if is_markdown {
                            text_nodes(&joined_lines(&part.text), found, has_markup)
                        } else {
                            text_nodes(&part.text, found, has_markup)
                        };
                        let item = element("li").attr("data-key", part.no.to_string());
                        let is_found = loaded.chunk_part.get() == Some(part.no);
                        let item = if is_found { item.attr("data-found", "") } else { item };
                        item.children(std::iter::once(label).chain(text).collect())
                    })
                    .collect::<Vec<_>>()
            })
        })
    });
    let button = move |label: Text, from: TextAt| {
        let load = move |_| loaded.load(from);
        view! { <button type="button" class="cw-link cw-more" on:click=load>{t(label)}</button> }.into_any()
    };
    let before = move || {
        let first = loaded.parts.with(|parts| parts.first().map(|part| part.no)).filter(|first| *first > 1)?;
        Some(button(Text::CitedBefore, TextAt::Before(first)))
    };
    let more = move || Some(button(Text::ShowMore, TextAt::Next(loaded.next.get()?)));
    view! {
        {before}
        <ol class="cw-cited-parts">{parts}</ol>
        {more}
    }
    .into_any()
}

fn note(text: Text) -> AnyView {
    view! { <p class="cw-library-note" role="status">{t(text)}</p> }.into_any()
}
