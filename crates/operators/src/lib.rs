#![doc = include_str!("../README.md")]

mod date;
mod evaluation;
#[cfg(feature = "expressions")]
mod expression;
mod families;
mod function;
mod inspection;
mod limits;
mod meter;
mod parameters;
mod pattern;
#[cfg(feature = "reference")]
mod reference;
mod registry;
#[cfg(feature = "reference")]
mod unsupported;
mod values;

pub use evaluation::evaluate;
#[cfg(feature = "expressions")]
pub use expression::{Encoder, check_source, evaluate_encoded, evaluate_source, variables};
pub use families::FAMILIES;
pub use inspection::{
    has_expressions, has_further_operators, is_costly, is_dynamic, name_outside_functions, secrets_used,
};
pub use limits::{evaluate_briefly, evaluate_fully};
pub use parameters::{Arguments, Kind, Parameter, Parameters, optional, required};
#[cfg(feature = "reference")]
pub use reference::reference;
#[cfg(feature = "reference")]
pub use registry::Docs;
pub use registry::{Definition, Operators, Usage, definition, definitions};
#[cfg(feature = "reference")]
pub use unsupported::instead_of;
pub use values::{is_prototype_key, is_truthy, operator};

use serde_json::Value;
use std::fmt;

/// The values that operators read. Absent ones read as `null`; without `secret`, `_secret` is an
/// error.
#[derive(Clone, Copy, Default)]
pub struct Scope<'a> {
    /// `_state`: the page's state.
    pub state: Option<&'a Value>,
    /// `_user`: the signed-in user.
    pub user: Option<&'a Value>,
    /// `_payload`: the payload of an endpoint.
    pub payload: Option<&'a Value>,
    /// `_input`: the input of a workflow.
    pub input: Option<&'a Value>,
    /// `_step`: the results of earlier steps of a routine or a workflow, or of earlier actions.
    pub step: Option<&'a Value>,
    /// `_url_query`: the page's query parameters.
    pub url_query: Option<&'a Value>,
    /// `_shared_state`: the state that the page shares with the agent.
    pub shared_state: Option<&'a Value>,
    /// `_item`: the current item of a loop.
    pub item: Option<&'a Value>,
    /// `_event`: the event that triggered an action of a page.
    pub event: Option<&'a Value>,
    /// `_error`: the error of the steps, in a routine's `:catch`.
    pub error: Option<&'a Value>,
    /// `_agent`: the agent that calls an endpoint.
    pub agent: Option<&'a Value>,
    /// `_secret`: returns the value of an environment variable; set on the server only.
    pub secret: Option<&'a SecretLookup>,
    /// The evaluator of `_expr` and `_template`: `evaluate_source`, where its code is loaded.
    pub expressions: Option<Evaluator>,
    /// All operators outside of the base set, where their code is loaded. The server always has it.
    pub operators: Option<&'a Operators>,
    /// The clock and the random numbers; without them, operators that need them are an error.
    pub ambient: Option<&'a dyn Ambient>,
}

/// Returns the value of an environment variable by its name.
pub type SecretLookup = dyn Fn(&str) -> Option<String>;

/// Evaluates the text of an `_expr` or a `_template`, or returns an error message in one line. A
/// parameter, because the browser loads the code only with the pages whose config uses it.
pub type Evaluator = fn(ExpressionLanguage, &str, &Scope<'_>) -> Result<Value, String>;

/// The inputs of operators that differ in each evaluation.
pub trait Ambient: fmt::Debug {
    /// Returns the time in milliseconds since 1970 UTC.
    fn unix_ms(&self) -> i64;

    /// Returns a random number.
    fn random(&self) -> u64;
}

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionLanguage {
    /// `_expr`: one expression, which can have any value.
    Expression,
    /// `_template`: text with `{{ … }}` and `{% … %}`.
    Template,
}

impl ExpressionLanguage {
    /// Returns the language of an operator's argument, if it has one.
    pub fn from_operator(operator: &str) -> Option<Self> {
        match operator {
            "_expr" => Some(Self::Expression),
            "_template" => Some(Self::Template),
            _ => None,
        }
    }
}

/// An error in the evaluation of a config value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorError {
    /// The location as a JSON pointer into the value.
    pub path: String,
    /// The error message.
    pub message: String,
}

impl fmt::Display for OperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", if self.path.is_empty() { "/" } else { &self.path }, self.message)
    }
}

impl std::error::Error for OperatorError {}
