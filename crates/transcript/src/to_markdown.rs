//! Renders a conversation as Markdown, with the parts that readers see.

use serde_json::Value;
use std::fmt::Write;
use wire::api::{MessageMetadata, Outcome};
use wire::citations::{CitedSource, cited_sources, footnotes, text_with_marks};
use wire::hidden_characters::{TextKind, escaped_json, text_with_code_points};
use wire::{
    DataPart, EndReason, HANDED_OVER, ProviderOutput, Role, ToolPart, ToolState, UiMessage, UiPart, WORKFLOW_RESULT,
};

/// Formats messages: a heading for each author, texts unchanged (they are Markdown) but for the footnotes of
/// what they cite, everything else in one line.
pub fn to_markdown(title: &str, messages: &[UiMessage]) -> String {
    let title = text_with_code_points(title, TextKind::Prose);
    let mut file = format!("# {title}\n");
    // Footnotes are numbered through the whole file.
    let mut noted = 0;
    for message in messages {
        let cited = cited_sources(message);
        let who = if message.role == Role::User { "You" } else { "Agent" };
        // Writing to a string cannot fail.
        let _ = write!(file, "\n## {who}\n");
        message.parts.iter().filter_map(|part| paragraph(part, &cited, noted)).for_each(|paragraph| {
            let _ = write!(file, "\n{}\n", paragraph.trim_end());
        });
        if let Some(mark) = incomplete_note(&MessageMetadata::from_message(message)) {
            let _ = write!(file, "\n*{mark}*\n");
        }
        let notes = footnotes(&cited, noted);
        let notes = text_with_code_points(&notes, TextKind::Prose);
        if !notes.is_empty() {
            let _ = write!(file, "\n{notes}");
        }
        noted += cited.len();
    }
    file
}

fn paragraph(part: &UiPart, cited: &[CitedSource], noted: usize) -> Option<String> {
    match part {
        UiPart::Text(text) => {
            Some(text_with_marks(text, cited, |number| format!("[^{}]", number + noted)).into_owned())
                .filter(|text| !text.trim().is_empty())
        }
        // Shown as a footnote.
        UiPart::SourceUrl(source)
            if cited.iter().any(|one| one.is_marked && one.url.as_deref() == Some(source.url.as_str())) =>
        {
            None
        }
        UiPart::File(file) => {
            let name = file.filename.as_deref().unwrap_or(&file.media_type);
            Some(format!("[{}]", text_with_code_points(name, TextKind::Value)))
        }
        UiPart::SourceUrl(source) => {
            let title = text_with_code_points(source.title.as_deref().unwrap_or("Source"), TextKind::Prose);
            Some(format!("- {title} <{}>", text_with_code_points(&source.url, TextKind::Value)))
        }
        UiPart::Tool(tool) => {
            Some(format!("*{}: {}*", text_with_code_points(&tool.tool_name, TextKind::Value), outcome(tool)))
        }
        UiPart::Data(data) if data.kind == WORKFLOW_RESULT => Some(workflow_result(&data.data)),
        UiPart::Data(data) if data.kind == HANDED_OVER => handed_over(data),
        UiPart::Data(data) => ProviderOutput::of(data).map(provider_output),
        _ => None,
    }
}

/// Returns an item of a provider's reply that no other part shows, as JSON in which hidden
/// characters are escaped.
fn provider_output(output: ProviderOutput<'_>) -> String {
    let json = escaped_json(&format!("{:#}", output.content));
    // An imported file can name any provider.
    let [name, provider] = [output.name, output.provider].map(|text| text_with_code_points(text, TextKind::Value));
    format!("*{name} ({provider})*\n\n```json\n{json}\n```")
}

/// Returns the line about a change of the agent.
fn handed_over(part: &DataPart) -> Option<String> {
    wire::handed_over_line(part).map(|line| format!("*{}*", text_with_code_points(line, TextKind::Prose)))
}

/// Returns the end of a workflow's run, with its output.
fn workflow_result(data: &Value) -> String {
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let mut paragraph = format!("*{}: {}*", text("workflow").unwrap_or_default(), text("state").unwrap_or_default());
    if let Some(cause) = text("cause") {
        let _ = write!(paragraph, "\n\n{cause}");
    }
    match data.get("output") {
        None | Some(Value::Null) => {}
        Some(Value::String(output)) => drop(write!(paragraph, "\n\n{output}")),
        Some(output) => drop(write!(paragraph, "\n\n```json\n{output:#}\n```")),
    }
    paragraph
}

/// Returns a note for an incomplete answer, with its cause.
fn incomplete_note(metadata: &MessageMetadata) -> Option<String> {
    let note = match metadata.incomplete_outcome()? {
        Outcome::Stopped => "This answer was stopped before its end.",
        Outcome::Limit => "This answer ended at a limit, before its end.",
        Outcome::Failed => "This answer failed.",
        Outcome::Interrupted => "This answer was interrupted before its end.",
        Outcome::Done | Outcome::Waiting => return None,
    };
    let error = || metadata.error.as_ref().map(|error| error.message.as_str());
    let cause = metadata.reason.and_then(EndReason::explanation).or_else(error);
    Some(cause.map_or_else(|| note.to_owned(), |cause| format!("{note} {cause}")))
}

fn outcome(tool: &ToolPart) -> &'static str {
    match tool.state {
        ToolState::OutputDenied if tool.is_passed_over() => "not answered",
        ToolState::OutputAvailable => "done",
        ToolState::OutputError => "failed",
        ToolState::OutputDenied => "denied",
        _ => "not finished",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use serde_json::json;

    #[test]
    fn conversation_is_exported_as_markdown() {
        let parts = json!([
            { "type": "step-start" },
            { "type": "reasoning", "text": "secret thoughts" },
            { "type": "tool-look", "toolCallId": "a", "state": "output-available", "input": {}, "output": "x" },
            { "type": "tool-pay", "toolCallId": "b", "state": "output-denied", "input": {} },
            { "type": "text", "text": "## Mine\n\n- one\n" },
            { "type": "source-url", "sourceId": "s", "url": "https://a.example/", "title": "A\u{1b}[1m" },
            { "type": "file", "mediaType": "image/png", "filename": "in\u{202e}gnp.exe", "url": "data:image/png;base64,AAAA" },
            { "type": "data-provider-output",
              "data": { "provider": "openai", "name": "later", "content": { "a": "b\u{202e}c" } } },
        ]);
        let answer = serde_json::from_value(json!({ "id": "m2", "role": "assistant", "parts": parts })).unwrap();
        assert_snapshot!(to_markdown("Refunds \u{202e}001", &[UiMessage::user("m1", "How?"), answer]), @r#"
        # Refunds [U+202E]001

        ## You

        How?

        ## Agent

        *look: done*

        *pay: denied*

        ## Mine

        - one

        - A[U+001B][1m <https://a.example/>

        [in[U+202E]gnp.exe]

        *later (openai)*

        ```json
        {
          "a": "b\u202ec"
        }
        ```
        "#);
    }

    #[test]
    fn citations_become_footnotes_in_markdown() {
        let answer = |id: &str, file: &str| {
            let citation = json!({ "source": { "title": file }, "endIndex": 8, "citedText": "from 22:00" });
            let text = json!({ "type": "text", "text": "At night.", "citations": [citation] });
            serde_json::from_value(json!({ "id": id, "role": "assistant", "parts": [text] })).unwrap()
        };
        assert_snapshot!(to_markdown("Pumps", &[answer("1", "pumps.md, section 2"), answer("2", "night.md, page 1")]), @r"
        # Pumps

        ## Agent

        At night[^1].

        [^1]: pumps.md, section 2: “from 22:00”

        ## Agent

        At night[^2].

        [^2]: night.md, page 1: “from 22:00”
        ");
    }

    #[test]
    fn incomplete_answers_are_marked_in_markdown() {
        let answer = |id: &str, outcome: &str, part: Value| {
            let metadata = json!({ "outcome": outcome, "limit": "stopOnToolCall", "model": "m" });
            serde_json::from_value(json!({ "id": id, "role": "assistant", "metadata": metadata, "parts": [part] }))
                .unwrap()
        };
        let text = |text: &str| json!({ "type": "text", "text": text });
        let passed = json!({ "type": "tool-pay", "toolCallId": "b", "state": "output-denied", "input": {},
            "approval": { "id": "q", "approved": false, "passedOver": true } });
        let messages: [UiMessage; 5] = [
            answer("1", "stopped", text("One,")),
            answer("2", "failed", text("Two")),
            answer("3", "interrupted", passed),
            answer("4", "limit", text("as the config wants")),
            answer("5", "done", text("Three.")),
        ];
        let ended = |metadata: Value| {
            let message = json!({ "id": "6", "role": "assistant", "metadata": metadata, "parts": [] });
            let message = serde_json::from_value(message).unwrap();
            to_markdown("", &[message]).lines().last().unwrap_or_default().to_owned()
        };
        let check = |metadata: Value, expected: &str| assert_eq!(ended(metadata), expected);
        check(
            json!({ "outcome": "limit", "reason": "totalTokens", "limit": "totalTokens" }),
            "*This answer ended at a limit, before its end. The agent reached its token limit for one answer.*",
        );
        check(
            json!({ "outcome": "stopped", "reason": "stoppedByAdmin" }),
            "*This answer was stopped before its end. An administrator stopped the answer.*",
        );
        check(
            json!({ "outcome": "failed", "error": { "code": "unavailable", "message": "The provider is away." } }),
            "*This answer failed. The provider is away.*",
        );
        assert_snapshot!(to_markdown("Counting", &messages), @r"
        # Counting

        ## Agent

        One,

        *This answer was stopped before its end.*

        ## Agent

        Two

        *This answer failed.*

        ## Agent

        *pay: not answered*

        *This answer was interrupted before its end.*

        ## Agent

        as the config wants

        ## Agent

        Three.
        ");
    }
}
