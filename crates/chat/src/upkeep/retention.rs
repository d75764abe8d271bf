//! Retention: expired data is deleted for good, in limited amounts at a time. The audit log and
//! usage totals are kept.

use crate::events::Events;
use crate::upkeep::purge::{self, conversation_deleted};
use crate::{AgentSource, Clock, Telemetry};
use schemars::JsonSchema;
use serde::Serialize;
use settings::Retention;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{DueFilter, Store, StoreError};

/// The number of conversations in a batch.
const BATCH: u32 = 100;
/// The maximum number of each kind per round; the rest waits for the next, so that other writes are
/// not delayed.
const MOST: u64 = 1_000;
/// The reason why an open call has no result.
const OVER: &str = "The retention period of the conversation is over.";

/// A retention rule for conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionRule {
    /// The agent; if absent, all agents without a rule of their own.
    pub agent_id: Option<String>,
    /// The retention after the last change.
    pub kept: Duration,
    /// The conversations that are due under this rule.
    pub due: DueFilter,
}

impl RetentionRule {
    /// Returns the rules for conversations as of `now` (Unix time, milliseconds).
    pub fn all(retention: &Retention, now: i64) -> Vec<Self> {
        let rule = |agent_id: Option<&String>, kept: Duration| Self {
            agent_id: agent_id.cloned(),
            kept,
            due: DueFilter::Inactive {
                agent_id: agent_id.cloned(),
                except: match agent_id {
                    Some(_) => Vec::new(),
                    None => retention.agents.keys().cloned().collect(),
                },
                before: before(now, kept),
                keeps_pinned: retention.keeps_pinned,
            },
        };
        let all = retention.conversations.map(|kept| rule(None, kept));
        retention.agents.iter().map(|(id, kept)| rule(Some(id), *kept)).chain(all).collect()
    }
}

/// Returns the time before which ended invocations are due; Unix time in milliseconds.
pub fn invocations_due_before(retention: &Retention, now: i64) -> Option<i64> {
    retention.invocations.map(|kept| before(now, kept))
}

fn before(now: i64, kept: Duration) -> i64 {
    now.saturating_sub(i64::try_from(kept.as_millis()).unwrap_or(i64::MAX))
}

/// The amounts that a round deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SweepResult {
    /// Conversations without a change for longer than their retention.
    pub conversations: u64,
    /// Temporary conversations.
    pub temporary: u64,
    /// Invocations.
    pub questions: u64,
}

/// Deletes expired data.
#[derive(Clone)]
pub(crate) struct Sweeper {
    pub(crate) store: Store,
    pub(crate) agents: Arc<dyn AgentSource>,
    pub(crate) clock: Clock,
    pub(crate) telemetry: Arc<OnceLock<Arc<dyn Telemetry>>>,
    pub(crate) events: Events,
}

impl Sweeper {
    /// Runs one round. The rest beyond its limits is deleted in the next one.
    pub(crate) async fn sweep(&self) -> Result<SweepResult, StoreError> {
        let (retention, now) = (self.agents.retention(), self.clock.now());
        let mut swept = SweepResult::default();
        for rule in RetentionRule::all(&retention, now) {
            swept.conversations += self.conversations(&rule.due, MOST - swept.conversations.min(MOST)).await?;
        }
        swept.temporary = self.conversations(&DueFilter::Temporary(now), MOST).await?;
        if let Some(before) = invocations_due_before(&retention, now) {
            swept.questions = self.store.delete_ended_invocations(before, MOST as u32).await?;
        }
        if swept != SweepResult::default() {
            let SweepResult { conversations, temporary, questions } = swept;
            tracing::info!(conversations, temporary, questions, "expired data was deleted");
        }
        self.tell("untouched", swept.conversations);
        self.tell("temporary", swept.temporary);
        self.tell("question", swept.questions);
        Ok(swept)
    }

    async fn conversations(&self, due: &DueFilter, most: u64) -> Result<u64, StoreError> {
        let mut count = 0;
        while count < most {
            let found = self.store.due_conversations(due, BATCH.min((most - count) as u32)).await?;
            let mut gone = 0;
            for conversation in &found {
                let open = purge::open_calls(&self.store, conversation, OVER).await?;
                if self.store.delete_due(due, conversation, open).await? {
                    self.events.tell(&conversation_deleted(conversation));
                    gone += 1;
                }
            }
            count += gone;
            // Nothing is left, or another server deletes the same conversations.
            if found.len() < BATCH as usize || gone == 0 {
                break;
            }
        }
        Ok(count)
    }

    /// Reports a number of deletions to telemetry.
    pub(crate) fn tell(&self, what: &'static str, count: u64) {
        if let (Some(to), true) = (self.telemetry.get(), count > 0) {
            to.deleted(what, count);
        }
    }
}
