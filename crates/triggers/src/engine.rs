//! Deliveries: something has happened that a trigger waits for.

use crate::active::{ActiveTrigger, ActiveTriggers};
use crate::decision::{Decision, decide};
use crate::host::Host;
use crate::store::{self, DeliveryOutcome, KeptRequest, NewDelivery, StateRow};
use crate::waiting::waiting_id;
use ::store::sql::Db;
use ::store::{AuditEntry, Store, StoreError, append_audit};
use auth::audit_row;
use capability::{Waiting, WaitingKind};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use workflows::{StartOutcome, TriggeredRun};

/// The longest detail of a failure, in characters.
const MAX_DETAIL: usize = 500;

/// Returns the time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The triggers of a running server; cheap to clone.
#[derive(Clone)]
pub(crate) struct Triggers {
    pub(crate) store: Store,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) active: ActiveTriggers,
    /// Notifies people of triggers that are paused because of failures.
    pub(crate) waiting: Waiting,
    pub(crate) clock: Clock,
}

/// Something that has happened.
#[derive(Clone, Debug)]
pub(crate) struct Incoming {
    /// The key by which a repeated event is recognized.
    pub(crate) key: String,
    /// The value of `_event`.
    pub(crate) event: Value,
    /// The administrator who has sent it, who may do so while the trigger is paused.
    pub(crate) by: Option<ByAdministrator>,
    /// The request, for a webhook.
    pub(crate) request: Option<KeptRequest>,
    /// The workflows whose runs led to it, from the first one.
    pub(crate) causes: Vec<String>,
}

/// A test or a repeated delivery by an administrator.
#[derive(Clone, Debug)]
pub(crate) struct ByAdministrator {
    /// The audit entry, which is stored with the delivery.
    pub(crate) entry: AuditEntry,
    /// Whether it is a test, and not a delivery that has come before.
    pub(crate) is_test: bool,
}

/// The outcome of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// It is stored, with this outcome.
    Stored { id: String, outcome: DeliveryOutcome, detail: Option<String>, run_id: Option<String> },
    /// It has come before.
    Repeated,
    /// The trigger is paused.
    Paused,
    /// There are too many runs of the trigger that have not ended. Nothing is stored.
    Full,
}

impl Triggers {
    /// Returns the time in Unix milliseconds.
    pub(crate) fn now(&self) -> i64 {
        (self.clock)().as_millisecond()
    }

    /// Returns the state of a trigger, which begins now if it is new or waits for something else than
    /// before.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn state(&self, trigger: &ActiveTrigger) -> Result<StateRow, StoreError> {
        let subject = trigger.subject();
        if let Some(state) = store::find(&self.store, &trigger.key).await?.filter(|state| state.subject == subject) {
            return Ok(state);
        }
        let (key, now) = (trigger.key.clone(), self.now());
        let begin = self.store.write(move |db| Box::pin(async move { store::ensure(db, &key, &subject, now).await }));
        begin.await
    }

    /// Stores something that has happened and starts its run, in one transaction, unless it has come
    /// before.
    ///
    /// # Errors
    /// The database failed; nothing is stored then.
    pub(crate) async fn deliver(
        &self,
        trigger: &Arc<ActiveTrigger>,
        mut incoming: Incoming,
    ) -> Result<Delivered, StoreError> {
        let now = self.now();
        let decision = match self.decide(trigger, incoming.event.take(), now).await {
            Decision::Start(input) => match self.host.check_input(&trigger.key.workflow_id, &input).await {
                Ok(()) => Decision::Start(input),
                Err(message) => Decision::Failed(message),
            },
            other => other,
        };
        let (host, waiting, trigger) = (self.host.clone(), self.waiting.clone(), trigger.clone());
        let delivered = self.store.write(move |db| {
            Box::pin(async move { store_delivery(db, (&*host, &waiting), &trigger, incoming, decision, now).await })
        });
        delivered.await
    }

    /// Stores that something which has happened starts nothing, unless it has come before. It is no failure of the
    /// trigger.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn leave_out(
        &self,
        trigger: &ActiveTrigger,
        key: String,
        outcome: DeliveryOutcome,
        cause: &str,
    ) -> Result<(), StoreError> {
        let left_out = NewDelivery {
            id: uuid::Uuid::now_v7().to_string(),
            trigger: trigger.key.clone(),
            key,
            received_at: self.now(),
            is_test: false,
            outcome,
            detail: Some(shortened(cause)),
            run_id: None,
            request: None,
        };
        let write = self.store.write(move |db| {
            Box::pin(async move {
                if store::is_known(db, &left_out.trigger, &left_out.key).await? {
                    Ok(())
                } else {
                    store::insert_delivery(db, left_out).await
                }
            })
        });
        write.await
    }

    /// Evaluates the values of a trigger, whose expressions may take a while.
    async fn decide(&self, trigger: &Arc<ActiveTrigger>, event: Value, now: i64) -> Decision {
        let (trigger, operators) = (trigger.clone(), self.host.operators());
        let decided = tokio::task::spawn_blocking(move || decide(&trigger.trigger, &event, &operators, now)).await;
        decided.unwrap_or_else(|_| Decision::Failed("The values of the trigger could not be evaluated.".to_owned()))
    }
}

async fn store_delivery(
    db: &mut Db,
    (host, waiting): (&dyn Host, &Waiting),
    trigger: &ActiveTrigger,
    incoming: Incoming,
    decision: Decision,
    now: i64,
) -> Result<Delivered, StoreError> {
    let Incoming { key, by, request, causes, .. } = incoming;
    let is_by_sender = by.is_none();
    let state = store::ensure(db, &trigger.key, &trigger.subject(), now).await?;
    if state.paused_at.is_some() && is_by_sender {
        return Ok(Delivered::Paused);
    }
    // A service or an administrator sends a webhook again when somebody has mended what kept it from starting a run.
    // Ticks and events come from several servers at once, and count once.
    let is_sent_again = request.is_some() && store::is_unstarted(db, &trigger.key, &key).await?;
    if !is_sent_again && store::is_known(db, &trigger.key, &key).await? {
        if is_by_sender {
            store::count_repeat(db, &trigger.key).await?;
        }
        return Ok(Delivered::Repeated);
    }
    let id = uuid::Uuid::now_v7().to_string();
    let (outcome, detail, run_id) = match decision {
        Decision::Filtered => (DeliveryOutcome::Filtered, None, None),
        Decision::Failed(message) => (DeliveryOutcome::Failed, Some(shortened(&message)), None),
        Decision::Start(input) => {
            let new = TriggeredRun {
                workflow_id: trigger.key.workflow_id.clone(),
                input,
                user_id: trigger.key.user_id(),
                roles: trigger.trigger.roles(),
                causes,
                now,
            };
            match host.start(db, new).await? {
                StartOutcome::Started(run_id) => (DeliveryOutcome::Running, None, Some(run_id)),
                StartOutcome::Full => return Ok(Delivered::Full),
                StartOutcome::Unknown => {
                    let message = "The config has no such workflow any more.".to_owned();
                    (DeliveryOutcome::Failed, Some(message), None)
                }
            }
        }
    };
    if is_sent_again {
        store::forget_unstarted(db, &trigger.key, &key).await?;
    }
    let new = NewDelivery {
        id: id.clone(),
        trigger: trigger.key.clone(),
        key,
        received_at: now,
        is_test: by.as_ref().is_some_and(|by| by.is_test),
        outcome,
        detail: detail.clone(),
        run_id: run_id.clone(),
        request,
    };
    store::insert_delivery(db, new).await?;
    if outcome == DeliveryOutcome::Failed && is_by_sender {
        count_failure(db, waiting, trigger, detail.as_deref().unwrap_or_default(), now).await?;
    }
    if let Some(ByAdministrator { entry, .. }) = by {
        append_audit(db, vec![entry]).await?;
    }
    Ok(Delivered::Stored { id, outcome, detail, run_id })
}

/// Counts a failure, and tells the operators and the author of the workflow if the trigger is paused because of it.
pub(crate) async fn count_failure(
    db: &mut Db,
    waiting: &Waiting,
    trigger: &ActiveTrigger,
    cause: &str,
    now: i64,
) -> Result<(), StoreError> {
    if !store::count_failure(db, &trigger.key, now).await? {
        return Ok(());
    }
    let (workflow, name) = (&trigger.key.workflow_id, &trigger.key.trigger_id);
    tracing::warn!(
        workflow,
        trigger = name,
        cause,
        "a trigger is paused because its runs have failed five times in a row"
    );
    let about = json!({ "workflowId": workflow, "triggerId": name, "cause": cause });
    append_audit(db, vec![audit_row(&trigger.key.user_id(), "admin:trigger_paused_itself", "", about)]).await?;
    waiting.begins(db, WaitingKind::PausedTrigger, &waiting_id(&trigger.key)).await
}

/// Returns a message as it is stored.
pub(crate) fn shortened(message: &str) -> String {
    message.chars().take(MAX_DETAIL).collect()
}

/// Formats nothing: the host has no form.
impl fmt::Debug for Triggers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Triggers").finish_non_exhaustive()
    }
}
