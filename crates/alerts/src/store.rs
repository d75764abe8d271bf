//! The tables, and queries of other tables.

use crate::state::State;
use ::store::sql::{self, Db, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "alerts",
    migrations: &[Migration {
        name: "alerts",
        sqlite: include_str!("../migrations/sqlite/0001_alerts.sql"),
        postgres: include_str!("../migrations/postgres/0001_alerts.sql"),
    }],
    tables: &[
        Table { name: "alert_states", key: "alert_id, owner", owner: Some("owner") },
        Table { name: "alert_events", key: "id", owner: Some("owner") },
        Table { name: "alert_deliveries", key: "event_id, number", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The retention time of messages, in milliseconds: 90 days.
const RETENTION_MS: i64 = 90 * 86_400_000;
/// The most messages that are kept.
const MAX_EVENTS: u32 = 10_000;
/// The retention time of the state of an alert that is not checked any more: a day.
const FORGET_MS: i64 = 86_400_000;
/// The most states that are listed: of each alert, those of 50 users.
const MAX_STATES: u32 = 2_500;

const FIND: &str = "
    SELECT alert_id, owner, condition, is_firing, since, turning_at, notified_at, value, checked_at FROM alert_states
    WHERE alert_id = $1 AND owner = $2";

const STATES: &str = "
    SELECT alert_id, owner, condition, is_firing, since, turning_at, notified_at, value, checked_at FROM alert_states
    ORDER BY alert_id, is_firing DESC, value DESC, owner LIMIT $1";

const SAVE: &str = "
    INSERT INTO alert_states (alert_id, owner, condition, is_firing, since, turning_at, notified_at, value, checked_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (alert_id, owner) DO UPDATE SET condition = excluded.condition, is_firing = excluded.is_firing,
        since = excluded.since, turning_at = excluded.turning_at, notified_at = excluded.notified_at,
        value = excluded.value, checked_at = excluded.checked_at";

const INSERT_EVENT: &str =
    "INSERT INTO alert_events (id, alert_id, owner, kind, at, title, text) VALUES ($1, $2, $3, $4, $5, $6, $7)";

const INSERT_DELIVERY: &str =
    "INSERT INTO alert_deliveries (event_id, number, receiver, outcome) VALUES ($1, $2, $3, 'waiting')";

const EVENTS: &str = "SELECT id, alert_id, owner, kind, at, title, text FROM alert_events ORDER BY id DESC LIMIT $1";

const EVENT: &str = "
    SELECT e.id, e.alert_id, e.owner, e.kind, e.at, e.title, e.text, d.receiver, d.outcome
    FROM alert_events e JOIN alert_deliveries d ON d.event_id = e.id WHERE e.id = $1 AND d.number = $2";

const DELIVERIES: &str = "
    SELECT event_id, receiver, outcome, cause FROM alert_deliveries
    WHERE event_id IN (SELECT id FROM alert_events ORDER BY id DESC LIMIT $1) ORDER BY event_id, number";

const END_DELIVERY: &str =
    "UPDATE alert_deliveries SET outcome = $3, cause = $4 WHERE event_id = $1 AND number = $2 AND outcome = 'waiting'";

const DELETE_OLD: &str = "
    DELETE FROM alert_events WHERE at < $1
    OR id <= (SELECT id FROM alert_events ORDER BY id DESC LIMIT 1 OFFSET $2)";

const FORGET: &str = "DELETE FROM alert_states WHERE checked_at < $1";

const RUNS: &str = "
    SELECT count(*) AS answers,
        CAST(coalesce(sum(CASE WHEN r.status IN ('failed', 'interrupted') THEN 1 ELSE 0 END), 0) AS BIGINT) AS failed
    FROM runs r WHERE r.ended_at > $1";

const RUNS_OF_AGENT: &str = "
    SELECT count(*) AS answers,
        CAST(coalesce(sum(CASE WHEN r.status IN ('failed', 'interrupted') THEN 1 ELSE 0 END), 0) AS BIGINT) AS failed
    FROM runs r JOIN conversations c ON c.id = r.conversation_id WHERE r.ended_at > $1 AND c.agent_id = $2";

/// The state of an alert, or of one user of an alert.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StateRow {
    pub(crate) alert_id: String,
    /// The id of the user; empty for values that are not about a user.
    pub(crate) owner: String,
    /// The fingerprint of the condition.
    pub(crate) condition: String,
    pub(crate) state: State,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AlertEvent")]
pub(crate) struct Event {
    /// The id.
    pub(crate) id: String,
    /// The alert.
    pub(crate) alert_id: String,
    /// The user whom it is about; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) owner: String,
    /// `firing`, `still`, `resolved` or `test`.
    pub(crate) kind: String,
    /// Unix time, milliseconds.
    pub(crate) at: i64,
    /// The message in one line.
    pub(crate) title: String,
    /// The message in a sentence.
    pub(crate) text: String,
}

/// The delivery of a message to a receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AlertDelivery")]
pub(crate) struct Delivery {
    /// Names the receiver.
    pub(crate) receiver: String,
    /// `waiting`, `sent` or `failed`.
    pub(crate) outcome: String,
    /// The reason why it was not sent, or not yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
}

/// Returns a state.
pub(crate) async fn find(db: &mut Db, alert_id: &str, owner: &str) -> Result<Option<StateRow>, StoreError> {
    let row = sql::query(FIND).bind(alert_id).bind(owner).fetch_optional(db).await?;
    row.as_ref().map(read_state).transpose()
}

/// Returns all states.
pub(crate) async fn states(store: &Store) -> Result<Vec<StateRow>, StoreError> {
    let list = sql::query(STATES).bind(MAX_STATES);
    store.rows(list, read_state).await
}

/// Stores a state.
pub(crate) async fn save(db: &mut Db, row: &StateRow) -> Result<(), StoreError> {
    let State { is_firing, since, turning_at, notified_at, value, checked_at } = row.state;
    let save = sql::query(SAVE).bind(&row.alert_id).bind(&row.owner).bind(&row.condition).bind(is_firing);
    save.bind(since).bind(turning_at).bind(notified_at).bind(value).bind(checked_at).execute(db).await?;
    Ok(())
}

/// Stores a message and its receivers.
pub(crate) async fn insert_event(db: &mut Db, event: &Event, receivers: &[String]) -> Result<(), StoreError> {
    let insert = sql::query(INSERT_EVENT).bind(&event.id).bind(&event.alert_id).bind(&event.owner).bind(&event.kind);
    insert.bind(event.at).bind(&event.title).bind(&event.text).execute(&mut *db).await?;
    for (number, receiver) in (0_i64..).zip(receivers) {
        sql::query(INSERT_DELIVERY).bind(&event.id).bind(number).bind(receiver).execute(&mut *db).await?;
    }
    Ok(())
}

/// Returns a message that waits to be sent, and the receiver's name. `None` if it is gone or was
/// sent.
pub(crate) async fn find_waiting(
    store: &Store,
    id: String,
    number: i64,
) -> Result<Option<(Event, String)>, StoreError> {
    let find = sql::query(EVENT).bind(id).bind(number);
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    let outcome: String = row.try_get("outcome")?;
    let found = (read_event(&row)?, row.try_get("receiver")?);
    Ok((outcome == "waiting").then_some(found))
}

/// Stores the outcome of a delivery. `waiting` stores only the cause.
pub(crate) async fn end_delivery(
    db: &mut Db,
    id: &str,
    number: i64,
    outcome: &'static str,
    cause: Option<String>,
) -> Result<(), StoreError> {
    sql::query(END_DELIVERY).bind(id).bind(number).bind(outcome).bind(cause).execute(db).await?;
    Ok(())
}

/// Returns the newest messages with their deliveries, newest first.
pub(crate) async fn events(store: &Store, most: u32) -> Result<Vec<(Event, Vec<Delivery>)>, StoreError> {
    let (list, deliveries) = (sql::query(EVENTS).bind(most), sql::query(DELIVERIES).bind(most));
    let read = store.read(move |db| {
        Box::pin(async move { Ok((list.fetch_all(&mut *db).await?, deliveries.fetch_all(db).await?)) })
    });
    let (events, deliveries) = read.await?;
    let mut of_events = HashMap::<String, Vec<Delivery>>::new();
    for row in &deliveries {
        of_events.entry(row.try_get("event_id")?).or_default().push(read_delivery(row)?);
    }
    let event = |row: &Row| {
        let event = read_event(row)?;
        let deliveries = of_events.remove(&event.id).unwrap_or_default();
        Ok((event, deliveries))
    };
    events.iter().map(event).collect()
}

/// Deletes old messages, and the states of alerts that are not checked any more.
pub(crate) async fn prune(store: &Store, now: i64) -> Result<(), StoreError> {
    let old = sql::query(DELETE_OLD).bind(now - RETENTION_MS).bind(MAX_EVENTS);
    let forgotten = sql::query(FORGET).bind(now - FORGET_MS);
    let write = store.write(move |db| {
        Box::pin(async move {
            old.execute(&mut *db).await?;
            forgotten.execute(db).await?;
            Ok(())
        })
    });
    write.await
}

/// Returns the number of answers that have ended after a time, of an agent or of all, and how many
/// of them have failed.
pub(crate) async fn ended_runs(store: &Store, after: i64, agent_id: Option<&str>) -> Result<(i64, i64), StoreError> {
    let count = match agent_id {
        Some(agent) => sql::query(RUNS_OF_AGENT).bind(after).bind(agent),
        None => sql::query(RUNS).bind(after),
    };
    let row = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await?;
    Ok((row.try_get("answers")?, row.try_get("failed")?))
}

fn read_state(row: &Row) -> Result<StateRow, StoreError> {
    Ok(StateRow {
        alert_id: row.try_get("alert_id")?,
        owner: row.try_get("owner")?,
        condition: row.try_get("condition")?,
        state: State {
            is_firing: row.try_get("is_firing")?,
            since: row.try_get("since")?,
            turning_at: row.try_get("turning_at")?,
            notified_at: row.try_get("notified_at")?,
            value: row.try_get("value")?,
            checked_at: row.try_get("checked_at")?,
        },
    })
}

fn read_event(row: &Row) -> Result<Event, StoreError> {
    Ok(Event {
        id: row.try_get("id")?,
        alert_id: row.try_get("alert_id")?,
        owner: row.try_get("owner")?,
        kind: row.try_get("kind")?,
        at: row.try_get("at")?,
        title: row.try_get("title")?,
        text: row.try_get("text")?,
    })
}

fn read_delivery(row: &Row) -> Result<Delivery, StoreError> {
    Ok(Delivery { receiver: row.try_get("receiver")?, outcome: row.try_get("outcome")?, cause: row.try_get("cause")? })
}
