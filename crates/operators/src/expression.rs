//! `_expr` and `_template`: the language of minijinja (<https://docs.rs/minijinja/latest/minijinja/syntax/>), without files, within
//! bounds of work and size.

use crate::{Language, Scope};
use minijinja::value::{Kwargs, Serde, Value as Known};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, context, escape_formatter,
};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::LazyLock;

/// Steps of one evaluation, by the longest list or text that it may go through in one step: `in`, `==` and filters such as `sort` are one
/// step, however long their list is.
const FUEL: [(usize, u64); 3] = [(8 << 10, 100_000), (128 << 10, 6_000), (usize::MAX, 1_000)];
/// Bytes of a text that take as long as an item of a list.
const BYTES_PER_ITEM: usize = 64;
/// Bytes of a text that a template makes, and of an expression's value.
const MAX_BYTES: usize = 1 << 20;

/// The language within its bounds. What one value may grow to while it is made is not counted by the engine, so whatever lets a text
/// grow with each turn of a loop is left out (`namespace`, macros, recursive loops), and the filters that multiply one text by
/// another count what they make. What is left can only grow by what stands written in the config.
static ENVIRONMENTS: [LazyLock<Environment<'static>>; 3] = [
    LazyLock::new(|| environment(FUEL[0].1)),
    LazyLock::new(|| environment(FUEL[1].1)),
    LazyLock::new(|| environment(FUEL[2].1)),
];

fn environment(fuel: u64) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(fuel));
    // As everywhere else, what is not there is nothing.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(write_counted);
    environment.remove_global("namespace");
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    for multiplying in ["format", "indent", "batch", "slice"] {
        environment.remove_filter(multiplying);
    }
    environment
}

/// The language with as many steps as are right for what it goes through.
fn environment_for(scope: &Scope<'_>) -> &'static Environment<'static> {
    let values = [
        scope.state,
        scope.user,
        scope.payload,
        scope.step,
        scope.url_query,
        scope.shared_state,
        scope.item,
        scope.event,
        scope.error,
    ];
    let longest = values.into_iter().flatten().map(longest).max().unwrap_or_default();
    let tier = FUEL.iter().position(|(most, _)| longest <= *most).unwrap_or_default();
    &ENVIRONMENTS[tier]
}

/// The items of the longest list or object within a value; a text counts by its bytes.
fn longest(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / BYTES_PER_ITEM,
        Value::Array(items) => items.iter().map(longest).max().unwrap_or_default().max(items.len()),
        Value::Object(fields) => fields.values().map(longest).max().unwrap_or_default().max(fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
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

/// The texts of a list, one behind the other: `names | join(', ')`, `items | join(', ', attribute='name')`.
fn join(values: &Known, between: Option<&str>, attribute: Option<&str>, named: Kwargs) -> Result<String, Error> {
    let attribute = match attribute {
        Some(attribute) => Some(attribute),
        None => named.get("attribute")?,
    };
    named.assert_all_used()?;
    let mut joined = String::new();
    for (at, value) in values.try_iter()?.enumerate() {
        let value = attribute.map_or_else(|| Ok(value.clone()), |attribute| value.get_attr(attribute))?;
        let between = between.filter(|_| at > 0).unwrap_or_default();
        let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
        if joined.len() + between.len() + text.len() > MAX_BYTES {
            return Err(too_large());
        }
        joined.push_str(between);
        joined.push_str(&text);
    }
    Ok(joined)
}

/// A text with all of one text in it replaced by another.
fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let grown = text.matches(from).count().saturating_mul(to.len()).saturating_add(text.len());
    if grown > MAX_BYTES { Err(too_large()) } else { Ok(text.replace(from, to)) }
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
        Language::Expression => ENVIRONMENTS[0].compile_expression(source).map(drop),
        Language::Template => ENVIRONMENTS[0].template_from_str(source).map(drop),
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
    let names = context! {
        state => known(scope.state),
        user => known(scope.user),
        payload => known(scope.payload),
        step => known(scope.step),
        url_query => known(scope.url_query),
        shared_state => known(scope.shared_state),
        item => known(scope.item),
        event => known(scope.event),
        error => known(scope.error),
    };
    refuse_recursion(source)?;
    WRITTEN.set(0);
    ENCODER.set(encoder);
    let environment = environment_for(scope);
    match language {
        Language::Expression => {
            let value = environment.compile_expression(source).and_then(|expression| expression.eval(names));
            let value = value.map_err(|error| explain(&error))?;
            let mut size = Bounded(Vec::new());
            serde_json::to_writer(&mut size, &value).map_err(|_| "its value is too large, or no JSON".to_owned())?;
            serde_json::from_slice(&size.0).map_err(|error| error.to_string())
        }
        Language::Template => {
            let mut text = Bounded(Vec::new());
            let template = environment.template_from_str(source).map_err(|error| explain(&error))?;
            template.render_captured_to(names, &mut text).map_err(|error| explain(&error))?;
            String::from_utf8(text.0).map(Value::String).map_err(|error| error.to_string())
        }
    }
}

fn known(value: Option<&Value>) -> Known {
    value.map_or(Known::UNDEFINED, |value| Serde(value).into())
}

fn explain(error: &Error) -> String {
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

#[cfg(test)]
mod tests {
    use super::{evaluate_encoded, evaluate_text};
    use crate::{Language, Scope, evaluate};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn values_of_an_encoded_template_are_encoded_and_nothing_else_is() {
        let encode = |value: &str| match value {
            "" => Err("it is empty".to_owned()),
            value => Ok(format!("<{value}>")),
        };
        let check = |source: &str, expected: Result<&str, &str>| {
            let payload = json!({ "name": "Ada", "seats": 3, "none": null, "items": ["a", "b"] });
            let scope = Scope { payload: Some(&payload), ..Scope::default() };
            let seen = evaluate_encoded(Language::Template, source, &scope, encode);
            assert_eq!(seen, expected.map(Value::from).map_err(str::to_owned), "{source}");
            // What comes next is not encoded.
            let plain = evaluate_text(Language::Template, "{{ payload.name }}", &scope);
            assert_eq!(plain, Ok(json!("Ada")));
        };
        check("/users/{{ payload.name }}/{{ payload.seats }}", Ok("/users/<Ada>/<3>"));
        check("{% for item in payload.items %}/{{ item }}{% endfor %}", Ok("/<a>/<b>"));
        check("{% if payload.nobody %}/{{ payload.nobody }}{% endif %}x", Ok("x"));
        check("/users/{{ payload.nobody }}", Err("invalid operation: it is empty"));
        check("/users/{{ payload.name | safe }}", Ok("/users/<Ada>"));
    }

    fn check(value: Value, expected: &str) {
        let payload = json!({ "name": "Ada", "seats": 3, "items": [{ "price": 2.5 }, { "price": 4 }] });
        let secret = |_: &str| Some("s3cret".to_owned());
        let scope = Scope {
            payload: Some(&payload),
            secret: Some(&secret),
            expressions: Some(evaluate_text),
            ..Scope::default()
        };
        let seen = evaluate(&value, &scope).map_or_else(|error| error.to_string(), |value| value.to_string());
        assert_eq!(seen, expected, "{value}");
    }

    #[test]
    fn expressions() {
        check(json!({ "_expr": "payload.seats * 2 + 1" }), "7");
        check(json!({ "_expr": "payload.seats > 2 and payload.name == 'Ada'" }), "true");
        check(json!({ "_expr": "payload.items | map(attribute='price') | sum" }), "6.5");
        check(json!({ "_expr": "payload.nobody.at.all" }), "null");
        check(json!({ "_expr": "payload.items[1]" }), r#"{"price":4}"#);
        check(json!({ "_expr": "1 +" }), "/_expr: syntax error: unexpected end of input, expected expression");
        check(json!({ "_expr": 1 }), "/_expr: `_expr` takes a text");
        check(json!({ "_expr": "secret" }), "null");
        check(json!({ "_expr": "'x' * 2000000" }), "/_expr: its value is too large, or no JSON");
    }

    #[test]
    fn templates() {
        check(json!({ "_template": "Dear {{ payload.name }}" }), r#""Dear Ada""#);
        check(json!({ "_template": "{% for i in payload.items %}{{ i.price }};{% endfor %}" }), r#""2.5;4;""#);
        check(json!({ "_template": "{{ payload.nobody.at }}<b>" }), r#""<b>""#);
        check(
            json!({ "_template": "{% include 'x' %}" }),
            "/_template: template not found: tried to include non-existing template 'x'",
        );
        check(
            json!({ "_template": "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}" }),
            "/_template: engine ran out of fuel",
        );
    }

    #[test]
    fn nothing_grows_beyond_its_bounds() {
        let too_large = "invalid operation: more than 1048576 bytes";
        let check = |operator: &str, source: &str, expected: &str| {
            let big = "x".repeat(100_000);
            let many = vec!["y"; 10_000];
            let payload = json!({ "big": big, "many": many });
            let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_text), ..Scope::default() };
            let seen = evaluate(&json!({ operator: source }), &scope).map_err(|error| error.to_string());
            assert_eq!(
                seen.map_or_else(|error| error, |value| value.to_string()),
                format!("/{operator}: {expected}"),
                "{source}"
            );
        };
        let unknown = |what| format!("unknown function: {what} is unknown");
        check(
            "_template",
            "{% set n = namespace(x='x') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
            &unknown("namespace"),
        );
        check(
            "_template",
            "{% for i in [payload.big] recursive %}{{ loop([i ~ i]) }}{% endfor %}",
            "loops cannot be recursive here",
        );
        check("_template", "{% macro f(x) %}{{ f(x ~ x) }}{% endmacro %}", "syntax error: unknown statement macro");
        check(
            "_template",
            "{% set a %}{% for i in payload.many %}{{ payload.big }}{% endfor %}{% endset %}",
            too_large,
        );
        check("_expr", "payload.many | join(payload.big)", too_large);
        check("_expr", "(payload.big | replace('x', payload.big)) == ''", too_large);
        check("_expr", "((payload.many * 1000) | join('-')) == ''", too_large);
        check("_expr", "'%9999999999s' | format(1)", "unknown filter: filter format is unknown");
    }

    /// One step goes through the whole list; of a long one there are few.
    #[test]
    fn long_lists_have_fewer_steps() {
        let check = |items: usize, expected: &str| {
            let payload = json!({ "items": (0..items).collect::<Vec<_>>() });
            let scope = Scope { payload: Some(&payload), expressions: Some(evaluate_text), ..Scope::default() };
            let source = "{% for item in range(2000) %}{% if item in payload.items %}{% endif %}{% endfor %}";
            let seen = evaluate(&json!({ "_template": source }), &scope).map_err(|error| error.to_string());
            assert_eq!(seen.map_or_else(|error| error, |value| value.to_string()), expected, "{items}");
        };
        check(2_000, r#""""#);
        check(20_000, "/_template: engine ran out of fuel");
        check(200_000, "/_template: engine ran out of fuel");
    }

    #[test]
    fn a_loop_starts_each_turn_anew() {
        check(
            json!({ "_template": "{% set x = 'a' %}{% for i in range(4) %}{% set x = x ~ x %}{{ x }};{% endfor %}" }),
            r#""aa;aa;aa;aa;""#,
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(source in "[a-z0-9 ._+*/%|()\\[\\]{}'\"<>=!,~-]{0,40}") {
            for operator in ["_expr", "_template"] {
                let scope = Scope { expressions: Some(evaluate_text), ..Scope::default() };
                let _ = evaluate(&json!({ operator: source }), &scope);
            }
        }
    }
}
