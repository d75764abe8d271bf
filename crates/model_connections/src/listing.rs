//! Asks a provider for the names of its models.

use crate::definition::ConnectionDefinition;
use crate::provider::Provider;
use crate::read::MAX_MODEL;
use crate::store::ListResult;
use axum::http::{HeaderMap, HeaderValue, Method};
use egress::{Egress, EgressError, EgressRequest};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use url::Url;
use web::times::now_millis;

/// How long a provider may take.
const TIME: Duration = Duration::from_secs(10);
/// The longest answer in bytes; gateways name many models.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The most models that are kept.
const MAX_LISTED: usize = 500;

/// Returns the models of a provider, or why there is no list.
pub(crate) async fn list(
    definition: &ConnectionDefinition,
    key: Option<&SecretString>,
    allow_private: bool,
) -> ListResult {
    let (models, error) = match ask(definition, key, allow_private).await {
        Ok(models) => (models, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    ListResult { at: now_millis(), models, error }
}

async fn ask(
    definition: &ConnectionDefinition,
    key: Option<&SecretString>,
    allow_private: bool,
) -> Result<Vec<String>, String> {
    let provider = definition.provider;
    let mut url = Url::parse(&format!("{}/models", definition.address().trim_end_matches('/')))
        .map_err(|_| "The address is not a web address.".to_owned())?;
    url.set_query(provider.list_query());
    let host = url.host_str().unwrap_or_default().to_owned();
    let headers = headers(provider, key)?;
    let request = EgressRequest { method: Method::GET, url, headers, body: None, timeout: TIME, max_bytes: MAX_BYTES };
    let answer = match Egress::new(allow_private)?.send(request).await {
        Ok(answer) => answer,
        Err(EgressError::TooLarge(_)) => return Err(format!("{host} names too many models. Enter the name.")),
        Err(error) => return Err(format!("No answer from {host}: {error}.")),
    };
    match answer.status {
        200..=299 => names(provider, &answer.body)
            .ok_or_else(|| format!("{host} answers, but not with a list of models. Enter the name.")),
        status @ (401 | 403) => Err(format!("{host} rejects the API key (status {status}).")),
        status => Err(format!("{host} does not list its models (status {status}). Enter the name.")),
    }
}

fn headers(provider: Provider, key: Option<&SecretString>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in provider.list_headers() {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if let Some(key) = key {
        let (name, before) = provider.key_header();
        let value = HeaderValue::from_str(&format!("{before}{}", key.expose_secret()));
        let mut value = value.map_err(|_| "The API key has characters that a header cannot have.".to_owned())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Returns the names in a provider's list, sorted; `None` if it has another form.
pub(crate) fn names(provider: Provider, body: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(body).ok()?;
    let (items, key) = match provider {
        Provider::Gemini => (list.get("models")?.as_array()?, "name"),
        _ => (list.get("data")?.as_array()?, "id"),
    };
    let writes = |item: &&Value| {
        let methods = item.get("supportedGenerationMethods").and_then(Value::as_array);
        methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    };
    let names = items.iter().filter(writes).filter_map(|item| item.get(key)?.as_str());
    let names = names.map(|name| name.strip_prefix("models/").unwrap_or(name));
    let is_name = |name: &&str| {
        (1..=MAX_MODEL).contains(&name.chars().count())
            && !name.chars().any(|sign| sign.is_control() || sign.is_whitespace())
    };
    let names: BTreeSet<&str> = names.filter(is_name).collect();
    Some(names.into_iter().take(MAX_LISTED).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_lists_of_providers() {
        let check = |provider: Provider, body: &str, expected: Option<&str>| {
            let names = names(provider, body.as_bytes()).map(|names| names.join(" "));
            assert_eq!(names.as_deref(), expected, "{body}");
        };
        let list = r#"{"object":"list","data":[{"id":"b"},{"id":"a"},{"id":"a"},{"id":7},{"id":"x y"},{"id":""}]}"#;
        check(Provider::OpenAi, list, Some("a b"));
        check(Provider::Anthropic, r#"{"data":[{"id":"claude","display_name":"Claude"}]}"#, Some("claude"));
        let gemini = r#"{"models":[{"name":"models/g","supportedGenerationMethods":["generateContent"]},
            {"name":"models/e","supportedGenerationMethods":["embedContent"]},{"name":"h"}]}"#;
        check(Provider::Gemini, gemini, Some("g h"));
        check(Provider::Gemini, list, None);
        check(Provider::OpenRouter, "<html>", None);
        check(Provider::Ollama, r#"{"data":{}}"#, None);
        let many: Vec<_> = (0..600).map(|number| format!(r#"{{"id":"m{number}"}}"#)).collect();
        let many = format!(r#"{{"data":[{}]}}"#, many.join(","));
        assert_eq!(names_of(&many), MAX_LISTED);
    }

    fn names_of(body: &str) -> usize {
        names(Provider::OpenAi, body.as_bytes()).map_or(0, |names| names.len())
    }
}
