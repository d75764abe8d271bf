//! The page behind a link to a copy of a conversation: to be read, by anyone who has the link. Plain HTML without the app.

use crate::agent_chat::notice::mark;
use crate::markdown::{Extras, Marks, markdown_with};
use crate::node::{Node, element};
use crate::texts::{Text, Texts, fill, t};
use crate::visible::{Kind, escaped_json, nodes, plain};
use chat::SharedCopy;
use leptos::prelude::{Owner, RenderHtml, provide_context};
use serde_json::Value;
use wire::api::MessageMetadata;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart};

/// What the page may load: our style sheet and the script that follows the chosen theme.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// As in a conversation with everything switched on, but for diagrams: they are drawn in frames, which this page does without.
const EXTRAS: Extras = Extras { colours: true, diagrams: false, math: true, sources: Marks::Hidden };

/// The whole document for a copy; without one, for a link behind which there is nothing. In the words of `texts`, or in English.
pub fn shared_page(copy: Option<&SharedCopy>, texts: Option<Texts>) -> String {
    Owner::new().with(|| {
        let (lang, dir) = texts.as_ref().map_or((None, None), |texts| (texts.language(), texts.direction()));
        if let Some(texts) = texts {
            provide_context(texts);
        }
        document(copy, lang.unwrap_or("en"), dir.unwrap_or("ltr"))
    })
}

fn document(copy: Option<&SharedCopy>, lang: &str, dir: &str) -> String {
    let (title, body) = match copy {
        Some(copy) => (plain(&copy.title, Kind::Prose), conversation(copy)),
        None => (t(Text::SharedNothing).into(), nothing()),
    };
    // What colours code, where there is some.
    let body = element("body").around(vec![body]).to_html();
    let has_code = body.contains("class=\"cw-md-code\"");
    let colours = has_code.then(|| element("script").with("type", "module").with("src", "/assets/lazy/code.js"));
    let link = |rel: &str, href: &str| element("link").with("rel", rel).with("href", href);
    let mut head = vec![
        element("meta").with("charset", "utf-8"),
        element("meta").with("name", "viewport").with("content", "width=device-width, initial-scale=1"),
        element("meta").with("name", "color-scheme").with("content", "light dark"),
        element("meta").with("name", "robots").with("content", "noindex"),
        element("title").text(title.into_owned()),
        element("script").with("src", "/assets/theme.js"),
        link("stylesheet", "/pkg/chatwright.css"),
        link("icon", "/assets/favicon.svg"),
    ];
    head.extend(colours);
    let head = element("head").around(head);
    let page = element("html").with("lang", lang).with("dir", dir).around(vec![head]).to_html();
    let begun = page.strip_suffix("</html>").unwrap_or(&page);
    format!("<!DOCTYPE html>{begun}{body}</html>")
}

fn nothing() -> Node {
    let words = t(Text::SharedNothingWhy);
    element("main")
        .with("class", "cw-message-page")
        .around(vec![element("h1").text(t(Text::SharedNothing)), element("p").text(words)])
}

fn conversation(copy: &SharedCopy) -> Node {
    let mut content = vec![
        element("h1").with("dir", "auto").around(nodes(&copy.title, Kind::Prose)),
        element("p")
            .with("class", "cw-shared-note")
            .text(fill(Text::SharedNote, &[&crate::agent_conversations::when::day(copy.created_at)])),
    ];
    content.extend(copy.messages.iter().map(message));
    element("main").with("class", "cw-shared").around(content)
}

fn message(message: &UiMessage) -> Node {
    let (class, who) = match message.role {
        Role::User => ("cw-message cw-message-user", t(Text::Person)),
        Role::Assistant | Role::System => ("cw-message cw-message-assistant", t(Text::Agent)),
    };
    let parts = message.parts.iter().filter_map(|part| shown(part, message.role)).collect();
    let mut content = vec![element("div").with("class", "cw-message-body").around(parts)];
    let mark = MessageMetadata::of(message).broken_off().and_then(mark);
    content.extend(mark.map(|mark| element("p").with("class", "cw-notice cw-notice-quiet").text(mark)));
    element("article").with("class", class).with("aria-label", who).around(content)
}

fn shown(part: &UiPart, role: Role) -> Option<Node> {
    match part {
        UiPart::Text(text) if role == Role::User => {
            Some(element("p").with("class", "cw-plain").with("dir", "auto").around(nodes(&text.text, Kind::Prose)))
        }
        UiPart::Text(text) => Some(markdown_with(&text.text, EXTRAS)),
        UiPart::File(file) => {
            Some(element("p").around(nodes(file.filename.as_deref().unwrap_or(&file.media_type), Kind::Value)))
        }
        UiPart::Tool(tool) => Some(call(tool)),
        _ => None,
    }
}

/// A line, with what was given and what came back where the copy has it.
fn call(tool: &ToolPart) -> Node {
    let outcome = match tool.state {
        ToolState::OutputAvailable => t(Text::SharedDone),
        ToolState::OutputError => t(Text::SharedFailed),
        ToolState::OutputDenied if tool.is_passed_over() => t(Text::StateNotAnswered),
        ToolState::OutputDenied => t(Text::SharedDenied),
        _ => t(Text::SharedUnfinished),
    };
    let line = format!("{}: {outcome}", plain(&tool.tool_name, Kind::Value));
    let values = [(t(Text::SharedGiven), &tool.input), (t(Text::Result), &tool.output)];
    let values: Vec<_> =
        values.into_iter().filter_map(|(name, value)| Some(value_node(name, value.as_ref()?))).collect();
    if values.is_empty() {
        return element("p").with("class", "cw-shared-call").text(line);
    }
    let mut content = vec![element("summary").text(line)];
    content.extend(values);
    element("details").with("class", "cw-shared-call").around(content)
}

fn value_node(name: &str, value: &Value) -> Node {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    element("div")
        .around(vec![element("p").text(name), element("pre").around(vec![element("code").text(escaped_json(&text))])])
}
