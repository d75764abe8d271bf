//! Checks that the connections of the config respond. Model providers are asked for their list of
//! models, which is free.

use super::CheckResult;
use crate::compose;
use config::{Config, Connection, ConnectionKind, HttpConnection, ModelConnection, SqlConnection};
use egress::{Egress, EgressError, EgressRequest};
use futures::future::join_all;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpStream;
use url::Url;

/// Timeout for each connection.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The limit on the size of a response in bytes; gateways list many models.
const MAX_RESPONSE_BYTES: usize = 8 * 1024 * 1024;

/// Checks all connections and tool sources concurrently.
pub(super) async fn check_connections(config: &Config) -> Vec<CheckResult> {
    let one = async |connection: &Connection| {
        let check = format!("connection {}", connection.id);
        match &connection.kind {
            ConnectionKind::Demo(_) => Some(CheckResult::ok(check, "the demo model is built in")),
            ConnectionKind::Sql(sql) => Some(check_sql(check, sql).await),
            ConnectionKind::Http(http) => Some(check_http(check, http).await),
            ConnectionKind::Mcp(_) | ConnectionKind::RemoteAgent(_) | ConnectionKind::Added(_) => None,
            ConnectionKind::Anthropic(of) => {
                let version = [("anthropic-version", "2023-06-01")];
                Some(check_models(check, of, "https://api.anthropic.com/v1", ("x-api-key", ""), &version).await)
            }
            ConnectionKind::Google(of) => {
                let base = "https://generativelanguage.googleapis.com/v1beta";
                Some(check_models(check, of, base, ("x-goog-api-key", ""), &[]).await)
            }
            ConnectionKind::OpenAi(of) | ConnectionKind::OpenAiCompatible(of) => {
                Some(check_models(check, of, "https://api.openai.com/v1", ("authorization", "Bearer "), &[]).await)
            }
            ConnectionKind::AiGateway(of) => Some(
                check_models(check, of, "https://ai-gateway.vercel.sh/v1", ("authorization", "Bearer "), &[]).await,
            ),
        }
    };
    let (asked, sources) = futures::join!(join_all(config.connections.values().map(one)), compose::sources(config));
    let sources = sources.into_iter().map(|(name, offered)| {
        let check = format!("tools of {name}");
        match offered {
            Ok(offered) if !offered.left_out.is_empty() => {
                let left_out: Vec<_> =
                    offered.left_out.iter().map(|tool| format!("{} ({})", tool.name, tool.reason)).collect();
                CheckResult::note(check, format!("{} tool(s); left out: {}", offered.tools, left_out.join("; ")))
            }
            Ok(offered) if offered.tools == 0 => CheckResult::note(check, "it responds, but offers no tools"),
            Ok(offered) => CheckResult::ok(check, format!("{} tool(s)", offered.tools)),
            Err(error) => CheckResult::wrong(check, error),
        }
    });
    asked.into_iter().flatten().chain(sources).collect()
}

/// Requests a provider's list of models. The API key is sent in this header, with this prefix.
async fn check_models(
    check: String,
    of: &ModelConnection,
    base: &str,
    (header, word): (&'static str, &str),
    more: &[(&'static str, &str)],
) -> CheckResult {
    let base = of.base_url.as_deref().unwrap_or(base).trim_end_matches('/');
    let Ok(url) = Url::parse(&format!("{base}/models")) else {
        return CheckResult::wrong(check, format!("`{base}` is not a URL"));
    };
    let mut headers = HeaderMap::new();
    let key = of.api_key.as_ref().map(|key| (header, format!("{word}{}", key.expose_secret())));
    let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
    for (name, value) in key.into_iter().chain(more) {
        let Some(value) = sensitive_header(&value) else {
            return CheckResult::wrong(check, "its API key has characters that are not allowed in a header");
        };
        headers.insert(name, value);
    }
    add_headers(&mut headers, &of.headers);
    let host = url.host_str().unwrap_or_default().to_owned();
    match request_status(true, Method::GET, url, headers).await {
        Ok(200..=299) => CheckResult::ok(check, format!("{host} responds and accepts the key")),
        Ok(status @ (401 | 403)) => CheckResult::wrong(check, format!("{host} rejects the key (status {status})")),
        Ok(status @ (404 | 405)) => CheckResult::note(
            check,
            format!("{host} responds, but does not list its models (status {status}): the key was not tested"),
        ),
        Ok(status) => CheckResult::note(check, format!("{host} responds with status {status}")),
        Err(error) => CheckResult::wrong(check, format!("no response from {host}: {error}")),
    }
}

/// Checks that an HTTP service responds; any status counts as a response.
async fn check_http(check: String, http: &HttpConnection) -> CheckResult {
    let mut headers = HeaderMap::new();
    add_headers(&mut headers, &http.headers);
    let host = http.base_url.host_str().unwrap_or_default().to_owned();
    match request_status(http.allow_private, Method::HEAD, http.base_url.clone(), headers).await {
        Ok(status @ (401 | 403)) => {
            CheckResult::note(check, format!("{host} responds with status {status}: check its headers"))
        }
        Ok(status) => CheckResult::ok(check, format!("{host} responds (status {status})")),
        Err(error) => CheckResult::wrong(check, format!("no response from {host}: {error}")),
    }
}

/// Checks that the file of a database exists, or that its server accepts connections. It does not
/// sign in and creates nothing.
async fn check_sql(check: String, sql: &SqlConnection) -> CheckResult {
    let url = sql.url.expose_secret();
    if let Some(rest) = url.strip_prefix("sqlite:") {
        let path = rest.strip_prefix("//").unwrap_or(rest).split('?').next().unwrap_or_default();
        return match path {
            ":memory:" => CheckResult::ok(check, "in memory"),
            path if Path::new(path).is_file() => CheckResult::ok(check, "the file exists"),
            _ if sql.init.is_some() => CheckResult::ok(check, "the first start creates the file"),
            _ => CheckResult::wrong(check, "the file does not exist"),
        };
    }
    let Some((host, port)) = Url::parse(url).ok().and_then(|url| Some((url.host_str()?.to_owned(), url.port()))) else {
        return CheckResult::note(check, "its URL has no host: not checked");
    };
    let address = (host.trim_matches(['[', ']']).to_owned(), port.unwrap_or(5432));
    match tokio::time::timeout(TIMEOUT, TcpStream::connect(address)).await {
        Ok(Ok(_)) => CheckResult::ok(check, format!("{host} accepts connections; signing in was not tested")),
        Ok(Err(error)) => CheckResult::wrong(check, format!("{host} cannot be reached: {error}")),
        Err(_) => CheckResult::wrong(check, format!("{host} does not respond within {} s", TIMEOUT.as_secs())),
    }
}

async fn request_status(allow_private: bool, method: Method, url: Url, headers: HeaderMap) -> Result<u16, String> {
    let request = EgressRequest { method, url, headers, body: None, timeout: TIMEOUT, max_bytes: MAX_RESPONSE_BYTES };
    match Egress::new(allow_private)?.send(request).await {
        Ok(answer) => Ok(answer.status),
        // A response that is too large is a response, too.
        Err(EgressError::TooLarge(_)) => Ok(200),
        Err(error) => Err(error.to_string()),
    }
}

fn add_headers(headers: &mut HeaderMap, more: &[(String, SecretString)]) {
    for (name, value) in more {
        if let (Ok(name), Some(value)) = (name.parse::<HeaderName>(), sensitive_header(value.expose_secret())) {
            headers.insert(name, value);
        }
    }
}

fn sensitive_header(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
