//! What a running call tells of itself: `{"progress", "total"?, "message"?}`.

use crate::node::{Node, element};
use crate::texts::{Text, fill, t};
use serde_json::{Map, Value};

/// How far a call is.
#[derive(Clone, Copy)]
pub(super) struct Progress<'v>(&'v Map<String, Value>);

impl<'v> Progress<'v> {
    /// If that is what the output of a running call is.
    pub(super) fn of(output: Option<&'v Value>) -> Option<Self> {
        let told = output?.as_object()?;
        told.get("progress")?.is_number().then_some(Self(told))
    }

    /// In words; empty when there is nothing to say.
    pub(super) fn words(self) -> String {
        let [message, total, done] = ["message", "total", "progress"].map(|key| self.0.get(key));
        match (message.and_then(Value::as_str), total, done) {
            (Some(message), _, _) if !message.is_empty() => message.to_owned(),
            (_, Some(Value::Number(total)), Some(Value::Number(done))) => {
                fill(Text::ProgressOf, &[&done.to_string(), &total.to_string()])
            }
            _ => String::new(),
        }
    }

    /// As a bar, where it is known how far there is to go.
    pub(super) fn bar(self) -> Option<Node> {
        let (done, total) = (self.0.get("progress")?, self.0.get("total")?);
        let bar = element("progress").with("class", "cw-tool-bar").with("aria-label", t(Text::Progress));
        total.is_number().then(|| bar.with("max", wire::json::text(total)).with("value", wire::json::text(done)))
    }
}
