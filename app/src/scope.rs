//! The values that operators read on a page: its state and its URL; in actions also the event and
//! the results of earlier actions.

use crate::address::Address;
use crate::chunks::{Chunk, ChunkError, ChunkFuture, ChunkTable};
use crate::page_state::{PageState, use_page_state};
use crate::prelude::*;
use operators::{Ambient, Evaluator, OperatorError, Operators, Scope};
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

/// The operators outside of the base set. Only pages whose config uses them load them.
pub(crate) static OPERATORS: Chunk<FurtherOperators> = Chunk::new("operators");

/// The functions of the chunk.
pub(crate) struct FurtherOperators {
    operators: &'static Operators,
    /// The browser's clock and randomness. The server evaluates only what is rendered, which must
    /// not depend on them.
    ambient: Option<&'static (dyn Ambient + Sync)>,
}

impl ChunkTable for FurtherOperators {
    fn load() -> ChunkFuture {
        Box::pin(async { OPERATORS.set_functions(further_operators().await?) })
    }
}

#[wasm_split(operators, fallible)]
fn further_operators() -> Result<FurtherOperators, ChunkError> {
    #[cfg(not(feature = "ssr"))]
    let ambient: Option<&(dyn Ambient + Sync)> = Some(&Browser);
    #[cfg(feature = "ssr")]
    let ambient = None;
    Ok(FurtherOperators { operators: Operators::standard(), ambient })
}

/// The browser's clock and randomness.
#[cfg(not(feature = "ssr"))]
#[derive(Debug)]
struct Browser;

#[cfg(not(feature = "ssr"))]
impl Ambient for Browser {
    fn unix_ms(&self) -> i64 {
        js_sys::Date::now() as i64
    }

    fn random(&self) -> u64 {
        // Each number has fewer random bits than an `f64` has digits.
        let half = || (js_sys::Math::random() * 4_294_967_296.0) as u64;
        half() << 32 | half()
    }
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
        let scope = Scope { state: Some(state), url_query: url_query.as_ref(), event, step, ..scope_for(value) };
        operators::evaluate(value, &scope)
    }
}

/// Returns whether any value of a page fits: a property, a condition or a parameter of an action.
pub(crate) fn any_value(page: &Page, fits: fn(&Value) -> bool) -> bool {
    any_in_events(&page.events, fits) || page.blocks.iter().any(|block| any_in_block(block, fits))
}

fn any_in_block(block: &Block, fits: fn(&Value) -> bool) -> bool {
    let own = fits(&block.visible) || block.properties.values().any(fits) || any_in_events(&block.events, fits);
    own || block.blocks.iter().any(|block| any_in_block(block, fits))
}

fn any_in_events(events: &Events, fits: fn(&Value) -> bool) -> bool {
    let mut actions = events.iter().flat_map(|(_, actions)| actions);
    actions.any(|action| fits(&action.skip) || action.params.values().any(fits))
}

/// Requests the code of the operators that a page uses, and that are not in the main module.
pub(crate) fn request_operators(page: &Page) {
    if any_value(page, operators::has_expressions) {
        EXPRESSIONS.request();
    }
    if any_value(page, operators::has_further_operators) {
        OPERATORS.request();
    }
}

/// Loads the code of the operators that a page uses. If it fails, everything on the page that does
/// not need them still works.
pub(crate) async fn load_operators(page: &Page) {
    if any_value(page, operators::has_expressions) {
        let _ = EXPRESSIONS.load().await;
    }
    if any_value(page, operators::has_further_operators) {
        let _ = OPERATORS.load().await;
    }
}

/// Returns a scope with the code that a value needs, as far as it is loaded.
pub(crate) fn scope_for(value: &Value) -> Scope<'static> {
    let further = if operators::has_further_operators(value) { OPERATORS.get() } else { None };
    Scope {
        expressions: if operators::has_expressions(value) { EXPRESSIONS.get().copied() } else { None },
        operators: further.map(|further| further.operators),
        ambient: further.and_then(|further| further.ambient).map(|ambient| ambient as &dyn Ambient),
        ..Scope::default()
    }
}
