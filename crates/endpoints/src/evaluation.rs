//! Evaluates operators: small work on the calling thread, the rest on threads of low priority.

use crate::Secrets;
use offload::{Abandoned, Pool};
use operators::{
    Ambient, Evaluator, OperatorError, Operators, Scope, evaluate, evaluate_briefly, evaluate_fully, evaluate_source,
    is_costly,
};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The stack size of the worker threads in bytes. Only used pages take memory.
const STACK_BYTES: usize = 8 << 20;
/// The maximum number of evaluations that are queued or running. Further ones wait.
const MAX_QUEUED: usize = 64;

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new("expressions", STACK_BYTES, MAX_QUEUED));

/// An owned [`Scope`], so that it can be moved to a worker thread. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct OwnedScope {
    /// `_state`
    pub state: Option<Arc<Value>>,
    /// `_user`
    pub user: Option<Arc<Value>>,
    /// `_payload`
    pub payload: Option<Arc<Value>>,
    /// `_step`
    pub step: Option<Arc<Value>>,
    /// `_item`
    pub item: Option<Arc<Value>>,
    /// `_error`
    pub error: Option<Arc<Value>>,
    /// `_agent`
    pub agent: Option<Arc<Value>>,
    /// `_secret`; without it, no secret can be read.
    pub secrets: Option<Secrets>,
    /// Evaluates expressions and templates; [`evaluate_source`] by default.
    pub evaluator: Option<Evaluator>,
    /// The operators; [`Operators::standard`] by default.
    pub operators: Option<Arc<Operators>>,
    /// The clock and the randomness; those of the system by default.
    pub ambient: Option<Arc<dyn Ambient + Send + Sync>>,
}

/// The clock and the randomness of the system.
#[derive(Debug)]
struct System;

impl Ambient for System {
    fn unix_ms(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }

    fn random(&self) -> u64 {
        // Both halves of a UUID have fixed bits, at different positions.
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        high ^ low.rotate_left(32)
    }
}

impl OwnedScope {
    fn with_scope<T>(&self, work: impl FnOnce(&Scope<'_>) -> T) -> T {
        let secrets = self.secrets.clone();
        let secret = move |name: &str| secrets.as_ref()?.get(name);
        work(&Scope {
            state: self.state.as_deref(),
            user: self.user.as_deref(),
            payload: self.payload.as_deref(),
            step: self.step.as_deref(),
            item: self.item.as_deref(),
            error: self.error.as_deref(),
            agent: self.agent.as_deref(),
            secret: self.secrets.is_some().then_some(&secret),
            expressions: Some(self.evaluator.unwrap_or(evaluate_source)),
            operators: Some(self.operators.as_deref().unwrap_or_else(|| Operators::standard())),
            ambient: Some(self.ambient.as_deref().map_or(&System as &dyn Ambient, |ambient| ambient)),
            ..Scope::default()
        })
    }

    /// Evaluates every operator in a value. This blocks the async worker for a
    /// few milliseconds at most, whatever the values are. Dropping the future cancels the
    /// evaluation.
    ///
    /// # Errors
    /// The errors of [`operators::evaluate`], and an evaluation that exceeds its budget.
    pub async fn evaluate(&self, value: &Value) -> Result<Value, OperatorError> {
        if !is_costly(value) {
            return self.with_scope(|scope| evaluate(value, scope));
        }
        if let Some(done) = self.with_scope(|scope| evaluate_briefly(value, scope)) {
            return done;
        }
        let (facts, value) = (self.clone(), value.clone());
        let work = move |abandoned: &Abandoned| {
            let abandoned = abandoned.clone();
            facts.with_scope(|scope| evaluate_fully(&value, scope, move || abandoned.is_set()))
        };
        POOL.run_waiting(work).await.unwrap_or_else(|_| {
            Err(OperatorError { path: String::new(), message: "it could not be evaluated".to_owned() })
        })
    }
}
