//! Turns in a mailbox: one mail answers, with everything that the agent shows and asks. Decisions are numbers, with which
//! the user replies.

use super::answer::{ending, message_text};
use super::card::{approval_heading, card_message};
use super::commands::plain_paragraphs;
use super::decision::Choice;
use super::shown::{MAX_ATTACHED, ShownFile, shown_files};
use super::{Turn, TurnEnd};
use crate::messenger::{MailHead, Messenger, OutgoingFile};
use crate::person::Person;
use crate::store::{self, Card};
use crate::visible::{visible, visible_question};
use ::jobs::JobError;
use serde_json::Value;
use std::fmt::Write;
use web::times::now_millis;
use wire::api::ConversationView;
use wire::question::ASK_USER;
use wire::{ToolPart, UiMessage};

/// The most decisions for which a mail asks: each has a letter.
const LETTERS: [char; 12] = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L'];
/// The most bytes of files that are attached to a mail.
const MAX_ATTACHED_BYTES: usize = 10 << 20;
/// The answer to a letter or a number for decisions none of which waits any more.
const ALL_DECIDED: &str = "This was decided already.";

/// A mail that is a choice instead of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    /// The letter of the decision; `None` if the mail has none.
    letter: Option<char>,
    /// The number of the answer, from 1 on.
    number: usize,
}

impl Turn<'_> {
    /// Returns the mail that is handled, if it is one.
    pub(super) fn mail_head(&self) -> Option<MailHead> {
        self.update.incoming.mail().cloned()
    }

    /// Answers with a mail.
    pub(super) async fn send_mail(
        &mut self,
        head: &MailHead,
        text: String,
        files: Vec<OutgoingFile>,
    ) -> Result<TurnEnd, JobError> {
        self.delivery.send_mail(head, text, files).await?;
        Ok(TurnEnd::Done)
    }

    /// Answers with a mail that has the answer as it is stored, its files, and what it waits for.
    pub(super) async fn complete_by_mail(
        &mut self,
        person: &Person,
        head: &MailHead,
        view: &ConversationView,
        (message, skip, waits): (&UiMessage, usize, bool),
    ) -> Result<TurnEnd, JobError> {
        let shown = shown_files(message, skip);
        // The files are in memory until the mail is sent.
        let _permit = if shown.is_empty() { None } else { Some(self.files.acquire().await.map_err(JobError::retry)?) };
        let (mut files, mut size) = (Vec::new(), 0);
        let mut attached = Vec::with_capacity(shown.len());
        for (index, file) in shown.iter().enumerate() {
            let room = MAX_ATTACHED_BYTES - size;
            let file = if index < MAX_ATTACHED { self.mail_file(person, file).await? } else { None };
            let file = file.filter(|file| file.content.len() <= room);
            size += file.as_ref().map_or(0, |file| file.content.len());
            attached.push(file.is_some());
            files.extend(file);
        }
        let (mut attached, config) = (attached.into_iter(), self.config.clone());
        let mut line = |file: &ShownFile| match attached.next() {
            Some(true) => file.attached(),
            _ => file.linked(&config),
        };
        let mut text = message_text(message, skip, &mut line) + &ending(message);
        if waits {
            let questions = self.questions(view, message).await?;
            // Without a text before it, the first question needs no line above it.
            let is_first = text.trim().is_empty();
            text.push_str(if is_first { questions.trim_start().trim_start_matches('-') } else { &questions });
        } else if text.trim().is_empty() {
            text = "The agent wrote no answer.".to_owned();
        }
        self.send_mail(head, text.trim().to_owned(), files).await
    }

    async fn mail_file(&self, person: &Person, shown: &ShownFile) -> Result<Option<OutgoingFile>, JobError> {
        match &shown.id {
            Some(id) => self.read_file(person, id, &shown.name).await,
            None => Ok(None),
        }
    }

    /// Returns the questions of an answer that waits. The mail is stored with each before it is sent: its id is known.
    async fn questions(&self, view: &ConversationView, message: &UiMessage) -> Result<String, JobError> {
        let open: Vec<&ToolPart> = message.tools().filter(|tool| tool.waits_for_user(now_millis())).collect();
        let (has_one, further) = (open.len() == 1, open.len().saturating_sub(LETTERS.len()));
        let mut text = String::new();
        for (tool, letter) in open.into_iter().zip(LETTERS) {
            let card = self.card(view, tool).await?;
            let shown_by = format!("{}/{letter}", self.delivery.mail_id());
            self.job.write(move |db| Box::pin(store::set_card_message(db, card.id, shown_by))).await?;
            let prefix = if has_one { String::new() } else { letter.to_string() };
            text.push_str("\n\n---\n\n");
            text.push_str(&question(tool, &prefix));
        }
        if further > 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n\n---\n\n{further} more decisions are open. Please make them on the website.");
        }
        Ok(text)
    }

    /// Handles a mail that answers a question with a number. `None` if it does not.
    pub(super) async fn answer_by_number(
        &mut self,
        person: &Person,
        replies_to: Option<&str>,
        text: &str,
    ) -> Result<Option<TurnEnd>, JobError> {
        let (Some(Numbered { letter, number }), Some(replied)) = (numbered(text), replies_to) else { return Ok(None) };
        let (mut cards, is_shown) = self.asked_by(person, replied).await?;
        let chosen = match letter {
            Some(_) => cards.iter().position(|card| letter_of(card) == letter),
            // A number alone decides nothing that the mail does not show to which it replies.
            None => (is_shown && cards.len() == 1).then_some(0),
        };
        let Some(card) = chosen.map(|at| cards.swap_remove(at)) else {
            return self.ask_which(person, &cards, is_shown).await;
        };
        let choice = self.choices(person, &card).await.into_iter().nth(number.saturating_sub(1));
        let Some(choice) = choice else { return Ok(None) };
        self.decide_and_go_on(person, &card, Choice::Button(&choice), "").await.map(Some)
    }

    /// Asks for which of these decisions a number is. `None` if it is for none of them, but a message.
    async fn ask_which(
        &mut self,
        person: &Person,
        cards: &[Card],
        is_shown: bool,
    ) -> Result<Option<TurnEnd>, JobError> {
        // Each text can be the answer to a question that is the only one.
        let is_text = is_shown && cards.len() == 1 && cards.iter().all(|card| card.approval_id.is_empty());
        // An earlier attempt has begun to handle it as a message.
        if is_text || self.update.answer_id.is_some() {
            return Ok(None);
        }
        let (mut letters, mut is_any_open) = (Vec::new(), false);
        for card in cards {
            if self.is_open(person, card).await {
                is_any_open = true;
                if !self.choices(person, card).await.is_empty() {
                    letters.extend(letter_of(card));
                }
            }
        }
        letters.sort_unstable();
        if !letters.is_empty() {
            return self.send_text(&which_decision(&letters)).await.map(Some);
        }
        if is_shown && !is_any_open {
            return self.send_text(ALL_DECIDED).await.map(Some);
        }
        Ok(None)
    }

    /// Returns the answers of a card that have numbers, in their order.
    async fn choices(&self, person: &Person, card: &Card) -> Vec<String> {
        let view = self.context.chat.conversation(&person.caller, &card.conversation_id).await.ok();
        let tool = view.as_ref().and_then(|view| {
            let message = view
                .messages
                .iter()
                .rev()
                .find(|message| message.tools().any(|tool| tool.tool_call_id == card.tool_call_id))?;
            message.tools().find(|tool| tool.tool_call_id == card.tool_call_id)
        });
        let buttons = tool.map(|tool| card_message(tool, &card.id, self.messenger()).buttons).unwrap_or_default();
        let data = buttons.iter().flatten().filter_map(|button| button.data.split_once(':'));
        data.map(|(_, choice)| choice.to_owned()).collect()
    }
}

impl Turn<'_> {
    /// Returns the decisions for which the mail asks to which a mail replies, and whether it shows them. A mail without any
    /// may have said what became of one of several: then they are those of the last mail before it that still wait.
    async fn asked_by(&self, person: &Person, replied: &str) -> Result<(Vec<Card>, bool), JobError> {
        let (store, channel_id, owner) = (&self.context.store, &self.channel.id.0, &person.caller.user_id);
        let shown = store::shown_cards(store, channel_id, &self.chat_id, owner).await?;
        let cards_of =
            |mail: &str| shown.iter().filter(|card| mail_of(card) == Some(mail)).cloned().collect::<Vec<_>>();
        let asked = cards_of(replied);
        if !asked.is_empty() {
            return Ok((asked, true));
        }
        let Some(sent_at) = store::sent_at(store, (channel_id, owner), replied).await? else {
            return Ok((Vec::new(), false));
        };
        let earlier = shown.iter().find(|card| card.created_at <= sent_at).and_then(mail_of);
        let mut open = Vec::new();
        for card in earlier.map(cards_of).unwrap_or_default() {
            // An earlier attempt may have decided it.
            let has_begun =
                self.update.answer_id.is_some() && self.update.conversation_id.as_ref() == Some(&card.conversation_id);
            if has_begun || self.is_open(person, &card).await {
                open.push(card);
            }
        }
        Ok((open, false))
    }
}

/// Returns the mail that shows a card.
fn mail_of(card: &Card) -> Option<&str> {
    Some(card.message_id.as_deref()?.rsplit_once('/')?.0)
}

/// Returns the letter of a card in its mail.
fn letter_of(card: &Card) -> Option<char> {
    card.message_id.as_deref()?.chars().next_back()
}

/// Asks which decision a number is for.
fn which_decision(letters: &[char]) -> String {
    if let [letter] = letters {
        return format!(
            "One decision is still open. Please reply with its letter and your number, such as **{letter}1**."
        );
    }
    let examples: Vec<_> = letters.iter().map(|letter| format!("**{letter}1**")).collect();
    let examples = examples.join(" or ");
    format!(
        "Several decisions are open, each with a letter. Please reply with the letter of one and your number, such as {examples}."
    )
}

/// Returns what a call asks, and how it is answered.
fn question(tool: &ToolPart, prefix: &str) -> String {
    if tool.tool_name != ASK_USER || tool.approval.is_some() {
        // A card without buttons cannot be answered by a reply, so the mail offers no numbers for it.
        let card = card_message(tool, "", Messenger::Email);
        if card.buttons.is_empty() {
            return plain_paragraphs(&card.message.text);
        }
        let arguments = tool.asked_arguments().unwrap_or(&Value::Null);
        let arguments = visible(&serde_json::to_string_pretty(arguments).unwrap_or_default());
        let fence = fence(&arguments);
        let heading = plain_paragraphs(&approval_heading(tool));
        return format!(
            "{heading}\n\n{fence}json\n{arguments}\n{fence}\n\nReply with **{prefix}1** to approve, or with **{prefix}2** to deny."
        );
    }
    let question = visible_question(tool);
    let mut text = format!("❓ {}", super::commands::plain(&question.text));
    if !question.context.is_empty() {
        text.push_str(&format!("\n\n{}", super::commands::plain(&question.context)));
    }
    if !question.fields.is_empty() {
        text.push_str("\n\nThis question has a form. Please answer it on the website.");
        return text;
    }
    text.push_str("\n\n");
    for (index, option) in question.options.iter().enumerate().take(super::card::MAX_OPTIONS) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- **{prefix}{}**: {}", index + 1, super::commands::plain(option));
    }
    text.push_str(if question.options.is_empty() {
        "Reply with your answer."
    } else {
        "\nReply with the number of an answer, or with another answer."
    });
    text
}

/// Returns a fence that is longer than those in a text.
fn fence(text: &str) -> String {
    let longest = text.split(|sign| sign != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

/// Reads a choice: `1`, or `B2`.
fn numbered(text: &str) -> Option<Numbered> {
    let text = text.trim().trim_end_matches(['.', ')']);
    let letter = text.chars().next()?.to_ascii_uppercase();
    let (letter, number) = if letter.is_ascii_alphabetic() { (Some(letter), &text[1..]) } else { (None, text) };
    let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && letter.is_none_or(|letter| LETTERS.contains(&letter)))
        .then(|| number.parse::<usize>().ok())
        .flatten()
        .filter(|number| *number > 0)
        .map(|number| Numbered { letter, number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn choices_are_read() {
        let check = |text: &str, expected: Option<(Option<char>, usize)>| {
            let read = numbered(text).map(|numbered| (numbered.letter, numbered.number));
            assert_eq!(read, expected, "{text:?}");
        };
        check("1", Some((None, 1)));
        check(" b2. ", Some((Some('B'), 2)));
        check("12", Some((None, 12)));
        check("123", None);
        check("0", None);
        check("B00", None);
        check("Z1", None);
        check("1 please", None);
        check("é1", None);
        check("", None);
    }

    #[test]
    fn a_mail_asks_with_numbers() {
        let check = |tool: Value, prefix: &str| {
            let part: wire::UiPart = serde_json::from_value(tool).unwrap();
            question(part.as_tool().unwrap(), prefix)
        };
        let approval = json!({
            "type": "tool-send", "toolCallId": "t", "state": "approval-requested", "input": { "to": "```\u{202e}" },
            "approval": { "id": "a" },
        });
        insta::assert_snapshot!(check(approval, ""), @r#"
        🔐 The agent asks for your approval to run “send”\.

        ````json
        {
          "to": "```[U+202E]"
        }
        ````

        Reply with **1** to approve, or with **2** to deny.
        "#);
        let asked = json!({
            "type": "tool-ask-user", "toolCallId": "t", "state": "input-available",
            "input": { "kind": "approach_choice", "question": "Which *one*?", "options": ["Red", "Blue"] },
        });
        insta::assert_snapshot!(check(asked, "B"), @r"
        ❓ Which \*one\*\?

        - **B1**: Red
        - **B2**: Blue

        Reply with the number of an answer, or with another answer.
        ");
    }
}
