//! How much the runs of all workflows keep.

use config::{AccessRule, Section};
use schemars::JsonSchema;
use serde::Deserialize;

/// How many bytes the runs of workflows keep. A run that exceeds a bound ends, with the bound as its
/// cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkflowBytes {
    /// The most bytes of the outputs of all steps of a run together.
    #[schemars(range(min = 1024, max = 268_435_456))]
    pub state: usize,
    /// The most bytes of the output of one step.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub output: usize,
}

impl Default for WorkflowBytes {
    fn default() -> Self {
        Self { state: 8 << 20, output: 1 << 20 }
    }
}

impl Section for WorkflowBytes {
    const KEY: &'static str = "workflowBytes";

    fn access_rules(&self) -> Vec<&AccessRule> {
        Vec::new()
    }
}
