//! Evaluates the properties of requests to web services, with the values of paths as single
//! segments.

use super::Routine;
use crate::{EndpointError, Secrets};
use operators::{Evaluator, ExpressionLanguage, Scope, evaluate_encoded};
use serde_json::{Map, Value};

impl Routine<'_> {
    /// Evaluates the properties of a request to a web service. In a template of the path, and in a
    /// path of several texts, each value is encoded as one path segment.
    pub(super) async fn evaluate_http(
        &self,
        step: &str,
        properties: &Map<String, Value>,
        secrets: Option<Secrets>,
    ) -> Result<Value, EndpointError> {
        let mut evaluated = Map::new();
        for (key, value) in properties {
            let value = match (key.as_str(), concatenated(value)) {
                ("path", Some(parts)) => self.path_of_parts(step, parts, secrets.as_ref()).await?,
                ("path", None) => self.evaluate_with(step, value, secrets.clone(), Some(evaluate_path)).await?,
                _ => self.evaluate_with(step, value, secrets.clone(), None).await?,
            };
            evaluated.insert(key.clone(), value);
        }
        Ok(Value::Object(evaluated))
    }

    /// Returns the path that consists of these parts. Texts of the config stay as they are.
    async fn path_of_parts(
        &self,
        step: &str,
        parts: &[Value],
        secrets: Option<&Secrets>,
    ) -> Result<Value, EndpointError> {
        let mut path = String::new();
        for part in parts {
            if let Some(text) = part.as_str() {
                path.push_str(text);
                continue;
            }
            // The values of a template are encoded already.
            let is_template = is_template(part);
            let evaluator: Option<Evaluator> = if is_template { Some(evaluate_path) } else { None };
            let segment = match self.evaluate_with(step, part, secrets.cloned(), evaluator).await? {
                Value::String(text) if is_template => Ok(text),
                Value::String(text) => encode(&text),
                Value::Number(number) => encode(&number.to_string()),
                _ => Err("a value of the path is neither a text nor a number".to_owned()),
            };
            path.push_str(&segment.map_err(|error| EndpointError::step(step, error))?);
        }
        Ok(Value::String(path))
    }
}

/// Returns the parts of a path that the operator `_string.concat` joins.
fn concatenated(path: &Value) -> Option<&[Value]> {
    let path = path.as_object().filter(|path| path.len() == 1)?;
    path.get("_string.concat")?.as_array().map(Vec::as_slice)
}

fn is_template(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.len() == 1 && part.contains_key("_template"))
}

fn encode(value: &str) -> Result<String, String> {
    egress::encode_segment(value).map_err(|error| error.to_string())
}

/// Evaluates an expression or a template of a path.
fn evaluate_path(language: ExpressionLanguage, source: &str, scope: &Scope<'_>) -> Result<Value, String> {
    evaluate_encoded(language, source, scope, encode)
}
