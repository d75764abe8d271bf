//! Parts that arrive whole: sources and files.

use crate::erase::{Erase, Erased};
use crate::icons::{Icon, Shape};
use leptos::prelude::*;
use wire::UiPart;
use wire::message::{FilePart, SourceDocument, SourceUrl};

/// The view of a part that is not text, reasoning or a call. Steps, data and parts of unknown kinds have none.
pub(super) fn fixed_part(part: &UiPart) -> Erased {
    match part {
        UiPart::SourceUrl(source) => source_url(source),
        UiPart::SourceDocument(source) => source_document(source),
        UiPart::File(file) => file_view(file),
        _ => ().erase(),
    }
}

fn source_url(source: &SourceUrl) -> Erased {
    let label = source.title.clone().unwrap_or_else(|| source.url.clone());
    if !is_web(&source.url) {
        return view! { <span class="cw-source">{label}</span> }.erase();
    }
    view! {
        <a class="cw-source" href=source.url.clone() target="_blank" rel="noopener noreferrer nofollow">
            <Icon of=Shape::Link />
            {label}
        </a>
    }
    .erase()
}

fn source_document(source: &SourceDocument) -> Erased {
    view! { <span class="cw-source"><Icon of=Shape::Form />{source.title.clone()}</span> }.erase()
}

/// Pictures that came with the message are shown; a file at an address is a link to it.
fn file_view(file: &FilePart) -> Erased {
    let name = file.filename.clone().unwrap_or_else(|| file.media_type.clone());
    if crate::markdown::is_embedded_image(&file.url) {
        return view! { <img class="cw-picture" src=file.url.clone() alt=name /> }.erase();
    }
    if !is_web(&file.url) {
        return view! { <span class="cw-source"><Icon of=Shape::Form />{name}</span> }.erase();
    }
    view! {
        <a class="cw-source" href=file.url.clone() target="_blank" rel="noopener noreferrer nofollow">
            <Icon of=Shape::Link />
            {name}
        </a>
    }
    .erase()
}

fn is_web(url: &str) -> bool {
    crate::markdown::allowed(url).is_some_and(|url| !url.starts_with("mailto:"))
}
