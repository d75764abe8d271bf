//! Idempotency keys of requests to web services.

use parking_lot::Mutex;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The header that carries the key.
const HEADER: &str = "idempotency-key";

/// Makes the keys of one call: each request has its own, which is the same when the call is repeated.
pub(crate) struct RequestKeys {
    call: String,
    /// The number of requests so far by step.
    counts: Mutex<HashMap<String, u32>>,
}

impl RequestKeys {
    pub(crate) fn new(call: &str) -> Self {
        Self { call: call.to_owned(), counts: Mutex::default() }
    }

    /// Adds the key to the headers of a request, unless it has one. `step` is the endpoint and the id of
    /// the step, which may send several requests in a loop.
    pub(crate) fn add(&self, properties: Value, step: &str) -> Value {
        let Value::Object(mut properties) = properties else { return properties };
        let number = {
            let mut counts = self.counts.lock();
            let count = counts.entry(step.to_owned()).or_default();
            *count += 1;
            *count
        };
        let headers = properties.entry("headers").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(headers) = headers
            && !headers.keys().any(|name| name.eq_ignore_ascii_case(HEADER))
        {
            headers.insert(HEADER.to_owned(), format!("{}:{step}:{number}", self.call).into());
        }
        Value::Object(properties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_request_has_its_own_key_unless_the_config_sets_one() {
        let keys = RequestKeys::new("run-1");
        let check = |properties: Value, step: &str, expected: Value| {
            assert_eq!(keys.add(properties, step)["headers"], expected);
        };
        check(json!({}), "pay/send", json!({ "idempotency-key": "run-1:pay/send:1" }));
        check(json!({ "headers": { "x": 1 } }), "pay/send", json!({ "x": 1, "idempotency-key": "run-1:pay/send:2" }));
        check(json!({}), "pay/tell", json!({ "idempotency-key": "run-1:pay/tell:1" }));
        check(json!({ "headers": { "Idempotency-Key": "own" } }), "a/b", json!({ "Idempotency-Key": "own" }));
    }
}
