//! Approval requests and questions, as messages with buttons.

use super::Turn;
use crate::markdown::{Rendered, Style, code_message};
use crate::messenger::{Button, Messenger};
use crate::store::{self, Card, NewCard};
use crate::visible::{visible, visible_question};
use ::jobs::JobError;
use serde_json::Value;
use web::times::now_millis;
use wire::api::ConversationView;
use wire::question::ASK_USER;
use wire::{ToolPart, UiMessage, arguments_hash};

/// The most options of a question that are buttons.
pub(super) const MAX_OPTIONS: usize = 8;
/// The longest label of a button, in characters.
const MAX_LABEL: usize = 60;
/// The data of the buttons of an approval request, after the id of the card.
pub(super) const APPROVE: &str = "y";
pub(super) const DENY: &str = "n";

/// Returns the hash of the arguments that a card shows.
pub(super) fn shown_hash(tool: &ToolPart) -> String {
    arguments_hash(tool.asked_arguments().unwrap_or(&Value::Null))
}

/// A message with buttons.
pub(super) struct CardMessage {
    pub(super) message: Rendered,
    pub(super) buttons: Vec<Vec<Button>>,
}

impl Turn<'_> {
    /// Sends a card for each call that waits for the user. One that was sent is not sent again; only a server that is
    /// killed between sending and storing leaves one twice, of which the first press counts.
    pub(super) async fn send_cards(&mut self, view: &ConversationView, message: &UiMessage) -> Result<(), JobError> {
        for tool in message.tools().filter(|tool| tool.waits_for_user(now_millis())) {
            let card = self.card(view, tool).await?;
            if card.message_id.is_some() {
                continue;
            }
            let CardMessage { message, buttons } = card_message(tool, &card.id, self.messenger());
            if let Some(id) = self.delivery.send_with_buttons(&message, &buttons, &card.id).await? {
                self.job.write(move |db| Box::pin(store::set_card_message(db, card.id, id))).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn card(&self, view: &ConversationView, tool: &ToolPart) -> Result<Card, JobError> {
        let new = NewCard {
            id: crate::ids::new_id(),
            channel_id: self.channel.id.0.clone(),
            chat_id: self.chat_id.clone(),
            owner: self.update.owner.clone(),
            conversation_id: view.summary.id.clone(),
            tool_call_id: tool.tool_call_id.clone(),
            approval_id: tool.approval.as_ref().map(|approval| approval.id.clone()).unwrap_or_default(),
            input_hash: shown_hash(tool),
        };
        Ok(self.job.write(move |db| Box::pin(store::add_card(db, new, now_millis()))).await?)
    }
}

/// Returns the card of a call.
pub(super) fn card_message(tool: &ToolPart, card_id: &str, messenger: Messenger) -> CardMessage {
    let is_question = tool.tool_name == ASK_USER && tool.approval.is_none();
    if is_question { question(tool, card_id, messenger) } else { approval(tool, card_id, messenger) }
}

/// Returns the card of an approval request: the tool and all arguments, as they will run. A request that does not fit
/// in one message is decided on the website.
fn approval(tool: &ToolPart, card_id: &str, messenger: Messenger) -> CardMessage {
    let arguments = tool.asked_arguments().unwrap_or(&Value::Null);
    let arguments = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let message = code_message(&approval_heading(tool), &visible(&arguments));
    if !messenger.limits().fits(&message) {
        let text = format!(
            "{}\n\nThe arguments are too long to show here. Please decide on the website.",
            approval_heading(tool)
        );
        return CardMessage { message: Rendered::plain(text), buttons: Vec::new() };
    }
    let button = |label: &str, choice: &str| Button { label: label.to_owned(), data: format!("{card_id}:{choice}") };
    CardMessage { message, buttons: vec![vec![button("✅ Approve", APPROVE), button("❌ Deny", DENY)]] }
}

pub(super) fn approval_heading(tool: &ToolPart) -> String {
    let mut heading = format!("🔐 The agent asks for your approval to run “{}”.", visible(&tool.asked_name()));
    let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
    if tool.cut_off().is_some() {
        heading.push_str("\n\n⚠️ It was interrupted while it ran, and may have had its effect already.");
    }
    if let Some(exposed) = terms.and_then(|terms| terms.exposed.as_ref()) {
        heading.push_str(&format!("\n\n⚠️ In this conversation, the agent has read {}.", exposed.described()));
    }
    heading
}

fn question(tool: &ToolPart, card_id: &str, messenger: Messenger) -> CardMessage {
    let question = visible_question(tool);
    let mut text = format!("❓ {}", question.text);
    if !question.context.is_empty() {
        text.push_str(&format!("\n\n{}", question.context));
    }
    if !question.fields.is_empty() {
        text.push_str("\n\nThis question has a form. Please answer it on the website.");
        return CardMessage { message: shortened(text, messenger), buttons: Vec::new() };
    }
    text.push_str("\n\n");
    text.push_str(messenger.answer_help(!question.options.is_empty()));
    let button = |(at, option): (usize, &String)| {
        let label: String = option.chars().take(MAX_LABEL).collect();
        vec![Button { label, data: format!("{card_id}:{at}") }]
    };
    let buttons = question.options.iter().enumerate().take(MAX_OPTIONS).map(button).collect();
    CardMessage { message: shortened(text, messenger), buttons }
}

/// Returns a message with as much of a text as fits. Questions are bounded by the tool's schema.
fn shortened(text: String, messenger: Messenger) -> Rendered {
    let (limits, style) = (messenger.limits(), Style::default());
    let mut room = limits.units;
    let fits = |sign: &char| {
        let length = limits.markup.length(*sign, &style);
        let fits = room >= length;
        room = room.saturating_sub(length);
        fits
    };
    Rendered::plain(text.chars().take_while(fits).collect::<String>())
}

/// Returns the card after the decision: what was shown, and what was decided, without buttons.
pub(super) fn decided(tool: &ToolPart, card_id: &str, decision: &str, messenger: Messenger) -> Rendered {
    let CardMessage { message, .. } = card_message(tool, card_id, messenger);
    let text = format!("{}\n\n{decision}", message.text);
    let with_decision = Rendered { text, entities: message.entities.clone() };
    if messenger.limits().fits(&with_decision) { with_decision } else { message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_approval_shows_what_will_run() {
        let check = |input: Value| {
            let tool = json!({
                "type": "tool-send", "toolCallId": "t", "state": "approval-requested", "input": input,
                "approval": { "id": "a", "terms": { "exposed": { "untrusted": "web_fetch" } } },
            });
            let part: wire::UiPart = serde_json::from_value(tool).unwrap();
            card_message(part.as_tool().unwrap(), &crate::ids::new_id(), Messenger::Slack)
        };
        let card = check(json!({ "to": "ada\u{202e}@a.test" }));
        insta::assert_snapshot!(card.message.text, @r#"
        🔐 The agent asks for your approval to run “send”.

        ⚠️ In this conversation, the agent has read text from outside, which may contain instructions.

        {
          "to": "ada[U+202E]@a.test"
        }
        "#);
        assert!(card.buttons.iter().flatten().all(|button| button.data.len() <= 64));
        assert_eq!(card.buttons.iter().flatten().count(), 2);
        let long = check(json!({ "text": "x".repeat(Messenger::Slack.limits().units) }));
        assert!(long.buttons.is_empty(), "what is not shown cannot be approved");
    }

    /// Only a sub-agent says which call waits; the output of another tool names none.
    #[test]
    fn heading_names_the_call_that_will_run() {
        let check = |output: Value, expected: &str| {
            let tool = json!({
                "type": "tool-send", "toolCallId": "t", "state": "approval-requested", "input": {}, "output": output,
                "approval": { "id": "a" },
            });
            let part: wire::UiPart = serde_json::from_value(tool).unwrap();
            let heading = approval_heading(part.as_tool().unwrap());
            assert_eq!(heading, format!("🔐 The agent asks for your approval to run “{expected}”."));
        };
        let waiting = json!({ "toolName": "find", "input": {} });
        check(json!({ "_subAgent": true, "waiting": waiting }), "find (for send)");
        check(json!({ "waiting": waiting }), "send");
    }
}
