//! Requests to a web service.

use egress::{Answer, Egress, Request};
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;
use url::Url;

/// Bytes of an answer.
const MAX_ANSWER: usize = 4 << 20;

/// Which web service, and how it may be reached.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Every request stays below it.
    pub base_url: Url,
    /// Sent with each request.
    pub headers: Vec<(String, SecretString)>,
    /// Whether addresses of this machine and its networks may be reached.
    pub allow_private: bool,
    /// For one request.
    pub time: Duration,
}

/// A web service; a cheap handle.
#[derive(Clone)]
pub struct Http {
    egress: Egress,
    base_url: Url,
    headers: HeaderMap,
    time: Duration,
}

/// One request, its operators evaluated.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HttpCall {
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

impl Http {
    /// A client for this service. Nothing is connected yet.
    ///
    /// # Errors
    /// One line for the operator: a header that HTTP forbids, or no trusted certificates.
    pub fn new(settings: HttpSettings) -> Result<Self, String> {
        let HttpSettings { base_url, headers: fixed, allow_private, time } = settings;
        let mut headers = HeaderMap::new();
        for (name, value) in fixed {
            let mut value = header_value(&name, value.expose_secret())?;
            value.set_sensitive(true);
            headers.insert(header_name(&name)?, value);
        }
        Ok(Self { egress: Egress::new(allow_private)?, base_url, headers, time })
    }

    /// Makes a request: `{status, body}`, where the body is the value of an answer in JSON, the text of another.
    ///
    /// # Errors
    /// For the caller, without addresses: no answer, a status of 400 and more, a body that is no text.
    pub(crate) async fn run(&self, method: &Method, properties: Value) -> Result<Value, String> {
        let call: HttpCall = serde_json::from_value(properties).map_err(|error| error.to_string())?;
        let any_status = call.any_status;
        let answer = self.egress.send(self.request(method, call)?).await.map_err(|error| error.to_string())?;
        if answer.status >= 400 && !any_status {
            return Err(format!("the server answered with the status {}", answer.status));
        }
        let status = answer.status;
        Ok(json!({ "status": status, "body": body(answer)? }))
    }

    fn request(&self, method: &Method, call: HttpCall) -> Result<Request, String> {
        let mut headers = self.headers.clone();
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("application/json, text/*;q=0.8, */*;q=0.5"));
        for (name, value) in &call.headers {
            let name = header_name(name)?;
            // The config's own are not the routine's to change.
            if !self.headers.contains_key(&name) {
                headers.insert(name.clone(), header_value(name.as_str(), &text(value))?);
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
        let url = address(&self.base_url, &call.path, &call.query)?;
        Ok(Request { method: method.clone(), url, headers, body, time: self.time, max_bytes: MAX_ANSWER })
    }
}

/// The address of a request, which must be below the base: a path comes from a payload as a rule.
fn address(base: &Url, path: &str, query: &Map<String, Value>) -> Result<Url, String> {
    let mut url = egress::below(base, path).map_err(|error| error.to_string())?;
    if !query.is_empty() {
        let mut pairs = url.query_pairs_mut();
        for (name, value) in query {
            // `null` is none; a list is the parameter several times.
            let values = match value {
                Value::Null => &[],
                Value::Array(items) => items.as_slice(),
                value => std::slice::from_ref(value),
            };
            pairs.extend_pairs(values.iter().map(|value| (name, text(value))));
        }
    }
    Ok(url)
}

fn body(answer: Answer) -> Result<Value, String> {
    let is_json = answer.content_type.as_deref().and_then(|found| found.split(';').next()).is_some_and(|found| {
        let found = found.trim().to_ascii_lowercase();
        found == "application/json" || found.ends_with("+json")
    });
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }
    if is_json {
        return serde_json::from_slice(&answer.body)
            .map_err(|_| "the answer is not the JSON that it says it is".to_owned());
    }
    String::from_utf8(answer.body).map(Value::String).map_err(|_| "the answer is not a text".to_owned())
}

/// A text as it is, anything else as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn header_name(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("`{name}` is no name of a header"))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, String> {
    value.parse().map_err(|_| format!("the header `{name}` holds a character that HTTP forbids"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, query: Value, expected: &str) {
        let base = Url::parse("https://api.example.com/v1/").unwrap();
        let query = query.as_object().cloned().unwrap_or_default();
        let seen = address(&base, path, &query).map_or_else(|error| error, |url| url.to_string());
        assert_eq!(seen, expected, "{path}");
    }

    #[test]
    fn headers_are_one_line() {
        let http = Http::new(HttpSettings {
            base_url: Url::parse("https://api.example.com/").unwrap(),
            headers: vec![("x-own".to_owned(), SecretString::from("1"))],
            allow_private: false,
            time: Duration::from_secs(1),
        });
        let http = http.unwrap();
        let check = |name: &str, value: Value, expected: &str| {
            let headers = Map::from_iter([(name.to_owned(), value.clone())]);
            let (path, query) = (String::new(), Map::new());
            let call = HttpCall { path, query, headers, body: None, any_status: false };
            let request = http.request(&Method::GET, call);
            let seen = request.map(|request| request.headers.get(name).unwrap().to_str().unwrap().to_owned());
            assert_eq!(seen.unwrap_or_else(|error| error), expected, "{name} {value}");
        };
        check("x-a", json!("b c"), "b c");
        check("x-a", json!(7), "7");
        check("x-own", json!("2"), "1");
        for value in ["a\r\nx-b: c", "a\nb", "a\rb", "a\0b"] {
            check("x-a", json!(value), "the header `x-a` holds a character that HTTP forbids");
        }
        let name = "x-a\r\nx-b";
        let headers = Map::from_iter([(name.to_owned(), json!("1"))]);
        let call = HttpCall { path: String::new(), query: Map::new(), headers, body: None, any_status: false };
        assert_eq!(http.request(&Method::GET, call).unwrap_err(), format!("`{name}` is no name of a header"));
    }

    #[test]
    fn addresses_stay_below_the_base() {
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
