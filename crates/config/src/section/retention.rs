//! `store.retention`: how long data is retained.

use super::Context;
use crate::operation::Retention;
use crate::source::{Node, PathStep};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// In seconds.
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// How long data is retained before it is deleted permanently. The audit log and usage statistics
/// are kept.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RetentionEntry {
    /// How long a conversation is retained after its last change, in days. Default: without end.
    #[schemars(range(min = 1, max = 36_500))]
    conversations_days: Option<u32>,
    /// The same for the conversations of single agents: days by the agent's id.
    agents: IndexMap<String, u32>,
    /// Keeps pinned conversations without end.
    keep_pinned: bool,
    /// How long a temporary conversation is retained, in hours.
    #[schemars(range(min = 1, max = 8_760))]
    temporary_hours: u32,
    /// How long an invocation (`POST /api/runs/invoke`) is retained after its end, in days.
    /// Default: without end.
    #[schemars(range(min = 1, max = 36_500))]
    questions_days: Option<u32>,
}

impl Default for RetentionEntry {
    fn default() -> Self {
        Self {
            conversations_days: None,
            agents: IndexMap::new(),
            keep_pinned: true,
            temporary_hours: 24,
            questions_days: None,
        }
    }
}

/// Checks and converts the settings. `node` is the section `store`.
pub(super) fn check(entry: RetentionEntry, node: &Node, context: &mut Context<'_, '_>) -> Retention {
    let days = |days: u32| Duration::from_secs(u64::from(days) * DAY);
    for (id, days) in &entry.agents {
        let at = node.span_at(&[PathStep::Key("retention"), PathStep::Key("agents"), PathStep::Key(id)]);
        context.agent(id, at);
        if *days == 0 {
            context.report.error(at, "a conversation stays for one day or more".to_owned(), None);
        }
    }
    Retention {
        conversations: entry.conversations_days.map(days),
        agents: entry.agents.iter().map(|(id, kept)| (id.clone(), days(*kept))).collect(),
        keeps_pinned: entry.keep_pinned,
        temporary: Duration::from_secs(u64::from(entry.temporary_hours) * HOUR),
        invocations: entry.questions_days.map(days),
    }
}
