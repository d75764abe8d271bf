//! What the user does: send, stop, decide, answer, ask again, go on.

use super::{Phase, Problem, Remedy, Session};
use crate::agent_chat::browser;
use crate::agent_chat::message_state::MessageState;
use crate::agent_chat::outgoing::{Attached, Outgoing, Upload};
use crate::api::{self, ApiError};
use crate::prelude::*;
use crate::texts::{Text, fill, said};
use serde_json::{Map, Value, json};
use wire::api::{Answer, SendRequest, Submission};
use wire::error::ErrorCode;
use wire::{Approval, Role, ToolPart, ToolState};

impl Session {
    /// Sends what stands in the composer, or has it wait while an answer is being written. When the page does not let it go, it stays
    /// where it is.
    pub(in crate::agent_chat) fn send_draft(self) {
        let Some(out) = self.composed() else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return self.enqueue(out);
        }
        let send = move |out: Outgoing| {
            self.sent_from_composer(&out);
            self.send_now(out);
        };
        self.ask_page(out, Box::new(send));
    }

    /// Sends a text.
    pub(in crate::agent_chat) fn send_text(self, text: String) {
        self.ask_page(Outgoing::words(text), Box::new(move |out| self.send_now(out)));
    }

    /// What stands in the composer, if it can be sent.
    fn composed(self) -> Option<Outgoing> {
        let attached = self.attached.get_untracked();
        let mut files = Vec::new();
        for attached in &attached {
            match attached.upload.get_untracked() {
                Upload::Done(file) => files.push(file),
                Upload::Running(_) => return None,
                Upload::Failed(_) => {
                    self.refusal.set(Some(fill(Text::NotAttachedYet, &[&attached.name])));
                    return None;
                }
            }
        }
        let out = Outgoing { text: self.draft.get_untracked().trim().to_owned(), files };
        (!out.is_empty()).then_some(out)
    }

    /// Empties the composer of what has left it; what came into it in the meantime stays.
    pub(super) fn sent_from_composer(self, out: &Outgoing) {
        if self.draft.with_untracked(|draft| draft.trim() == out.text) {
            self.draft.set(String::new());
        }
        self.refusal.set(None);
        let attached = self.attached.get_untracked();
        let (gone, stays): (Vec<_>, Vec<_>) = attached
            .into_iter()
            .partition(|attached| untrack(|| attached.file()).is_some_and(|file| out.files.contains(&file)));
        if !gone.is_empty() {
            gone.iter().for_each(super::attach::forget);
            self.attached.set(stays);
        }
    }

    /// Puts back into the composer what could not be sent as the message with this id; when something else stands there already, before all
    /// that waits.
    fn put_back(self, out: Outgoing, id: String) {
        let is_free = self.draft.with_untracked(String::is_empty) && self.attached.with_untracked(Vec::is_empty);
        if !is_free {
            return self.put_first(out, id);
        }
        self.draft.set(out.text);
        self.attached.set(out.files.into_iter().map(|file| Attached::done(browser::random_id(), file)).collect());
    }

    /// Sends something with `send` if the page lets it go.
    pub(super) fn ask_page(self, out: Outgoing, send: Box<dyn FnOnce(Outgoing)>) {
        let asking = self.inner.with_value(|inner| inner.asking);
        if self.phase.get_untracked() != Phase::Idle || asking {
            return;
        }
        if !self.has_event("onBeforeSend") {
            return send(out);
        }
        self.inner.update_value(|inner| inner.asking = true);
        leptos::task::spawn_local(async move {
            let may_send = self.may_send(&out).await;
            if self.is_gone() {
                return;
            }
            self.inner.update_value(|inner| inner.asking = false);
            if may_send && self.phase.get_untracked() == Phase::Idle {
                send(out);
            }
        });
    }

    pub(super) fn send_now(self, out: Outgoing) {
        self.send_as(out, None);
    }

    /// Sends something as the message with this id, if it has one already.
    pub(super) fn send_as(self, out: Outgoing, id: Option<String>) {
        let unsent = self.inner.try_update_value(|inner| inner.unsent.take()).flatten();
        let again = unsent.filter(|(_, unsent)| *unsent == out).map(|(id, _)| id);
        let id = id.or(again).unwrap_or_else(browser::random_id);
        let message = out.message(id.clone());
        self.messages.update(|messages| messages.push(MessageState::new(&message)));
        self.tell_written(&message, &out);
        self.focus.update(|count| *count += 1);
        self.begin();
        let history = self.inner.with_value(|inner| inner.history.clone());
        let has_history = !history.is_empty();
        let submission = Submission::Message { message, replaces: None, history };
        leptos::task::spawn_local(async move {
            let sent = self.submit(submission, None).await;
            if self.is_gone() {
                return;
            }
            let Err(error) = sent else {
                if has_history {
                    // By now it is the server's, which has given it other ids.
                    self.inner.update_value(|inner| inner.history.clear());
                    self.reload().await;
                }
                return;
            };
            // Nothing is lost: the words are back in the composer, and sent again they are the same message.
            self.messages.update(|messages| messages.retain(|message| message.id != id));
            self.inner.update_value(|inner| inner.unsent = Some((id.clone(), out.clone())));
            self.put_back(out, id);
            self.has_left();
            self.refused(&error, Remedy::Send);
        });
    }

    /// Ends the answer that is being written. What was written stays.
    pub(in crate::agent_chat) fn stop(self) {
        match self.phase.get_untracked() {
            Phase::Idle | Phase::Stopping => {}
            Phase::Sending => {
                self.inner.update_value(|inner| inner.stop_early = true);
                // What the page does for the agent ends now.
                self.interrupt_connection();
            }
            Phase::Streaming | Phase::Reconnecting => self.stop_now(),
        }
    }

    /// The user's decision on a call, perhaps with other arguments than the agent's, perhaps for further calls, too.
    pub(in crate::agent_chat) fn decide(self, decision: Answer) {
        let Answer::Approval { tool_call_id, approved, reason, input, .. } = &decision else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        self.focus.update(|count| *count += 1);
        self.show_call(tool_call_id, |tool| {
            tool.state = ToolState::ApprovalResponded;
            if let Some(input) = input {
                tool.change_input(input);
            }
            let approval = tool.approval.take().unwrap_or_else(|| Approval::new(""));
            tool.approval = Some(Approval { approved: Some(*approved), reason: reason.clone(), ..approval });
        });
        self.run(Submission::Answers { answers: vec![decision] });
    }

    /// The time to decide about a call is up: shows what the server makes of it.
    pub(in crate::agent_chat) fn expired(self) {
        if !self.is_gone() && self.phase.get_untracked() == Phase::Idle {
            leptos::task::spawn_local(self.reload());
        }
    }

    /// The user's answer to a question of the agent.
    pub(in crate::agent_chat) fn answer(self, tool_call_id: String, output: Value) {
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        self.focus.update(|count| *count += 1);
        self.show_call(&tool_call_id, |tool| {
            tool.state = ToolState::OutputAvailable;
            tool.output = Some(output.clone());
        });
        let answers = vec![Answer::Output { tool_call_id, output }];
        self.run(Submission::Answers { answers });
    }

    /// Has an answer given again, or a message answered; without one, the newest. What was there before stays as another version.
    pub(in crate::agent_chat) fn regenerate(self, message_id: Option<String>) {
        let all = self.messages.get_untracked();
        let at = match &message_id {
            Some(id) => all.iter().position(|message| message.id == *id),
            None => all.len().checked_sub(1),
        };
        // What the server does not have cannot be answered again.
        let is_known = self.id.with_untracked(Option::is_some);
        let (Some(at), Phase::Idle, true) = (at, self.phase.get_untracked(), is_known) else { return };
        let is_answer = all[at].role == Role::Assistant;
        let replaced = if is_answer { all[at].known_versions() } else { Vec::new() };
        self.messages.update(|messages| messages.truncate(if is_answer { at } else { at + 1 }));
        self.tell("onRegenerate", json!({ "conversationId": self.conversation_id(), "id": all[at].id }));
        self.run(Submission::Regenerate { message_id });
        self.inner.update_value(|inner| inner.replaced = replaced);
    }

    /// Goes on with an answer that was cut off.
    pub(in crate::agent_chat) fn go_on(self) {
        if self.phase.get_untracked() == Phase::Idle {
            self.run(Submission::Continue);
        }
    }

    /// Tries what went wrong again.
    pub(in crate::agent_chat) fn remedy(self, remedy: Remedy) {
        self.problem.set(None);
        match remedy {
            Remedy::Send => self.send_draft(),
            Remedy::Reload => leptos::task::spawn_local(self.reload()),
            Remedy::New => self.chat.select(None, false),
        }
    }

    /// Sends; when it is refused, shows how the conversation really stands.
    fn run(self, submission: Submission) {
        self.begin();
        leptos::task::spawn_local(async move {
            if let Err(error) = self.submit(submission, None).await
                && !self.is_gone()
            {
                self.reload().await;
                self.refused(&error, Remedy::Reload);
            }
        });
    }

    /// From here on nothing that was asked for earlier changes the screen.
    pub(super) fn begin(self) {
        self.interrupt();
        self.problem.set(None);
        self.deleted.set(None);
        self.phase.set(Phase::Sending);
        self.inner.update_value(|inner| {
            inner.stop_early = false;
            inner.replaced.clear();
        });
    }

    /// Sends what was [begun](Session::begin), and follows the answer to its end. `written` are values of the page that are
    /// written when the server has accepted.
    pub(super) async fn submit(
        self,
        submission: Submission,
        written: Option<&[(String, Value)]>,
    ) -> Result<(), ApiError> {
        let is_new = self.id.with_untracked(Option::is_none);
        let conversation_id = self.id.get_untracked().unwrap_or_else(|| self.next_id());
        self.id.set(Some(conversation_id.clone()));
        let continues = matches!(submission, Submission::Answers { .. } | Submission::Continue);
        let continued = self.newest_answer().filter(|_| continues).map(|answer| answer.whole());
        let request = self.request(conversation_id.clone(), submission, written.unwrap_or_default());
        self.expect_own(continued);
        let selected = self.chat.conversation.get_untracked();
        let answer = api::send(request).await;
        if self.is_gone() {
            return Ok(());
        }
        let stream = match answer {
            Ok(stream) => stream,
            Err(error) => {
                self.expect_nothing();
                // It has not begun, unless something is being written there: then it was accepted before, and nobody heard of it.
                if is_new && error.code() != ErrorCode::Busy {
                    self.id.set(None);
                }
                self.phase.set(Phase::Idle);
                return Err(error);
            }
        };
        self.has_left();
        self.phase.set(Phase::Streaming);
        // Unless the user has turned to another one meanwhile, which is still loading.
        if is_new && self.chat.conversation.get_untracked() == selected {
            self.chat.select(Some(conversation_id), true);
        }
        if let Some(written) = written {
            self.page_state.write_by_agent(written.to_vec());
        }
        self.tell_others();
        if self.inner.with_value(|inner| inner.stop_early) {
            self.stop_now();
        }
        self.follow(stream, true).await;
        Ok(())
    }

    /// With which id the conversation begins that has not begun. What is sent again has the same: the server may have taken it, and its
    /// word got lost.
    fn next_id(self) -> String {
        let given = self.chat.given();
        let id = self.inner.try_update_value(|inner| {
            // The page may have named another one since.
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
        self.place.with_value(|place| SendRequest {
            page_id: place.page_id.clone(),
            block_id: Some(place.block_id.clone()),
            agent_id: place.properties.agent_id.clone(),
            conversation_id,
            submission,
            shared_state,
            url_query: self.url_query(place.properties.url_query.as_ref()),
            switches: self.switches(),
        })
    }

    /// What the agent is told of the page's address: what the page says, otherwise its parameters.
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
        self.tell("onStop", json!({ "conversationId": id }));
        leptos::task::spawn_local(async move {
            let stopped = api::stop(id).await;
            if let (Err(error), false) = (stopped, self.is_gone()) {
                if self.phase.get_untracked() == Phase::Stopping {
                    self.phase.set(Phase::Streaming);
                }
                self.problem.set(Some(Problem { message: said(&error.0), remedy: None }));
            }
        });
    }

    /// The server did not take something. When an answer is being written already, that is shown instead of an offer to try again.
    pub(super) fn refused(self, error: &ApiError, remedy: Remedy) {
        let busy = error.code() == ErrorCode::Busy;
        let remedy = match error.code() {
            ErrorCode::Busy => None,
            // The page names the conversation, so there is no other one to go to.
            ErrorCode::OtherAgent if self.chat.is_named => None,
            ErrorCode::OtherAgent => Some(Remedy::New),
            _ => Some(remedy),
        };
        self.fail(error, remedy);
        if busy && self.phase.get_untracked() == Phase::Idle {
            leptos::task::spawn_local(self.reload());
        }
    }

    /// Shows at once how a call of the newest answer stands.
    fn show_call(self, call_id: &str, change: impl FnOnce(&mut ToolPart)) {
        let tools = self.newest_answer().map(|answer| answer.tools()).unwrap_or_default();
        let tool = tools.into_iter().find(|tool| tool.with_untracked(|tool| tool.tool_call_id == call_id));
        if let Some(tool) = tool {
            tool.update(change);
        }
    }
}
