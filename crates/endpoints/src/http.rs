//! Connections to web services.

use crate::Secrets;
use crate::user_tokens::{MAX_RENEWALS, RequestFailure, UserTokens};
use contract::{Bearer, RunScope};
use egress::{Egress, EgressRequest, EgressResponse, challenges};
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The maximum size of a response body in bytes.
const MAX_RESPONSE_BYTES: usize = 4 << 20;

/// The settings of a connection to a web service.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The base URL; all requests stay below it.
    pub base_url: Url,
    /// Headers that are sent with every request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether addresses of this machine and its networks are allowed.
    pub allow_private: bool,
    /// The timeout of a request.
    pub timeout: Duration,
}

/// A connection to a web service; a cheap handle.
#[derive(Clone)]
pub struct HttpConnection {
    egress: Egress,
    base_url: Url,
    headers: HeaderMap,
    timeout: Duration,
    /// Where the token comes from that is sent on behalf of the user, if one is sent.
    tokens: Option<Arc<dyn UserTokens>>,
}

/// The evaluated properties of a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HttpProperties {
    #[serde(default)]
    path: String,
    #[serde(default)]
    query: Map<String, Value>,
    #[serde(default)]
    headers: Map<String, Value>,
    body: Option<Value>,
    #[serde(default)]
    any_status: bool,
}

impl HttpConnection {
    /// Creates a client for a web service. Nothing is connected yet.
    ///
    /// # Errors
    /// A message for the operator: an invalid header, or no trusted certificates.
    pub fn new(settings: HttpSettings) -> Result<Self, String> {
        let HttpSettings { base_url, headers: fixed, allow_private, timeout } = settings;
        let mut headers = HeaderMap::new();
        for (name, value) in fixed {
            let mut value = header_value(&name, value.expose_secret())?;
            value.set_sensitive(true);
            headers.insert(header_name(&name)?, value);
        }
        Ok(Self { egress: Egress::new(allow_private)?, base_url, headers, timeout, tokens: None })
    }

    /// Sends every request with a token of the user for whom the routine runs.
    #[must_use]
    pub fn with_user_tokens(self, tokens: Arc<dyn UserTokens>) -> Self {
        Self { tokens: Some(tokens), ..self }
    }

    /// Sends a request and returns `{status, body}`. The body of a JSON response is its value,
    /// otherwise a string.
    ///
    /// # Errors
    /// A message for the caller, without addresses: no response, a status of 400 or more, or a body
    /// that is not text.
    pub(crate) async fn send(
        &self,
        method: &Method,
        properties: Value,
        scope: &RunScope,
    ) -> Result<Value, RequestFailure> {
        let call: HttpProperties = serde_json::from_value(properties).map_err(|error| error.to_string())?;
        let any_status = call.any_status;
        let request = self.request(method, call)?;
        let (answer, token) = match &self.tokens {
            Some(tokens) => self.send_for_user(&**tokens, request, scope).await?,
            None => (self.egress.send(request).await.map_err(|error| error.to_string())?, None),
        };
        if answer.status >= 400 && !any_status {
            return Err(format!("the server responded with status {}", answer.status).into());
        }
        let (status, body) = (answer.status, body_value(answer)?);
        // A response may repeat its request, and a model may read it.
        let secrets: Secrets =
            token.map(|token| (String::new(), token.expose().to_owned().into())).into_iter().collect();
        Ok(json!({ "status": status, "body": secrets.redact(body) }))
    }

    /// Sends a request with a token of the user. If the service refuses the token, it has not run the request, so it is
    /// sent again with another token, if there is one.
    async fn send_for_user(
        &self,
        tokens: &dyn UserTokens,
        mut request: EgressRequest,
        scope: &RunScope,
    ) -> Result<(EgressResponse, Option<Bearer>), RequestFailure> {
        let mut renewals = 0;
        loop {
            let token = tokens.token(scope).await.map_err(RequestFailure::NoToken)?;
            let mut value = header_value("authorization", &format!("Bearer {}", token.expose()))?;
            value.set_sensitive(true);
            request.headers.insert(AUTHORIZATION, value);
            let answer = self.egress.send(request.clone()).await.map_err(|error| error.to_string())?;
            if answer.status != 401 || renewals == MAX_RENEWALS {
                return Ok((answer, Some(token)));
            }
            renewals += 1;
            if !tokens.refused(scope, &token, &challenges(&answer.headers)).await {
                return Ok((answer, Some(token)));
            }
        }
    }

    fn request(&self, method: &Method, call: HttpProperties) -> Result<EgressRequest, String> {
        let mut headers = self.headers.clone();
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json, text/*;q=0.8, */*;q=0.5"));
        for (name, value) in &call.headers {
            let name = header_name(name)?;
            // A routine cannot override the headers of the config.
            if !self.headers.contains_key(&name) {
                headers.insert(name.clone(), header_value(name.as_str(), &value_text(value))?);
            }
        }
        let body = match call.body {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => {
                headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("text/plain; charset=utf-8"));
                Some(text.into_bytes())
            }
            Some(body) => {
                headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
                Some(body.to_string().into_bytes())
            }
        };
        let url = request_url(&self.base_url, &call.path, &call.query)?;
        Ok(EgressRequest {
            method: method.clone(),
            url,
            headers,
            body,
            timeout: self.timeout,
            max_bytes: MAX_RESPONSE_BYTES,
        })
    }
}

/// Returns the URL of a request. It must be below the base URL, because paths often contain values
/// of a payload.
fn request_url(base: &Url, path: &str, query: &Map<String, Value>) -> Result<Url, String> {
    let mut url = egress::join_below(base, path).map_err(|error| error.to_string())?;
    if !query.is_empty() {
        let mut pairs = url.query_pairs_mut();
        for (name, value) in query {
            // `null` omits the parameter; a list repeats it.
            let values = match value {
                Value::Null => &[],
                Value::Array(items) => items.as_slice(),
                value => std::slice::from_ref(value),
            };
            pairs.extend_pairs(values.iter().map(|value| (name, value_text(value))));
        }
    }
    Ok(url)
}

fn body_value(answer: EgressResponse) -> Result<Value, String> {
    let is_json = answer.content_type.as_deref().and_then(|found| found.split(';').next()).is_some_and(|found| {
        let found = found.trim().to_ascii_lowercase();
        found == "application/json" || found.ends_with("+json")
    });
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }
    if is_json {
        return serde_json::from_slice(&answer.body).map_err(|_| "the response is not valid JSON".to_owned());
    }
    String::from_utf8(answer.body).map(Value::String).map_err(|_| "the response is not text".to_owned())
}

/// Returns a string as it is, other values as JSON.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("`{name}` is not a valid header name"))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, String> {
    value.parse().map_err(|_| format!("the header `{name}` contains an invalid character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, query: Value, expected: &str) {
        let base = Url::parse("https://api.example.com/v1/").unwrap();
        let query = query.as_object().cloned().unwrap_or_default();
        let seen = request_url(&base, path, &query).map_or_else(|error| error, |url| url.to_string());
        assert_eq!(seen, expected, "{path}");
    }

    #[test]
    fn header_values_with_line_breaks_are_rejected() {
        let http = HttpConnection::new(HttpSettings {
            base_url: Url::parse("https://api.example.com/").unwrap(),
            headers: vec![("x-own".to_owned(), SecretString::from("1"))],
            allow_private: false,
            timeout: Duration::from_secs(1),
        });
        let http = http.unwrap();
        let check = |name: &str, value: Value, expected: &str| {
            let headers = Map::from_iter([(name.to_owned(), value.clone())]);
            let (path, query) = (String::new(), Map::new());
            let call = HttpProperties { path, query, headers, body: None, any_status: false };
            let request = http.request(&Method::GET, call);
            let seen = request.map(|request| request.headers.get(name).unwrap().to_str().unwrap().to_owned());
            assert_eq!(seen.unwrap_or_else(|error| error), expected, "{name} {value}");
        };
        check("x-a", json!("b c"), "b c");
        check("x-a", json!(7), "7");
        check("x-own", json!("2"), "1");
        for value in ["a\r\nx-b: c", "a\nb", "a\rb", "a\0b"] {
            check("x-a", json!(value), "the header `x-a` contains an invalid character");
        }
        let name = "x-a\r\nx-b";
        let headers = Map::from_iter([(name.to_owned(), json!("1"))]);
        let call = HttpProperties { path: String::new(), query: Map::new(), headers, body: None, any_status: false };
        assert_eq!(http.request(&Method::GET, call).unwrap_err(), format!("`{name}` is not a valid header name"));
    }

    #[test]
    fn urls_stay_below_the_base() {
        let out = "the path escapes the connection's base URL";
        check("", json!({}), "https://api.example.com/v1/");
        check("/users/7", json!({}), "https://api.example.com/v1/users/7");
        check(
            "users",
            json!({ "q": "a b&c", "n": 2, "tag": ["x", "y"], "no": null }),
            "https://api.example.com/v1/users?q=a+b%26c&n=2&tag=x&tag=y",
        );
        check("a b", json!({}), "https://api.example.com/v1/a%20b");
        check(
            "x",
            json!({ "a&b=": "c&d=e#f\r\n\u{e4}" }),
            "https://api.example.com/v1/x?a%26b%3D=c%26d%3De%23f%0D%0A%C3%A4",
        );
        check("../v2", json!({}), out);
        check("a/../../v2", json!({}), out);
        check("%2e%2E/v2", json!({}), out);
        check("a/..", json!({}), out);
        check("a/..%2F..%2fv2", json!({}), out);
        check("..%252Fv2", json!({}), out);
        check("a/..;x/v2", json!({}), out);
        check("//evil.com/x", json!({}), "https://api.example.com/v1/evil.com/x");
        check("@evil.com", json!({}), "https://api.example.com/v1/@evil.com");
        for path in ["a?b=c", "a#b", "a\\b", "a\nb"] {
            check(path, json!({}), "the path contains an invalid character; parameters belong in `query`");
        }
    }
}
