//! The evaluator. It knows the operators that read what pages have, `_if`, `_eq`, `_expr` and
//! `_template`; all others are in [`Scope::operators`], because the browser loads them only with
//! the pages whose config uses them.

use crate::function::Frame;
use crate::values::{is_equal, is_prototype_key, is_truthy, operator};
use crate::{ExpressionLanguage, OperatorError, Scope};
use serde_json::{Map, Value};

/// The maximum nesting depth of a value, calls of functions included.
pub(crate) const MAX_DEPTH: usize = 64;

/// Evaluates every operator in a value.
///
/// # Errors
/// An unknown operator, an invalid argument, a secret where none are available, or a value that is
/// nested too deeply.
pub fn evaluate(value: &Value, scope: &Scope<'_>) -> Result<Value, OperatorError> {
    Evaluation { scope, frame: None, path: String::new(), depth: 0 }.evaluate(value)
}

/// The evaluation of a value.
pub(crate) struct Evaluation<'a> {
    pub(crate) scope: &'a Scope<'a>,
    /// The function that is being called.
    pub(crate) frame: Option<&'a Frame<'a>>,
    /// The location of the current value, as a JSON pointer.
    pub(crate) path: String,
    pub(crate) depth: usize,
}

impl Evaluation<'_> {
    /// Evaluates a value that is part of the current one.
    pub(crate) fn evaluate(&mut self, value: &Value) -> Result<Value, OperatorError> {
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("the value is nested deeper than {MAX_DEPTH} levels")));
        }
        self.charge(None)?;
        self.depth += 1;
        let evaluated = match (operator(value), value) {
            (Some((name, argument)), _) => self.within(name, |here| here.apply(name, argument)),
            (None, Value::Object(object)) => self.evaluate_fields(object),
            (None, Value::Array(items)) => self.evaluate_items(items),
            (None, plain) => self.charge(Some(plain)).map(|()| plain.clone()),
        };
        self.depth -= 1;
        evaluated
    }

    fn evaluate_fields(&mut self, object: &Map<String, Value>) -> Result<Value, OperatorError> {
        let mut evaluated = Map::new();
        for (key, value) in object {
            let value = self.within(key, |here| here.evaluate(value))?;
            evaluated.insert(key.clone(), value);
        }
        Ok(Value::Object(evaluated))
    }

    fn evaluate_items(&mut self, items: &[Value]) -> Result<Value, OperatorError> {
        let items = items.iter().enumerate();
        items.map(|(index, item)| self.within(&index.to_string(), |here| here.evaluate(item))).collect()
    }

    /// Runs `work` with the path extended by a segment.
    pub(crate) fn within<T>(&mut self, segment: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(segment);
        let result = work(self);
        self.path.truncate(length);
        result
    }

    /// Returns an error at the current value.
    pub(crate) fn error(&self, message: impl Into<String>) -> OperatorError {
        OperatorError { path: self.path.clone(), message: message.into() }
    }

    /// Charges the budget of the evaluation for one step, or for a copy of a value. Without
    /// [`Scope::operators`] nothing can be repeated, so nothing is charged.
    fn charge(&self, copied: Option<&Value>) -> Result<(), OperatorError> {
        match self.scope.operators {
            Some(operators) => (operators.charge)(copied).map_err(|message| self.error(message)),
            None => Ok(()),
        }
    }

    fn apply(&mut self, name: &str, argument: &Value) -> Result<Value, OperatorError> {
        if let Some(language) = ExpressionLanguage::from_operator(name) {
            return self.evaluate_expression(language, name, argument);
        }
        match name {
            "_state" => self.read(name, self.scope.state, argument),
            "_url_query" => self.read(name, self.scope.url_query, argument),
            "_event" => self.read(name, self.scope.event, argument),
            "_step" => self.read(name, self.scope.step, argument),
            "_if" => self.evaluate_if(argument),
            "_eq" => self.evaluate_eq(argument),
            other => match self.scope.operators {
                Some(operators) => (operators.apply)(operators, self, other, argument),
                None => Err(self.error(format!("`{other}` cannot be evaluated here"))),
            },
        }
    }

    /// Reads a key of a value of the scope, or all of it.
    pub(crate) fn read(&self, name: &str, source: Option<&Value>, argument: &Value) -> Result<Value, OperatorError> {
        match argument {
            Value::Bool(true) => self.copy(source),
            Value::String(key) => self.look_up(source, key),
            _ => Err(self.error(format!("`{name}` takes a key such as `customer.name`, or `true` for everything"))),
        }
    }

    /// Returns a copy of a value, `null` for none.
    pub(crate) fn copy(&self, value: Option<&Value>) -> Result<Value, OperatorError> {
        let Some(value) = value else { return Ok(Value::Null) };
        self.charge(Some(value))?;
        Ok(value.clone())
    }

    /// Returns the value at a key such as `items.0.name`, `null` if there is none.
    pub(crate) fn look_up(&self, source: Option<&Value>, key: &str) -> Result<Value, OperatorError> {
        let mut found = source;
        for segment in key.split('.') {
            if is_prototype_key(segment) {
                return Err(self.error(format!("the key `{segment}` is not allowed")));
            }
            found = match found {
                Some(Value::Object(object)) => object.get(segment),
                Some(Value::Array(items)) => segment.parse::<usize>().ok().and_then(|i| items.get(i)),
                _ => None,
            };
        }
        self.copy(found)
    }

    fn evaluate_if(&mut self, argument: &Value) -> Result<Value, OperatorError> {
        let Some(branches) = argument.as_object().filter(|branches| branches.contains_key("test")) else {
            return Err(self.error("`_if` takes `test`, `then` and `else`"));
        };
        let mut part = |key: &str| match branches.get(key) {
            Some(value) => self.within(key, |here| here.evaluate(value)),
            None => Ok(Value::Null),
        };
        let branch = if is_truthy(&part("test")?) { "then" } else { "else" };
        part(branch)
    }

    fn evaluate_eq(&mut self, argument: &Value) -> Result<Value, OperatorError> {
        match argument.as_array().map(Vec::as_slice) {
            Some([left, right]) => {
                let left = self.evaluate(left)?;
                Ok(Value::Bool(is_equal(&left, &self.evaluate(right)?)))
            }
            _ => Err(self.error("`_eq` takes a list of two values")),
        }
    }

    fn evaluate_expression(
        &self,
        language: ExpressionLanguage,
        name: &str,
        argument: &Value,
    ) -> Result<Value, OperatorError> {
        let Some(source) = argument.as_str() else {
            return Err(self.error(format!("`{name}` takes a text")));
        };
        let Some(evaluate) = self.scope.expressions else {
            return Err(self.error(format!("`{name}` cannot be evaluated here")));
        };
        evaluate(language, source, self.scope).map_err(|message| self.error(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspection::BASE;
    use crate::{Operators, secrets_used};
    use proptest::prelude::*;
    use serde_json::json;

    fn check(value: Value, expected: &str) {
        let state = json!({ "name": "Ada", "cart": { "items": [1, 2] } });
        let payload = json!({ "q": "refunds" });
        let known = |name: &str| (name == "KEY").then(|| "s3cret".to_owned());
        let operators = Some(Operators::standard());
        let scope =
            Scope { state: Some(&state), payload: Some(&payload), secret: Some(&known), operators, ..Scope::default() };
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
        let scope = Scope { operators: Some(Operators::standard()), ..Scope::default() };
        let refused = evaluate(&json!({ "_secret": "KEY" }), &scope).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "/_secret: secrets are available on the server only, in connections and in requests of routines"
        );
        assert_eq!(secrets_used(&json!([{ "_secret": "A" }, { "b": { "_secret": "B" } }])), ["A", "B"]);
    }

    #[test]
    fn numbers_are_equal_by_their_value() {
        check(json!({ "_eq": [1, 1.0] }), "true");
        check(json!({ "_eq": [{ "a": [1.0] }, { "a": [1] }] }), "true");
        check(json!({ "_eq": [9_007_199_254_740_993_i64, 9_007_199_254_740_993_i64] }), "true");
        check(json!({ "_eq": [1, "1"] }), "false");
    }

    #[test]
    fn the_base_set_is_defined() {
        for name in BASE {
            assert!(crate::definition(name).is_some(), "{name}");
        }
        for definition in crate::definitions() {
            let is_base = matches!(definition.function, crate::registry::Run::Base);
            assert_eq!(
                BASE.contains(&definition.name),
                is_base && definition.name != "_function",
                "{}",
                definition.name
            );
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z._0-9]{0,8}".prop_map(Value::from)
        ];
        leaf.prop_recursive(6, 64, 4, |inner| {
            let key = prop_oneof![prop::sample::select(BASE.to_vec()).prop_map(str::to_owned), "[a-z_]{1,6}"];
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
