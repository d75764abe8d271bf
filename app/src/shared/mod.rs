//! The pages of shared copies of conversations and files, which anyone with the link can read. Plain HTML without the app.

mod conversation;
mod file;

pub use conversation::shared_page;
pub use file::{SharedFileContent, file_has_text, shared_file_page};

use crate::texts::{Text, Texts, t};
use crate::ui::node::{Node, element};
use leptos::prelude::{Owner, RenderHtml, provide_context};

/// The content security policy of the page of a conversation: it may load our style sheet and our scripts for the
/// theme and for code blocks.
pub const CONVERSATION_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The content security policy of the page of a file: besides, it may load the file and the frame for pages of agents.
pub const FILE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The script that highlights code.
const CODE_SCRIPT: &str = "/assets/lazy/code.js";

/// The parts in which the documents differ.
struct SharedDocument {
    title: String,
    body: Node,
    /// A script that the document needs, beside those for the theme and for code.
    script: Option<&'static str>,
}

/// Renders a document. The texts are those of `texts`, or else English.
fn rendered(texts: Option<Texts>, document: impl FnOnce() -> SharedDocument) -> String {
    Owner::new().with(|| {
        let (lang, dir) = texts.as_ref().map_or((None, None), |texts| (texts.language(), texts.direction()));
        if let Some(texts) = texts {
            provide_context(texts);
        }
        document_html(document(), lang.unwrap_or("en"), dir.unwrap_or("ltr"))
    })
}

/// The document for a link that leads nowhere.
fn not_found() -> SharedDocument {
    let words = t(Text::SharedNothingWhy);
    let body = element("main")
        .attr("class", "cw-message-page")
        .children(vec![element("h1").text(t(Text::SharedNothing)), element("p").text(words)]);
    SharedDocument { title: t(Text::SharedNothing).to_owned(), body, script: None }
}

fn document_html(SharedDocument { title, body, script }: SharedDocument, lang: &str, dir: &str) -> String {
    // The script that highlights code is included only if there is a code block.
    let body = element("body").children(vec![body]).to_html();
    let has_code = body.contains("class=\"cw-md-code\"");
    let scripts = [has_code.then_some(CODE_SCRIPT), script].into_iter().flatten();
    let link = |rel: &str, href: &str| element("link").attr("rel", rel).attr("href", href);
    let mut head = vec![
        element("meta").attr("charset", "utf-8"),
        element("meta").attr("name", "viewport").attr("content", "width=device-width, initial-scale=1"),
        element("meta").attr("name", "color-scheme").attr("content", "light dark"),
        element("meta").attr("name", "robots").attr("content", "noindex"),
        element("title").text(title),
        element("script").attr("src", "/assets/theme.js"),
        link("stylesheet", "/pkg/chatwright.css"),
        link("stylesheet", "/pkg/documents.css"),
        link("icon", "/assets/favicon.svg"),
    ];
    head.extend(scripts.map(|src| element("script").attr("type", "module").attr("src", src)));
    let head = element("head").children(head);
    let page = element("html").attr("lang", lang).attr("dir", dir).children(vec![head]).to_html();
    let begun = page.strip_suffix("</html>").unwrap_or(&page);
    format!("<!DOCTYPE html>{begun}{body}</html>")
}
