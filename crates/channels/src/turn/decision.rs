//! Decisions and answers of the user. They are submissions as those of the web page, so the same checks, policies and
//! records hold.

use super::answer::Answering;
use super::card::{APPROVE, DENY, card_message, decided, shown_hash};
use super::commands::plain;
use super::{Turn, TurnEnd};
use crate::markdown::Rendered;
use crate::messenger::{Messenger, Press};
use crate::person::Person;
use crate::store::{self, Card};
use crate::visible::visible;
use ::jobs::JobError;
use serde_json::Value;
use web::times::now_millis;
use wire::api::{Answer, ConversationView, Submission};
use wire::message::PASSED_OVER;
use wire::question::{ASK_USER, AnswerDraft, Question};
use wire::{ToolPart, ToolState, UiMessage};

const NOT_YOURS: &str = "Only the person who was asked can decide this.";
const UNKNOWN: &str = "This button is not valid any more.";
const APPROVED: &str = "✅ Approved";
const DENIED: &str = "❌ Denied";
const DECIDED: &str = "This was decided already.";
const EXPIRED: &str = "⌛ Expired";
const ANSWERED: &str = "➡️ Answered";
const NOT_ANSWERED: &str = "➡️ Not answered: another message was written instead.";

/// The answer to a card.
pub(super) enum Choice<'t> {
    Button(&'t str),
    Text(&'t str),
}

/// A decision, and how it is shown.
struct Decision {
    answer: Answer,
    label: String,
}

/// The outcome of a decision.
struct Decided {
    /// The answer that continues, if no other call waits.
    goes_on: Option<Answering>,
    /// The text for the user.
    text: String,
    /// Whether the card shows it.
    is_shown: bool,
}

impl Decided {
    fn shown(goes_on: Option<Answering>, text: impl Into<String>) -> Self {
        Self { goes_on, text: text.into(), is_shown: true }
    }

    fn refused(text: impl Into<String>) -> Self {
        Self { goes_on: None, text: text.into(), is_shown: false }
    }

    fn resumed(goes_on: Option<Answering>) -> Self {
        Self::shown(goes_on, "")
    }
}

impl Turn<'_> {
    /// Handles a pressed button.
    pub(super) async fn press(
        &mut self,
        person: &Person,
        press_id: &str,
        message_id: &str,
        data: &str,
    ) -> Result<TurnEnd, JobError> {
        let (id, choice) = data.split_once(':').unwrap_or((data, ""));
        let card = store::card(&self.context.store, &self.channel.id.0, &self.chat_id, id).await?;
        let Some(card) = card else { return self.acknowledge(press_id, UNKNOWN, false).await };
        if card.owner != person.caller.user_id {
            return self.acknowledge(press_id, NOT_YOURS, false).await;
        }
        let decided = self.decide(person, &card, Choice::Button(choice), message_id).await?;
        self.acknowledge(press_id, &decided.text, decided.is_shown).await?;
        match decided.goes_on {
            Some(answering) => self.answer(person, answering).await,
            None => Ok(TurnEnd::Done),
        }
    }

    /// Handles a text that answers a question. `None` if the message is not one.
    pub(super) async fn answer_question(
        &mut self,
        person: &Person,
        replies_to: Option<&str>,
        text: &str,
    ) -> Result<Option<TurnEnd>, JobError> {
        let Some(card) = self.answered_card(person, replies_to).await? else { return Ok(None) };
        let message_id = card.message_id.clone().unwrap_or_default();
        self.decide_and_go_on(person, &card, Choice::Text(text), &message_id).await.map(Some)
    }

    /// Submits a decision that is not a press, and shows what comes of it.
    pub(super) async fn decide_and_go_on(
        &mut self,
        person: &Person,
        card: &Card,
        choice: Choice<'_>,
        message_id: &str,
    ) -> Result<TurnEnd, JobError> {
        let decided = self.decide(person, card, choice, message_id).await?;
        match decided.goes_on {
            Some(answering) => self.answer(person, answering).await,
            None if decided.text.is_empty() => Ok(TurnEnd::Done),
            None => self.send_text(&plain(&decided.text)).await,
        }
    }

    /// Returns the question that a text answers: the one to which it replies, or where that is enough, the one that is
    /// open in the chat.
    async fn answered_card(&self, person: &Person, replies_to: Option<&str>) -> Result<Option<Card>, JobError> {
        let (store, channel_id, owner) = (&self.context.store, &self.channel.id.0, &person.caller.user_id);
        let replied = match replies_to {
            Some(replied) => store::card_of_message(store, channel_id, &self.chat_id, replied).await?,
            None => None,
        };
        let card = match replied {
            Some(card) => Some(card),
            None if !self.messenger().takes_next_message() => None,
            None => {
                let newest = store::newest_question(store, channel_id, &self.chat_id, owner).await?;
                match newest {
                    // An earlier attempt has begun: with the answer to this question, or with a message to another conversation.
                    Some(card) if self.update.answer_id.is_some() => {
                        (self.update.conversation_id.as_ref() == Some(&card.conversation_id)).then_some(card)
                    }
                    // A message from before the question does not answer it.
                    Some(card) if card.created_at <= self.update.received_at && self.is_open(person, &card).await => {
                        Some(card)
                    }
                    _ => None,
                }
            }
        };
        Ok(card.filter(|card| card.owner == *owner && card.approval_id.is_empty()))
    }

    /// Returns whether a question of a card is the one for which its conversation waits.
    pub(super) async fn is_open(&self, person: &Person, card: &Card) -> bool {
        let Ok(view) = self.context.chat.conversation(&person.caller, &card.conversation_id).await else {
            return false;
        };
        waits_for(&view, card)
    }

    /// Acknowledges a press. If that fails, the button stays lit for a moment.
    async fn acknowledge(&self, press_id: &str, text: &str, is_shown: bool) -> Result<TurnEnd, JobError> {
        let press = Press { place: &self.delivery.place, id: press_id, is_shown };
        if let Err(error) = self.delivery.bot.acknowledge(press, text).await {
            tracing::debug!(%error, "the press of a button was not acknowledged");
        }
        Ok(TurnEnd::Done)
    }

    /// Submits a decision.
    async fn decide(
        &mut self,
        person: &Person,
        card: &Card,
        choice: Choice<'_>,
        message_id: &str,
    ) -> Result<Decided, JobError> {
        let view = match self.context.chat.conversation(&person.caller, &card.conversation_id).await {
            Ok(view) => view,
            Err(error) => return Ok(Decided::refused(error.message)),
        };
        if let (true, Some(id)) = (self.update.is_submitted, self.update.answer_id.clone()) {
            return Ok(Decided::resumed(self.resumed(&view, id)));
        }
        let Some(last) = view.messages.last() else { return Ok(Decided::refused(UNKNOWN)) };
        let Some(tool) = last.tools().find(|tool| tool.tool_call_id == card.tool_call_id) else {
            self.show_decision(card, message_id, outcome(&view, card, self.messenger())).await?;
            return Ok(Decided::shown(None, DECIDED));
        };
        if !waits_for(&view, card) {
            // This attempt's predecessor was killed after its decision was stored.
            if self.update.answer_id.as_ref() == Some(&last.id) && view.active.is_some() {
                return Ok(Decided::resumed(Some(Answering::resumed(last.id.clone()))));
            }
            self.show_decision(card, message_id, outcome(&view, card, self.messenger())).await?;
            let went_on = self.update.answer_id.is_some().then(|| Answering::resumed(last.id.clone()));
            return Ok(Decided::shown(went_on, DECIDED));
        }
        let Decision { answer, label } = match decision(tool, card, &choice, self.messenger()) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Decided::refused(refusal)),
        };
        let parts = i64::try_from(last.parts.len()).unwrap_or(i64::MAX);
        self.remember(&card.conversation_id, Some(last.id.clone()), parts).await?;
        let submission = Submission::Answers { answers: vec![answer] };
        let mut request = self.request(person, card.conversation_id.clone(), submission);
        request.page_id = view.summary.page_id.clone();
        request.agent_id = view.summary.agent_id.clone();
        match self.submit(person, request).await? {
            Ok(answering) => {
                self.show_decision(card, message_id, decided(tool, &card.id, &label, self.messenger())).await?;
                Ok(Decided::shown(answering.goes_on().then_some(answering), label))
            }
            Err(error) => Ok(Decided::refused(error.message)),
        }
    }

    /// Returns the answer of an earlier attempt, unless it still waits for other decisions.
    fn resumed(&self, view: &ConversationView, id: String) -> Option<Answering> {
        let message = view.messages.iter().find(|message| message.id == id)?;
        let parts_before = usize::try_from(self.update.parts_before).unwrap_or_default();
        let goes_on = view.active.is_some() || message.parts.len() > parts_before;
        goes_on.then(|| Answering::resumed(id))
    }

    /// Shows on the card what was decided. If that fails, the card is changed when the run ends ([`super::close`]).
    async fn show_decision(&self, card: &Card, message_id: &str, message: Rendered) -> Result<(), JobError> {
        if let Err(error) = self.delivery.bot.edit(&self.delivery.place, message_id, &message, &[]).await {
            tracing::debug!(%error, "a card was not changed");
            return Ok(());
        }
        // A card that was sent twice has another message.
        if card.message_id.as_deref() == Some(message_id) {
            let id = card.id.clone();
            self.job.write(move |db| Box::pin(store::set_card_closed(db, id, now_millis()))).await?;
        }
        Ok(())
    }
}

/// Returns whether a conversation waits for the decision or the answer that a card asks for.
pub(super) fn waits_for(view: &ConversationView, card: &Card) -> bool {
    let is_asked = |tool: &ToolPart| {
        tool.tool_call_id == card.tool_call_id && tool.waits_for_user(now_millis()) && is_same(tool, card)
    };
    view.messages.last().is_some_and(|last| last.tools().any(is_asked))
}

/// Returns the text of a card whose call no longer waits: the call, if it is still in the conversation, and what was decided.
/// An answer that was given elsewhere is not repeated, since others may read the chat.
pub(super) fn outcome(view: &ConversationView, card: &Card, messenger: Messenger) -> Rendered {
    let is_asked = |tool: &&ToolPart| tool.tool_call_id == card.tool_call_id && approval_id(tool) == card.approval_id;
    match view.messages.iter().rev().flat_map(UiMessage::tools).find(is_asked) {
        Some(tool) => decided(tool, &card.id, known_decision(tool), messenger),
        None => Rendered::plain(DECIDED),
    }
}

/// Returns what became of a call, if it is known.
fn known_decision(tool: &ToolPart) -> &'static str {
    if tool.is_passed_over() || tool.error_text.as_deref() == Some(PASSED_OVER) {
        return NOT_ANSWERED;
    }
    match tool.approval.as_ref().map(|approval| (approval.approved, approval.expired)) {
        Some((_, Some(true))) => EXPIRED,
        Some((Some(true), _)) => APPROVED,
        Some((Some(false), _)) => DENIED,
        None if tool.state == ToolState::OutputAvailable => ANSWERED,
        _ => DECIDED,
    }
}

/// Returns the id of the approval request of a call; empty if it is a question.
fn approval_id(tool: &ToolPart) -> &str {
    tool.approval.as_ref().map(|approval| approval.id.as_str()).unwrap_or_default()
}

/// Returns whether a call asks what the card has shown.
fn is_same(tool: &ToolPart, card: &Card) -> bool {
    approval_id(tool) == card.approval_id && shown_hash(tool) == card.input_hash
}

/// Returns the decision that a button or a text stands for, or what to tell the user.
fn decision(tool: &ToolPart, card: &Card, choice: &Choice<'_>, messenger: Messenger) -> Result<Decision, String> {
    let tool_call_id = tool.tool_call_id.clone();
    if tool.state == ToolState::ApprovalRequested {
        // A card without buttons has not shown everything.
        let has_buttons = !card_message(tool, &card.id, messenger).buttons.is_empty();
        let approved = match choice {
            Choice::Button(APPROVE) if has_buttons => true,
            Choice::Button(DENY) => false,
            _ => return Err(UNKNOWN.to_owned()),
        };
        let answer = Answer::Approval {
            tool_call_id,
            approval_id: Some(card.approval_id.clone()),
            approved,
            input_hash: Some(card.input_hash.clone()),
            reason: None,
            input: None,
            remember: None,
        };
        return Ok(Decision { answer, label: if approved { APPROVED } else { DENIED }.to_owned() });
    }
    if tool.tool_name != ASK_USER {
        return Err(UNKNOWN.to_owned());
    }
    let question = Question::read(tool.input.as_ref().unwrap_or(&Value::Null));
    let draft = match choice {
        Choice::Button(at) => AnswerDraft { option: at.parse().ok(), ..AnswerDraft::default() },
        Choice::Text(text) => AnswerDraft { text: (*text).to_owned(), ..AnswerDraft::default() },
    };
    let output = if question.fields.is_empty() {
        question.answer(&draft)?
    } else {
        return Err("Please answer it on the website.".to_owned());
    };
    let shown = output.get("option").or_else(|| output.get("text")).and_then(Value::as_str).unwrap_or_default();
    let label: String = shown.chars().take(500).collect();
    Ok(Decision { answer: Answer::Output { tool_call_id, output }, label: format!("➡️ {}", visible(&label)) })
}
