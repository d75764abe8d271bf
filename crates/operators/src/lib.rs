#![doc = include_str!("../README.md")]

#[cfg(feature = "expressions")]
mod expression;

#[cfg(feature = "expressions")]
pub use expression::{Encoder, check, evaluate_briefly, evaluate_encoded, evaluate_fully, evaluate_text};

use serde_json::{Map, Value};
use std::fmt;

/// Deeper values are refused.
const MAX_DEPTH: usize = 64;

/// Every operator.
const NAMES: &[&str] = &[
    "_state",
    "_user",
    "_payload",
    "_step",
    "_url_query",
    "_shared_state",
    "_item",
    "_event",
    "_error",
    "_secret",
    "_if",
    "_eq",
    "_expr",
    "_template",
];

/// The operators' names, for checks and suggestions.
pub fn names() -> &'static [&'static str] {
    NAMES
}

/// What operators refer to. What is absent here reads as `null`; `secret` absent means that there are no secrets.
#[derive(Clone, Copy, Default)]
pub struct Scope<'a> {
    /// `_state`: the page's state.
    pub state: Option<&'a Value>,
    /// `_user`: who asks.
    pub user: Option<&'a Value>,
    /// `_payload`: what an endpoint was called with.
    pub payload: Option<&'a Value>,
    /// `_step`: the results of earlier steps of a routine, or of earlier actions.
    pub step: Option<&'a Value>,
    /// `_url_query`: the page's query string.
    pub url_query: Option<&'a Value>,
    /// `_shared_state`: what the page shares with the agent.
    pub shared_state: Option<&'a Value>,
    /// `_item`: the current item of a loop.
    pub item: Option<&'a Value>,
    /// `_event`: what has happened, in an action of a page.
    pub event: Option<&'a Value>,
    /// `_error`: why steps failed, in a routine's `:catch`.
    pub error: Option<&'a Value>,
    /// `_secret`: the value of a variable; only ever given on the server.
    pub secret: Option<&'a Secrets>,
    /// What evaluates `_expr` and `_template`: `evaluate_text`, where its code is.
    pub expressions: Option<Evaluator>,
}

/// Reads a variable by its name.
pub type Secrets = dyn Fn(&str) -> Option<String>;

/// Evaluates the text of an `_expr` or a `_template`; the error is one line that says what went wrong. Given from outside, because the
/// browser loads the code of the language for the pages that speak it, and only for those.
pub type Evaluator = fn(Language, &str, &Scope<'_>) -> Result<Value, String>;

/// What a text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `_expr`: one expression; its value counts.
    Expression,
    /// `_template`: a text with `{{ … }}` and `{% … %}` in it.
    Template,
}

impl Language {
    /// The language that an operator speaks, if it does.
    pub fn of(operator: &str) -> Option<Self> {
        match operator {
            "_expr" => Some(Self::Expression),
            "_template" => Some(Self::Template),
            _ => None,
        }
    }
}

/// A config value could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorError {
    /// Where, as a JSON pointer into the value.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for OperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", if self.path.is_empty() { "/" } else { &self.path }, self.message)
    }
}

impl std::error::Error for OperatorError {}

/// Evaluates every operator in a value.
///
/// # Errors
/// An unknown operator, a wrong argument, a secret where there are none, or too deep a value.
pub fn evaluate(value: &Value, scope: &Scope<'_>) -> Result<Value, OperatorError> {
    at(value, scope, &mut String::new(), 0)
}

/// The operator that a value is: its name and argument.
pub fn operator(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, argument) = object.iter().next()?;
    (name.starts_with('_') && !is_prototype_key(name)).then_some((name.as_str(), argument))
}

/// Whether there is an operator in a value.
pub fn is_dynamic(value: &Value) -> bool {
    match value {
        Value::Object(object) => operator(value).is_some() || object.values().any(is_dynamic),
        Value::Array(items) => items.iter().any(is_dynamic),
        _ => false,
    }
}

/// Whether there is an expression or a template in a value, whose evaluation may be costly.
pub fn has_text(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            operator(value).is_some_and(|(name, _)| Language::of(name).is_some()) || object.values().any(has_text)
        }
        Value::Array(items) => items.iter().any(has_text),
        _ => false,
    }
}

/// The names of all variables that `_secret` reads in a value.
pub fn secrets_used(value: &Value) -> Vec<String> {
    match (operator(value), value) {
        (Some(("_secret", Value::String(name))), _) => vec![name.clone()],
        (_, Value::Object(object)) => object.values().flat_map(secrets_used).collect(),
        (_, Value::Array(items)) => items.iter().flat_map(secrets_used).collect(),
        _ => Vec::new(),
    }
}

/// Keys that reach a prototype in JavaScript; no state has them (L-22).
pub fn is_prototype_key(key: &str) -> bool {
    matches!(key, "__proto__" | "constructor" | "prototype")
}

fn at(value: &Value, scope: &Scope<'_>, path: &mut String, depth: usize) -> Result<Value, OperatorError> {
    if depth > MAX_DEPTH {
        return Err(error(path, format!("the value is nested deeper than {MAX_DEPTH} levels")));
    }
    if let Some((name, argument)) = operator(value) {
        return within(path, name, |path| apply(name, argument, scope, path, depth));
    }
    match value {
        Value::Object(object) => {
            let mut evaluated = Map::new();
            for (key, value) in object {
                let value = within(path, key, |path| at(value, scope, path, depth + 1))?;
                evaluated.insert(key.clone(), value);
            }
            Ok(Value::Object(evaluated))
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(i, item)| within(path, &i.to_string(), |path| at(item, scope, path, depth + 1))).collect()
        }
        plain => Ok(plain.clone()),
    }
}

/// Runs `work` with one more segment on the path.
fn within<T>(path: &mut String, segment: &str, work: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push('/');
    path.push_str(segment);
    let result = work(path);
    path.truncate(length);
    result
}

fn apply(
    name: &str,
    argument: &Value,
    scope: &Scope<'_>,
    path: &mut String,
    depth: usize,
) -> Result<Value, OperatorError> {
    if let Some(language) = Language::of(name) {
        return express(language, name, argument, scope, path);
    }
    let source = match name {
        "_state" => scope.state,
        "_user" => scope.user,
        "_payload" => scope.payload,
        "_step" => scope.step,
        "_url_query" => scope.url_query,
        "_shared_state" => scope.shared_state,
        "_item" => scope.item,
        "_event" => scope.event,
        "_error" => scope.error,
        "_secret" => return secret(argument, scope, path),
        "_if" => return choose(argument, scope, path, depth),
        "_eq" => return equal(argument, scope, path, depth),
        unknown => {
            return Err(error(path, format!("there is no operator `{unknown}`; there are {}", NAMES.join(", "))));
        }
    };
    match argument {
        Value::Bool(true) => Ok(source.cloned().unwrap_or_default()),
        Value::String(key) => look_up(source, key, path),
        _ => Err(error(path, format!("`{name}` takes a key such as `customer.name`, or `true` for everything"))),
    }
}

fn look_up(source: Option<&Value>, key: &str, path: &str) -> Result<Value, OperatorError> {
    let mut found = source;
    for segment in key.split('.') {
        if is_prototype_key(segment) {
            return Err(error(path, format!("the key `{segment}` is not allowed")));
        }
        found = match found {
            Some(Value::Object(object)) => object.get(segment),
            Some(Value::Array(items)) => segment.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        };
    }
    Ok(found.cloned().unwrap_or_default())
}

fn secret(argument: &Value, scope: &Scope<'_>, path: &str) -> Result<Value, OperatorError> {
    let Some(resolve) = scope.secret else {
        return Err(error(
            path,
            "secrets are read on the server only, in connections and in what a routine asks of them".to_owned(),
        ));
    };
    let Some(name) = argument.as_str() else {
        return Err(error(path, "`_secret` takes the name of an environment variable".to_owned()));
    };
    resolve(name).map(Value::String).ok_or_else(|| error(path, format!("the environment variable `{name}` is not set")))
}

fn choose(argument: &Value, scope: &Scope<'_>, path: &mut String, depth: usize) -> Result<Value, OperatorError> {
    let Some(branches) = argument.as_object().filter(|branches| branches.contains_key("test")) else {
        return Err(error(path, "`_if` takes `test`, `then` and `else`".to_owned()));
    };
    let mut part = |key: &str| match branches.get(key) {
        Some(value) => within(path, key, |path| at(value, scope, path, depth + 1)),
        None => Ok(Value::Null),
    };
    let branch = if is_truthy(&part("test")?) { "then" } else { "else" };
    part(branch)
}

fn equal(argument: &Value, scope: &Scope<'_>, path: &mut String, depth: usize) -> Result<Value, OperatorError> {
    match argument.as_array().map(Vec::as_slice) {
        Some([left, right]) => {
            let left = at(left, scope, path, depth + 1)?;
            Ok(Value::Bool(left == at(right, scope, path, depth + 1)?))
        }
        _ => Err(error(path, "`_eq` takes a list of two values".to_owned())),
    }
}

fn express(
    language: Language,
    name: &str,
    argument: &Value,
    scope: &Scope<'_>,
    path: &str,
) -> Result<Value, OperatorError> {
    let Some(source) = argument.as_str() else {
        return Err(error(path, format!("`{name}` takes a text")));
    };
    let Some(evaluate) = scope.expressions else {
        return Err(error(path, format!("`{name}` cannot be evaluated here")));
    };
    evaluate(language, source, scope).map_err(|message| error(path, message))
}

/// Whether a value counts as yes: not `null`, `false`, `0` or empty text.
pub fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

fn error(path: &str, message: String) -> OperatorError {
    OperatorError { path: path.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn check(value: Value, expected: &str) {
        let state = json!({ "name": "Ada", "cart": { "items": [1, 2] } });
        let payload = json!({ "q": "refunds" });
        let known = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        let scope = Scope { state: Some(&state), payload: Some(&payload), secret: Some(&known), ..Scope::default() };
        let seen = evaluate(&value, &scope).map_or_else(|error| error.to_string(), |value| value.to_string());
        assert_eq!(seen, expected, "{value}");
    }

    #[test]
    fn operators() {
        check(json!({ "a": [{ "_state": "name" }] }), r#"{"a":["Ada"]}"#);
        check(json!({ "_state": "cart.items.1" }), "2");
        check(json!({ "_state": "cart.none.1" }), "null");
        check(json!({ "_state": true }), r#"{"name":"Ada","cart":{"items":[1,2]}}"#);
        check(json!({ "_user": "id" }), "null");
        check(json!({ "_if": { "test": { "_eq": [{ "_payload": "q" }, "refunds"] }, "then": 1, "else": 2 } }), "1");
        check(json!({ "_if": { "test": 0, "then": { "_oops": 1 } } }), "null");
        check(json!({ "_secret": "KEY" }), r#""s3cret""#);
        check(json!({ "_secret": "OTHER" }), "/_secret: the environment variable `OTHER` is not set");
        check(json!({ "a": { "_state": "__proto__.x" } }), "/a/_state: the key `__proto__` is not allowed");
        check(
            json!({ "_state": 7 }),
            "/_state: `_state` takes a key such as `customer.name`, or `true` for everything",
        );
        check(json!({ "_a": 1, "b": 2 }), r#"{"_a":1,"b":2}"#);
    }

    #[test]
    fn secrets_are_the_servers() {
        let refused = evaluate(&json!({ "_secret": "KEY" }), &Scope::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "/_secret: secrets are read on the server only, in connections and in what a routine asks of them"
        );
        assert_eq!(secrets_used(&json!([{ "_secret": "A" }, { "b": { "_secret": "B" } }])), ["A", "B"]);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z._0-9]{0,8}".prop_map(Value::from)
        ];
        leaf.prop_recursive(6, 64, 4, |inner| {
            let key = prop_oneof![prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned), "[a-z_]{1,6}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..3)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_panics(value in any_json(), state in any_json()) {
            let _ = evaluate(&value, &Scope { state: Some(&state), ..Scope::default() });
        }
    }
}
