//! The documents of a library with their states.

use super::api::document_path;
use super::confirm::Question;
use super::labels::{document_label, state_label};
use super::route::Shown;
use super::state::{LibraryState, Row};
use crate::address::Address;
use crate::prelude::*;
use crate::texts::{Text, fill, fill_count, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::icons::{Icon, Shape};
use crate::ui::node::reactive_nodes;
use crate::ui::numbers::byte_size;
use std::sync::Arc;
use wire::library::{Document, DocumentState, LibraryAccess};

/// The list, with the choice of a state.
#[component]
pub(super) fn DocumentRows(block: String, state: LibraryState) -> AnyView {
    let heading = format!("library-{block}-documents");
    let choice = format!("library-{block}-state");
    let option = |of: DocumentState| {
        view! { <option value=of.name() selected=move || state.filter.get() == Some(of)>{state_label(of)}</option> }
    };
    let options: Vec<_> = DocumentState::ALL.into_iter().map(option).collect();
    let chosen = move |event| state.show(DocumentState::from_name(&event_target_value(&event)));
    let may_write = Memo::new(move |_| {
        state.library.with(|library| library.as_ref().is_some_and(|library| library.access >= LibraryAccess::Write))
    });
    let note = move || {
        let text = match state.rows.with(|rows| rows.as_ref().map(Vec::len)) {
            None => Text::Loading,
            Some(0) if state.filter.get().is_some() => Text::DocumentsNoneWith,
            Some(0) => Text::DocumentsNone,
            Some(_) => return None,
        };
        Some(view! { <p class="cw-library-note">{t(text)}</p> }.into_any())
    };
    let more = move || {
        state.has_more().then(|| {
            view! {
                <button type="button" class="cw-link cw-more" on:click=move |_| state.load_more()>
                    {t(Text::ShowMore)}
                </button>
            }
            .into_any()
        })
    };
    // Read out once for many changes: how many are ready, and how many have failed.
    let status = move || {
        state.library.with(|library| {
            let Some(counts) = library.as_ref().map(|library| library.documents) else { return String::new() };
            match counts.open() {
                0 if counts.failed > 0 => fill_count(Text::LibraryFailed, counts.failed as usize),
                0 => fill_count(Text::LibraryReady, counts.ready as usize),
                open => fill_count(Text::LibraryReading, open as usize),
            }
        })
    };
    let status = Memo::new(move |_| status());
    let is_empty = move || state.rows.with(|rows| rows.as_ref().is_none_or(Vec::is_empty));
    view! {
        <div class="cw-documents">
            <div class="cw-documents-head">
                <h4 id=heading.clone()>{t(Text::LibraryDocuments)}</h4>
                <label class="cw-label" for=choice.clone()>{t(Text::DocumentsState)}</label>
                <div class="cw-select">
                    <select class="cw-control" id=choice on:change=chosen>
                        <option value="">{t(Text::DocumentsAll)}</option>
                        {options}
                    </select>
                </div>
            </div>
            <p class="cw-visually-hidden" role="status">{move || status.get()}</p>
            {note}
            <ul class="cw-document-list" aria-labelledby=heading hidden=is_empty>
                <For
                    each=move || state.rows.get().unwrap_or_default()
                    key=|row| row.id.clone()
                    children=move |row| document_row(state, row, may_write)
                />
            </ul>
            {more}
        </div>
    }
    .into_any()
}

fn document_row(state: LibraryState, row: Row, may_write: Memo<bool>) -> AnyView {
    let address = expect_context::<Address>();
    let Row { id, document } = row;
    let (library, shown) = (state.id.get_value(), id.clone());
    let url = move || Shown::document(&library, &shown, None).url(address);
    let [named, told, stated, acted] = [(); 4].map(|()| document.clone());
    let name = Memo::new(move |_| named.with(|document| document.file_name.clone()));
    let about = move || told.with(about);
    let state_of = stated.clone();
    let kind = move || state_of.with(|document| document.state.name());
    let state_view = move || stated.with(state_view);
    let can_cancel = Memo::new(move |_| acted.with(|document| document.state.is_open()));
    let failed = document.clone();
    let can_retry = Memo::new(move |_| failed.with(|document| document.state == DocumentState::Failed));
    let (retried, cancelled, deleted) = (id.clone(), id.clone(), id);
    let actions = move || {
        may_write.get().then(|| {
            let (retried, cancelled, deleted) = (retried.clone(), cancelled.clone(), deleted.clone());
            let labelled = move |text: Text| fill(text, &[&name.get()]);
            view! {
                <span class="cw-document-actions">
                    // The place of one button, so that nothing moves when the other one takes it.
                    <button
                        type="button"
                        class="cw-icon-button"
                        aria-label=move || labelled(if can_retry.get() { Text::DocumentRetry } else { Text::DocumentCancel })
                        title=move || labelled(if can_retry.get() { Text::DocumentRetry } else { Text::DocumentCancel })
                        data-unused=move || (!can_retry.get() && !can_cancel.get()).then_some("")
                        on:click=move |_| {
                            if can_retry.get_untracked() {
                                state.act(&retried, "/retry");
                            } else {
                                state.act(&cancelled, "/cancel");
                            }
                        }
                    >
                        {move || view! { <Icon of=if can_retry.get() { Shape::RETRY } else { Shape::STOP } /> }}
                    </button>
                    <button
                        type="button"
                        class="cw-icon-button"
                        aria-label=move || labelled(Text::DocumentDelete)
                        title=move || labelled(Text::DocumentDelete)
                        on:click=move |_| ask_to_delete(state, deleted.clone(), &name.get_untracked())
                    >
                        <Icon of=Shape::BIN />
                    </button>
                </span>
            }
            .into_any()
        })
    };
    let shown = reactive_nodes(move || name.with(|name| visible_nodes(name, TextKind::Value)));
    view! {
        <li class="cw-document-row" data-state=kind>
            <a class="cw-document-name" href=url dir="auto">{shown}</a>
            <span class="cw-document-about" dir="auto">{about}</span>
            <span class="cw-document-state">{state_view}</span>
            {actions}
        </li>
    }
    .into_any()
}

/// Says why a document could not be read, or how large it is and what was left out.
fn about(document: &Document) -> String {
    if let (DocumentState::Failed, Some(error)) = (document.state, &document.error) {
        return error.message.clone();
    }
    let mut facts = vec![byte_size(document.bytes)];
    if document.pages > 1 {
        facts.push(fill_count(Text::DocumentPages, document.pages as usize));
    }
    match document.chunks {
        0 => {}
        1 => facts.push(t(Text::DocumentPassageOne).to_owned()),
        count => facts.push(fill_count(Text::DocumentPassages, count as usize)),
    }
    facts.extend(document.warnings.iter().map(|warning| warning.message.clone()));
    facts.join(" · ")
}

/// The state, with how far reading is.
pub(super) fn state_view(document: &Document) -> AnyView {
    let shape = match document.state {
        DocumentState::Queued => Shape::CLOCK,
        DocumentState::Processing => Shape::SPINNER,
        DocumentState::Ready => Shape::CHECK,
        DocumentState::Failed => Shape::WARNING,
    };
    let label = document_label(document);
    let bar = (document.state == DocumentState::Processing).then(|| {
        let percent = ((document.progress * 100.0) as u32).to_string();
        view! { <progress max="100" value=percent aria-label=fill(Text::SendingNamed, &[&document.file_name])></progress> }
    });
    view! {
        <Icon of=shape />
        <span>{label}</span>
        {bar}
    }
    .into_any()
}

/// Returns the path of the file of a document.
pub(super) fn file_path(id: &str) -> String {
    document_path(id, "/file")
}

fn ask_to_delete(state: LibraryState, id: String, name: &str) {
    state.asked.set(Some(Question {
        title: fill(Text::DocumentDeleteNamed, &[name]),
        note: t(Text::DocumentDeleteNote),
        agreed: Arc::new(move || state.delete_document(id.clone())),
    }));
}
