//! Parts that arrive complete, such as files.

use crate::agent_chat::cards::standing_approvals;
use crate::agent_chat::chunk_tables::{EXTRAS, PRESENTED, TOOLS};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use crate::workflows::WORKFLOWS;
use wire::file::{is_shown_inline, stored_file_id};
use wire::message::FilePart;
use wire::{
    CONTEXT_EDITS, CONTEXT_SUMMARY, HANDED_OVER, MCP_APP, PROVIDER_OUTPUT, QUOTA_WARNING, STANDING_APPROVAL,
    SUMMARY_FAILED, TOOL_QUESTION, UiPart, WORKFLOW_RESULT, WORKFLOW_RUN,
};

/// A data part about a tool source that the agent could not reach: `{name, message}`.
pub(in crate::agent_chat) const UNAVAILABLE: &str = "data-source-unavailable";
/// The data parts that [`super::context_note`] shows.
const CONTEXT_NOTES: [&str; 6] =
    [CONTEXT_EDITS, CONTEXT_SUMMARY, SUMMARY_FAILED, HANDED_OVER, QUOTA_WARNING, UNAVAILABLE];

/// The view of a part other than text, reasoning or a tool call. Sources are shown below the
/// answer, see `sources.rs`. Steps, other data parts and unknown parts have no view.
pub(in crate::agent_chat) fn fixed_part(part: &UiPart) -> AnyView {
    match part {
        UiPart::File(file) => file_view(file),
        UiPart::Data(data) if data.kind == STANDING_APPROVAL => standing_approvals::standing_approval_line(&data.data),
        UiPart::Data(data) if CONTEXT_NOTES.contains(&data.kind.as_str()) => {
            let data = data.clone();
            EXTRAS.view(move |code| (code.context_note)(&data))
        }
        UiPart::Data(data) if data.kind == PROVIDER_OUTPUT || data.kind == MCP_APP => {
            let data = data.clone();
            TOOLS.view(move |code| (code.call_data)(&data))
        }
        UiPart::Data(data) if data.kind == WORKFLOW_RUN || data.kind == TOOL_QUESTION => {
            let (data, session) = (data.clone(), expect_context::<Session>());
            let show_result = Callback::new(move |(id,): (String,)| session.show_added(&id));
            WORKFLOWS.view(move |code| (code.conversation_run)(&data, show_result))
        }
        UiPart::Data(data) if data.kind == WORKFLOW_RESULT => {
            let data = data.data.clone();
            WORKFLOWS.view(move |code| (code.conversation_result)(&data))
        }
        UiPart::Data(data) if data.kind == wire::file::PRESENTED => {
            let data = data.data.clone();
            PRESENTED.view(move |code| (code.files)(&data))
        }
        _ => ().into_any(),
    }
}

/// Shows pictures that are part of the message or are stored on a host that the config allows.
/// Other files with a web address are shown as links.
fn file_view(file: &FilePart) -> AnyView {
    let name =
        text_with_code_points(file.filename.as_deref().unwrap_or(&file.media_type), TextKind::Value).into_owned();
    let is_shown = is_shown_inline(&file.media_type) && crate::ui::image_origins::is_allowed_image(&file.url);
    if is_shown || stored_file_id(&file.url).is_some() {
        return kept_file(file, name);
    }
    if markdown_stream::link::is_embedded_image(&file.url) {
        return view! { <img class="cw-picture" src=file.url.clone() alt=name /> }.into_any();
    }
    if !is_web(&file.url) {
        return view! { <span class="cw-source"><Icon of=Shape::FORM />{name}</span> }.into_any();
    }
    view! {
        <a class="cw-source" href=file.url.clone() target="_blank" rel="noopener noreferrer nofollow">
            <Icon of=Shape::LINK />
            {name}
        </a>
    }
    .into_any()
}

/// A stored file, or a picture that may be shown: a picture that opens in full size, or a link that
/// downloads the file.
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
            <Icon of=Shape::FILE />
            {words}
        </a>
    }
    .into_any()
}

/// Whether an address is an HTTP or HTTPS address.
pub(crate) fn is_web(url: &str) -> bool {
    markdown_stream::link::allowed_url(url).is_some_and(|url| !url.starts_with("mailto:"))
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::ui::image_origins::ImageOrigins;

    /// Checks whether a file is shown, downloaded, or linked.
    fn check(url: &str, media_type: &str, expected: &str) {
        let (url, media_type) = (url.to_owned(), media_type.to_owned());
        let file = FilePart { url, media_type, filename: None, provider_metadata: None };
        let html = Owner::new().with(|| {
            provide_context(ImageOrigins(["https://a.example".to_owned()].into()));
            file_view(&file).to_html()
        });
        let found = ["<img", "download", "nofollow", "<span"].into_iter().find(|known| html.contains(known));
        assert_eq!(found, Some(expected), "{html}");
    }

    #[test]
    fn files_are_shown_downloaded_or_linked() {
        check("/api/files/1", "image/png", "<img");
        check("/api/files/1", "text/csv", "download");
        check("data:image/png;base64,AA==", "image/png", "<img");
        check("https://a.example/x.png", "image/png", "<img");
        check("https://a.example/x.svg", "image/svg+xml", "nofollow");
        check("https://b.example/x.png", "image/png", "nofollow");
        check("javascript:alert(1)", "image/png", "<span");
    }
}
