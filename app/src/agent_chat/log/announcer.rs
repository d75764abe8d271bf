//! Announces an answer to screen readers: whole sentences at intervals instead of every token.

use crate::agent_chat::cards::labels::{call_label, sub_agent_request};
use crate::agent_chat::cards::question_card::is_question;
use crate::texts::{Text, fill};
use serde_json::Value;
use wire::question::Question;
use wire::{ToolPart, ToolState, UiMessage, UiPart};

/// The shortest time between two announcements, in milliseconds.
const PAUSE: f64 = 1_800.0;

/// Tracks how much of a message has been announced.
#[derive(Default)]
pub(in crate::agent_chat) struct Announcer {
    part: usize,
    said: usize,
    last: f64,
    /// The length of the text that was already shown when following began, and is not announced.
    skip: usize,
    asked: Vec<String>,
}

impl Announcer {
    /// Excludes the text that is already shown.
    pub(in crate::agent_chat) fn skip(&mut self, text: &str) {
        self.skip = text.len();
    }

    /// Returns the text to announce now, if there is one; `now` is in milliseconds. At the end of the message it
    /// returns all that is left.
    pub(in crate::agent_chat) fn next(&mut self, message: &UiMessage, now: f64, complete: bool) -> Option<String> {
        if let Some(question) = self.question(message) {
            return Some(question);
        }
        if !complete && now - self.last < PAUSE {
            return None;
        }
        let mut news = String::new();
        for (number, part) in message.parts.iter().enumerate().skip(self.part) {
            let UiPart::Text(text) = part else { continue };
            if number > self.part {
                (self.part, self.said) = (number, 0);
            }
            let from = text.text.floor_char_boundary((self.said + std::mem::take(&mut self.skip)).min(text.text.len()));
            let is_last = number + 1 == message.parts.len();
            let to = if complete || !is_last { text.text.len() } else { from + sentences(&text.text[from..]) };
            push_plain(&mut news, &text.text[from..to]);
            self.said = to;
        }
        if news.is_empty() {
            return None;
        }
        self.last = now;
        Some(news)
    }

    /// Announces a call that waits for the user, once per call.
    fn question(&mut self, message: &UiMessage) -> Option<String> {
        let waits = |tool: &&ToolPart| tool.state == ToolState::ApprovalRequested || is_question(tool);
        let tool = message.tools().filter(waits).find(|tool| !self.asked.contains(&tool.tool_call_id))?;
        self.asked.push(tool.tool_call_id.clone());
        Some(if is_question(tool) {
            fill(Text::AgentAsks, &[&Question::read(tool.input.as_ref().unwrap_or(&Value::Null)).text])
        } else {
            fill(Text::ApprovalNeeded, &[&sub_agent_request(tool).unwrap_or_else(|| call_label(tool))])
        })
    }
}

/// The length of the complete sentences and lines at the start of a text, in bytes.
fn sentences(text: &str) -> usize {
    let mut end = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends_sentence = matches!(letter, '.' | '!' | '?' | ':' | '…') && next.is_some_and(char::is_whitespace);
        if letter == '\n' || matches!(letter, '。' | '！' | '？') || ends_sentence {
            end = at + letter.len_utf8();
        }
    }
    end
}

/// Appends text without Markdown markup, which a screen reader would read out.
fn push_plain(out: &mut String, text: &str) {
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.chars().all(|sign| matches!(sign, '|' | '-' | ':' | ' ')) {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let line = line.trim_start_matches(['#', '>', '-', '*', '+', ' ']).trim_matches('|');
        out.extend(
            line.chars()
                .filter(|sign| !matches!(sign, '*' | '`' | '~'))
                .map(|sign| if sign == '|' { ',' } else { sign }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Role, TextPart};

    fn message(texts: &[&str]) -> UiMessage {
        let part = |text: &&str| UiPart::Text(TextPart { text: (*text).to_owned(), ..TextPart::default() });
        UiMessage { parts: texts.iter().map(part).collect(), ..UiMessage::new("m", Role::Assistant) }
    }

    #[test]
    fn whole_sentences_are_announced_and_the_rest_at_the_end() {
        let mut announcer = Announcer::default();
        let mut check = |texts: &[&str], now: f64, complete: bool, expected: Option<&str>| {
            assert_eq!(announcer.next(&message(texts), now, complete).as_deref(), expected, "{texts:?}");
        };
        check(&["Hello wor"], 2_000.0, false, None);
        check(&["Hello world. It is 3.5 **de"], 2_100.0, false, Some("Hello world."));
        check(&["Hello world. It is 3.5 **degrees**. And"], 2_200.0, false, None);
        check(&["Hello world. It is 3.5 **degrees**. And"], 4_000.0, false, Some("It is 3.5 degrees."));
        check(&["Hello world. It is 3.5 **degrees**. And so", "Next"], 4_100.0, true, Some("And so Next"));
        check(&["Hello world. It is 3.5 **degrees**. And so", "Next"], 9_000.0, true, None);
    }

    #[test]
    fn text_already_shown_is_not_announced() {
        let mut announcer = Announcer::default();
        announcer.skip("Old text. ");
        assert_eq!(announcer.next(&message(&["Old text. New. "]), 5_000.0, false).as_deref(), Some("New."));
    }

    #[test]
    fn an_approval_request_is_announced_once_and_immediately() {
        let mut asking = message(&[]);
        let tool = ToolPart { state: ToolState::ApprovalRequested, ..ToolPart::new("c", "delete_article") };
        asking.parts.push(UiPart::Tool(Box::new(tool)));
        let mut announcer = Announcer::default();
        assert_eq!(announcer.next(&asking, 0.0, false).as_deref(), Some("Your approval is needed: Delete article."));
        assert_eq!(announcer.next(&asking, 9_000.0, true), None);
    }

    #[test]
    fn a_question_of_the_agent_is_announced_once() {
        let mut asking = message(&[]);
        let input = Some(serde_json::json!({ "kind": "missing_info", "question": "Which year?" }));
        let tool = ToolPart { state: ToolState::InputAvailable, input, ..ToolPart::new("c", "ask-user") };
        asking.parts.push(UiPart::Tool(Box::new(tool)));
        let mut announcer = Announcer::default();
        assert_eq!(announcer.next(&asking, 0.0, false).as_deref(), Some("The agent asks: Which year?"));
        assert_eq!(announcer.next(&asking, 9_000.0, true), None);
    }

    #[test]
    fn markdown_markup_is_not_announced() {
        let mut out = String::new();
        push_plain(&mut out, "## Title\n- **a** `b`\n| x | y |\n|---|---|\n```rust\n");
        assert_eq!(out, "Title a b  x , y ");
    }
}
