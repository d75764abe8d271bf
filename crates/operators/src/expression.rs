//! `_expr` and `_template`: the language of minijinja (<https://docs.rs/minijinja/latest/minijinja/syntax/>), without files, within
//! bounds of work and size.

use crate::Scope;
use minijinja::value::{Serde, Value as Known};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, context};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::LazyLock;

/// Steps of one evaluation.
const FUEL: u64 = 100_000;
/// Bytes of a text that a template makes, and of an expression's value.
const MAX_BYTES: usize = 1 << 20;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    // As everywhere else, what is not there is nothing.
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment
});

/// What a text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `_expr`: one expression; its value counts.
    Expression,
    /// `_template`: a text with `{{ … }}` and `{% … %}` in it.
    Template,
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
    read.map_err(|error| explain(&error))
}

/// Evaluates a text.
///
/// # Errors
/// In one line, what went wrong.
pub(crate) fn evaluate(language: Language, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
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
    match language {
        Language::Expression => {
            let value = ENVIRONMENT.compile_expression(source).and_then(|expression| expression.eval(names));
            let value = value.map_err(|error| explain(&error))?;
            let mut size = Bounded(Vec::new());
            serde_json::to_writer(&mut size, &value).map_err(|_| "its value is too large, or no JSON".to_owned())?;
            serde_json::from_slice(&size.0).map_err(|error| error.to_string())
        }
        Language::Template => {
            let mut text = Bounded(Vec::new());
            let template = ENVIRONMENT.template_from_str(source).map_err(|error| explain(&error))?;
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
    use crate::{Scope, evaluate};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn check(value: Value, expected: &str) {
        let payload = json!({ "name": "Ada", "seats": 3, "items": [{ "price": 2.5 }, { "price": 4 }] });
        let secret = |_: &str| Some("s3cret".to_owned());
        let scope = Scope { payload: Some(&payload), secret: Some(&secret), ..Scope::default() };
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

    proptest! {
        #[test]
        fn nothing_panics(source in "[a-z0-9 ._+*/%|()\\[\\]{}'\"<>=!,~-]{0,40}") {
            for operator in ["_expr", "_template"] {
                let _ = evaluate(&json!({ operator: source }), &Scope::default());
            }
        }
    }
}
