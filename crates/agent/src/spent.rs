//! What a turn has used so far. It is stored with the message while the turn waits for the user, so that the run that goes on, on whichever
//! server, counts on instead of beginning anew.

use crate::loops::Loops;
use contract::Usage;
use serde::{Deserialize, Serialize};

/// What a turn has used in its runs so far. Opaque to whoever stores it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// What counts for [`crate::Limits`].
    #[serde(flatten)]
    pub(crate) used: Used,
    /// Requests to the agent's own model, for [`crate::Settings::max_steps`].
    #[serde(default)]
    pub(crate) steps: u32,
    /// The calls of the last steps, for the detection of loops.
    #[serde(default)]
    pub(crate) loops: Loops,
    /// The model is to be warned about a loop before it is asked again.
    #[serde(default)]
    pub(crate) warns: bool,
    /// The call that the turn waits for is one of [`crate::Settings::stop_on_tool_call`]: the turn ends with its result.
    #[serde(default)]
    pub(crate) is_last: bool,
}

/// Requests, calls, tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Used {
    pub(crate) requests: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
    /// Absent as long as no price was known.
    pub(crate) cost_usd: Option<f64>,
}

impl Used {
    /// The sum of this and what came before.
    pub(crate) fn with(mut self, before: &Self) -> Self {
        self.requests = self.requests.saturating_add(before.requests);
        self.tool_calls = self.tool_calls.saturating_add(before.tool_calls);
        self.usage += before.usage;
        let known = self.cost_usd.is_some() || before.cost_usd.is_some();
        self.cost_usd = known.then(|| self.cost_usd.unwrap_or_default() + before.cost_usd.unwrap_or_default());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn stored_counts_are_read_back() {
        let mut loops = Loops::default();
        let call = contract::ToolCall {
            id: "c".to_owned(),
            name: "t".to_owned(),
            input: json!({ "n": 1 }),
            provider_executed: false,
            metadata: None,
        };
        loops.see(&[call]);
        let used = Used { requests: 2, tool_calls: 3, cost_usd: Some(0.5), ..Used::default() };
        let spent = Spent { used, steps: 2, loops, warns: true, is_last: false };
        let stored = serde_json::to_value(&spent).unwrap();
        assert_eq!(serde_json::from_value::<Spent>(stored).unwrap(), spent);
        // What an earlier version stored has amounts only.
        let old = json!({ "requests": 1, "tool_calls": 0, "usage": Usage::default(), "cost_usd": null });
        let read = serde_json::from_value::<Spent>(old).unwrap();
        assert_eq!((read.used.requests, read.steps), (1, 0));
    }
}
