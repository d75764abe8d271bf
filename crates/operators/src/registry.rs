//! The operators by name.

use crate::evaluation::Evaluation;
use crate::families::FAMILIES;
use crate::parameters::{Arguments, Parameters};
use crate::{OperatorError, meter};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// An operator: its name, its parameters, what it does and where it is allowed.
pub struct Definition {
    /// The name, with its underscore.
    pub name: &'static str,
    /// What it takes.
    pub parameters: Parameters,
    /// Where it may be used.
    pub usage: Usage,
    /// Whether a `_secret` may be an argument: secrets that it passes on are found in responses, and
    /// removed, as long as they are not changed.
    pub keeps_secrets: bool,
    pub(crate) function: Run,
    /// What users read about it.
    #[cfg(feature = "reference")]
    pub docs: Docs,
}

/// The documentation of an operator.
#[cfg(feature = "reference")]
#[derive(Clone, Copy, Debug)]
pub struct Docs {
    /// What it returns, in one sentence.
    pub summary: &'static str,
    /// Arguments with their results, as JSON.
    pub examples: &'static [(&'static str, &'static str)],
}

/// Where an operator may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// It reads a value that exists in some places only.
    Value,
    /// Wherever operators are evaluated.
    Anywhere,
    /// Wherever nothing is rendered: it has another result each time, and what the server renders
    /// must equal the browser's first render.
    NotRendered,
    /// In a function only.
    InFunction,
    /// As a parameter that takes a function.
    AsFunction,
}

/// How an operator is evaluated.
pub(crate) enum Run {
    /// By the evaluator itself.
    Base,
    /// From its arguments only.
    Plain(fn(Arguments) -> Result<Value, String>),
    /// From its arguments and the evaluation, which calls functions.
    Calling(fn(&mut Evaluation<'_>, Arguments) -> Result<Value, OperatorError>),
    /// It evaluates those parts of its argument that it needs.
    Lazy(fn(&mut Evaluation<'_>, &Value) -> Result<Value, OperatorError>),
}

impl Definition {
    /// Allows it only where nothing is rendered.
    pub(crate) const fn not_rendered(self) -> Self {
        Self { usage: Usage::NotRendered, ..self }
    }

    /// Restricts where it is allowed.
    pub(crate) const fn used(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Allows secrets as arguments.
    pub(crate) const fn keeps_secrets(self) -> Self {
        Self { keeps_secrets: true, ..self }
    }

    fn run(&self, evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
        let result = match self.function {
            Run::Lazy(run) => return run(evaluation, argument),
            Run::Base => Err(format!("`{}` has no value here", self.name)),
            Run::Plain(run) => run(Arguments::read(self.parameters, evaluation, argument)?),
            Run::Calling(run) => {
                let arguments = Arguments::read(self.parameters, evaluation, argument)?;
                return run(evaluation, arguments);
            }
        };
        result.map_err(|message| evaluation.error(message))
    }
}

/// Declares an operator: its name, its parameters, how it is evaluated, what it returns, and
/// examples of arguments with their results. The browser's code has no documentation.
macro_rules! operator {
    ($name:literal, $parameters:expr, $function:expr, $summary:literal, [$($argument:literal => $result:literal),* $(,)?]) => {
        $crate::registry::Definition {
            name: $name,
            parameters: $parameters,
            usage: $crate::registry::Usage::Anywhere,
            keeps_secrets: false,
            function: $function,
            #[cfg(feature = "reference")]
            docs: $crate::registry::Docs { summary: $summary, examples: &[$(($argument, $result)),*] },
        }
    };
}
pub(crate) use operator;

/// Returns the definitions of all operators, in the order of the documentation.
pub fn definitions() -> impl Iterator<Item = &'static Definition> {
    FAMILIES.iter().flat_map(|(_, family)| family.iter())
}

/// Returns the definition of an operator.
pub fn definition(name: &str) -> Option<&'static Definition> {
    definitions().find(|definition| definition.name == name)
}

/// The operators outside of the base set, and those that a program adds.
pub struct Operators {
    pub(crate) apply: fn(&Self, &mut Evaluation<'_>, &str, &Value) -> Result<Value, OperatorError>,
    /// Charges the budget of the evaluation for one step, or for a copy of a value.
    pub(crate) charge: fn(Option<&Value>) -> Result<(), String>,
    custom: Vec<CustomOperator>,
}

/// An operator of a program that uses this crate.
#[derive(Clone)]
pub struct CustomOperator {
    /// The name, with its underscore.
    pub name: String,
    /// What it takes.
    pub parameters: Parameters,
    /// Computes the value from the arguments, or returns an error message in one line. It runs
    /// wherever operators are evaluated, possibly on an async worker, so it must be quick.
    pub run: CustomFunction,
}

/// The function of a [`CustomOperator`].
pub type CustomFunction = Arc<dyn Fn(Arguments) -> Result<Value, String> + Send + Sync>;

static STANDARD: Operators = Operators { apply, charge: meter::charge_copy, custom: Vec::new() };

impl Operators {
    /// Returns the operators of this crate.
    pub fn standard() -> &'static Self {
        &STANDARD
    }

    /// Returns the operators of this crate and those of a program. Names of this crate keep their
    /// meaning.
    pub fn with(custom: Vec<CustomOperator>) -> Self {
        Self { custom, ..STANDARD }
    }

    /// Returns the operators that were added.
    pub fn custom(&self) -> &[CustomOperator] {
        &self.custom
    }
}

impl fmt::Debug for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.custom.iter().map(|operator| &operator.name)).finish()
    }
}

fn apply(
    operators: &Operators,
    evaluation: &mut Evaluation<'_>,
    name: &str,
    argument: &Value,
) -> Result<Value, OperatorError> {
    meter::with_current_limits(|| {
        if name == crate::function::CAPTURED {
            return crate::function::read_captured(evaluation, argument);
        }
        if let Some(definition) = definition(name) {
            return definition.run(evaluation, argument);
        }
        let custom = operators.custom.iter().find(|operator| operator.name == name);
        let Some(custom) = custom else { return Err(evaluation.error(unknown(name))) };
        let arguments = Arguments::read(custom.parameters, evaluation, argument)?;
        (custom.run)(arguments).map_err(|message| evaluation.error(message))
    })
}

#[cfg(feature = "reference")]
fn unknown(name: &str) -> String {
    match crate::instead_of(name) {
        Some(instead) => format!("the operator `{name}` is not supported: {instead}"),
        None => format!("there is no operator `{name}`"),
    }
}

/// Without what to use instead, which the check of the config has said.
#[cfg(not(feature = "reference"))]
fn unknown(name: &str) -> String {
    format!("there is no operator `{name}`")
}
