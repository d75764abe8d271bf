//! Parts that arrive complete: files, unavailable tool sources, and context edits of the provider.

use super::notice::notice;
use super::standing;
use crate::icons::{Icon, Shape};
use crate::numbers::grouped;
use crate::prelude::*;
use crate::texts::t;
use crate::visible::{Kind, plain};
use serde_json::Value;
use wire::file::{is_shown_inline, kept_file_id};
use wire::message::FilePart;
use wire::{CONTEXT_EDITS, ContextEdit, STANDING_APPROVAL, UiPart};

/// Tools that an agent could not reach: `{name, message}`.
const UNAVAILABLE: &str = "data-source-unavailable";

/// The view of a part that is not text, reasoning or a call. Sources stand below the answer, see `sources.rs`. Steps, other data and parts of unknown kinds have none.
pub(super) fn fixed_part(part: &UiPart) -> AnyView {
    match part {
        UiPart::File(file) => file_view(file),
        UiPart::Data(data) if data.kind == STANDING_APPROVAL => standing::line(&data.data),
        UiPart::Data(data) if data.kind == UNAVAILABLE => unavailable(&data.data),
        UiPart::Data(data) if data.kind == CONTEXT_EDITS => context_edits(&data.data),
        _ => ().into_any(),
    }
}

/// Pictures that came with the message are shown, and those of sites that the config names; another file at an address is a link to it.
fn file_view(file: &FilePart) -> AnyView {
    let name = plain(file.filename.as_deref().unwrap_or(&file.media_type), Kind::Value).into_owned();
    let is_shown = is_shown_inline(&file.media_type) && crate::pictures::may_show(&file.url);
    if is_shown || kept_file_id(&file.url).is_some() {
        return kept_file(file, name);
    }
    if crate::markdown::is_embedded_image(&file.url) {
        return view! { <img class="cw-picture" src=file.url.clone() alt=name /> }.into_any();
    }
    if !is_web(&file.url) {
        return view! { <span class="cw-source"><Icon of=Shape::Form />{name}</span> }.into_any();
    }
    view! {
        <a class="cw-source" href=file.url.clone() target="_blank" rel="noopener noreferrer nofollow">
            <Icon of=Shape::Link />
            {name}
        </a>
    }
    .into_any()
}

/// A file of ours, or a picture that may be shown like one: a picture that can be opened, or a card with what it is, from which it is saved.
fn kept_file(file: &FilePart, name: String) -> AnyView {
    let (url, words) = (file.url.clone(), name.clone());
    let saved_as = file.filename.clone().unwrap_or_else(|| file.media_type.clone());
    if is_shown_inline(&file.media_type) {
        let source = url.clone();
        return view! {
            <a class="cw-attached-picture" href=url target="_blank" rel="noopener">
                <img class="cw-picture" src=source alt=name loading="lazy" />
            </a>
        }
        .into_any();
    }
    view! {
        <a class="cw-source" href=url download=saved_as>
            <Icon of=Shape::File />
            {words}
        </a>
    }
    .into_any()
}

/// Whoever reads the answer should know without what it was written.
fn unavailable(data: &Value) -> AnyView {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, message) = (text("name"), text("message"));
    let line = if message.contains(name) { message.to_owned() } else { format!("{name}: {message}") };
    notice("cw-notice cw-notice-quiet cw-notice-warning", Some(Shape::Warning), line, ().into_any())
}

/// One quiet line per edit: the model wrote the answer without the content that it names.
fn context_edits(data: &Value) -> AnyView {
    let line = |edit: ContextEdit| notice("cw-notice cw-notice-quiet", None, edit.said(t, grouped), ().into_any());
    ContextEdit::all_of(data).into_iter().map(line).collect_view().into_any()
}

/// Whether an address is one of the web.
pub(super) fn is_web(url: &str) -> bool {
    crate::markdown::allowed(url).is_some_and(|url| !url.starts_with("mailto:"))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::pictures::Pictures;

    /// Whether a file is shown, saved, or linked.
    fn check(url: &str, media_type: &str, expected: &str) {
        let (url, media_type) = (url.to_owned(), media_type.to_owned());
        let file = FilePart { url, media_type, filename: None, provider_metadata: None };
        let html = Owner::new().with(|| {
            provide_context(Pictures(["https://a.example".to_owned()].into()));
            file_view(&file).to_html()
        });
        let found = ["<img", "download", "nofollow", "<span"].into_iter().find(|known| html.contains(known));
        assert_eq!(found, Some(expected), "{html}");
    }

    #[test]
    fn what_becomes_of_files() {
        check("/api/files/1", "image/png", "<img");
        check("/api/files/1", "text/csv", "download");
        check("data:image/png;base64,AA==", "image/png", "<img");
        check("https://a.example/x.png", "image/png", "<img");
        check("https://a.example/x.svg", "image/svg+xml", "nofollow");
        check("https://b.example/x.png", "image/png", "nofollow");
        check("javascript:alert(1)", "image/png", "<span");
    }
}
