//! Stores what the observers of a run note, before the event is published.

use crate::run::ending::SinkEnd;
use crate::run::sink::observer::{EventRows, LedgerRow};
use crate::stream::live::RunIdentity;
use agent::RepeatTerms;
use store::{CallRepeat, StartedCall, StepRecord, Store, StoreError};

/// Usage is stored when the next step starts, or when this many entries have accumulated.
const MAX_STEPS: usize = 32;

/// Writes the rows of one run.
pub(crate) struct RowWriter {
    store: Store,
    identity: RunIdentity,
    /// The usage that is not stored yet.
    steps: Vec<StepRecord>,
}

impl RowWriter {
    pub(super) fn new(store: Store, identity: RunIdentity) -> Self {
        Self { store, identity, steps: Vec::new() }
    }

    /// Stores the rows of an event. Returns why the sink closes if that fails.
    pub(super) async fn store(&mut self, mut rows: EventRows) -> Result<(), SinkEnd> {
        for row in rows.ledger {
            self.store_ledger(row).await.map_err(|error| {
                tracing::error!(%error, run = self.identity.run_id, "the tool ledger could not be written");
                SinkEnd::Storage
            })?;
        }
        self.steps.append(&mut rows.steps);
        if !self.steps.is_empty() && (rows.stores_usage || self.steps.len() >= MAX_STEPS) {
            let steps = self.take_steps();
            self.store.append_steps(steps).await.map_err(|error| {
                tracing::error!(%error, run = self.identity.run_id, "the usage of model requests could not be stored");
                SinkEnd::Storage
            })?;
        }
        Ok(())
    }

    async fn store_ledger(&self, row: LedgerRow) -> Result<(), StoreError> {
        let RunIdentity { owner, run_id, .. } = &self.identity;
        let now = crate::now();
        match row {
            LedgerRow::Started { id, name, input, repeat } => {
                let call = StartedCall { call_id: &id, repeat: repeat.as_ref().map(repeatable) };
                self.store.tool_started(owner, run_id, call, &name, &input, now).await
            }
            LedgerRow::SubAgentStarted(call) => self.store.sub_agent_tool_started(owner, run_id, &call, now).await,
            LedgerRow::Ended { id, outcome, audit } => {
                self.store.tool_finished(owner, run_id, &id, outcome, now, audit).await
            }
            LedgerRow::Audit(entry) => self.store.append_audit(vec![entry]).await,
        }
    }

    /// Takes the usage that is not stored yet.
    pub(crate) fn take_steps(&mut self) -> Vec<StepRecord> {
        std::mem::take(&mut self.steps)
    }
}

fn repeatable(repeat: &RepeatTerms) -> CallRepeat<'_> {
    CallRepeat { fingerprint: &repeat.fingerprint, is_idempotent: repeat.is_idempotent }
}
