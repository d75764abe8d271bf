//! How long things are kept. What is over goes for good, some at a time; the audit log and what was used stay.

use crate::{Agents, Chat, Clock, Telemetry, errors, purge};
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{Due, Store, StoreError};
use wire::UserError;

/// Conversations that are looked for at once.
const BATCH: u32 = 100;
/// Of one kind in one round; the rest waits for the next, so that others write in between.
const MOST: u64 = 1_000;
/// Why a question has no answer.
const OVER: &str = "The conversation was kept for as long as the config says.";

/// How long things are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Conversations, after the last change to them; for ever without it.
    pub conversations: Option<Duration>,
    /// The same for those with single agents, by id; these count instead.
    pub agents: Vec<(String, Duration)>,
    /// Conversations that their owners have pinned stay.
    pub keeps_pinned: bool,
    /// Temporary conversations, after they were made so.
    pub temporary: Duration,
    /// Questions of programs, after their end; for ever without it.
    pub questions: Option<Duration>,
}

impl Default for Retention {
    /// All is kept but what is temporary, which goes after a day.
    fn default() -> Self {
        let temporary = Duration::from_secs(24 * 60 * 60);
        Self { conversations: None, agents: Vec::new(), keeps_pinned: true, temporary, questions: None }
    }
}

/// One rule about conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetentionRule {
    /// The agent; none: all that have no rule of their own.
    pub agent_id: Option<String>,
    /// After the last change.
    pub kept: Duration,
    /// What goes by it.
    pub due: Due,
}

impl Retention {
    /// The rules about conversations, as of `now`; Unix time, milliseconds.
    pub fn rules(&self, now: i64) -> Vec<RetentionRule> {
        let rule = |agent_id: Option<&String>, kept: Duration| RetentionRule {
            agent_id: agent_id.cloned(),
            kept,
            due: Due::Untouched {
                agent_id: agent_id.cloned(),
                except: match agent_id {
                    Some(_) => Vec::new(),
                    None => self.agents.iter().map(|(id, _)| id.clone()).collect(),
                },
                before: before(now, kept),
                keeps_pinned: self.keeps_pinned,
            },
        };
        let all = self.conversations.map(|kept| rule(None, kept));
        self.agents.iter().map(|(id, kept)| rule(Some(id), *kept)).chain(all).collect()
    }

    /// Questions of programs that ended before then are over; Unix time, milliseconds.
    pub fn questions_before(&self, now: i64) -> Option<i64> {
        self.questions.map(|kept| before(now, kept))
    }
}

fn before(now: i64, kept: Duration) -> i64 {
    now.saturating_sub(i64::try_from(kept.as_millis()).unwrap_or(i64::MAX))
}

/// What a round took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Conversations that nobody had touched for long.
    pub conversations: u64,
    /// Temporary ones.
    pub temporary: u64,
    /// Questions of programs.
    pub questions: u64,
}

/// Takes away what is over.
#[derive(Clone)]
pub(crate) struct Sweeper {
    pub(crate) store: Store,
    pub(crate) agents: Arc<dyn Agents>,
    pub(crate) clock: Clock,
    pub(crate) telemetry: Arc<OnceLock<Arc<dyn Telemetry>>>,
}

impl Sweeper {
    /// One round. What does not fit into it is taken away by the next one.
    pub(crate) async fn sweep(&self) -> Result<Swept, StoreError> {
        let (retention, now) = (self.agents.retention(), self.clock.now());
        let mut swept = Swept::default();
        for rule in retention.rules(now) {
            swept.conversations += self.conversations(&rule.due, MOST - swept.conversations.min(MOST)).await?;
        }
        swept.temporary = self.conversations(&Due::Temporary(now), MOST).await?;
        if let Some(before) = retention.questions_before(now) {
            swept.questions = self.store.delete_questions(before, MOST as u32).await?;
        }
        if swept != Swept::default() {
            let Swept { conversations, temporary, questions } = swept;
            tracing::info!(conversations, temporary, questions, "what was kept long enough was deleted");
        }
        self.tell("untouched", swept.conversations);
        self.tell("temporary", swept.temporary);
        self.tell("question", swept.questions);
        Ok(swept)
    }

    async fn conversations(&self, due: &Due, most: u64) -> Result<u64, StoreError> {
        let mut count = 0;
        while count < most {
            let found = self.store.due(due, BATCH.min((most - count) as u32)).await?;
            let mut gone = 0;
            for conversation in &found {
                let open = purge::open_calls(&self.store, conversation, OVER).await?;
                gone += u64::from(self.store.delete_due(due, conversation, open).await?);
            }
            count += gone;
            // Nothing is left, or somebody else takes the same away.
            if found.len() < BATCH as usize || gone == 0 {
                break;
            }
        }
        Ok(count)
    }

    /// Tells the operator what is gone for good.
    pub(crate) fn tell(&self, what: &'static str, count: u64) {
        if let (Some(to), true) = (self.telemetry.get(), count > 0) {
            to.deleted(what, count);
        }
    }
}

impl Chat {
    /// How long things are kept, by the config as it is now.
    pub fn retention(&self) -> Retention {
        self.inner.agents.retention()
    }

    /// Takes away what is over now instead of in half a minute; answers what is gone.
    ///
    /// # Errors
    /// 503 when the store fails.
    pub async fn sweep(&self) -> Result<Swept, UserError> {
        self.inner.sweeper.sweep().await.map_err(errors::of_store)
    }
}
