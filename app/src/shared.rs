//! The page behind a link to a copy of a conversation: to be read, by anyone who has the link. Plain HTML without the app.

use crate::markdown::markdown_node;
use crate::node::{Node, element};
use chat::SharedCopy;
use leptos::prelude::RenderHtml;
use serde_json::Value;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart};

/// What the page may load: our style sheet and the script that follows the chosen theme.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// The whole document for a copy; without one, for a link behind which there is nothing.
pub fn shared_page(copy: Option<&SharedCopy>) -> String {
    let (title, body) = match copy {
        Some(copy) => (copy.title.as_str(), conversation(copy)),
        None => ("Nothing is shared here", nothing()),
    };
    let link = |rel: &str, href: &str| element("link").with("rel", rel).with("href", href);
    let head = element("head").around(vec![
        element("meta").with("charset", "utf-8"),
        element("meta").with("name", "viewport").with("content", "width=device-width, initial-scale=1"),
        element("meta").with("name", "color-scheme").with("content", "light dark"),
        element("meta").with("name", "robots").with("content", "noindex"),
        element("title").text(title),
        element("script").with("src", "/assets/theme.js"),
        link("stylesheet", "/pkg/chatwright.css"),
        link("icon", "/assets/favicon.svg"),
    ]);
    let page = element("html").with("lang", "en").around(vec![head, element("body").around(vec![body])]);
    format!("<!DOCTYPE html>{}", page.to_html())
}

fn nothing() -> Node {
    let words = "The link is wrong, or its owner has taken it away.";
    element("main")
        .with("class", "cw-message-page")
        .around(vec![element("h1").text("Nothing is shared here"), element("p").text(words)])
}

fn conversation(copy: &SharedCopy) -> Node {
    let mut content = vec![
        element("h1").with("dir", "auto").text(copy.title.as_str()),
        element("p").with("class", "cw-shared-note").text(format!(
            "A copy of a conversation with an agent, as it was on {}. An agent can be wrong.",
            crate::agent_conversations::when::day(copy.created_at)
        )),
    ];
    content.extend(copy.messages.iter().map(message));
    element("main").with("class", "cw-shared").around(content)
}

fn message(message: &UiMessage) -> Node {
    let (class, who) = match message.role {
        Role::User => ("cw-message cw-message-user", "Person"),
        Role::Assistant | Role::System => ("cw-message cw-message-assistant", "Agent"),
    };
    let parts = message.parts.iter().filter_map(|part| shown(part, message.role)).collect();
    let body = element("div").with("class", "cw-message-body").around(parts);
    element("article").with("class", class).with("aria-label", who).around(vec![body])
}

fn shown(part: &UiPart, role: Role) -> Option<Node> {
    match part {
        UiPart::Text(text) if role == Role::User => {
            Some(element("p").with("class", "cw-plain").with("dir", "auto").text(text.text.as_str()))
        }
        UiPart::Text(text) => Some(markdown_node(&text.text, false)),
        UiPart::File(file) => Some(element("p").text(file.filename.as_deref().unwrap_or(&file.media_type))),
        UiPart::Tool(tool) => Some(call(tool)),
        _ => None,
    }
}

/// A line, with what was given and what came back where the copy has it.
fn call(tool: &ToolPart) -> Node {
    let outcome = match tool.state {
        ToolState::OutputAvailable => "done",
        ToolState::OutputError => "failed",
        ToolState::OutputDenied => "denied",
        _ => "not finished",
    };
    let line = format!("{}: {outcome}", tool.tool_name);
    let values = [("Given", &tool.input), ("Result", &tool.output)];
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
    element("div").around(vec![element("p").text(name), element("pre").around(vec![element("code").text(text)])])
}
