//! The usage of a turn over all of its runs. It is stored with the message while the turn waits for
//! the user, so that the next run, on any server, continues to count.

use crate::limits::loop_detection::LoopDetector;
use contract::Usage;
use serde::{Deserialize, Serialize};

/// The usage of a turn in its runs so far. Opaque to the code that stores it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TurnUsage {
    /// The usage to which [`crate::TurnLimits`] apply.
    #[serde(flatten)]
    pub(crate) used: ResourceUsage,
    /// The number of requests to the agent's own model, for [`crate::RunSettings::max_steps`].
    #[serde(default)]
    pub(crate) steps: u32,
    /// The tool calls of the recent steps, for the detection of loops.
    #[serde(default)]
    pub(crate) loops: LoopDetector,
    /// Whether to warn the model about a loop before the next request.
    #[serde(default)]
    pub(crate) warns: bool,
    /// Whether the call that the turn waits for is one of [`crate::RunSettings::stop_on_tool_call`],
    /// so that the turn ends with its result.
    #[serde(default)]
    pub(crate) is_last: bool,
    /// Whether another such call of the same reply has run, so that the turn ends whatever is decided
    /// about those that it waits for.
    #[serde(default)]
    pub(crate) last_has_run: bool,
    /// The name of the route that the turn has taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) route: Option<String>,
}

impl TurnUsage {
    /// Returns the usage after further requests to the agent's own model.
    #[must_use]
    pub fn with_requests(mut self, requests: u32) -> Self {
        self.steps = self.steps.saturating_add(requests);
        self.used.requests = self.used.requests.saturating_add(requests);
        self
    }
}

/// The numbers of requests and tool calls, the tokens and the cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ResourceUsage {
    pub(crate) requests: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
    /// Absent until a price was known.
    pub(crate) cost_usd: Option<f64>,
}

impl ResourceUsage {
    /// Returns the sum of this and the earlier usage.
    pub(crate) fn plus(mut self, before: &Self) -> Self {
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
    use crate::limits::loop_detection::EarlierSteps;
    use serde_json::json;

    #[test]
    fn stored_counts_are_read_back() {
        let mut loops = LoopDetector::default();
        let call = contract::ToolCall {
            id: "c".to_owned(),
            name: "t".to_owned(),
            input: json!({ "n": 1 }),
            provider_executed: false,
            metadata: None,
        };
        loops.record(&[call], &EarlierSteps::default());
        let used = ResourceUsage { requests: 2, tool_calls: 3, cost_usd: Some(0.5), ..ResourceUsage::default() };
        let spent = TurnUsage {
            used,
            steps: 2,
            loops,
            warns: true,
            is_last: false,
            last_has_run: true,
            route: Some("r".to_owned()),
        };
        let stored = serde_json::to_value(&spent).unwrap();
        assert_eq!(serde_json::from_value::<TurnUsage>(stored).unwrap(), spent);
        // Earlier versions stored only these fields.
        let old = json!({ "requests": 1, "tool_calls": 0, "usage": Usage::default(), "cost_usd": null });
        let read = serde_json::from_value::<TurnUsage>(old).unwrap();
        assert_eq!((read.used.requests, read.steps), (1, 0));
    }
}
