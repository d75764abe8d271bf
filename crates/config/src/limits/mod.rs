//! The limits of the server.

pub(crate) mod rate_limit;

use agent::{RunSettings, Timeouts};
use contract::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use settings::InvocationTiers;
use std::time::Duration;

/// Timeouts, sizes and numbers that the server enforces. The defaults suit one machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Limits {
    /// The timeout for the headers of a request, in milliseconds.
    #[serde(rename = "headerReadMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 3_600_000))]
    pub header_read: Duration,
    /// The timeout for the body of a request, in milliseconds; extended by one second for each 16
    /// KiB received.
    #[serde(rename = "bodyReadMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 3_600_000))]
    pub body_read: Duration,
    /// The largest request body in bytes. Files have a limit of their own.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub body_bytes: usize,
    /// The longest text of a message in bytes.
    #[schemars(range(min = 1024, max = 16_777_216))]
    pub text_bytes: usize,
    /// The largest attachment in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub file_bytes: u64,
    /// The storage for the files of one user in bytes.
    #[schemars(range(min = 4096, max = 1_099_511_627_776_u64))]
    pub user_file_bytes: u64,
    /// The most open connections.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections: usize,
    /// The most open connections from one IP address.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub connections_per_address: usize,
    /// The timeout for a client to read some of what is written to it, in milliseconds.
    #[serde(rename = "writeMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 3_600_000))]
    pub write: Duration,
    /// The interval of keep-alive signals on an idle stream, in milliseconds.
    #[serde(rename = "heartbeatMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 100, max = 600_000))]
    pub heartbeat: Duration,
    /// How long running turns may continue when the server stops, in milliseconds.
    #[serde(rename = "drainMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 0, max = 3_600_000))]
    pub drain: Duration,
    /// The most concurrent runs.
    #[schemars(range(min = 1, max = 100_000))]
    pub runs: usize,
    /// The most concurrent runs of one user. Default: 4, without limit in the auth mode `local`.
    #[schemars(range(min = 1, max = 100_000))]
    pub runs_per_user: Option<usize>,
    /// The memory that the server may use, in bytes. Default: the smallest limit of the system.
    #[schemars(range(min = 16_777_216, max = 1_099_511_627_776_u64))]
    pub memory_bytes: Option<u64>,
    /// The timeout of a whole turn, in milliseconds.
    #[serde(rename = "turnMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 86_400_000))]
    pub turn: Duration,
    /// The timeout for the first byte of a provider's reply, in milliseconds.
    #[serde(rename = "firstByteMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 3_600_000))]
    pub first_byte: Duration,
    /// The timeout between two parts of a provider's reply, in milliseconds.
    #[serde(rename = "idleMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 3_600_000))]
    pub idle: Duration,
    /// The timeout of one tool call, in milliseconds.
    #[serde(rename = "toolMs", with = "settings::milliseconds")]
    #[schemars(with = "u64", range(min = 1, max = 3_600_000))]
    pub tool: Duration,
    /// The most tools that one turn runs concurrently.
    #[schemars(range(min = 1, max = 64))]
    pub parallel_tools: usize,
    /// The most sub-agents that work concurrently in one turn, over all levels: 2 to 4; another number
    /// counts as the nearest of these. One that waits for others does not count.
    #[schemars(range(min = 1, max = 1000))]
    pub parallel_agents: usize,
    /// The time limits of invocations (`POST /api/runs/invoke`) by their `agent_tier`.
    pub invocation_tiers: InvocationTiers,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_read: Duration::from_secs(10),
            body_read: Duration::from_secs(30),
            body_bytes: 1 << 20,
            text_bytes: 256 << 10,
            file_bytes: 20 << 20,
            user_file_bytes: 500 << 20,
            connections: 8_000,
            connections_per_address: 200,
            write: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            drain: Duration::from_secs(25),
            runs: 2_000,
            runs_per_user: None,
            memory_bytes: None,
            turn: Timeouts::TOTAL,
            first_byte: Timeouts::FIRST_BYTE,
            idle: Timeouts::CHUNK,
            tool: ToolSpec::DEFAULT_TIMEOUT,
            parallel_tools: RunSettings::MAX_PARALLEL_TOOLS,
            parallel_agents: RunSettings::MAX_PARALLEL_AGENTS,
            invocation_tiers: InvocationTiers::default(),
        }
    }
}
