//! A circuit breaker for each model of each connection, shared by all turns. Without it, every turn
//! would retry by itself, load a provider that is down and wait for it to fail. Consecutive
//! failures open the circuit, and so does a wait that the provider asks for. Requests then fail at
//! once for some time; after that one request is let through, and its result decides for all.

use contract::{Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request};
use futures::StreamExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The number of consecutive failures that open a circuit.
const FAILURES: u32 = 5;
/// How long a circuit stays open at first. The time doubles each time that the model is found still
/// failing.
const MIN_OPEN_TIME: Duration = Duration::from_secs(5);
/// The maximum time that a circuit stays open. A provider that asks for more is tried once a minute
/// all the same, because its quota may have been raised meanwhile.
const MAX_OPEN_TIME: Duration = Duration::from_secs(60);
/// The maximum number of circuits of a process. It is bounded because custom agents may name any
/// model.
const CIRCUITS: usize = 500;
/// The number of characters of the last failure that are kept.
const MAX_CAUSE_CHARS: usize = 300;

/// The circuits of all models.
#[derive(Default)]
pub struct Circuits(Mutex<HashMap<(String, ModelId), Arc<Circuit>>>);

/// The state of one circuit, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitStatus {
    /// The connection's id.
    pub connection: String,
    /// The model.
    pub model: ModelId,
    /// Whether the circuit is open: requests fail without asking the model, or one of them is
    /// trying it.
    pub is_open: bool,
    /// The number of requests that were refused since the process started.
    pub refused: u64,
}

impl Circuits {
    /// Wraps a model in the circuit that all requests to it through this connection share. While
    /// the circuit is open, requests fail with [`ModelErrorKind::CircuitOpen`].
    pub fn guard(&self, connection: &str, model: Arc<dyn Model>) -> Arc<dyn Model> {
        let circuit = self.circuit(connection, model.id());
        Arc::new(GuardedModel { circuit, model })
    }

    fn circuit(&self, connection: &str, model: &ModelId) -> Arc<Circuit> {
        let key = (connection.to_owned(), model.clone());
        let mut known = self.0.lock();
        if let Some(circuit) = known.get(&key) {
            return circuit.clone();
        }
        if known.len() >= CIRCUITS {
            known.retain(|_, circuit| Arc::strong_count(circuit) > 1);
        }
        let circuit = Arc::new(Circuit { name: key.clone(), state: Mutex::default() });
        // Above the limit a circuit works, but is not shared.
        if known.len() < CIRCUITS {
            known.insert(key, circuit.clone());
        }
        circuit
    }

    /// Closes all circuits, because the operator has changed something.
    pub fn close(&self) {
        for circuit in self.0.lock().values() {
            circuit.state.lock().close();
        }
    }

    /// Returns the state of all circuits.
    pub fn statuses(&self) -> Vec<CircuitStatus> {
        let known = self.0.lock();
        let facts = known.iter().map(|((connection, model), circuit)| {
            let state = circuit.state.lock();
            let (connection, model) = (connection.clone(), model.clone());
            CircuitStatus { connection, model, is_open: state.until.is_some(), refused: state.refused }
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
    /// The consecutive failures.
    failures: u32,
    /// How often the circuit was opened since the last reply.
    openings: u32,
    /// Until when requests are refused; after that one request is let through. `None` while the
    /// circuit is closed.
    until: Option<Instant>,
    /// Whether a trial request is running.
    is_tried: bool,
    /// Counts changes of the circuit's state. The results of requests that started before the last
    /// change are ignored.
    generation: u64,
    refused: u64,
    /// The last failure.
    cause: String,
}

impl State {
    fn close(&mut self) {
        *self = Self { generation: self.generation + 1, refused: self.refused, ..Self::default() };
    }

    /// Counts a failure. If it opens the circuit, returns for how long.
    fn failed(&mut self, is_trial: bool, asked_for: Option<Duration>, cause: String) -> Option<Duration> {
        self.failures += 1;
        self.cause = cause;
        let asked_for = asked_for.filter(|wait| !wait.is_zero());
        if !is_trial && asked_for.is_none() && self.failures < FAILURES {
            return None;
        }
        let rest = asked_for.unwrap_or(MIN_OPEN_TIME * 2_u32.pow(self.openings.min(8))).min(MAX_OPEN_TIME);
        self.until = Some(Instant::now() + rest);
        self.openings += 1;
        self.is_tried = false;
        self.generation += 1;
        Some(rest)
    }
}

impl Circuit {
    /// Admits a request, or fails with the time after which to try again.
    fn admit(self: &Arc<Self>, cancel: &CancellationToken) -> Result<RunningRequest, ModelError> {
        let mut state = self.state.lock();
        let is_trial = state.until.is_some();
        if let Some(until) = state.until {
            if Instant::now() < until || state.is_tried {
                state.refused += 1;
                let cause = format!("not asked after repeated failures, the last one: {}", state.cause);
                let retry_after = Some(until.saturating_duration_since(Instant::now())).filter(|rest| !rest.is_zero());
                return Err(ModelError { retry_after, ..ModelError::new(ModelErrorKind::CircuitOpen, cause) });
            }
            state.is_tried = true;
        }
        let (circuit, cancel) = (self.clone(), cancel.clone());
        Ok(RunningRequest { circuit, generation: state.generation, cancel, is_trial, is_told: false })
    }
}

/// A running request.
struct RunningRequest {
    circuit: Arc<Circuit>,
    generation: u64,
    /// The caller's token, cancelled when the caller no longer wants the answer.
    cancel: CancellationToken,
    /// Whether this is the trial request of an open circuit.
    is_trial: bool,
    /// Whether the result is recorded already.
    is_told: bool,
}

impl RunningRequest {
    /// Records the first part, or the error instead of it. Failures after the first part are not
    /// retried, so they do not count.
    fn record_first_part(&mut self, first: Result<(), &ModelError>) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        match first {
            Err(error) if error.kind == ModelErrorKind::Cancelled => self.record_abandoned(),
            Err(error) if error.retryable() => self.failed(error.retry_after, &error.to_string()),
            // The model answers, even if it refuses the request.
            _ => self.answered(),
        }
    }

    fn answered(&self) {
        let mut state = self.circuit.state.lock();
        if state.generation != self.generation {
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
        if state.generation != self.generation {
            return;
        }
        if let Some(rest) = state.failed(self.is_trial, asked_for, cause.chars().take(MAX_CAUSE_CHARS).collect()) {
            let ((connection, model), failures) = (&self.circuit.name, state.failures);
            tracing::warn!(connection, %model, failures, ?rest, cause, "the model fails; its circuit breaker is open");
        }
    }

    /// Records that the caller dropped the request. If the run was cancelled, that says nothing about
    /// the model. Otherwise the answer did not arrive in time, which is a failure.
    fn record_abandoned(&self) {
        if !self.cancel.is_cancelled() {
            return self.failed(None, "no answer came");
        }
        let mut state = self.circuit.state.lock();
        if self.is_trial && state.generation == self.generation {
            state.is_tried = false;
        }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        if !self.is_told {
            self.record_abandoned();
        }
    }
}

struct GuardedModel {
    circuit: Arc<Circuit>,
    model: Arc<dyn Model>,
}

impl Model for GuardedModel {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        Box::pin(async move {
            let mut asking = self.circuit.admit(&cancel)?;
            let parts =
                self.model.stream(request, cancel).await.inspect_err(|error| asking.record_first_part(Err(error)))?;
            let look = move |part: &Result<Part, ModelError>| {
                // A keep-alive is not an answer yet.
                if !matches!(part, Ok(Part::Alive)) {
                    asking.record_first_part(part.as_ref().map(|_| ()));
                }
            };
            Ok(parts.inspect(look).boxed())
        })
    }
}

#[cfg(test)]
mod tests;
