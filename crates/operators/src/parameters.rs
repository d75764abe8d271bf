//! The parameters of operators: their kinds, and how arguments are evaluated and checked.

use crate::date::milliseconds;
use crate::evaluation::Evaluation;
use crate::function::Function;
use crate::pattern::Pattern;
use crate::values::operator;
use crate::{OperatorError, meter};
use serde_json::Value;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any value.
    Any,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A number without a fraction.
    Integer,
    /// A list.
    List,
    /// A mapping.
    Map,
    /// `true` or `false`.
    Flag,
    /// A date: text in ISO 8601 format, or milliseconds since 1970 UTC.
    Date,
    /// A key such as `items.0.name`, or an index.
    Key,
    /// A regular expression.
    Pattern,
    /// A function, which the operator calls: `{ _function: … }`.
    Function,
}

impl Kind {
    /// Returns whether a value is of this kind.
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Text | Self::Pattern => value.is_string(),
            Self::Number => value.is_number(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::List => value.is_array(),
            Self::Map => value.is_object(),
            Self::Flag => value.is_boolean(),
            Self::Date => milliseconds(value).is_some(),
            Self::Key => value.is_string() || value.is_u64(),
            Self::Function => operator(value).is_some_and(|(name, _)| name == "_function"),
        }
    }

    /// Returns the problem of a value that is written in the config.
    pub fn problem(self, value: &Value) -> Option<String> {
        match (self, value) {
            (Self::Pattern, Value::String(pattern)) => Pattern::problem(pattern),
            _ if self.accepts(value) => None,
            _ => Some(format!("expected {}, found {}", self.describe(), describe(value))),
        }
    }

    /// Describes the kind for a message: "a text".
    pub fn describe(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Integer => "a whole number",
            Self::List => "a list",
            Self::Map => "a mapping",
            Self::Flag => "`true` or `false`",
            Self::Date => "a date in ISO 8601 format or in milliseconds",
            Self::Key => "a key or an index",
            Self::Pattern => "a regular expression",
            Self::Function => "a function (`_function: …`)",
        }
    }
}

/// A parameter with a name.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name, as the key of a mapping.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether it may be left out.
    pub optional: bool,
}

/// A parameter that must be given.
pub const fn required(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, optional: false }
}

/// A parameter that may be left out.
pub const fn optional(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, optional: true }
}

/// The parameters of an operator.
#[derive(Clone, Copy, Debug)]
pub enum Parameters {
    /// None: `null` or `true`.
    Nothing,
    /// None, or this word, which has no effect.
    NothingOr(&'static str),
    /// A single value. `null` counts as an empty text or list.
    One(Kind),
    /// A list of exactly two values.
    Pair(Kind),
    /// A list of any number of values.
    Values(Kind),
    /// Parameters by name in a mapping, or in this order in a list. The first one, `on`, may be
    /// `null`, which counts as an empty text or list.
    Named(&'static [Parameter]),
    /// Anything: the operator evaluates and checks its argument itself.
    Own,
}

impl Parameters {
    /// Returns whether an operator with these parameters evaluates them before it computes. Others
    /// pass on a part of their argument, or read a value.
    pub fn are_evaluated(self) -> bool {
        !matches!(self, Self::Own)
    }
}

/// The arguments of a call, evaluated and checked.
#[derive(Debug, Default)]
pub struct Arguments(Vec<Argument>);

#[derive(Debug)]
enum Argument {
    Absent,
    Value(Value),
    Function(Function),
}

impl Arguments {
    /// Takes an argument; `null` if it is absent.
    pub fn value(&mut self, index: usize) -> Value {
        match self.0.get_mut(index).map(|argument| std::mem::replace(argument, Argument::Absent)) {
            Some(Argument::Value(value)) => value,
            _ => Value::Null,
        }
    }

    /// Takes a list; an empty one if it is absent or `null`.
    pub fn list(&mut self, index: usize) -> Vec<Value> {
        if let Value::Array(items) = self.value(index) { items } else { Vec::new() }
    }

    /// Takes a text; an empty one if it is absent or `null`.
    pub fn text(&mut self, index: usize) -> String {
        if let Value::String(text) = self.value(index) { text } else { String::new() }
    }

    /// Returns an argument, if it was given.
    pub fn get(&self, index: usize) -> Option<&Value> {
        match self.0.get(index) {
            Some(Argument::Value(value)) => Some(value),
            _ => None,
        }
    }

    /// Returns a number, if it was given.
    pub fn number(&self, index: usize) -> Option<f64> {
        self.get(index)?.as_f64()
    }

    /// Takes a function.
    pub(crate) fn function(&mut self, index: usize) -> Option<Function> {
        match self.0.get_mut(index).map(|argument| std::mem::replace(argument, Argument::Absent)) {
            Some(Argument::Function(function)) => Some(function),
            _ => None,
        }
    }

    /// Evaluates and checks the arguments of an operator.
    pub(crate) fn read(
        parameters: Parameters,
        evaluation: &mut Evaluation<'_>,
        argument: &Value,
    ) -> Result<Self, OperatorError> {
        match parameters {
            Parameters::Own => Ok(Self::default()),
            Parameters::Nothing => match argument {
                Value::Null | Value::Bool(true) => Ok(Self::default()),
                _ => Err(evaluation.error("it takes nothing: write `null`")),
            },
            Parameters::NothingOr(word) => match argument {
                Value::Null | Value::Bool(true) => Ok(Self::default()),
                Value::String(given) if given == word => Ok(Self::default()),
                _ => Err(evaluation.error(format!("it takes nothing, or `{word}`"))),
            },
            Parameters::One(kind) => {
                let value = evaluation.evaluate(argument)?;
                check(evaluation, kind, &value, true)?;
                Ok(Self(vec![Argument::Value(value)]))
            }
            Parameters::Pair(kind) => match evaluation.evaluate(argument)? {
                Value::Array(values) if values.len() == 2 => Self::checked(evaluation, kind, values),
                _ => Err(evaluation.error("it takes a list of two values")),
            },
            Parameters::Values(kind) => match evaluation.evaluate(argument)? {
                Value::Array(values) => Self::checked(evaluation, kind, values),
                other => Err(evaluation.error(format!("it takes a list of values, found {}", describe(&other)))),
            },
            Parameters::Named(parameters) => Self::read_named(parameters, evaluation, argument),
        }
    }

    fn checked(evaluation: &mut Evaluation<'_>, kind: Kind, values: Vec<Value>) -> Result<Self, OperatorError> {
        for (index, value) in values.iter().enumerate() {
            evaluation.within(&index.to_string(), |here| check(here, kind, value, false))?;
        }
        Ok(Self(values.into_iter().map(Argument::Value).collect()))
    }

    fn read_named(
        parameters: &[Parameter],
        evaluation: &mut Evaluation<'_>,
        argument: &Value,
    ) -> Result<Self, OperatorError> {
        let computed = operator(argument).is_some().then(|| evaluation.evaluate(argument)).transpose()?;
        let is_computed = computed.is_some();
        let argument = computed.as_ref().unwrap_or(argument);
        if let Value::Object(fields) = argument
            && let Some(unknown) = fields.keys().find(|key| parameters.iter().all(|parameter| parameter.name != **key))
        {
            return Err(evaluation.error(format!("there is no parameter `{unknown}`; it takes {}", list(parameters))));
        }
        let mut arguments = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let (segment, given) = match argument {
                Value::Object(fields) => (parameter.name.to_owned(), fields.get(parameter.name)),
                Value::Array(items) if items.len() <= parameters.len() => (index.to_string(), items.get(index)),
                _ => {
                    let takes = list(parameters);
                    return Err(evaluation.error(format!("it takes {takes}, as a mapping or as a list in this order")));
                }
            };
            let Some(given) = given else {
                if parameter.optional {
                    arguments.push(Argument::Absent)
                } else {
                    return Err(evaluation.error(format!("`{}` is missing", parameter.name)));
                }
                continue;
            };
            arguments
                .push(evaluation.within(&segment, |here| Self::read_parameter(parameter, here, given, is_computed))?);
        }
        Ok(Self(arguments))
    }

    fn read_parameter(
        parameter: &Parameter,
        evaluation: &mut Evaluation<'_>,
        given: &Value,
        is_computed: bool,
    ) -> Result<Argument, OperatorError> {
        if parameter.kind == Kind::Function {
            // Only the config may bring functions, not the values that operators read.
            return if is_computed {
                Err(evaluation.error("a function must be written here"))
            } else {
                Function::prepare(evaluation, given).map(Argument::Function)
            };
        }
        let value = if is_computed {
            meter::charge_value(given).map(|()| given.clone()).map_err(|exhausted| evaluation.error(exhausted))?
        } else {
            evaluation.evaluate(given)?
        };
        if value.is_null() && parameter.optional && parameter.kind != Kind::Any {
            return Ok(Argument::Absent);
        }
        check(evaluation, parameter.kind, &value, parameter.name == "on")?;
        Ok(Argument::Value(value))
    }
}

fn check(evaluation: &Evaluation<'_>, kind: Kind, value: &Value, may_be_null: bool) -> Result<(), OperatorError> {
    let is_empty = may_be_null && value.is_null() && matches!(kind, Kind::Text | Kind::List | Kind::Map);
    if is_empty || kind.accepts(value) {
        return Ok(());
    }
    Err(evaluation.error(format!("expected {}, found {}", kind.describe(), describe(value))))
}

/// Describes a value for a message, without its content, which may be private.
fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "`true` or `false`",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// Lists the names of parameters.
fn list(parameters: &[Parameter]) -> String {
    let names: Vec<_> = parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    names.join(", ")
}
