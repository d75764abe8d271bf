//! The values that operators read on a page: its state and its URL; in actions also the event and
//! the results of earlier actions.

use crate::address::Address;
use crate::chunks::{Chunk, ChunkError, ChunkFuture, ChunkTable};
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use operators::{Evaluator, ExpressionLanguage, OperatorError};
use serde_json::Value;
use wasm_split_helpers::wasm_split;
use wire::page::{Block, Events, Page};

/// The evaluator of `_expr` and `_template`. Only pages whose config uses them load it.
pub(crate) static EXPRESSIONS: Chunk<Evaluator> = Chunk::new("expressions");

impl ChunkTable for Evaluator {
    fn load() -> ChunkFuture {
        Box::pin(async { EXPRESSIONS.set_functions(evaluator().await?) })
    }
}

#[wasm_split(expressions, fallible)]
fn evaluator() -> Result<Evaluator, ChunkError> {
    Ok(operators::evaluate_source)
}

/// The values that operators read; a cheap handle.
#[derive(Clone, Copy)]
pub(crate) struct OperatorScope {
    state: PageState,
    address: Option<Address>,
}

impl OperatorScope {
    /// Returns the scope of the current page.
    pub(crate) fn for_page() -> Self {
        Self { state: use_page_state(), address: use_context() }
    }

    /// Returns the browser's URL, if there is one.
    pub(crate) fn address(&self) -> Option<Address> {
        self.address
    }

    /// Evaluates the operators in a value. Tracked.
    pub(crate) fn evaluate(&self, value: &Value) -> Result<Value, OperatorError> {
        self.evaluate_in_action(value, None, None)
    }

    /// Evaluates the operators in a value of an action: `event` is the payload of the event, `step`
    /// has the results of the earlier actions. Tracked.
    pub(crate) fn evaluate_in_action(
        &self,
        value: &Value,
        event: Option<&Value>,
        step: Option<&Value>,
    ) -> Result<Value, OperatorError> {
        if !operators::is_dynamic(value) {
            return Ok(value.clone());
        }
        self.state.with_values(|state| self.evaluate_in(state, value, event, step))
    }

    /// Evaluates the operators in a value as if the given keys of the state had already been
    /// written. Not tracked.
    pub(crate) fn evaluate_with_writes(
        &self,
        value: &Value,
        written: &[(String, Value)],
    ) -> Result<Value, OperatorError> {
        let mut state = self.state.snapshot();
        state.extend(written.iter().cloned());
        self.evaluate_in(&Value::Object(state), value, None, None)
    }

    fn evaluate_in(
        &self,
        state: &Value,
        value: &Value,
        event: Option<&Value>,
        step: Option<&Value>,
    ) -> Result<Value, OperatorError> {
        let url_query = self.address.map(|address| address.parameters());
        let scope = operators::Scope {
            expressions: evaluator_for(value),
            state: Some(state),
            url_query: url_query.as_ref(),
            event,
            step,
            ..operators::Scope::default()
        };
        operators::evaluate(value, &scope)
    }
}

/// Returns whether a page uses `_expr` or `_template` anywhere.
pub(crate) fn uses_expressions(page: &Page) -> bool {
    events_use_expressions(&page.events) || page.blocks.iter().any(block_uses_expressions)
}

fn block_uses_expressions(block: &Block) -> bool {
    let own = has_expression(&block.visible)
        || block.properties.values().any(has_expression)
        || events_use_expressions(&block.events);
    own || block.blocks.iter().any(block_uses_expressions)
}

fn events_use_expressions(events: &Events) -> bool {
    let mut actions = events.iter().flat_map(|(_, actions)| actions);
    actions.any(|action| has_expression(&action.skip) || action.params.values().any(has_expression))
}

/// Returns the evaluator if a value contains `_expr` or `_template`, and the evaluator is loaded.
pub(crate) fn evaluator_for(value: &Value) -> Option<Evaluator> {
    if has_expression(value) { EXPRESSIONS.get().copied() } else { None }
}

/// Returns whether a value contains `_expr` or `_template`.
fn has_expression(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_expression),
        Value::Object(own) => {
            operators::operator(value).is_some_and(|(name, _)| ExpressionLanguage::from_operator(name).is_some())
                || own.values().any(has_expression)
        }
        _ => false,
    }
}
