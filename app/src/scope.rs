//! What operators read on a page: its state and its address; in actions also what has happened.

use crate::address::Address;
use crate::chunks::{Chunk, Loading, Missing};
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use operators::{Evaluator, Language, OperatorError};
use serde_json::Value;
use wasm_split_helpers::wasm_split;
use wire::page::{Block, Events, Page};

/// What evaluates `_expr` and `_template`: a language that only pages need whose config speaks it.
pub(crate) static EXPRESSIONS: Chunk<Evaluator> = Chunk::new("expressions", load);

fn load() -> Loading {
    Box::pin(async { EXPRESSIONS.fill(evaluator().await?) })
}

#[wasm_split(expressions, fallible)]
fn evaluator() -> Result<Evaluator, Missing> {
    Ok(operators::evaluate_text)
}

/// What operators read; a cheap handle.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    state: PageState,
    address: Option<Address>,
}

impl Scope {
    /// That of the page around.
    pub(crate) fn of_page() -> Self {
        Self { state: use_page_state(), address: use_context() }
    }

    /// The browser's address bar, where there is one.
    pub(crate) fn address(&self) -> Option<Address> {
        self.address
    }

    /// A value with its operators evaluated. Tracked.
    pub(crate) fn evaluate(&self, value: &Value) -> Result<Value, OperatorError> {
        self.evaluate_with(value, None, None)
    }

    /// The same in an action: `event` is what has happened, `step` the results of the actions before. Tracked.
    pub(crate) fn evaluate_with(
        &self,
        value: &Value,
        event: Option<&Value>,
        step: Option<&Value>,
    ) -> Result<Value, OperatorError> {
        if !operators::is_dynamic(value) {
            return Ok(value.clone());
        }
        self.state.with_values(|state| self.over(state, value, event, step))
    }

    /// The same with a state in which some keys have other values already. Not tracked.
    pub(crate) fn evaluate_over(&self, value: &Value, written: &[(String, Value)]) -> Result<Value, OperatorError> {
        let mut state = self.state.snapshot();
        state.extend(written.iter().cloned());
        self.over(&Value::Object(state), value, None, None)
    }

    fn over(
        &self,
        state: &Value,
        value: &Value,
        event: Option<&Value>,
        step: Option<&Value>,
    ) -> Result<Value, OperatorError> {
        let url_query = self.address.map(|address| address.parameters());
        let scope = operators::Scope {
            expressions: expressions(value),
            state: Some(state),
            url_query: url_query.as_ref(),
            event,
            step,
            ..operators::Scope::default()
        };
        operators::evaluate(value, &scope)
    }
}

/// Whether `_expr` or `_template` stands anywhere on a page.
pub(crate) fn speaks(page: &Page) -> bool {
    in_events(&page.events) || page.blocks.iter().any(in_block)
}

fn in_block(block: &Block) -> bool {
    let own = has_text(&block.visible) || block.properties.values().any(has_text) || in_events(&block.events);
    own || block.blocks.iter().any(in_block)
}

fn in_events(events: &Events) -> bool {
    let mut actions = events.iter().flat_map(|(_, actions)| actions);
    actions.any(|action| has_text(&action.skip) || action.params.values().any(has_text))
}

/// What evaluates the texts in a value, if there are any.
pub(crate) fn expressions(value: &Value) -> Option<Evaluator> {
    if has_text(value) { EXPRESSIONS.get().copied() } else { None }
}

/// Whether `_expr` or `_template` is among the operators.
fn has_text(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_text),
        Value::Object(own) => {
            operators::operator(value).is_some_and(|(name, _)| Language::of(name).is_some())
                || own.values().any(has_text)
        }
        _ => false,
    }
}
