//! Files that the agent shows as results: buttons that open them beside the chat, and links that save them.

use crate::agent_chat::artifacts::{ArtifactState, OpenArtifact};
use crate::prelude::*;
use crate::texts::{Text, fill};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use crate::ui::numbers::byte_size;
use leptos::ev::MouseEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;
use serde_json::Value;
use wire::file::{PresentedFile, is_shown_inline};

/// The prefix of the addresses of such files. A part with another one is not from the server.
const ADDRESSES: &str = "/api/conversations/";

/// The list. `data` is that of the part: `{files}`.
pub(in crate::agent_chat) fn files(data: &Value) -> AnyView {
    let files: Vec<PresentedFile> = serde_json::from_value(data["files"].clone()).unwrap_or_default();
    let items = files.into_iter().filter(|file| file.url.starts_with(ADDRESSES)).filter_map(file_item).collect_view();
    view! { <ul class="cw-presented">{items}</ul> }.into_any()
}

fn file_item(file: PresentedFile) -> Option<AnyView> {
    let (artifacts, opened) = (expect_context::<ArtifactState>(), OpenArtifact::from_file(&file)?);
    let PresentedFile { path, url, media_type, size, .. } = file;
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let shown = text_with_code_points(&name, TextKind::Value).into_owned();
    let open = move |event: MouseEvent| {
        let button = event.current_target().and_then(|button| button.dyn_into::<Element>().ok());
        if let Some(button) = button {
            artifacts.open(&button, opened.clone());
        }
    };
    // A browser runs nothing in an SVG that is an image.
    let picture = (is_shown_inline(&media_type) || media_type == "image/svg+xml").then(|| {
        let open = open.clone();
        view! {
            <button
                type="button"
                class="cw-attached-picture"
                aria-haspopup="dialog"
                aria-expanded="false"
                aria-label=fill(Text::ArtifactOpen, &[&shown])
                on:click=open
            >
                <img class="cw-picture" src=url.clone() alt=shown.clone() loading="lazy" />
            </button>
        }
    });
    let download = fill(Text::ArtifactDownload, &[&shown]);
    let item = view! {
        <li>
            {picture}
            <div class="cw-presented-file">
                <button type="button" class="cw-source" aria-haspopup="dialog" aria-expanded="false" on:click=open>
                    <Icon of=Shape::FILE />
                    {shown}
                    <span class="cw-presented-size">{byte_size(size)}</span>
                </button>
                <a
                    class="cw-icon-button"
                    href=format!("{url}?download=true")
                    download=name
                    aria-label=download.clone()
                    title=download
                >
                    <Icon of=Shape::DOWNLOAD />
                </a>
            </div>
        </li>
    };
    Some(item.into_any())
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::libraries::CitationState;
    use serde_json::json;

    fn shown(data: &Value) -> String {
        Owner::new().with(|| {
            provide_context(ArtifactState::new(CitationState::new("chat".to_owned())));
            files(data).to_html()
        })
    }

    #[test]
    fn files_are_pictures_and_downloads_of_the_server() {
        let check = |url: &str, media_type: &str, expected: (bool, bool)| {
            let file =
                json!({ "path": "/outputs/a.b", "version": 1, "url": url, "mediaType": media_type, "size": 2048 });
            let html = shown(&json!({ "files": [file] }));
            assert_eq!((html.contains("<img"), html.contains("?download=true")), expected, "{html}");
        };
        check("/api/conversations/c/files/1", "image/svg+xml", (true, true));
        check("/api/conversations/c/files/1", "image/png", (true, true));
        check("/api/conversations/c/files/1", "text/html", (false, true));
        check("/api/conversations/c/files/2", "text/plain", (false, false));
        check("https://a.example/x.png", "image/png", (false, false));
        check("javascript:alert(1)", "text/plain", (false, false));
        let html = shown(&Value::Null);
        assert!(!html.contains("<li"), "{html}");
    }
}
