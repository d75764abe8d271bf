//! Evaluation of operators: small amounts of work on the thread of the caller, more on threads of low priority.

use crate::Secrets;
use offload::{Abandoned, Pool};
use operators::{Evaluator, OperatorError, Scope, evaluate, evaluate_briefly, evaluate_fully, evaluate_text, has_text};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The stack of the threads that evaluate, in bytes. Only what is used takes memory.
const STACK: usize = 8 << 20;
/// Evaluations that are in the queue. More wait for their turn.
const MAX_WAITING: usize = 64;

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new("expressions", STACK, MAX_WAITING));

/// The values that operators read, shared with the thread that evaluates them. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct Facts {
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
    /// `_secret`; without them there are none.
    pub secrets: Option<Secrets>,
    /// Evaluates expressions and templates; [`evaluate_text`] without it.
    pub evaluator: Option<Evaluator>,
}

impl Facts {
    fn within<T>(&self, work: impl FnOnce(&Scope<'_>) -> T) -> T {
        let secrets = self.secrets.clone();
        let secret = move |name: &str| secrets.as_ref()?.get(name);
        work(&Scope {
            state: self.state.as_deref(),
            user: self.user.as_deref(),
            payload: self.payload.as_deref(),
            step: self.step.as_deref(),
            item: self.item.as_deref(),
            error: self.error.as_deref(),
            secret: self.secrets.is_some().then_some(&secret),
            expressions: Some(self.evaluator.unwrap_or(evaluate_text)),
            ..Scope::default()
        })
    }

    /// Evaluates every operator in a value. Expressions and templates block no async worker for more than a few
    /// milliseconds, whatever the values are. Dropping the future ends the evaluation.
    ///
    /// # Errors
    /// The errors of [`operators::evaluate`]; an expression or a template that exceeds its budget.
    pub async fn evaluate(&self, value: &Value) -> Result<Value, OperatorError> {
        if !has_text(value) {
            return self.within(|scope| evaluate(value, scope));
        }
        if let Some(done) = self.within(|scope| evaluate_briefly(value, scope)) {
            return done;
        }
        let (facts, value) = (self.clone(), value.clone());
        let work = move |abandoned: &Abandoned| {
            let abandoned = abandoned.clone();
            facts.within(|scope| evaluate_fully(&value, scope, move || abandoned.is_set()))
        };
        POOL.run_in_turn(work).await.unwrap_or_else(|_| {
            Err(OperatorError { path: String::new(), message: "it could not be evaluated".to_owned() })
        })
    }
}
