//! The progress that a running call reports: `{"progress", "total"?, "message"?}`.

use crate::texts::{Text, fill, t};
use crate::ui::node::{Node, element};
use serde_json::{Map, Value};

/// The progress of a call.
#[derive(Clone, Copy)]
pub(in crate::agent_chat) struct CallProgress<'v>(&'v Map<String, Value>);

impl<'v> CallProgress<'v> {
    /// Reads the output of a running call; none if it is no progress report.
    pub(in crate::agent_chat) fn from_output(output: Option<&'v Value>) -> Option<Self> {
        let told = output?.as_object()?;
        told.get("progress")?.is_number().then_some(Self(told))
    }

    /// The progress as text; empty if there is nothing to show.
    pub(in crate::agent_chat) fn text(self) -> String {
        let [message, total, done] = ["message", "total", "progress"].map(|key| self.0.get(key));
        match (message.and_then(Value::as_str), total, done) {
            (Some(message), _, _) if !message.is_empty() => message.to_owned(),
            (_, Some(Value::Number(total)), Some(Value::Number(done))) => {
                fill(Text::ProgressOf, &[&done.to_string(), &total.to_string()])
            }
            _ => String::new(),
        }
    }

    /// The progress bar, if the total is known.
    pub(in crate::agent_chat) fn bar(self) -> Option<Node> {
        let (done, total) = (self.0.get("progress")?, self.0.get("total")?);
        let bar = element("progress").attr("class", "cw-tool-bar").attr("aria-label", t(Text::Progress));
        total.is_number().then(|| bar.attr("max", wire::json::text(total)).attr("value", wire::json::text(done)))
    }
}
