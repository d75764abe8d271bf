//! `_expr` and `_template`: the language of minijinja (<https://docs.rs/minijinja/latest/minijinja/syntax/>), without files, within
//! bounds of work and size.
//!
//! The values that templates read come from strangers, so every evaluation ends within a budget: the engine counts steps,
//! [`meter`] the items and texts that the steps go through ([`counted`], [`functions`]). A server evaluates with a small
//! budget on the thread that asks ([`evaluate_briefly`]), and what needs more on a thread of its own ([`evaluate_fully`]).

mod counted;
mod functions;
mod meter;
#[cfg(test)]
mod tests;

use crate::{Language, OperatorError, Scope, evaluate};
use meter::{BRIEF, FULL, charge};
use minijinja::value::Value as Known;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, escape_formatter};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::LazyLock;

/// Bytes of a text that a template makes, and of an expression's value.
const MAX_BYTES: usize = 1 << 20;
/// Units of work for reading a text, before its length.
const READING: u64 = 50;

/// The language within its bounds. What one value may grow to while it is made is not counted by the engine, so whatever lets a text
/// grow with each turn of a loop is left out (`namespace`, macros, recursive loops), and the filters that multiply one text by
/// another count what they make. What is left can only grow by what stands written in the config.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::empty();
    // As everywhere else, what is not there is nothing.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(write_counted);
    functions::add_all(&mut environment);
    environment
});

/// Evaluates as [`evaluate`](crate::evaluate) does, with a small budget: in a few milliseconds at most. None if more is needed.
pub fn evaluate_briefly(value: &Value, scope: &Scope<'_>) -> Option<Result<Value, OperatorError>> {
    let (result, is_spent) = meter::within(BRIEF, None, || evaluate(value, scope));
    (!is_spent).then_some(result)
}

/// Evaluates as [`evaluate`](crate::evaluate) does, with the largest budget: in a few seconds at most. It ends early when
/// `is_abandoned` says so.
///
/// # Errors
/// As [`evaluate`](crate::evaluate), or the budget is used up.
pub fn evaluate_fully(
    value: &Value,
    scope: &Scope<'_>,
    is_abandoned: impl Fn() -> bool + 'static,
) -> Result<Value, OperatorError> {
    meter::within(FULL, Some(Box::new(is_abandoned)), || evaluate(value, scope)).0
}

/// Writes a value in another way, or says why it cannot be written.
pub type Encoder = fn(&str) -> Result<String, String>;

thread_local! {
    /// How the running evaluation writes the values of a template; as they are without it.
    static ENCODER: Cell<Option<Encoder>> = const { Cell::new(None) };
    /// Bytes that the running evaluation has written: to the end's text, or to a `{% set %}` block, which the engine would let grow.
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

/// Writes a value, and no more than an evaluation may.
fn write_counted(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Known) -> Result<(), Error> {
    let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
    let encoded = ENCODER.get().map(|encode| encode(&text)).transpose();
    let encoded = encoded.map_err(|message| Error::new(ErrorKind::InvalidOperation, message))?;
    let written = WRITTEN.get().saturating_add(encoded.as_deref().unwrap_or(&text).len());
    WRITTEN.set(written);
    match encoded {
        _ if written > MAX_BYTES => Err(too_large()),
        Some(encoded) => out.write_str(&encoded).map_err(Error::from),
        None => escape_formatter(out, state, value),
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("more than {MAX_BYTES} bytes"))
}

/// Loops that call themselves can hand a growing text on.
fn refuse_recursion(source: &str) -> Result<(), String> {
    let tags = source.split("{%").skip(1).filter_map(|rest| rest.split("%}").next());
    let mut words = tags.flat_map(|tag| tag.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    if words.any(|word| word == "recursive") { Err("loops cannot be recursive here".to_owned()) } else { Ok(()) }
}

/// Whether a text can be read.
///
/// # Errors
/// In one line, what is wrong with it.
pub fn check(language: Language, source: &str) -> Result<(), String> {
    let read = match language {
        Language::Expression => ENVIRONMENT.compile_expression(source).map(drop),
        Language::Template => ENVIRONMENT.template_from_str(source).map(drop),
    };
    read.map_err(|error| explain(&error))?;
    refuse_recursion(source)
}

/// Evaluates a text; the [`Evaluator`](crate::Evaluator) of every scope that has one.
///
/// # Errors
/// In one line, what went wrong.
pub fn evaluate_text(language: Language, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
    evaluate_with(language, source, scope, None)
}

/// The same, with the values of a template encoded: what is written between them stays as it is. The value of an expression is not
/// encoded, since nothing tells what in it came from where.
///
/// # Errors
/// In one line, what went wrong.
pub fn evaluate_encoded(
    language: Language,
    source: &str,
    scope: &Scope<'_>,
    encoder: Encoder,
) -> Result<Value, String> {
    evaluate_with(language, source, scope, Some(encoder))
}

fn evaluate_with(
    language: Language,
    source: &str,
    scope: &Scope<'_>,
    encoder: Option<Encoder>,
) -> Result<Value, String> {
    refuse_recursion(source)?;
    WRITTEN.set(0);
    ENCODER.set(encoder);
    meter::within_set(|| run(language, source, scope))
}

fn run(language: Language, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
    let (environment, names) = start(source, scope).map_err(|error| explain(&error))?;
    let result = match language {
        Language::Expression => value_of(&environment, source, names),
        Language::Template => text_of(&environment, source, names),
    };
    // Something may have gone on over the items that it did not get.
    if meter::is_spent() { Err(explain(&meter::spend())) } else { result }
}

/// The language with as many steps as are right for what it goes through, and what a text may read.
fn start(source: &str, scope: &Scope<'_>) -> Result<(Environment<'static>, Known), Error> {
    charge(READING + meter::units(source))?;
    if !meter::bounds().may_multiply && source.contains('*') {
        return Err(meter::spend());
    }
    let (names, longest) = names(source, scope)?;
    let mut environment = ENVIRONMENT.clone();
    environment.set_fuel(Some(meter::bounds().steps(longest)));
    Ok((environment, names))
}

/// What a text may read by name, as far as the names stand in it, and the bytes of the longest text there.
fn names(source: &str, scope: &Scope<'_>) -> Result<(Known, usize), Error> {
    let all = [
        ("state", scope.state),
        ("user", scope.user),
        ("payload", scope.payload),
        ("step", scope.step),
        ("url_query", scope.url_query),
        ("shared_state", scope.shared_state),
        ("item", scope.item),
        ("event", scope.event),
        ("error", scope.error),
    ];
    let mut longest = 0;
    let mut names = BTreeMap::new();
    for (name, value) in all {
        let Some(value) = value.filter(|_| source.contains(name)) else { continue };
        let (known, text) = counted::known(value)?;
        longest = longest.max(text);
        names.insert(name, known);
    }
    Ok((counted::counted(Known::from(names)), longest))
}

fn value_of(environment: &Environment<'_>, source: &str, names: Known) -> Result<Value, String> {
    let value = environment.compile_expression(source).and_then(|expression| expression.eval(names));
    let value = value.map_err(|error| explain(&error))?;
    let mut json = Bounded(Vec::new());
    serde_json::to_writer(&mut json, &value).map_err(|_| "its value is too large, or no JSON".to_owned())?;
    serde_json::from_slice(&json.0).map_err(|error| error.to_string())
}

fn text_of(environment: &Environment<'_>, source: &str, names: Known) -> Result<Value, String> {
    let mut text = Bounded(Vec::new());
    let rendered = environment.template_from_str(source).and_then(|template| {
        let rendered = template.render_captured_to(names, &mut text)?;
        // Of several templates in one value, each counts.
        charge(rendered.state().fuel_levels().map_or(0, |(steps, _)| steps))
    });
    rendered.map_err(|error| explain(&error))?;
    String::from_utf8(text.0).map(Value::String).map_err(|error| error.to_string())
}

fn explain(error: &Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        // Of steps or of work: what is evaluated next in the same value is not begun.
        let _ = meter::spend();
    }
    let text = error.detail().map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    match error.line() {
        Some(line) if line > 1 => format!("{text} (in line {line} of it)"),
        _ => text,
    }
}

/// As much as may be written.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            return Err(io::Error::other(format!("more than {MAX_BYTES} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
