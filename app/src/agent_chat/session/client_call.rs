//! Calls that the page executes: `update-page-state` writes the fields that the page shares.
//!
//! A call is answered once. The server takes the first answer; whoever is refused (another tab was faster) has written nothing,
//! because the fields are written when the answer has been accepted. `ask-user` is not among them: the user answers it, see
//! `question_card.rs`.

use super::{Phase, Session};
use crate::agent_chat::browser;
use leptos::prelude::*;
use leptos::task::spawn_local;
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

impl Session {
    /// Executes the calls that wait for the page, and sends their results; the conversation then goes on.
    pub(super) fn run_client_calls(self) {
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        let (answers, written) = self.execute();
        if answers.is_empty() {
            return;
        }
        self.begin();
        spawn_local(async move {
            let refused = self.submit(Submission::Answers { answers }, Some(&written)).await.is_err();
            if refused && !self.is_gone() {
                self.reload().await;
            }
        });
    }

    /// The same for a tab that only watched: the tab that asked goes first. If it is gone, the call is still open after a while.
    pub(super) fn run_client_calls_later(self) {
        if !self.has_client_calls() {
            return;
        }
        let turn = self.inner.with_value(|inner| inner.follower);
        spawn_local(async move {
            browser::sleep(COURTESY).await;
            let undisturbed = !self.is_gone() && self.inner.with_value(|inner| inner.follower == turn);
            if undisturbed && browser::is_visible() {
                self.run_client_calls();
            }
        });
    }

    pub(super) fn has_client_calls(self) -> bool {
        self.newest_answer().is_some_and(|answer| answer.tools().iter().any(|tool| tool.with_untracked(is_client_call)))
    }

    fn execute(self) -> (Vec<Answer>, Vec<(String, Value)>) {
        let (mut answers, mut written) = (Vec::new(), Vec::new());
        for tool in self.newest_answer().map(|answer| answer.tools()).unwrap_or_default() {
            let tool = tool.get_untracked();
            if !is_client_call(&tool) {
                continue;
            }
            let tool_call_id = tool.tool_call_id;
            if tool.tool_name != PAGE_STATE_TOOL {
                let error_text = "This page cannot execute the tool.".to_owned();
                answers.push(Answer::Error { tool_call_id, error_text });
                continue;
            }
            let input = tool.input.unwrap_or_default();
            let updates = self.place.with_value(|place| apply_updates(&place.fields, &input));
            written.extend(updates.written);
            answers.push(Answer::Output { tool_call_id, output: updates.output });
        }
        (answers, written)
    }
}

fn is_client_call(tool: &ToolPart) -> bool {
    tool.state == ToolState::InputAvailable && tool.provider_executed != Some(true) && tool.tool_name != ASK_USER
}
