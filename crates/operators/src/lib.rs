#![doc = include_str!("../README.md")]

#[cfg(feature = "expressions")]
mod expression;

#[cfg(feature = "expressions")]
pub use expression::{Encoder, check_source, evaluate_briefly, evaluate_encoded, evaluate_fully, evaluate_source};

use serde_json::{Map, Value};
use std::fmt;

/// The maximum nesting depth of a value.
const MAX_DEPTH: usize = 64;

/// The names of all operators.
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

/// Returns the names of all operators, for checks and suggestions.
pub fn operator_names() -> &'static [&'static str] {
    NAMES
}

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
    /// `_step`: the results of earlier steps of a routine, or of earlier actions.
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
    /// `_secret`: returns the value of an environment variable; set on the server only.
    pub secret: Option<&'a SecretLookup>,
    /// The evaluator of `_expr` and `_template`: `evaluate_source`, where its code is loaded.
    pub expressions: Option<Evaluator>,
}

/// Returns the value of an environment variable by its name.
pub type SecretLookup = dyn Fn(&str) -> Option<String>;

/// Evaluates the text of an `_expr` or a `_template`, or returns an error message in one line. A
/// parameter, because the browser loads the code only with the pages whose config uses it.
pub type Evaluator = fn(ExpressionLanguage, &str, &Scope<'_>) -> Result<Value, String>;

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

/// Evaluates every operator in a value.
///
/// # Errors
/// An unknown operator, an invalid argument, a secret where none are available, or a value that is
/// nested too deeply.
pub fn evaluate(value: &Value, scope: &Scope<'_>) -> Result<Value, OperatorError> {
    evaluate_at(value, scope, &mut String::new(), 0)
}

/// Returns the name and the argument, if a value is an operator.
pub fn operator(value: &Value) -> Option<(&str, &Value)> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, argument) = object.iter().next()?;
    (name.starts_with('_') && !is_prototype_key(name)).then_some((name.as_str(), argument))
}

/// Returns whether a value contains an operator.
pub fn is_dynamic(value: &Value) -> bool {
    match value {
        Value::Object(object) => operator(value).is_some() || object.values().any(is_dynamic),
        Value::Array(items) => items.iter().any(is_dynamic),
        _ => false,
    }
}

/// Returns whether a value contains an expression or a template, whose evaluation may be expensive.
pub fn has_expressions(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            operator(value).is_some_and(|(name, _)| ExpressionLanguage::from_operator(name).is_some())
                || object.values().any(has_expressions)
        }
        Value::Array(items) => items.iter().any(has_expressions),
        _ => false,
    }
}

/// Returns the names of all variables that `_secret` reads in a value.
pub fn secrets_used(value: &Value) -> Vec<String> {
    match (operator(value), value) {
        (Some(("_secret", Value::String(name))), _) => vec![name.clone()],
        (_, Value::Object(object)) => object.values().flat_map(secrets_used).collect(),
        (_, Value::Array(items)) => items.iter().flat_map(secrets_used).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a key refers to a prototype in JavaScript. Such keys are not allowed in state,
/// because a page could modify the prototype of all objects with them.
pub fn is_prototype_key(key: &str) -> bool {
    matches!(key, "__proto__" | "constructor" | "prototype")
}

fn evaluate_at(value: &Value, scope: &Scope<'_>, path: &mut String, depth: usize) -> Result<Value, OperatorError> {
    if depth > MAX_DEPTH {
        return Err(error(path, format!("the value is nested deeper than {MAX_DEPTH} levels")));
    }
    if let Some((name, argument)) = operator(value) {
        return with_segment(path, name, |path| apply_operator(name, argument, scope, path, depth));
    }
    match value {
        Value::Object(object) => {
            let mut evaluated = Map::new();
            for (key, value) in object {
                let value = with_segment(path, key, |path| evaluate_at(value, scope, path, depth + 1))?;
                evaluated.insert(key.clone(), value);
            }
            Ok(Value::Object(evaluated))
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(i, item)| with_segment(path, &i.to_string(), |path| evaluate_at(item, scope, path, depth + 1)))
                .collect()
        }
        plain => Ok(plain.clone()),
    }
}

/// Runs `work` with the path extended by a segment.
fn with_segment<T>(path: &mut String, segment: &str, work: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push('/');
    path.push_str(segment);
    let result = work(path);
    path.truncate(length);
    result
}

fn apply_operator(
    name: &str,
    argument: &Value,
    scope: &Scope<'_>,
    path: &mut String,
    depth: usize,
) -> Result<Value, OperatorError> {
    if let Some(language) = ExpressionLanguage::from_operator(name) {
        return evaluate_expression(language, name, argument, scope, path);
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
        "_secret" => return read_secret(argument, scope, path),
        "_if" => return evaluate_if(argument, scope, path, depth),
        "_eq" => return evaluate_eq(argument, scope, path, depth),
        unknown => {
            return Err(error(
                path,
                format!("there is no operator `{unknown}`; the operators are {}", NAMES.join(", ")),
            ));
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

fn read_secret(argument: &Value, scope: &Scope<'_>, path: &str) -> Result<Value, OperatorError> {
    let Some(resolve) = scope.secret else {
        return Err(error(
            path,
            "secrets are available on the server only, in connections and in requests of routines".to_owned(),
        ));
    };
    let Some(name) = argument.as_str() else {
        return Err(error(path, "`_secret` takes the name of an environment variable".to_owned()));
    };
    resolve(name).map(Value::String).ok_or_else(|| error(path, format!("the environment variable `{name}` is not set")))
}

fn evaluate_if(argument: &Value, scope: &Scope<'_>, path: &mut String, depth: usize) -> Result<Value, OperatorError> {
    let Some(branches) = argument.as_object().filter(|branches| branches.contains_key("test")) else {
        return Err(error(path, "`_if` takes `test`, `then` and `else`".to_owned()));
    };
    let mut part = |key: &str| match branches.get(key) {
        Some(value) => with_segment(path, key, |path| evaluate_at(value, scope, path, depth + 1)),
        None => Ok(Value::Null),
    };
    let branch = if is_truthy(&part("test")?) { "then" } else { "else" };
    part(branch)
}

fn evaluate_eq(argument: &Value, scope: &Scope<'_>, path: &mut String, depth: usize) -> Result<Value, OperatorError> {
    match argument.as_array().map(Vec::as_slice) {
        Some([left, right]) => {
            let left = evaluate_at(left, scope, path, depth + 1)?;
            Ok(Value::Bool(left == evaluate_at(right, scope, path, depth + 1)?))
        }
        _ => Err(error(path, "`_eq` takes a list of two values".to_owned())),
    }
}

fn evaluate_expression(
    language: ExpressionLanguage,
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

/// Returns whether a value counts as true: not `null`, `false`, `0` or an empty string.
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
    fn operators_are_evaluated() {
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
    fn secrets_are_unavailable_without_a_lookup() {
        let refused = evaluate(&json!({ "_secret": "KEY" }), &Scope::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "/_secret: secrets are available on the server only, in connections and in requests of routines"
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
        fn evaluation_never_panics(value in any_json(), state in any_json()) {
            let _ = evaluate(&value, &Scope { state: Some(&state), ..Scope::default() });
        }
    }
}
