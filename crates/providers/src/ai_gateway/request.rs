//! Converts a request to the gateway's JSON.

use crate::openai_chat::request::body_without_options;
use contract::Request;
use serde_json::Value;

/// Returns the body of `POST /chat/completions`. The options of all providers are sent under the
/// providers' names: the gateway reads its own (`order`, `only`, `models`, `user`, `tags`,
/// `zeroDataRetention`, `providerTimeouts`, `byok`) and forwards the others.
pub(crate) fn body(model: &str, request: &Request) -> Value {
    let mut body = body_without_options(model, request);
    if !request.provider_options.is_empty() {
        body.insert("providerOptions".to_owned(), request.provider_options.clone().into());
    }
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{request, user};
    use serde_json::json;

    #[test]
    fn options_of_all_providers_are_sent() {
        let mut request = request(vec![user("hello")]);
        request.sampling.max_output_tokens = Some(50);
        request.provider_options.insert(
            "gateway".to_owned(),
            json!({ "order": ["azure"], "models": ["openai/gpt-5"], "zeroDataRetention": true }),
        );
        request.provider_options.insert("anthropic".to_owned(), json!({ "thinking": { "type": "adaptive" } }));
        insta::assert_snapshot!(body("anthropic/claude-sonnet-4", &request), @r##"{"model":"anthropic/claude-sonnet-4","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":50,"providerOptions":{"gateway":{"order":["azure"],"models":["openai/gpt-5"],"zeroDataRetention":true},"anthropic":{"thinking":{"type":"adaptive"}}}}"##);
    }

    #[test]
    fn empty_options_are_omitted() {
        assert!(body("openai/gpt-5", &request(vec![user("hello")])).get("providerOptions").is_none());
    }
}
