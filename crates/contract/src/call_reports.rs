//! The reports of a running call to its run before its result.

use crate::{CallTime, Source, UserWait};
use serde_json::Value;
use tokio::sync::mpsc;

/// The name of the data part with a question of a running tool to the user.
pub const TOOL_QUESTION: &str = "tool-question";

/// The name of the data part of a call whose result has a user interface of the tool's server (an MCP App).
pub const MCP_APP: &str = "mcp-app";

/// A report of a running call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallReport {
    /// The result so far, which replaces the previous one.
    Progress(Value),
    /// A source that the message cites.
    Source(Source),
    /// A data part of the message.
    Data {
        /// The name of the part, which becomes its type `data-NAME`.
        name: String,
        /// A later part with the same name and id replaces this one.
        id: Option<String>,
        /// The content.
        data: Value,
    },
    /// A question to the user, or how it ended: the data part [`TOOL_QUESTION`]. A report of its own, because a
    /// remote agent, which chooses the names of its data parts, must not add one.
    Question {
        /// The id of the question.
        id: String,
        /// The content.
        data: Value,
    },
    /// The result has a user interface: the data part [`MCP_APP`] with the call's id. A report of its own, as a question is.
    App {
        /// The content.
        data: Value,
    },
    /// The tools that a [source](crate::ToolSource) offers have changed, so the run asks its sources
    /// again before its next step.
    ToolsChanged,
}

/// Sends the reports of a call, with the call's id. The default has no receiver and drops them.
#[derive(Clone, Debug, Default)]
pub struct CallReports {
    sender: Option<(String, mpsc::Sender<(String, CallReport)>)>,
    time: CallTime,
}

impl CallReports {
    /// Sends the reports of this call to the channel. The channel's capacity is the number of
    /// reports that may be queued.
    pub fn new(call_id: impl Into<String>, sender: mpsc::Sender<(String, CallReport)>) -> Self {
        Self { sender: Some((call_id.into(), sender)), time: CallTime::default() }
    }

    /// Returns the reports of a call that has this time.
    #[must_use]
    pub fn with_time(self, time: CallTime) -> Self {
        Self { time, ..self }
    }

    /// Says that the call waits for the user, until the returned value is dropped. The time of the call
    /// [stands still](CallTime::wait_for_user) meanwhile.
    pub fn wait_for_user(&self) -> UserWait {
        self.time.wait_for_user()
    }

    /// Shows the result so far, which replaces the previous one. A report is dropped when reports
    /// arrive faster than they can be shown.
    pub fn progress(&self, output: Value) {
        if let Some((call_id, sender)) = &self.sender {
            let _ = sender.try_send((call_id.clone(), CallReport::Progress(output)));
        }
    }

    /// Adds a source to the message.
    pub async fn add_source(&self, source: Source) {
        self.send(CallReport::Source(source)).await;
    }

    /// Adds a data part `data-NAME` to the message, or replaces the one with the same name and id.
    pub async fn add_data(&self, name: impl Into<String>, id: Option<String>, data: Value) {
        self.send(CallReport::Data { name: name.into(), id, data }).await;
    }

    /// Shows what the call is doing, in the user's words, until the agent writes or the call says
    /// something else. It is the data part `data-status` of the message.
    pub async fn status(&self, text: &str) {
        if let Some((call_id, _)) = &self.sender {
            self.add_data("status", Some(call_id.clone()), serde_json::json!({ "message": text })).await;
        }
    }

    /// Shows a question to the user, or how it ended.
    pub async fn question(&self, id: impl Into<String>, data: Value) {
        self.send(CallReport::Question { id: id.into(), data }).await;
    }

    /// Shows the user interface of the call's result.
    pub async fn app(&self, data: Value) {
        self.send(CallReport::App { data }).await;
    }

    /// Lets the run ask its tool sources again before its next step.
    pub async fn tools_changed(&self) {
        self.send(CallReport::ToolsChanged).await;
    }

    async fn send(&self, report: CallReport) {
        if let Some((call_id, sender)) = &self.sender {
            // The run may have ended.
            let _ = sender.send((call_id.clone(), report)).await;
        }
    }
}
