//! The page of a shared copy of a conversation.

use super::{SharedDocument, not_found, rendered};
use crate::agent_chat::message::attachment::is_web;
use crate::agent_chat::message::notice::outcome_label;
use crate::markdown::{CitationStyle, MarkdownOptions, citation_mark, markdown_node_with_options};
use crate::texts::{Text, Texts, fill, t};
use crate::ui::hidden_characters::{TextKind, escaped_json, text_with_code_points, visible_nodes};
use crate::ui::node::{Node, element};
use chat::SharedSnapshot;
use serde_json::Value;
use std::sync::Arc;
use wire::api::MessageMetadata;
use wire::citations::{CitedSource, cited_sources, text_with_marks};
use wire::{
    HANDED_OVER, ProviderOutput, Role, ToolPart, ToolState, UiMessage, UiPart, WORKFLOW_RESULT, handed_over_line,
};

/// Highlighted code and formulas as in a conversation, but no diagrams: those are drawn in frames,
/// which this page does not allow.
fn markdown_options(message: &UiMessage) -> MarkdownOptions {
    let id = message.id.clone();
    let note = move |number: usize| note_id(&id, number);
    MarkdownOptions { highlighting: true, diagrams: false, math: true, citations: CitationStyle::Noted(Arc::new(note)) }
}

/// Returns the id of the note for a source that a message cites.
fn note_id(message: &str, number: usize) -> String {
    format!("cw-note-{message}-{number}")
}

/// Renders the document of a shared copy, or a "not found" page if there is none. The texts are
/// those of `texts`, or else English.
pub fn shared_page(copy: Option<&SharedSnapshot>, texts: Option<Texts>) -> String {
    rendered(texts, || match copy {
        Some(copy) => SharedDocument {
            title: text_with_code_points(&copy.title, TextKind::Prose).into_owned(),
            body: conversation_node(copy),
            script: None,
        },
        None => not_found(),
    })
}

fn conversation_node(copy: &SharedSnapshot) -> Node {
    let mut content = vec![
        element("h1").attr("dir", "auto").children(visible_nodes(&copy.title, TextKind::Prose)),
        element("p")
            .attr("class", "cw-shared-note")
            .text(fill(Text::SharedNote, &[&crate::ui::dates::utc_date(copy.created_at)])),
    ];
    content.extend(copy.messages.iter().map(message_node));
    element("main").attr("class", "cw-shared").children(content)
}

fn message_node(message: &UiMessage) -> Node {
    let (class, who) = match message.role {
        Role::User => ("cw-message cw-message-user", t(Text::Person)),
        Role::Assistant | Role::System => ("cw-message cw-message-assistant", t(Text::Agent)),
    };
    let cited = cited_sources(message);
    let parts = message.parts.iter().filter_map(|part| part_node(part, message, &cited)).collect();
    let mut content = vec![element("div").attr("class", "cw-message-body").children(parts)];
    content.extend(notes_node(message, &cited));
    let mark = MessageMetadata::from_message(message).incomplete_outcome().and_then(outcome_label);
    content.extend(mark.map(|mark| element("p").attr("class", "cw-notice cw-notice-quiet").text(mark)));
    element("article").attr("class", class).attr("aria-label", who).children(content)
}

/// Renders the notes of the sources that a message cites, with the quoted words. They open no document.
fn notes_node(message: &UiMessage, cited: &[CitedSource]) -> Option<Node> {
    let note = |(cited, number): (&CitedSource, usize)| {
        let title = element("span").attr("dir", "auto").children(visible_nodes(&cited.title, TextKind::Prose));
        let title = match cited.url.as_deref().filter(|url| is_web(url)) {
            Some(url) => {
                element("a").attr("href", url).attr("rel", "noopener noreferrer nofollow").children(vec![title])
            }
            None => title,
        };
        let words = cited.quote.as_deref().map(|quote| {
            let words = visible_nodes(quote, TextKind::Prose);
            element("p").attr("class", "cw-source-words").attr("dir", "auto").children(words)
        });
        let content = std::iter::once(title).chain(words).collect();
        element("li").attr("id", note_id(&message.id, number)).attr("value", number.to_string()).children(content)
    };
    let notes: Vec<_> = cited.iter().zip(1..).filter(|(cited, _)| cited.is_marked).map(note).collect();
    (!notes.is_empty()).then(|| element("ol").attr("class", "cw-shared-sources").children(notes))
}

fn part_node(part: &UiPart, message: &UiMessage, cited: &[CitedSource]) -> Option<Node> {
    match part {
        UiPart::Text(text) if message.role == Role::User => Some(
            element("p")
                .attr("class", "cw-plain")
                .attr("dir", "auto")
                .children(visible_nodes(&text.text, TextKind::Prose)),
        ),
        UiPart::Text(text) => {
            let marked = text_with_marks(text, cited, citation_mark);
            Some(markdown_node_with_options(&marked, markdown_options(message)))
        }
        UiPart::File(file) => Some(
            element("p").children(visible_nodes(file.filename.as_deref().unwrap_or(&file.media_type), TextKind::Value)),
        ),
        UiPart::Tool(tool) => Some(tool_call_node(tool)),
        UiPart::Data(data) if data.kind == WORKFLOW_RESULT => Some(workflow_result_node(&data.data)),
        UiPart::Data(data) if data.kind == HANDED_OVER => handed_over_line(data)
            .map(|line| element("p").attr("class", "cw-shared-call").children(visible_nodes(line, TextKind::Prose))),
        UiPart::Data(data) => ProviderOutput::of(data).map(provider_output_node),
        _ => None,
    }
}

/// Renders a tool call as one line, with its input and output if the copy includes them.
fn tool_call_node(tool: &ToolPart) -> Node {
    let outcome = match tool.state {
        ToolState::OutputAvailable => t(Text::SharedDone),
        ToolState::OutputError => t(Text::SharedFailed),
        ToolState::OutputDenied if tool.is_passed_over() => t(Text::StateNotAnswered),
        ToolState::OutputDenied => t(Text::SharedDenied),
        _ => t(Text::SharedUnfinished),
    };
    let line = format!("{}: {outcome}", text_with_code_points(&tool.tool_name, TextKind::Value));
    let values = [(t(Text::SharedGiven), &tool.input), (t(Text::Result), &tool.output)];
    let values: Vec<_> =
        values.into_iter().filter_map(|(name, value)| Some(value_node(name, value.as_ref()?))).collect();
    if values.is_empty() {
        return element("p").attr("class", "cw-shared-call").text(line);
    }
    let mut content = vec![element("summary").text(line)];
    content.extend(values);
    element("details").attr("class", "cw-shared-call").children(content)
}

/// Renders the end of a workflow's run as one line, with its output if the copy includes it.
fn workflow_result_node(data: &Value) -> Node {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    let state = match text("state") {
        "done" => t(Text::SharedDone),
        "failed" => t(Text::SharedFailed),
        _ => t(Text::RunStopped),
    };
    let line = format!("{}: {state}", text_with_code_points(text("workflow"), TextKind::Value));
    match data.get("output").filter(|output| !output.is_null()) {
        None => element("p").attr("class", "cw-shared-call").text(line),
        Some(output) => element("details")
            .attr("class", "cw-shared-call")
            .children(vec![element("summary").text(line), value_node(t(Text::Result), output)]),
    }
}

/// Renders an item of a provider's reply that no other part shows. A copy without results has none.
fn provider_output_node(output: ProviderOutput<'_>) -> Node {
    let line = format!("{} ({})", output.name, output.provider);
    let line = text_with_code_points(&line, TextKind::Value).into_owned();
    element("details")
        .attr("class", "cw-shared-call")
        .children(vec![element("summary").text(line), value_node(t(Text::Result), output.content)])
}

fn value_node(name: &str, value: &Value) -> Node {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    element("div").children(vec![
        element("p").text(name),
        element("pre").children(vec![element("code").text(escaped_json(&text))]),
    ])
}
