//! Calls that the page executes: `update-page-state` writes the page's shared fields; client tools
//! run code of the page's developer (`page_call.rs`).
//!
//! A call gets one result. The server accepts the first; a tab whose result is rejected, because
//! another tab was faster, has written nothing, since fields are written only after the result was
//! accepted. `ask-user` is not executed here: the user answers it, see `cards/question_card.rs`.

use crate::agent_chat::chunk_tables::TOOLS;
use crate::agent_chat::chunk_tables::ToolFunctions;
use crate::agent_chat::session::{Phase, Session, SessionAction};
use crate::prelude::*;
use crate::ui::browser;
use serde_json::Value;
use std::time::Duration;
use wire::api::{Answer, Submission};
use wire::page::{UPDATE_PAGE_STATE, apply_updates};
use wire::question::ASK_USER;
use wire::{ErrorCode, ToolPart, ToolState};

/// How long other tabs leave a call to the tab that started the run.
const OTHER_TAB_DELAY: Duration = Duration::from_secs(3);
/// How long after its time limit a call that another tab started is considered lost.
const GRACE: Duration = Duration::from_secs(5);

impl Session {
    /// Continues what the page had begun before it was loaded: calls that wait for it, values that
    /// they wrote, and events that it expected. Part of the chunk `conversation`: the code for these is
    /// loaded only if there is something to do.
    pub(in crate::agent_chat) fn resume(self) {
        if self.has_expected() || self.has_sent_values() || !self.client_calls().is_empty() {
            self.dispatch(SessionAction::RunClientCalls);
        }
    }

    /// Executes the calls that wait for the page; true if their code must be loaded first.
    pub(in crate::agent_chat::session) fn run_client_calls(self) -> bool {
        self.run_if_any(|code| code.run_calls)
    }

    /// The same for a tab that did not start the run.
    pub(in crate::agent_chat::session) fn run_client_calls_later(self) -> bool {
        self.run_if_any(|code| code.run_calls_later)
    }

    /// Loads the code of calls if needed. Messages that wait for the answer wait for the calls and
    /// their code as well.
    fn run_if_any(self, run: fn(&ToolFunctions) -> fn(Self)) -> bool {
        if self.client_calls().is_empty() {
            return false;
        }
        if let Some(code) = untrack(|| TOOLS.get()) {
            run(code)(self);
            return false;
        }
        leptos::task::spawn_local(async move {
            let loaded = TOOLS.load().await;
            if self.is_disposed() {
                return;
            }
            match loaded {
                Ok(code) => run(code)(self),
                Err(_) => self.report_missing_code(),
            }
            self.send_waiting();
        });
        true
    }

    /// Executes the calls that wait for the page and sends their results, which continues the run.
    pub(in crate::agent_chat) fn run_calls(self) {
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        let (calls, elsewhere): (Vec<_>, Vec<_>) =
            self.client_calls().into_iter().partition(|call| self.may_run_here(call));
        if !elsewhere.is_empty() && calls.is_empty() {
            return self.run_calls_later();
        }
        self.execute_and_send(calls);
    }

    /// The same for a tab that did not start the run: the tab that did has priority. If it is gone,
    /// the call is still open after the delay; a call that it had started is not repeated.
    pub(in crate::agent_chat) fn run_calls_later(self) {
        let calls = self.calls_for_this_chat();
        if calls.is_empty() {
            return;
        }
        let limit = |call: &ToolPart| self.block.with_value(|place| place.tools.timeout(&call.tool_name)) + GRACE;
        let elsewhere = calls.iter().filter(|call| !self.may_run_here(call)).map(limit).max();
        let turn = self.inner.with_value(|inner| inner.stream_generation);
        leptos::task::spawn_local(async move {
            browser::sleep(elsewhere.unwrap_or(OTHER_TAB_DELAY)).await;
            let undisturbed = !self.is_disposed() && self.inner.with_value(|inner| inner.stream_generation == turn);
            if undisturbed && browser::is_visible() && self.phase.get_untracked() == Phase::Idle {
                self.execute_and_send(self.calls_for_this_chat());
            }
        });
    }

    fn execute_and_send(self, calls: Vec<ToolPart>) {
        if calls.is_empty() {
            return;
        }
        self.begin_sending();
        leptos::task::spawn_local(async move {
            let (answers, written) = self.execute(calls).await;
            if self.is_disposed() {
                return;
            }
            let was_sent = self.save_sent_values(&answers, &written);
            let sent = if answers.is_empty() {
                None
            } else {
                Some(self.submit(Submission::Answers { answers }, Some(&written)).await)
            };
            if self.is_disposed() {
                return;
            }
            if let Some(Ok(())) = sent {
                self.inner.update_value(|inner| inner.unsent_results.clear());
                return;
            }
            // Without a response, such as when the page is being closed, the server may have accepted the values. If an
            // earlier page of this tab sent them as well, they are what it has accepted.
            let is_lost = sent.and_then(Result::err).is_some_and(|error| error.code() == ErrorCode::Unavailable);
            if !is_lost && !was_sent {
                self.forget_sent_values();
            }
            self.reload().await;
        });
    }

    fn client_calls(self) -> Vec<ToolPart> {
        let tools = self.newest_answer().map(|answer| answer.tools()).unwrap_or_default();
        tools.iter().map(ArcRwSignal::get_untracked).filter(is_client_call).collect()
    }

    /// The waiting calls that this chat can execute; another chat of the page may show the same
    /// conversation.
    fn calls_for_this_chat(self) -> Vec<ToolPart> {
        let is_for_here = |call: &ToolPart| {
            self.block.with_value(|place| {
                if call.tool_name == UPDATE_PAGE_STATE {
                    !place.properties.shared_state.is_empty()
                } else {
                    place.tools.has(&call.tool_name)
                }
            })
        };
        self.client_calls().into_iter().filter(is_for_here).collect()
    }

    async fn execute(self, calls: Vec<ToolPart>) -> (Vec<Answer>, Vec<(String, Value)>) {
        let (mut answers, mut written) = (Vec::new(), Vec::new());
        for call in calls {
            if call.tool_name != UPDATE_PAGE_STATE {
                answers.extend(self.run_page_call(call).await);
                if self.is_disposed() {
                    break;
                }
                continue;
            }
            let input = call.input.unwrap_or_default();
            let updates = apply_updates(&self.shared_fields(), &input);
            written.extend(updates.written);
            answers.push(Answer::Output { tool_call_id: call.tool_call_id, output: updates.output });
        }
        (answers, self.page_state.resolve_writes(written))
    }
}

fn is_client_call(tool: &ToolPart) -> bool {
    tool.state == ToolState::InputAvailable && tool.provider_executed != Some(true) && tool.tool_name != ASK_USER
}
