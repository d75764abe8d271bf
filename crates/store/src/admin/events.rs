//! The events of the product in a time, found in the tables in which they are stored.

use super::outbox;
use crate::sql::{self, Row};
use crate::{Store, StoreError};
use serde_json::{Map, Value};

/// Finds events that [`append_event`](crate::append_event) has stored.
macro_rules! emitted {
    ($name:literal) => {
        concat!(
            "SELECT at, event_key AS key, data FROM events WHERE name = '",
            $name,
            "' AND at >= $1 AND (at > $1 OR event_key > $2) AND at <= $3 ORDER BY at, event_key LIMIT $4"
        )
    };
}

/// A kind of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A run of an agent has ended, and does not wait for its user.
    RunEnded,
    /// A run waits for its user: for an approval or an answer.
    ApprovalWaiting,
    /// A user has rated an answer, or changed the rating.
    FeedbackGiven,
    /// An account was created.
    UserCreated,
    /// A document was read, and can be searched.
    DocumentReady,
    /// A person was reminded of a question of a workflow.
    TaskReminded,
    /// A workflow asks people something.
    TaskWaiting,
    /// The run of a workflow has ended that no other run started.
    WorkflowEnded,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::RunEnded,
        Self::ApprovalWaiting,
        Self::FeedbackGiven,
        Self::UserCreated,
        Self::DocumentReady,
        Self::TaskReminded,
        Self::TaskWaiting,
        Self::WorkflowEnded,
    ];

    /// Returns the name, for configs and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RunEnded => "run.ended",
            Self::ApprovalWaiting => "approval.waiting",
            Self::FeedbackGiven => "feedback.given",
            Self::UserCreated => "user.created",
            Self::DocumentReady => "document.ready",
            Self::TaskReminded => "task.reminded",
            Self::TaskWaiting => "task.waiting",
            Self::WorkflowEnded => "workflow.ended",
        }
    }

    /// Returns the kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether events of this kind are stored with [`append_event`](crate::append_event), so
    /// that they have numbers.
    pub const fn is_emitted(self) -> bool {
        matches!(self, Self::DocumentReady | Self::TaskReminded | Self::TaskWaiting | Self::WorkflowEnded)
    }

    const fn query(self) -> &'static str {
        match self {
            Self::RunEnded => RUNS_ENDED,
            Self::ApprovalWaiting => RUNS_WAITING,
            Self::FeedbackGiven => FEEDBACK,
            Self::UserCreated => USERS,
            Self::DocumentReady => emitted!("document.ready"),
            Self::TaskReminded => emitted!("task.reminded"),
            Self::TaskWaiting => emitted!("task.waiting"),
            Self::WorkflowEnded => emitted!("workflow.ended"),
        }
    }
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// When; Unix time in milliseconds.
    pub at: i64,
    /// A text that no other event has.
    pub key: String,
    /// Its name, and whom and what it is about, as an object.
    pub data: Value,
}

/// The columns of an event: the time, the key, and the names of its data with their values.
macro_rules! runs {
    ($condition:literal) => {
        concat!(
            "SELECT r.ended_at AS at, r.id AS key, r.id AS \"runId\", r.conversation_id AS \"conversationId\",
                c.owner AS \"userId\", c.agent_id AS \"agentId\", r.status AS outcome, r.reason AS reason
             FROM runs r JOIN conversations c ON c.id = r.conversation_id
             WHERE r.ended_at >= $1 AND (r.ended_at > $1 OR r.id > $2) AND r.ended_at <= $3 AND r.status ",
            $condition,
            " ORDER BY r.ended_at, r.id LIMIT $4"
        )
    };
}

const RUNS_ENDED: &str = runs!("<> 'waiting'");
const RUNS_WAITING: &str = runs!("= 'waiting'");

const FEEDBACK: &str = "
    SELECT at, key, \"conversationId\", \"messageId\", \"userId\", \"agentId\", rating, reason FROM (
        SELECT f.updated_at AS at, f.message_id || ' ' || CAST(f.updated_at AS TEXT) AS key,
            f.conversation_id AS \"conversationId\", f.message_id AS \"messageId\", f.owner AS \"userId\",
            c.agent_id AS \"agentId\", f.rating AS rating, f.reason AS reason
        FROM feedback f JOIN conversations c ON c.id = f.conversation_id
        WHERE f.updated_at >= $1 AND f.updated_at <= $3) AS given
    WHERE at > $1 OR key > $2 ORDER BY at, key LIMIT $4";

const USERS: &str = "
    SELECT created_at AS at, id AS key, id AS \"userId\", name AS \"userName\" FROM users
    WHERE created_at >= $1 AND (created_at > $1 OR id > $2) AND created_at <= $3 AND deleted_at IS NULL
    ORDER BY created_at, id LIMIT $4";

impl Store {
    /// Returns the events of a kind after a time and a key up to another time, oldest first, at most
    /// `limit`. An event may be stored a moment after its time.
    ///
    /// # Errors
    /// The database failed.
    pub async fn events_between(
        &self,
        kind: EventKind,
        after: (i64, &str),
        until: i64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let find = sql::query(kind.query()).bind(after.0).bind(after.1).bind(until).bind(limit);
        self.rows(find, move |row| event(kind, row)).await
    }
}

fn event(kind: EventKind, row: &Row) -> Result<StoredEvent, StoreError> {
    if kind.is_emitted() {
        return Ok(StoredEvent {
            at: row.try_get("at")?,
            key: row.try_get("key")?,
            data: named(outbox::data(row)?, kind),
        });
    }
    let mut data = Map::new();
    data.insert("name".to_owned(), kind.name().into());
    let names: &[&str] = match kind {
        EventKind::RunEnded | EventKind::ApprovalWaiting => {
            &["runId", "conversationId", "userId", "agentId", "outcome", "reason"]
        }
        EventKind::FeedbackGiven => &["conversationId", "messageId", "userId", "agentId", "rating", "reason"],
        EventKind::UserCreated => &["userId", "userName"],
        EventKind::DocumentReady | EventKind::TaskReminded | EventKind::TaskWaiting | EventKind::WorkflowEnded => &[],
    };
    for name in names {
        let value: Option<String> = row.try_get(*name)?;
        if let Some(value) = value {
            data.insert((*name).to_owned(), value.into());
        }
    }
    Ok(StoredEvent { at: row.try_get("at")?, key: row.try_get("key")?, data: data.into() })
}

/// Adds the name of an event to its data.
fn named(mut data: Value, kind: EventKind) -> Value {
    if let Value::Object(data) = &mut data {
        data.insert("name".to_owned(), kind.name().into());
    }
    data
}
