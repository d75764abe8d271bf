//! `_expr` and `_template`: the language of minijinja
//! (<https://docs.rs/minijinja/latest/minijinja/syntax/>) without files, with limits of work and
//! size.
//!
//! Templates read untrusted values, so every evaluation has a budget: the engine counts steps, and
//! [`crate::meter`] counts the items and texts that the steps process ([`metered`], [`functions`]).

mod functions;
mod metered;
#[cfg(test)]
mod tests;

use crate::families::json::BoundedWriter;
use crate::meter::{self, Exhausted, MAX_BYTES, charge};
use crate::{ExpressionLanguage, Scope};
use minijinja::value::{Value as EngineValue, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, escape_formatter};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The units of work for parsing a text, in addition to its length.
const PARSE_UNITS: u64 = 50;

/// The environment with the supported functions. The engine does not limit the size of a single
/// value, so everything with which a text could grow in a loop is left out (`namespace`, macros,
/// recursive loops), and filters that multiply texts check the size of their result. Other growth
/// is limited by the length of the template in the config.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    // Missing values are `null`, as for all other operators.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(write_counted);
    functions::add_all(&mut environment);
    environment
});

/// Encodes a value, or returns why it cannot be encoded.
pub type Encoder = fn(&str) -> Result<String, String>;

thread_local! {
    /// The encoder of template values in the current evaluation, if any.
    static ENCODER: Cell<Option<Encoder>> = const { Cell::new(None) };
    /// The bytes that the current evaluation has written, to the result or to a `{% set %}` block,
    /// which the engine does not limit.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

/// Writes a value, within the maximum size.
fn write_counted(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &EngineValue) -> Result<(), Error> {
    let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
    let encoded = ENCODER.get().map(|encode| encode(encoded_text(value, &text)?)).transpose();
    let encoded = encoded.map_err(|message| Error::new(ErrorKind::InvalidOperation, message))?;
    let written = WRITTEN.get().saturating_add(encoded.as_deref().unwrap_or(&text).len());
    WRITTEN.set(written);
    match encoded {
        _ if written > MAX_BYTES => Err(too_large()),
        Some(encoded) => out.write_str(&encoded).map_err(Error::from),
        None => escape_formatter(out, state, value),
    }
}

impl From<Exhausted> for Error {
    fn from(_: Exhausted) -> Self {
        ErrorKind::OutOfFuel.into()
    }
}

/// Returns the text of a value that is to be encoded. No value counts as an empty text, and a truth
/// value or a list is refused: its text depends on the engine.
fn encoded_text<'a>(value: &EngineValue, text: &'a str) -> Result<&'a str, String> {
    match value.kind() {
        ValueKind::String | ValueKind::Number => Ok(text),
        ValueKind::Undefined | ValueKind::None => Ok(""),
        _ => Err("only a text or a number can be put here".to_owned()),
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("more than {MAX_BYTES} bytes"))
}

/// Rejects recursive loops, which can pass a growing text to themselves.
fn check_no_recursion(source: &str) -> Result<(), String> {
    let tags = source.split("{%").skip(1).filter_map(|rest| rest.split("%}").next());
    let mut words = tags.flat_map(|tag| tag.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    if words.any(|word| word == "recursive") { Err("recursive loops are not supported".to_owned()) } else { Ok(()) }
}

/// Checks the syntax of a text.
///
/// # Errors
/// An error message in one line.
pub fn check_source(language: ExpressionLanguage, source: &str) -> Result<(), String> {
    let read = match language {
        ExpressionLanguage::Expression => ENVIRONMENT.compile_expression(source).map(drop),
        ExpressionLanguage::Template => ENVIRONMENT.template_from_str(source).map(drop),
    };
    read.map_err(|error| error_message(&error))?;
    check_no_recursion(source)
}

/// Returns the variables that a text reads, each with the names on the way to what it reads, as far as they are
/// written out: `step.extract.total`. The functions of the language and the text's own variables are left out.
///
/// # Errors
/// An error message in one line.
pub fn variables(language: ExpressionLanguage, source: &str) -> Result<BTreeSet<String>, String> {
    let read = match language {
        ExpressionLanguage::Expression => {
            ENVIRONMENT.compile_expression(source).map(|expression| expression.undeclared_variables(true))
        }
        ExpressionLanguage::Template => {
            ENVIRONMENT.template_from_str(source).map(|template| template.undeclared_variables(true))
        }
    };
    let is_function = |name: &str| ENVIRONMENT.globals().any(|(known, _)| known == name);
    let read = read.map_err(|error| error_message(&error))?;
    Ok(read.into_iter().filter(|path| !path.split('.').next().is_some_and(is_function)).collect())
}

/// Evaluates a text; the usual [`Evaluator`](crate::Evaluator).
///
/// # Errors
/// An error message in one line.
pub fn evaluate_source(language: ExpressionLanguage, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
    evaluate_within_limits(language, source, scope, None)
}

/// Evaluates a text and encodes the values of a template, but not the text between them. The value
/// of an expression is not encoded, because it does not show which parts are values.
///
/// # Errors
/// An error message in one line.
pub fn evaluate_encoded(
    language: ExpressionLanguage,
    source: &str,
    scope: &Scope<'_>,
    encoder: Encoder,
) -> Result<Value, String> {
    evaluate_within_limits(language, source, scope, Some(encoder))
}

fn evaluate_within_limits(
    language: ExpressionLanguage,
    source: &str,
    scope: &Scope<'_>,
    encoder: Option<Encoder>,
) -> Result<Value, String> {
    check_no_recursion(source)?;
    WRITTEN.set(0);
    ENCODER.set(encoder);
    meter::with_current_limits(|| run(language, source, scope))
}

fn run(language: ExpressionLanguage, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
    let (environment, names) = prepare(source, scope).map_err(|error| error_message(&error))?;
    let result = match language {
        ExpressionLanguage::Expression => expression_value(&environment, source, names),
        ExpressionLanguage::Template => template_text(&environment, source, names),
    };
    // The engine may have continued without the items that were refused.
    if meter::is_exhausted() { Err(error_message(&meter::exhaust().into())) } else { result }
}

/// Returns the environment with the step limit for the values, and the variables of a text.
fn prepare(source: &str, scope: &Scope<'_>) -> Result<(Environment<'static>, EngineValue), Error> {
    charge(PARSE_UNITS + meter::text_units(source))?;
    if !meter::current_limits().may_multiply && source.contains('*') {
        return Err(meter::exhaust().into());
    }
    let (names, longest) = visible_variables(source, scope)?;
    let mut environment = ENVIRONMENT.clone();
    environment.set_fuel(Some(meter::current_limits().steps(longest)));
    Ok((environment, names))
}

/// Returns the variables whose names occur in a text, and the bytes of their longest text.
fn visible_variables(source: &str, scope: &Scope<'_>) -> Result<(EngineValue, usize), Error> {
    let all = [
        ("state", scope.state),
        ("user", scope.user),
        ("payload", scope.payload),
        ("input", scope.input),
        ("step", scope.step),
        ("url_query", scope.url_query),
        ("shared_state", scope.shared_state),
        ("item", scope.item),
        ("event", scope.event),
        ("error", scope.error),
        ("agent", scope.agent),
    ];
    let mut longest = 0;
    let mut names = BTreeMap::new();
    for (name, value) in all {
        let Some(value) = value.filter(|_| source.contains(name)) else { continue };
        let (known, text) = metered::metered_variable(value)?;
        longest = longest.max(text);
        names.insert(name, known);
    }
    Ok((metered::metered(EngineValue::from(names)), longest))
}

fn expression_value(environment: &Environment<'_>, source: &str, names: EngineValue) -> Result<Value, String> {
    let value = environment.compile_expression(source).and_then(|expression| expression.eval(names));
    let value = value.map_err(|error| error_message(&error))?;
    let mut json = BoundedWriter(Vec::new());
    serde_json::to_writer(&mut json, &value).map_err(|_| "its value is too large or not JSON".to_owned())?;
    serde_json::from_slice(&json.0).map_err(|error| error.to_string())
}

fn template_text(environment: &Environment<'_>, source: &str, names: EngineValue) -> Result<Value, String> {
    let mut text = BoundedWriter(Vec::new());
    let rendered = environment.template_from_str(source).and_then(|template| {
        let rendered = template.render_captured_to(names, &mut text)?;
        // If a value contains several templates, the steps of all of them count.
        charge(rendered.state().fuel_levels().map_or(0, |(steps, _)| steps)).map_err(Error::from)
    });
    rendered.map_err(|error| error_message(&error))?;
    String::from_utf8(text.0).map(Value::String).map_err(|error| error.to_string())
}

fn error_message(error: &Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        // The limit was one of steps or of work: the rest of the same value is not evaluated.
        let _ = meter::exhaust();
    }
    let text = error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    match error.line() {
        Some(line) if line > 1 => format!("{text} (line {line})"),
        _ => text,
    }
}
