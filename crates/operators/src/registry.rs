//! The operators by name.

use crate::evaluation::Evaluation;
use crate::families::FAMILIES;
use crate::parameters::{Arguments, Parameters};
use crate::{OperatorError, meter};
use serde_json::Value;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An operator: its name, its parameters, what it does and where it is allowed.
pub struct Definition {
    /// The name, with its underscore.
    pub name: &'static str,
    /// The parameters.
    pub parameters: Parameters,
    /// Where it may be used.
    pub usage: Usage,
    /// Whether a `_secret` may be an argument: secrets that it passes on are found in responses, and
    /// removed, as long as they are not changed.
    pub keeps_secrets: bool,
    pub(crate) function: Run,
    /// The documentation for users.
    #[cfg(feature = "reference")]
    pub docs: Docs,
}

/// The documentation of an operator.
#[cfg(feature = "reference")]
#[derive(Clone, Copy, Debug)]
pub struct Docs {
    /// The result, in one sentence.
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
    /// Wherever the server alone evaluates: an operator that a program adds, which the browser's
    /// code does not have.
    OnServer,
}

/// How an operator is evaluated.
pub(crate) enum Run {
    /// By the evaluator itself.
    Base,
    /// From its arguments only.
    Plain(fn(Arguments) -> Result<Value, String>),
    /// From its arguments and the evaluation, which calls functions.
    Calling(fn(&mut Evaluation<'_>, Arguments) -> Result<Value, OperatorError>),
    /// From its arguments only, by a function of another program: it may panic, and what it returns
    /// has not been charged.
    Custom(fn(Arguments) -> Result<Value, String>),
    /// It evaluates those parts of its argument that it needs.
    Lazy(fn(&mut Evaluation<'_>, &Value) -> Result<Value, OperatorError>),
}

impl Definition {
    /// An operator that a program adds. Its name begins with an underscore and is not one of those
    /// that exist. `function` computes the value from the arguments, or returns an error message in
    /// one line. It runs wherever the server evaluates operators, possibly on an async worker and more
    /// than once, so it must be quick and have no effects. `summary` says in a sentence what it
    /// returns.
    pub const fn custom(
        name: &'static str,
        parameters: Parameters,
        function: fn(Arguments) -> Result<Value, String>,
        summary: &'static str,
    ) -> Self {
        #[cfg(not(feature = "reference"))]
        let _ = summary;
        Self {
            name,
            parameters,
            usage: Usage::OnServer,
            keeps_secrets: false,
            function: Run::Custom(function),
            #[cfg(feature = "reference")]
            docs: Docs { summary, examples: &[] },
        }
    }

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
            Run::Custom(run) => run_custom(run, Arguments::read(self.parameters, evaluation, argument)?),
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

/// Calls the function of an operator that a program added, and charges for what it returns.
fn run_custom(run: fn(Arguments) -> Result<Value, String>, arguments: Arguments) -> Result<Value, String> {
    // The panic hook has reported where. The function has no access to anything that a panic could
    // leave half changed.
    let made = catch_unwind(AssertUnwindSafe(|| run(arguments)));
    let value = made.map_err(|_| "the operator failed; the reason is in the server log".to_owned())??;
    meter::charge_value(&value)?;
    Ok(value)
}

/// The operators outside of the base set, and those that a program adds.
pub struct Operators {
    pub(crate) apply: fn(&Self, &mut Evaluation<'_>, &str, &Value) -> Result<Value, OperatorError>,
    /// Charges the budget of the evaluation for one step, or for a copy of a value.
    pub(crate) charge: fn(Option<&Value>) -> Result<(), String>,
    custom: Vec<&'static Definition>,
}

static STANDARD: Operators = Operators { apply, charge: meter::charge_copy, custom: Vec::new() };

/// The operators of this crate.
impl Default for Operators {
    fn default() -> Self {
        Self { custom: Vec::new(), ..STANDARD }
    }
}

impl Operators {
    /// Returns the operators of this crate.
    pub fn standard() -> &'static Self {
        &STANDARD
    }

    /// Returns the operators of this crate and those that a program adds.
    ///
    /// # Errors
    /// The first one whose name cannot be used, with the reason.
    pub fn with(custom: Vec<&'static Definition>) -> Result<Self, String> {
        for (index, Definition { name, .. }) in custom.iter().enumerate() {
            let is_known = definition(name).is_some() || custom.iter().take(index).any(|other| other.name == *name);
            let problem = match name.strip_prefix('_') {
                _ if is_known => "there is one with this name already",
                Some(rest) if rest.starts_with(|first: char| first.is_ascii_alphabetic()) => continue,
                _ => "a name begins with one underscore and a letter",
            };
            return Err(format!("the operator `{name}` cannot be added: {problem}"));
        }
        Ok(Self { custom, ..STANDARD })
    }

    /// Returns the operators that were added.
    pub fn custom(&self) -> &[&'static Definition] {
        &self.custom
    }

    /// Returns the definition of one of them.
    pub fn definition(&self, name: &str) -> Option<&'static Definition> {
        definition(name).or_else(|| self.custom.iter().copied().find(|custom| custom.name == name))
    }
}

/// Formats the name.
impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Definition").field(&self.name).finish()
    }
}

/// Formats the names of those that were added.
impl fmt::Debug for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.custom).finish()
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
        match operators.definition(name) {
            Some(definition) => definition.run(evaluation, argument),
            None => Err(evaluation.error(unknown(name))),
        }
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
