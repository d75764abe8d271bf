//! How long data is retained (`store.retention`).

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;
use std::time::Duration;

/// How long data is retained before it is deleted permanently. The audit log and usage statistics
/// are kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Retention {
    /// How long a conversation is retained after its last change, in days. Default: without end.
    #[serde(rename = "conversationsDays", with = "crate::days")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 36_500))]
    pub conversations: Option<Duration>,
    /// The same for the conversations of single agents: days by the agent's id.
    #[serde(with = "crate::days")]
    #[schemars(with = "HashMap<String, u32>")]
    pub agents: IndexMap<String, Duration>,
    /// Keeps pinned conversations without end.
    #[serde(rename = "keepPinned")]
    pub keeps_pinned: bool,
    /// How long a temporary conversation is retained, in hours.
    #[serde(rename = "temporaryHours", with = "crate::hours")]
    #[schemars(with = "u32", range(min = 1, max = 8_760))]
    pub temporary: Duration,
    /// How long an invocation (`POST /api/runs/invoke`) is retained after its end, in days.
    /// Default: without end.
    #[serde(rename = "questionsDays", with = "crate::days")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 36_500))]
    pub invocations: Option<Duration>,
}

/// Keeps everything except temporary conversations, which are kept for a day.
impl Default for Retention {
    fn default() -> Self {
        Self {
            conversations: None,
            agents: IndexMap::new(),
            keeps_pinned: true,
            temporary: Duration::from_hours(24),
            invocations: None,
        }
    }
}
