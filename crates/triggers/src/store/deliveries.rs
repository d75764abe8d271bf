//! Table `trigger_deliveries`.

use super::of_trigger;
use crate::active::TriggerKey;
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The number of deliveries of a trigger that are shown, and whose bodies are kept.
pub(crate) const MAX_SHOWN: u32 = 50;
/// The most running deliveries that are read at once.
const MAX_RUNNING: u32 = 200;

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DeliveryOutcome {
    /// It has started a run, which has not ended.
    Running,
    /// The run has ended well.
    Done,
    /// The run has failed, or could not be started.
    Failed,
    /// The run was stopped.
    Stopped,
    /// The condition of the trigger was not true.
    Filtered,
    /// The signature of the request was missing or wrong.
    Refused,
}

impl DeliveryOutcome {
    const ALL: [Self; 6] = [Self::Running, Self::Done, Self::Failed, Self::Stopped, Self::Filtered, Self::Refused];

    /// Returns the name that is stored and shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Filtered => "filtered",
            Self::Refused => "refused",
        }
    }
}

/// The request of a webhook, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptRequest {
    pub(crate) content_type: Option<String>,
    /// The headers that `_event` reads, by name.
    pub(crate) headers: Value,
    pub(crate) body: Bytes,
}

/// A delivery as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceivedDelivery {
    pub(crate) key: String,
    /// Whether it has failed without starting a run.
    pub(crate) is_unstarted: bool,
    /// `None` if there was none, or if it is not kept any more.
    pub(crate) request: Option<KeptRequest>,
}

/// A delivery to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewDelivery {
    pub(crate) id: String,
    pub(crate) trigger: TriggerKey,
    /// The key by which a repeated delivery is recognized.
    pub(crate) key: String,
    /// Unix time in milliseconds.
    pub(crate) received_at: i64,
    pub(crate) is_test: bool,
    pub(crate) outcome: DeliveryOutcome,
    pub(crate) detail: Option<String>,
    pub(crate) run_id: Option<String>,
    /// The request, for a webhook.
    pub(crate) request: Option<KeptRequest>,
}

/// A delivery as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivery {
    /// Its id.
    pub(crate) id: String,
    #[serde(skip)]
    pub(crate) trigger: TriggerKey,
    /// The key by which a repeated delivery is recognized: the sender's id, the tick, or the event.
    pub(crate) key: String,
    /// Unix time, milliseconds.
    pub(crate) received_at: i64,
    /// Whether an administrator has sent it.
    pub(crate) is_test: bool,
    /// The outcome.
    pub(crate) outcome: DeliveryOutcome,
    /// Why it has failed or was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// The run that it has started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// Whether its body is kept.
    pub(crate) has_body: bool,
}

impl Delivery {
    /// Returns whether it can be delivered again: it has failed without starting a run, and its body is kept.
    pub(crate) fn can_come_again(&self) -> bool {
        self.outcome == DeliveryOutcome::Failed && self.run_id.is_none() && self.has_body
    }
}

macro_rules! columns {
    () => {
        "SELECT id, workflow_id, trigger_id, delivery_key, received_at, is_test, outcome, detail, run_id,
            CAST(CASE WHEN body IS NULL THEN 0 ELSE 1 END AS BIGINT) AS has_body FROM trigger_deliveries "
    };
}

const NEWEST: &str = concat!(columns!(), "WHERE workflow_id = $1 AND trigger_id = $2 ORDER BY id DESC LIMIT $3");

const RUNNING: &str = concat!(columns!(), "WHERE outcome = 'running' AND id > $1 ORDER BY id LIMIT $2");

const IS_KNOWN: &str =
    "SELECT count(*) FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND delivery_key = $3";

const IS_UNSTARTED: &str = "
    SELECT count(*) FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND delivery_key = $3
    AND outcome = 'failed' AND run_id IS NULL";

const FORGET_UNSTARTED: &str = "
    DELETE FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND delivery_key = $3
    AND outcome = 'failed' AND run_id IS NULL";

const KNOWN_KEYS: Sql = Sql::pair(
    "SELECT delivery_key FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2
     AND delivery_key IN (SELECT value FROM json_each($3))",
    "SELECT delivery_key FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND delivery_key = ANY($3)",
);

const INSERT: &str = "
    INSERT INTO trigger_deliveries (workflow_id, trigger_id, id, delivery_key, received_at, is_test, outcome, detail,
        run_id, content_type, headers, body)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

const INSERT_WITHOUT_REQUEST: &str = "
    INSERT INTO trigger_deliveries (workflow_id, trigger_id, id, delivery_key, received_at, is_test, outcome, detail,
        run_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// Bodies are large, so those of older deliveries go at once.
const FORGET_BODIES: &str = "
    UPDATE trigger_deliveries SET body = NULL, headers = NULL WHERE workflow_id = $1 AND trigger_id = $2 AND body IS NOT NULL
    AND id <= (SELECT id FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND body IS NOT NULL
        ORDER BY id DESC LIMIT 1 OFFSET $3)";

const END: &str = "UPDATE trigger_deliveries SET outcome = $2, detail = $3 WHERE id = $1 AND outcome = 'running'";

const BODY: &str = "
    SELECT content_type, body FROM trigger_deliveries
    WHERE workflow_id = $1 AND trigger_id = $2 AND id = $3 AND body IS NOT NULL";

const RECEIVED: &str = "
    SELECT delivery_key, outcome, run_id, content_type, headers, body FROM trigger_deliveries
    WHERE workflow_id = $1 AND trigger_id = $2 AND id = $3";

/// Refused requests of a trigger: only the newest ones are kept, since anyone can send them.
const FORGET_REFUSED: &str = "
    DELETE FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND outcome = 'refused'
    AND id <= (SELECT id FROM trigger_deliveries WHERE workflow_id = $1 AND trigger_id = $2 AND outcome = 'refused'
        ORDER BY id DESC LIMIT 1 OFFSET $3)";

/// The number of refused requests of a trigger that are kept.
const MAX_REFUSED: u32 = 10;

/// Returns whether a delivery has come before.
pub(crate) async fn is_known(db: &mut Db, trigger: &TriggerKey, key: &str) -> Result<bool, StoreError> {
    let count: i64 = of_trigger(IS_KNOWN, trigger).bind(key).fetch_one(db).await?.try_get(0_usize)?;
    Ok(count > 0)
}

/// Returns whether a delivery has come before that could not start a run.
pub(crate) async fn is_unstarted(db: &mut Db, trigger: &TriggerKey, key: &str) -> Result<bool, StoreError> {
    let count: i64 = of_trigger(IS_UNSTARTED, trigger).bind(key).fetch_one(db).await?.try_get(0_usize)?;
    Ok(count > 0)
}

/// Forgets a delivery that could not start a run, because it has come again.
pub(crate) async fn forget_unstarted(db: &mut Db, trigger: &TriggerKey, key: &str) -> Result<(), StoreError> {
    of_trigger(FORGET_UNSTARTED, trigger).bind(key).execute(db).await?;
    Ok(())
}

/// Returns which of the keys have come before.
pub(crate) async fn known_keys(
    store: &Store,
    trigger: &TriggerKey,
    keys: Vec<String>,
) -> Result<HashSet<String>, StoreError> {
    let find = of_trigger(KNOWN_KEYS, trigger).bind(keys);
    let read = store.read(move |db| {
        Box::pin(async move {
            let rows = find.fetch_all(db).await?;
            rows.iter().map(|row| Ok(row.try_get(0_usize)?)).collect()
        })
    });
    read.await
}

/// Stores a delivery whose key is new.
pub(crate) async fn insert_delivery(db: &mut Db, new: NewDelivery) -> Result<(), StoreError> {
    let insert = of_trigger(if new.request.is_some() { INSERT } else { INSERT_WITHOUT_REQUEST }, &new.trigger);
    let insert = insert.bind(new.id).bind(new.key).bind(new.received_at).bind(new.is_test).bind(new.outcome.name());
    let insert = insert.bind(new.detail).bind(new.run_id);
    match new.request {
        Some(KeptRequest { content_type, headers, body }) => {
            insert.bind(content_type).bind(headers.to_string()).bind(body).execute(&mut *db).await?;
            of_trigger(FORGET_BODIES, &new.trigger).bind(MAX_SHOWN).execute(db).await?;
        }
        None => drop(insert.execute(db).await?),
    }
    Ok(())
}

/// Stores that a request was refused, and forgets older ones.
pub(crate) async fn count_refused(store: &Store, refused: NewDelivery) -> Result<(), StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            let trigger = refused.trigger.clone();
            insert_delivery(db, refused).await?;
            of_trigger(FORGET_REFUSED, &trigger).bind(MAX_REFUSED).execute(db).await?;
            Ok(())
        })
    });
    write.await
}

/// Returns the newest deliveries of a trigger.
pub(crate) async fn newest(store: &Store, trigger: &TriggerKey) -> Result<Vec<Delivery>, StoreError> {
    let list = of_trigger(NEWEST, trigger).bind(MAX_SHOWN);
    store.rows(list, delivery).await
}

/// Returns deliveries whose runs have not ended, oldest first, after the one with this id.
pub(crate) async fn running(store: &Store, after: &str) -> Result<Vec<Delivery>, StoreError> {
    let list = sql::query(RUNNING).bind(after).bind(MAX_RUNNING);
    store.rows(list, delivery).await
}

/// Stores the end of a delivery's run. Returns false if it is stored already.
pub(crate) async fn end_delivery(
    db: &mut Db,
    id: &str,
    outcome: DeliveryOutcome,
    detail: Option<String>,
) -> Result<bool, StoreError> {
    Ok(sql::query(END).bind(id).bind(outcome.name()).bind(detail).execute(db).await?.rows_affected() > 0)
}

/// Returns the body of a delivery with its media type, if it is kept.
pub(crate) async fn body(
    store: &Store,
    trigger: &TriggerKey,
    id: &str,
) -> Result<Option<(Option<String>, Vec<u8>)>, StoreError> {
    let find = of_trigger(BODY, trigger).bind(id);
    store.optional_row(find, |row| Ok((row.try_get("content_type")?, row.try_get("body")?))).await
}

/// Returns a delivery as it was received, if it is known.
pub(crate) async fn received(
    store: &Store,
    trigger: &TriggerKey,
    id: &str,
) -> Result<Option<ReceivedDelivery>, StoreError> {
    let find = of_trigger(RECEIVED, trigger).bind(id);
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    let (run_id, headers): (Option<String>, Option<String>) = (row.try_get("run_id")?, row.try_get("headers")?);
    // Deliveries that an earlier version has stored have no headers.
    let headers =
        headers.map_or(Ok(Value::Object(Map::new())), |text| serde_json::from_str(&text).map_err(|_| damaged()));
    let (headers, content_type) = (headers?, row.try_get("content_type")?);
    let body: Option<Vec<u8>> = row.try_get("body")?;
    Ok(Some(ReceivedDelivery {
        key: row.try_get("delivery_key")?,
        is_unstarted: outcome(&row)? == DeliveryOutcome::Failed && run_id.is_none(),
        request: body.map(|body| KeptRequest { content_type, headers, body: body.into() }),
    }))
}

fn damaged() -> StoreError {
    StoreError::Invalid("a delivery of a trigger is damaged")
}

fn outcome(row: &Row) -> Result<DeliveryOutcome, StoreError> {
    let name: String = row.try_get("outcome")?;
    DeliveryOutcome::ALL.into_iter().find(|outcome| outcome.name() == name).ok_or_else(damaged)
}

fn delivery(row: &Row) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        id: row.try_get("id")?,
        trigger: TriggerKey { workflow_id: row.try_get("workflow_id")?, trigger_id: row.try_get("trigger_id")? },
        key: row.try_get("delivery_key")?,
        received_at: row.try_get("received_at")?,
        is_test: row.try_get("is_test")?,
        outcome: outcome(row)?,
        detail: row.try_get("detail")?,
        run_id: row.try_get("run_id")?,
        has_body: row.try_get("has_body")?,
    })
}
