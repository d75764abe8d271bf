//! Decisions on calls and answers to questions.

use super::{Phase, Session};
use crate::prelude::*;
use serde_json::Value;
use wire::api::{Answer, Submission};
use wire::{Approval, ToolPart, ToolState};

impl Session {
    /// Sends the user's decision on a call, optionally with changed arguments or with a standing
    /// approval.
    pub(in crate::agent_chat) fn decide(self, decision: Answer) {
        let Answer::Approval { tool_call_id, approved, reason, input, .. } = &decision else { return };
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        self.focus_requests.update(|count| *count += 1);
        self.show_call(tool_call_id, |tool| {
            tool.state = ToolState::ApprovalResponded;
            if let Some(input) = input {
                tool.change_input(input);
            }
            let approval = tool.approval.take().unwrap_or_else(|| Approval::new(""));
            tool.approval = Some(Approval { approved: Some(*approved), reason: reason.clone(), ..approval });
        });
        self.submit_or_reload(Submission::Answers { answers: vec![decision] });
    }

    /// Reloads the conversation when the time to decide about a call is over, to show the state on
    /// the server.
    pub(in crate::agent_chat) fn reload_expired(self) {
        if !self.is_disposed() && self.phase.get_untracked() == Phase::Idle {
            leptos::task::spawn_local(self.reload());
        }
    }

    /// Sends the user's answer to a question of the agent.
    pub(in crate::agent_chat) fn answer_question(self, tool_call_id: String, output: Value) {
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        self.focus_requests.update(|count| *count += 1);
        self.show_call(&tool_call_id, |tool| {
            tool.state = ToolState::OutputAvailable;
            tool.output = Some(output.clone());
        });
        let answers = vec![Answer::Output { tool_call_id, output }];
        self.submit_or_reload(Submission::Answers { answers });
    }

    /// Shows a new state of a call of the newest answer at once.
    fn show_call(self, call_id: &str, change: impl FnOnce(&mut ToolPart)) {
        let tools = self.newest_answer().map(|answer| answer.tools()).unwrap_or_default();
        let tool = tools.into_iter().find(|tool| tool.with_untracked(|tool| tool.tool_call_id == call_id));
        if let Some(tool) = tool {
            tool.update(change);
        }
    }
}
