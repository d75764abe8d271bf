//! Submissions of the user: messages, stops, regeneration, continuation.

use super::{Phase, Problem, Remedy, Session};
use crate::agent_chat::composer::outgoing::{Attachment, OutgoingMessage, Upload};
use crate::agent_chat::message::state::MessageState;
use crate::api::{self, ApiError};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::browser;
use serde_json::{Map, Value, json};
use wire::Role;
use wire::api::{SendRequest, Submission};
use wire::error::ErrorCode;

impl Session {
    /// Sends the content of the composer, or queues it while an answer is being written. If the
    /// page does not allow it, it stays in the composer.
    pub(in crate::agent_chat) fn send_draft(self) {
        let Some(out) = self.message_from_composer() else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return self.enqueue(out);
        }
        let send = move |out: OutgoingMessage| {
            self.clear_composer(&out);
            self.send_now(out);
        };
        self.ask_page(out, Box::new(send));
    }

    /// Sends a text.
    pub(super) fn send_text(self, text: String) {
        self.ask_page(OutgoingMessage::from_text(text), Box::new(move |out| self.send_now(out)));
    }

    /// Sends a message of the page, or queues it while an answer is being written. The composer
    /// keeps its content.
    pub(super) fn send_for_page(self, given: &Value) {
        let Some(out) = OutgoingMessage::from_page(given) else { return };
        match self.phase.get_untracked() {
            Phase::Idle => self.ask_page(out, Box::new(move |out| self.send_now(out))),
            _ => self.add_to_queue(out),
        }
    }

    /// The content of the composer, if it can be sent. If files are still being uploaded, it is sent
    /// when they are.
    fn message_from_composer(self) -> Option<OutgoingMessage> {
        self.sends_when_uploaded.set(false);
        let attached = self.attachments.get_untracked();
        let mut files = Vec::new();
        for attached in &attached {
            match attached.upload.get_untracked() {
                Upload::Done(file) => files.push(file),
                Upload::Running(_) => {
                    self.sends_when_uploaded.set(true);
                    return None;
                }
                Upload::Failed(_) => {
                    self.composer_error.set(Some(fill(Text::NotAttachedYet, &[&attached.name])));
                    return None;
                }
            }
        }
        let text = self.draft.get_untracked().trim().to_owned();
        let out = OutgoingMessage { text, files, metadata: Value::Null };
        (!out.is_empty()).then_some(out)
    }

    /// Removes the sent content from the composer; content that was added meanwhile stays.
    pub(super) fn clear_composer(self, out: &OutgoingMessage) {
        if self.draft.with_untracked(|draft| draft.trim() == out.text) {
            self.draft.set(String::new());
        }
        self.composer_error.set(None);
        let attached = self.attachments.get_untracked();
        let (gone, stays): (Vec<_>, Vec<_>) = attached
            .into_iter()
            .partition(|attached| untrack(|| attached.file()).is_some_and(|file| out.files.contains(&file)));
        if !gone.is_empty() {
            gone.iter().for_each(super::attach::release_preview);
            self.attachments.set(stays);
        }
    }

    /// Puts a message that could not be sent back into the composer, or first into the queue if the
    /// composer is not empty.
    fn restore_to_composer(self, out: OutgoingMessage, id: String) {
        let is_free = self.draft.with_untracked(String::is_empty) && self.attachments.with_untracked(Vec::is_empty);
        if !is_free {
            return self.put_first(out, id);
        }
        self.draft.set(out.text);
        self.attachments
            .set(out.files.into_iter().map(|file| Attachment::from_file(browser::random_id(), file)).collect());
    }

    /// Calls `send` if the page allows the message.
    pub(super) fn ask_page(self, out: OutgoingMessage, send: Box<dyn FnOnce(OutgoingMessage)>) {
        let asking = self.inner.with_value(|inner| inner.is_asking_page);
        if self.phase.get_untracked() != Phase::Idle || asking {
            return;
        }
        if !self.has_event("onBeforeSend") {
            return send(out);
        }
        self.inner.update_value(|inner| inner.is_asking_page = true);
        leptos::task::spawn_local(async move {
            let may_send = self.may_send(&out).await;
            if self.is_disposed() {
                return;
            }
            self.inner.update_value(|inner| inner.is_asking_page = false);
            if may_send && self.phase.get_untracked() == Phase::Idle {
                send(out);
            }
        });
    }

    pub(super) fn send_now(self, out: OutgoingMessage) {
        self.send_as(out, None);
    }

    /// Sends a message, under this id if it has one already.
    pub(super) fn send_as(self, out: OutgoingMessage, id: Option<String>) {
        let unsent = self.inner.try_update_value(|inner| inner.unsent_message.take()).flatten();
        // The text of the page may come back from the composer, without its metadata.
        let again = unsent.filter(|(_, unsent)| unsent.text == out.text && unsent.files == out.files).map(|(id, _)| id);
        let id = id.or(again).unwrap_or_else(browser::random_id);
        let message = out.to_message(id.clone());
        self.messages.update(|messages| messages.push(MessageState::new(&message)));
        self.emit_user_message(&message, &out);
        self.focus_requests.update(|count| *count += 1);
        self.begin_sending();
        let history = self.inner.with_value(|inner| inner.history.clone());
        let has_history = !history.is_empty();
        let submission = Submission::Message { message, replaces: None, history };
        leptos::task::spawn_local(async move {
            let sent = self.submit(submission, None).await;
            if self.is_disposed() {
                return;
            }
            let Err(error) = sent else {
                if has_history {
                    // The history is stored on the server now, with other ids.
                    self.inner.update_value(|inner| inner.history.clear());
                    self.reload().await;
                }
                return;
            };
            // The text is back in the composer; if it is sent again unchanged, it keeps its id.
            self.messages.update(|messages| messages.retain(|message| message.id != id));
            self.inner.update_value(|inner| inner.unsent_message = Some((id.clone(), out.clone())));
            // One that waited waits on, so that it is not in the queue of the server as well.
            if self.inner.with_value(|inner| inner.sending_queued.is_some()) {
                self.put_first(out, id);
            } else {
                self.restore_to_composer(out, id);
            }
            self.finish_sending_queued();
            self.handle_refusal(&error, Remedy::Send);
        });
    }

    /// Stops the answer that is being written. The text so far is kept.
    pub(in crate::agent_chat) fn stop(self) {
        match self.phase.get_untracked() {
            Phase::Idle | Phase::Stopping => {}
            Phase::Sending => {
                self.inner.update_value(|inner| inner.stop_requested = true);
                // Ends the calls that the page is executing.
                self.interrupt_connection();
            }
            Phase::Streaming | Phase::Reconnecting => self.stop_now(),
        }
    }

    /// Regenerates an answer, or requests an answer to a message; by default for the newest. The
    /// previous answer is kept as another version.
    pub(in crate::agent_chat) fn regenerate(self, message_id: Option<String>) {
        let all = self.messages.get_untracked();
        let at = match &message_id {
            Some(id) => all.iter().position(|message| message.id == *id),
            None => all.len().checked_sub(1),
        };
        // Messages that are not on the server cannot be regenerated.
        let is_known = self.id.with_untracked(Option::is_some);
        let (Some(at), Phase::Idle, true) = (at, self.phase.get_untracked(), is_known) else { return };
        let is_answer = all[at].role == Role::Assistant;
        let replaced = if is_answer { all[at].version_ids() } else { Vec::new() };
        self.messages.update(|messages| messages.truncate(if is_answer { at } else { at + 1 }));
        self.emit_with_messages("onRegenerate", json!({ "conversationId": self.conversation_id(), "id": all[at].id }));
        self.submit_or_reload(Submission::Regenerate { message_id });
        self.inner.update_value(|inner| inner.replaced_versions = replaced);
    }

    /// Continues an answer that was interrupted.
    pub(in crate::agent_chat) fn continue_answer(self) {
        if self.phase.get_untracked() == Phase::Idle {
            self.submit_or_reload(Submission::Continue);
        }
    }

    /// Retries what failed.
    pub(in crate::agent_chat) fn apply_remedy(self, remedy: Remedy) {
        self.problem.set(None);
        match remedy {
            Remedy::Send => self.send_draft(),
            Remedy::Reload => leptos::task::spawn_local(self.reload()),
            Remedy::New => self.chat.select(None, false),
        }
    }

    /// Submits; if it is rejected, shows the state on the server.
    pub(super) fn submit_or_reload(self, submission: Submission) {
        self.begin_sending();
        leptos::task::spawn_local(async move {
            if let Err(error) = self.submit(submission, None).await
                && !self.is_disposed()
            {
                self.reload().await;
                self.handle_refusal(&error, Remedy::Reload);
            }
        });
    }

    /// Starts a submission: earlier requests no longer change the session.
    pub(super) fn begin_sending(self) {
        self.cancel_following();
        self.problem.set(None);
        self.deleted.set(None);
        self.phase.set(Phase::Sending);
        self.inner.update_value(|inner| {
            inner.stop_requested = false;
            inner.replaced_versions.clear();
        });
    }

    /// Submits what was [started](Session::begin_sending) and follows the answer to its end. `written` are
    /// page values that are written once the server has accepted.
    pub(super) async fn submit(
        self,
        submission: Submission,
        written: Option<&[(String, Value)]>,
    ) -> Result<(), ApiError> {
        let is_new = self.id.with_untracked(Option::is_none);
        let conversation_id = self.id.get_untracked().unwrap_or_else(|| self.new_conversation_id());
        self.id.set(Some(conversation_id.clone()));
        let continues = matches!(submission, Submission::Answers { .. } | Submission::Continue);
        let continued = self.newest_answer().filter(|_| continues).map(|answer| answer.to_message());
        let request = self.request(conversation_id.clone(), submission, written.unwrap_or_default());
        self.expect_own(continued);
        let selected = self.chat.conversation.get_untracked();
        let answer = api::send(request).await;
        if self.is_disposed() {
            return Ok(());
        }
        let stream = match answer {
            Ok(stream) => stream,
            Err(error) => {
                self.expect_nothing();
                // The conversation was not created, except if a run is in progress there: then an
                // earlier attempt was accepted, and its response was lost.
                if is_new && error.code() != ErrorCode::Busy {
                    self.id.set(None);
                }
                self.phase.set(Phase::Idle);
                return Err(error);
            }
        };
        self.finish_sending_queued();
        self.phase.set(Phase::Streaming);
        // Unless the user has selected another conversation meanwhile, which is still loading.
        if is_new && self.chat.conversation.get_untracked() == selected {
            self.chat.select(Some(conversation_id.clone()), true);
        }
        if is_new {
            self.emit_conversation_start(&conversation_id);
        }
        if let Some(written) = written {
            self.page_state.write_by_agent(written.to_vec());
            self.forget_sent_values();
        }
        self.notify_other_tabs();
        if self.inner.with_value(|inner| inner.stop_requested) {
            self.stop_now();
        }
        self.follow(stream, true).await;
        Ok(())
    }

    /// The id that a new conversation will get. A retry uses the same id, because the server may
    /// have accepted the first attempt and its response may be lost.
    pub(super) fn new_conversation_id(self) -> String {
        let given = self.chat.preset_id();
        let id = self.inner.try_update_value(|inner| {
            // The page may have set another id since.
            inner.next_id = given.or_else(|| inner.next_id.take()).or_else(|| Some(browser::random_id()));
            inner.next_id.clone()
        });
        id.flatten().unwrap_or_else(browser::random_id)
    }

    pub(super) fn request(
        self,
        conversation_id: String,
        submission: Submission,
        written: &[(String, Value)],
    ) -> SendRequest {
        let shared_state: Map<String, Value> = self.shared_state(written);
        self.block.with_value(|place| SendRequest {
            page_id: place.page_id.clone(),
            block_id: Some(place.block_id.clone()),
            agent_id: place.properties.agent_id.clone(),
            conversation_id,
            submission,
            shared_state,
            url_query: self.url_query(place.properties.url_query.as_ref()),
            switches: self.switches(),
            options: self.options(),
        })
    }

    /// The query parameters for the agent: those that the page's property gives, otherwise those of
    /// the address.
    fn url_query(self, own: Option<&Value>) -> Map<String, Value> {
        let Some(own) = own else { return browser::url_query() };
        match untrack(|| self.scope.evaluate(own)) {
            Ok(Value::Object(own)) => own,
            _ => Map::new(),
        }
    }

    fn stop_now(self) {
        let Some(id) = self.id.get_untracked() else { return };
        self.phase.set(Phase::Stopping);
        self.emit_with_messages("onStop", json!({ "conversationId": id }));
        leptos::task::spawn_local(async move {
            let stopped = api::stop(id).await;
            if let (Err(error), false) = (stopped, self.is_disposed()) {
                if self.phase.get_untracked() == Phase::Stopping {
                    self.phase.set(Phase::Streaming);
                }
                self.problem.set(Some(Problem { message: error_text(&error.0), remedy: None }));
            }
        });
    }

    /// Handles a rejected submission. If an answer is being written already, it is shown instead of
    /// an offer to retry.
    pub(super) fn handle_refusal(self, error: &ApiError, remedy: Remedy) {
        let busy = error.code() == ErrorCode::Busy;
        // Only a conversation that is on the server has an id here.
        let is_gone = error.code() == ErrorCode::NotFound && self.id.with_untracked(Option::is_some);
        let remedy = match error.code() {
            ErrorCode::Busy => None,
            ErrorCode::NotFound if is_gone && !self.chat.is_bound_to_state() => Some(Remedy::New),
            // If the page sets the conversation's id, no other conversation can be opened.
            ErrorCode::OtherAgent if self.chat.is_bound_to_state() => None,
            ErrorCode::OtherAgent => Some(Remedy::New),
            _ => Some(remedy),
        };
        self.report_error(error, remedy);
        if is_gone {
            let message = t(Text::ConversationGone).to_owned();
            self.problem.set(Some(Problem { message, remedy }));
        }
        if busy && self.phase.get_untracked() == Phase::Idle {
            leptos::task::spawn_local(self.reload());
        }
    }
}
