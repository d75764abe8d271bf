//! Calls that the page executes: `update-page-state` writes the fields that the page shares, the page's own tools do what its developer
//! wrote (`page_call.rs`).
//!
//! A call is answered once. The server takes the first answer; whoever is refused (another tab was faster) has written nothing,
//! because the fields are written when the answer has been accepted. `ask-user` is not among them: the user answers it, see
//! `question_card.rs`.

use super::{Phase, Session};
use crate::agent_chat::TOOLS;
use crate::agent_chat::browser;
use crate::agent_chat::rare::Tools;
use crate::prelude::*;
use serde_json::Value;
use std::time::Duration;
use wire::api::{Answer, Submission};
use wire::page::apply_updates;
use wire::question::ASK_USER;
use wire::{ToolPart, ToolState};

/// The tool that writes the page's fields.
pub(in crate::agent_chat) const PAGE_STATE_TOOL: &str = "update-page-state";
/// How long a tab that has not asked leaves the call to the tab that has.
const COURTESY: Duration = Duration::from_secs(3);
/// How long after its time is up a call that another tab had begun is taken for lost.
const GRACE: Duration = Duration::from_secs(5);

impl Session {
    /// Has the calls executed that wait for the page; true when their code is still to come.
    pub(super) fn run_client_calls(self) -> bool {
        self.run_if_any(|code| code.run_calls)
    }

    /// The same for a tab that only watched.
    pub(super) fn run_client_calls_later(self) -> bool {
        self.run_if_any(|code| code.run_calls_later)
    }

    /// What waits for the end of the answer waits for the calls, too, and so for their code.
    fn run_if_any(self, run: fn(&Tools) -> fn(Self)) -> bool {
        if self.client_calls().is_empty() {
            return false;
        }
        if let Some(code) = untrack(|| TOOLS.get()) {
            run(code)(self);
            return false;
        }
        leptos::task::spawn_local(async move {
            let loaded = TOOLS.load().await;
            if self.is_gone() {
                return;
            }
            match loaded {
                Ok(code) => run(code)(self),
                Err(_) => self.lacks_code(),
            }
            self.send_waiting();
        });
        true
    }

    /// Executes the calls that wait for the page, and sends their results; the conversation then goes on.
    pub(in crate::agent_chat) fn run_calls(self) {
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        let (calls, elsewhere): (Vec<_>, Vec<_>) = self.client_calls().into_iter().partition(|call| self.is_free(call));
        if !elsewhere.is_empty() && calls.is_empty() {
            return self.run_calls_later();
        }
        self.run_these(calls);
    }

    /// The same for a tab that only watched: the tab that asked goes first. If it is gone, the call is still open after a while; what it
    /// had begun is not done again.
    pub(in crate::agent_chat) fn run_calls_later(self) {
        let calls = self.calls_for_here();
        if calls.is_empty() {
            return;
        }
        let limit = |call: &ToolPart| self.place.with_value(|place| place.tools.limit(&call.tool_name)) + GRACE;
        let elsewhere = calls.iter().filter(|call| !self.is_free(call)).map(limit).max();
        let turn = self.inner.with_value(|inner| inner.follower);
        leptos::task::spawn_local(async move {
            browser::sleep(elsewhere.unwrap_or(COURTESY)).await;
            let undisturbed = !self.is_gone() && self.inner.with_value(|inner| inner.follower == turn);
            if undisturbed && browser::is_visible() && self.phase.get_untracked() == Phase::Idle {
                self.run_these(self.calls_for_here());
            }
        });
    }

    fn run_these(self, calls: Vec<ToolPart>) {
        if calls.is_empty() {
            return;
        }
        self.begin();
        leptos::task::spawn_local(async move {
            let (answers, written) = self.execute(calls).await;
            if self.is_gone() {
                return;
            }
            let refused =
                answers.is_empty() || self.submit(Submission::Answers { answers }, Some(&written)).await.is_err();
            if self.is_gone() {
                return;
            }
            if refused {
                self.reload().await;
            } else {
                self.inner.update_value(|inner| inner.ran.clear());
            }
        });
    }

    fn client_calls(self) -> Vec<ToolPart> {
        let tools = self.newest_answer().map(|answer| answer.tools()).unwrap_or_default();
        tools.iter().map(ArcRwSignal::get_untracked).filter(is_client_call).collect()
    }

    /// Of the calls that wait for a page, those that this chat can execute: another chat of the
    /// page may show the same conversation.
    fn calls_for_here(self) -> Vec<ToolPart> {
        let is_for_here = |call: &ToolPart| {
            self.place.with_value(|place| match call.tool_name == PAGE_STATE_TOOL {
                true => !place.fields.is_empty(),
                false => place.tools.has(&call.tool_name),
            })
        };
        self.client_calls().into_iter().filter(is_for_here).collect()
    }

    async fn execute(self, calls: Vec<ToolPart>) -> (Vec<Answer>, Vec<(String, Value)>) {
        let (mut answers, mut written) = (Vec::new(), Vec::new());
        for call in calls {
            if call.tool_name != PAGE_STATE_TOOL {
                answers.extend(self.run_page_call(call).await);
                if self.is_gone() {
                    break;
                }
                continue;
            }
            let input = call.input.unwrap_or_default();
            let updates = self.place.with_value(|place| apply_updates(&place.fields, &input));
            written.extend(updates.written);
            answers.push(Answer::Output { tool_call_id: call.tool_call_id, output: updates.output });
        }
        (answers, written)
    }
}

fn is_client_call(tool: &ToolPart) -> bool {
    tool.state == ToolState::InputAvailable && tool.provider_executed != Some(true) && tool.tool_name != ASK_USER
}
