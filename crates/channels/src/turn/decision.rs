//! Decisions and answers of the user. They are submissions as those of the web page, so the same checks, policies and
//! records hold.

use super::answer::Answering;
use super::card::{APPROVE, DENY, card_message, decided, shown_hash};
use super::{Turn, TurnEnd};
use crate::person::Person;
use crate::store::{self, Card};
use crate::telegram::Rendered;
use crate::visible::visible;
use ::jobs::JobError;
use serde_json::Value;
use web::times::now_millis;
use wire::api::{Answer, Submission};
use wire::question::{ASK_USER, AnswerDraft, Question};
use wire::{ToolPart, ToolState};

const NOT_YOURS: &str = "Only the person who was asked can decide this.";
const UNKNOWN: &str = "This button is not valid any more.";
const APPROVED: &str = "✅ Approved";
const DENIED: &str = "❌ Denied";
const DECIDED: &str = "This was decided already.";

/// What a card is answered with.
enum Choice<'t> {
    Button(&'t str),
    Text(&'t str),
}

/// A decision, and how it is shown.
struct Decision {
    answer: Answer,
    label: String,
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
        let Some(card) = card else { return self.acknowledge(press_id, UNKNOWN).await };
        if card.owner != person.caller.user_id {
            return self.acknowledge(press_id, NOT_YOURS).await;
        }
        let (end, text) = self.decide(person, &card, Choice::Button(choice), message_id).await?;
        self.acknowledge(press_id, &text).await?;
        match end {
            Some(answering) => self.answer(person, answering).await,
            None => Ok(TurnEnd::Done),
        }
    }

    /// Handles a reply to a question. `None` if the message is not one.
    pub(super) async fn answer_question(
        &mut self,
        person: &Person,
        replied: &str,
        text: &str,
    ) -> Result<Option<TurnEnd>, JobError> {
        let card = store::card_of_message(&self.context.store, &self.channel.id.0, &self.chat_id, replied).await?;
        let is_own = |card: &Card| card.owner == person.caller.user_id && card.approval_id.is_empty();
        let Some(card) = card.filter(is_own) else { return Ok(None) };
        let (end, refusal) = self.decide(person, &card, Choice::Text(text), replied).await?;
        Ok(Some(match end {
            Some(answering) => self.answer(person, answering).await?,
            None => self.say(&refusal).await?,
        }))
    }

    /// Acknowledges a press. If that fails, the button stays lit for a moment.
    async fn acknowledge(&self, press_id: &str, text: &str) -> Result<TurnEnd, JobError> {
        if let Err(error) = self.delivery.bot.acknowledge(press_id, text).await {
            tracing::debug!(%error, "a press was not acknowledged");
        }
        Ok(TurnEnd::Done)
    }

    /// Submits a decision. Returns the answer that goes on, if no other call waits, and what to tell the user.
    async fn decide(
        &mut self,
        person: &Person,
        card: &Card,
        choice: Choice<'_>,
        message_id: &str,
    ) -> Result<(Option<Answering>, String), JobError> {
        let view = match self.context.chat.conversation(&person.caller, &card.conversation_id).await {
            Ok(view) => view,
            Err(error) => return Ok((None, error.message)),
        };
        if let (true, Some(id)) = (self.update.is_submitted, self.update.answer_id.clone()) {
            return Ok((self.resumed(&view, id), String::new()));
        }
        let Some(last) = view.messages.last() else { return Ok((None, UNKNOWN.to_owned())) };
        let Some(tool) = last.tools().find(|tool| tool.tool_call_id == card.tool_call_id) else {
            self.show_decision(message_id, Rendered::plain(DECIDED)).await;
            return Ok((None, DECIDED.to_owned()));
        };
        let is_open = tool.waits_for_user(now_millis()) && is_same(tool, card);
        if !is_open {
            // This attempt's predecessor was killed after its decision was stored.
            if self.update.answer_id.as_ref() == Some(&last.id) && view.active.is_some() {
                return Ok((Some(Answering::resumed(last.id.clone())), String::new()));
            }
            self.show_decision(message_id, decided(tool, &card.id, known_decision(tool))).await;
            let went_on = self.update.answer_id.is_some().then(|| Answering::resumed(last.id.clone()));
            return Ok((went_on, DECIDED.to_owned()));
        }
        let Decision { answer, label } = match decision(tool, card, &choice) {
            Ok(decision) => decision,
            Err(refusal) => return Ok((None, refusal)),
        };
        let parts = i64::try_from(last.parts.len()).unwrap_or(i64::MAX);
        self.remember(&card.conversation_id, Some(last.id.clone()), parts).await?;
        let submission = Submission::Answers { answers: vec![answer] };
        let mut request = self.request(person, card.conversation_id.clone(), submission);
        request.page_id = view.summary.page_id.clone();
        request.agent_id = view.summary.agent_id.clone();
        match self.submit(person, request).await? {
            Ok(answering) => {
                self.show_decision(message_id, decided(tool, &card.id, &label)).await;
                Ok((answering.goes_on().then_some(answering), label))
            }
            Err(error) => Ok((None, error.message)),
        }
    }

    /// Returns the answer of an earlier attempt, unless it still waits for other decisions.
    fn resumed(&self, view: &wire::api::ConversationView, id: String) -> Option<Answering> {
        let message = view.messages.iter().find(|message| message.id == id)?;
        let parts_before = usize::try_from(self.update.parts_before).unwrap_or_default();
        let goes_on = view.active.is_some() || message.parts.len() > parts_before;
        goes_on.then(|| Answering::resumed(id))
    }

    /// Shows on the card what was decided. If that fails, a press says it.
    async fn show_decision(&self, message_id: &str, message: Rendered) {
        if let Err(error) = self.delivery.bot.edit(&self.delivery.place, message_id, &message, &[]).await {
            tracing::debug!(%error, "a card was not changed");
        }
    }
}

/// Returns what was decided about a call, as far as it is known.
fn known_decision(tool: &ToolPart) -> &'static str {
    match tool.approval.as_ref().and_then(|approval| approval.approved) {
        Some(true) => APPROVED,
        Some(false) => DENIED,
        None => DECIDED,
    }
}

/// Returns whether a call asks what the card has shown.
fn is_same(tool: &ToolPart, card: &Card) -> bool {
    let approval = tool.approval.as_ref().map(|approval| approval.id.as_str()).unwrap_or_default();
    approval == card.approval_id && shown_hash(tool) == card.input_hash
}

/// Returns the decision that a button or a text stands for, or what to tell the user.
fn decision(tool: &ToolPart, card: &Card, choice: &Choice<'_>) -> Result<Decision, String> {
    let tool_call_id = tool.tool_call_id.clone();
    if tool.state == ToolState::ApprovalRequested {
        // A card without buttons has not shown everything.
        let has_buttons = !card_message(tool, &card.id).buttons.is_empty();
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
