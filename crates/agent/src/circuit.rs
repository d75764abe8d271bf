//! What turns share of a model that fails: a circuit breaker for each model of each connection. Every turn asks again by itself; with a
//! provider that is down, all of them would hammer it, and each would wait for it to fail. So failures in a row open the circuit, and so
//! does a wait that the provider asks for: nobody asks for a while, then one does, and what he finds counts for all.

use contract::{Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request};
use futures::StreamExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Failures in a row that open it.
const FAILURES: u32 = 5;
/// How long it is open at first; twice as long each time that it is found failing still.
const FIRST_REST: Duration = Duration::from_secs(5);
/// How long at most. A provider that asks for more is asked once a minute all the same: somebody may have raised its quota.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// Circuits of a process: operators may name models, so their number is anybody's.
const CIRCUITS: usize = 500;
/// Characters of a failure that are kept.
const CAUSE: usize = 300;

/// The circuits of all models.
#[derive(Default)]
pub struct Circuits(Mutex<HashMap<(String, ModelId), Arc<Circuit>>>);

/// How one circuit is, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitFacts {
    /// The connection's id.
    pub connection: String,
    /// The model.
    pub model: ModelId,
    /// Whether requests are refused without asking the model, or one of them tries it.
    pub is_open: bool,
    /// Requests that were refused since the process began.
    pub refused: u64,
}

impl Circuits {
    /// The model behind the circuit that all requests to it through this connection share. Requests fail with
    /// [`ModelErrorKind::CircuitOpen`] while it is open.
    pub fn guard(&self, connection: &str, model: Arc<dyn Model>) -> Arc<dyn Model> {
        let circuit = self.of(connection, model.id());
        Arc::new(Guarded { circuit, model })
    }

    fn of(&self, connection: &str, model: &ModelId) -> Arc<Circuit> {
        let key = (connection.to_owned(), model.clone());
        let mut known = self.0.lock();
        if let Some(circuit) = known.get(&key) {
            return circuit.clone();
        }
        if known.len() >= CIRCUITS {
            known.retain(|_, circuit| Arc::strong_count(circuit) > 1);
        }
        let circuit = Arc::new(Circuit { name: key.clone(), state: Mutex::default() });
        // One more than that is not shared.
        if known.len() < CIRCUITS {
            known.insert(key, circuit.clone());
        }
        circuit
    }

    /// Forgets what failed: the operator has changed something.
    pub fn close(&self) {
        for circuit in self.0.lock().values() {
            circuit.state.lock().close();
        }
    }

    /// How they are.
    pub fn facts(&self) -> Vec<CircuitFacts> {
        let known = self.0.lock();
        let facts = known.iter().map(|((connection, model), circuit)| {
            let state = circuit.state.lock();
            let (connection, model) = (connection.clone(), model.clone());
            CircuitFacts { connection, model, is_open: state.until.is_some(), refused: state.refused }
        });
        facts.collect()
    }
}

struct Circuit {
    name: (String, ModelId),
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In a row.
    failures: u32,
    /// How often it was opened since the last reply.
    openings: u32,
    /// Until then nobody asks; afterwards one does. None while it is closed.
    until: Option<Instant>,
    /// Whether somebody tries it.
    is_tried: bool,
    /// What was begun before the circuit was opened or closed tells nothing of the time since.
    era: u64,
    refused: u64,
    /// What failed last.
    cause: String,
}

impl State {
    fn close(&mut self) {
        *self = Self { era: self.era + 1, refused: self.refused, ..Self::default() };
    }

    /// Opens it if it has to be; how long it rests then.
    fn failed(&mut self, is_trial: bool, asked_for: Option<Duration>, cause: String) -> Option<Duration> {
        self.failures += 1;
        self.cause = cause;
        let asked_for = asked_for.filter(|wait| !wait.is_zero());
        if !is_trial && asked_for.is_none() && self.failures < FAILURES {
            return None;
        }
        let rest = asked_for.unwrap_or(FIRST_REST * 2_u32.pow(self.openings.min(8))).min(LONGEST_REST);
        self.until = Some(Instant::now() + rest);
        self.openings += 1;
        self.is_tried = false;
        self.era += 1;
        Some(rest)
    }
}

impl Circuit {
    /// Lets a request through, or says when to come again.
    fn enter(self: &Arc<Self>, cancel: &CancellationToken) -> Result<Asking, ModelError> {
        let mut state = self.state.lock();
        let is_trial = state.until.is_some();
        if let Some(until) = state.until {
            if Instant::now() < until || state.is_tried {
                state.refused += 1;
                let cause = format!("it is not asked after failures, the last of them: {}", state.cause);
                let retry_after = Some(until.saturating_duration_since(Instant::now())).filter(|rest| !rest.is_zero());
                return Err(ModelError { retry_after, ..ModelError::new(ModelErrorKind::CircuitOpen, cause) });
            }
            state.is_tried = true;
        }
        let (circuit, cancel) = (self.clone(), cancel.clone());
        Ok(Asking { circuit, era: state.era, cancel, is_trial, is_told: false })
    }
}

/// A request that is out.
struct Asking {
    circuit: Arc<Circuit>,
    era: u64,
    /// Cancelled by who changes his mind.
    cancel: CancellationToken,
    /// Whether it is the one that tries a model that failed.
    is_trial: bool,
    /// Whether its end counts already.
    is_told: bool,
}

impl Asking {
    /// Looks at the first part, or at what came instead of it. What goes wrong later is asked again by nobody.
    fn sees(&mut self, first: Result<(), &ModelError>) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        match first {
            Err(error) if error.kind == ModelErrorKind::Cancelled => self.left(),
            Err(error) if error.retryable() => self.failed(error.retry_after, &error.to_string()),
            // It answers, if only that it does not want to.
            _ => self.answered(),
        }
    }

    fn answered(&self) {
        let mut state = self.circuit.state.lock();
        if state.era != self.era {
            return;
        }
        state.failures = 0;
        if state.until.is_some() {
            state.close();
            let (connection, model) = &self.circuit.name;
            tracing::info!(connection, %model, "the model answers again");
        }
    }

    fn failed(&self, asked_for: Option<Duration>, cause: &str) {
        let mut state = self.circuit.state.lock();
        if state.era != self.era {
            return;
        }
        if let Some(rest) = state.failed(self.is_trial, asked_for, cause.chars().take(CAUSE).collect()) {
            let ((connection, model), failures) = (&self.circuit.name, state.failures);
            tracing::warn!(connection, %model, failures, ?rest, cause, "the model fails; nobody asks it for a while");
        }
    }

    /// Nobody waits for the answer any more: by a change of mind, which tells nothing of the model, or because it did not come in time.
    fn left(&self) {
        if !self.cancel.is_cancelled() {
            return self.failed(None, "no answer came");
        }
        let mut state = self.circuit.state.lock();
        if self.is_trial && state.era == self.era {
            state.is_tried = false;
        }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if !self.is_told {
            self.left();
        }
    }
}

struct Guarded {
    circuit: Arc<Circuit>,
    model: Arc<dyn Model>,
}

impl Model for Guarded {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        Box::pin(async move {
            let mut asking = self.circuit.enter(&cancel)?;
            let parts = self.model.stream(request, cancel).await.inspect_err(|error| asking.sees(Err(error)))?;
            let look = move |part: &Result<Part, ModelError>| {
                // A sign of life is no answer yet.
                if !matches!(part, Ok(Part::Alive)) {
                    asking.sees(part.as_ref().map(|_| ()));
                }
            };
            Ok(parts.inspect(look).boxed())
        })
    }
}

#[cfg(test)]
mod tests;
