//! Files that the agent shows as results: pictures, and links that save the others.

use crate::prelude::*;
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use crate::ui::numbers::byte_size;
use serde_json::Value;
use wire::file::is_shown_inline;
use wire::presented::PresentedFile;

/// What the addresses of such files begin with. A part with another one is not from the server.
const ADDRESSES: &str = "/api/conversations/";

/// The list. `data` is that of the part: `{files}`.
pub(in crate::agent_chat) fn files(data: &Value) -> AnyView {
    let files: Vec<PresentedFile> = serde_json::from_value(data["files"].clone()).unwrap_or_default();
    let items = files.into_iter().filter(|file| file.url.starts_with(ADDRESSES)).map(file_item).collect_view();
    view! { <ul class="cw-presented">{items}</ul> }.into_any()
}

fn file_item(file: PresentedFile) -> AnyView {
    let PresentedFile { path, url, media_type, size, .. } = file;
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let shown = text_with_code_points(&name, TextKind::Value).into_owned();
    // A browser runs nothing in an SVG that is an image.
    let picture = (is_shown_inline(&media_type) || media_type == "image/svg+xml").then(|| {
        view! {
            <a class="cw-attached-picture" href=url.clone() target="_blank" rel="noopener">
                <img class="cw-picture" src=url.clone() alt=shown.clone() loading="lazy" />
            </a>
        }
    });
    view! {
        <li>
            {picture}
            <a class="cw-source" href=format!("{url}?download=true") download=name>
                <Icon of=Shape::File />
                {shown}
                <span class="cw-presented-size">{byte_size(size)}</span>
            </a>
        </li>
    }
    .into_any()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_are_pictures_and_downloads_of_the_server() {
        let check = |url: &str, media_type: &str, expected: (bool, bool)| {
            let file =
                json!({ "path": "/outputs/a.b", "version": 1, "url": url, "mediaType": media_type, "size": 2048 });
            let html = Owner::new().with(|| files(&json!({ "files": [file] })).to_html());
            assert_eq!((html.contains("<img"), html.contains("?download=true")), expected, "{html}");
        };
        check("/api/conversations/c/files/1", "image/svg+xml", (true, true));
        check("/api/conversations/c/files/1", "image/png", (true, true));
        check("/api/conversations/c/files/1", "text/html", (false, true));
        check("https://a.example/x.png", "image/png", (false, false));
        check("javascript:alert(1)", "text/plain", (false, false));
        let html = Owner::new().with(|| files(&Value::Null).to_html());
        assert!(!html.contains("<li"), "{html}");
    }
}
