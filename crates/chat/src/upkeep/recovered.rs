//! Reports the runs that recovery has closed. Those of the start are closed before anybody listens,
//! so they are kept until then.

use crate::events::{Events, LifecycleEvent, LifecycleObserver};
use crate::record::telemetry::{RunFacts, Telemetry};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use store::OpenRun;
use wire::EndReason;
use wire::api::Outcome;

/// The maximum number of runs that are kept: the most that one server may have.
const MAX_KEPT: usize = 100_000;

/// A run that recovery has closed.
#[derive(Clone, Debug)]
pub(crate) struct RecoveredRun {
    pub(crate) run: OpenRun,
    pub(crate) outcome: Outcome,
    pub(crate) reason: EndReason,
}

impl RecoveredRun {
    fn event(&self) -> LifecycleEvent {
        LifecycleEvent::RunEnded {
            run_id: self.run.run_id.clone(),
            conversation_id: self.run.conversation_id.clone(),
            user_id: self.run.owner.clone(),
            agent_id: self.run.agent_id.clone(),
            outcome: self.outcome,
            reason: self.reason,
        }
    }

    fn report(&self, to: &dyn Telemetry) {
        let facts = RunFacts {
            run_id: self.run.run_id.clone(),
            conversation_id: Some(self.run.conversation_id.clone()),
            agent_id: self.run.agent_id.clone(),
            trace: None,
        };
        to.run_recovered(&facts, self.outcome.name(), self.reason);
    }
}

/// Where recovered runs are reported.
#[derive(Clone, Default)]
pub(crate) struct RecoveryReports {
    pub(crate) events: Events,
    pub(crate) telemetry: Arc<OnceLock<Arc<dyn Telemetry>>>,
    early: Arc<Mutex<EarlyRuns>>,
}

/// The runs that were closed while the server started.
#[derive(Default)]
struct EarlyRuns {
    /// The runs that were not reported to the observer yet.
    untold: Vec<RecoveredRun>,
    /// The runs that telemetry has not counted yet.
    uncounted: Vec<RecoveredRun>,
}

impl RecoveryReports {
    /// Reports a run, or keeps it for those who are not listening yet.
    pub(crate) fn report(&self, run: &RecoveredRun) {
        let keep = |kept: &mut Vec<RecoveredRun>| {
            if kept.len() < MAX_KEPT {
                kept.push(run.clone());
            }
        };
        // Held meanwhile, so that a listener that is set now gets the run once.
        let mut early = self.early.lock();
        if self.events.has_observer() {
            self.events.tell(&run.event())
        } else {
            keep(&mut early.untold)
        }
        match self.telemetry.get() {
            Some(telemetry) => run.report(&**telemetry),
            None => keep(&mut early.uncounted),
        }
    }

    /// Sets the observer, and tells it the runs of the start. One that is already set stays.
    pub(crate) fn set_observer(&self, observer: Arc<dyn LifecycleObserver>) {
        let mut early = self.early.lock();
        self.events.set_observer(observer);
        std::mem::take(&mut early.untold).iter().for_each(|run| self.events.tell(&run.event()));
    }

    /// Sets the receiver of telemetry, and reports the runs of the start to it. One that is already
    /// set stays.
    pub(crate) fn set_telemetry(&self, telemetry: Arc<dyn Telemetry>) {
        let mut early = self.early.lock();
        if self.telemetry.set(telemetry.clone()).is_ok() {
            std::mem::take(&mut early.uncounted).iter().for_each(|run| run.report(&*telemetry));
        }
    }
}
