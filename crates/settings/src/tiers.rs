//! The time limits of invocations (`limits.invocationTiers`).

use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// The time limits of invocations (`POST /api/runs/invoke`) by their `agent_tier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InvocationTiers {
    /// The time limit of the tier `simple`, in milliseconds.
    #[serde(rename = "simpleMs", with = "crate::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 86_400_000))]
    pub simple: Duration,
    /// The time limit of the tier `complex`, in milliseconds.
    #[serde(rename = "complexMs", with = "crate::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 86_400_000))]
    pub complex: Duration,
    /// The time limit of the tier `batch`, in milliseconds.
    #[serde(rename = "batchMs", with = "crate::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 86_400_000))]
    pub batch: Duration,
}

impl Default for InvocationTiers {
    fn default() -> Self {
        Self { simple: Duration::from_secs(30), complex: Duration::from_mins(5), batch: Duration::from_mins(30) }
    }
}
