//! The limits of time and memory of invocations (`limits.invocationTiers`).

use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// The limits of time and memory of runs without a conversation (`POST /api/runs`,
/// `POST /api/runs/invoke`) by their `agent_tier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
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
    /// The most bytes that a run of the tier `simple` reads and writes: the model's replies and the
    /// results of tools.
    #[schemars(range(min = 1024))]
    pub simple_bytes: u64,
    /// The same of the tier `complex`.
    #[schemars(range(min = 1024))]
    pub complex_bytes: u64,
    /// The same of the tier `batch`.
    #[schemars(range(min = 1024))]
    pub batch_bytes: u64,
}

impl Default for InvocationTiers {
    fn default() -> Self {
        Self {
            simple: Duration::from_secs(30),
            complex: Duration::from_mins(5),
            batch: Duration::from_mins(30),
            simple_bytes: 512 << 20,
            complex_bytes: 2 << 30,
            batch_bytes: 4 << 30,
        }
    }
}
