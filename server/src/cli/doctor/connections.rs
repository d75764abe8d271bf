//! Whether what the config connects to answers. Models are asked for their list, which costs nothing.

use super::Finding;
use crate::compose;
use config::{Config, Connection, ConnectionKind, HttpConnection, ModelConnection, SqlConnection};
use egress::{Egress, EgressError, Request};
use futures::future::join_all;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpStream;
use url::Url;

/// For one connection.
const TIME: Duration = Duration::from_secs(10);
/// Of an answer, in bytes; a gateway lists many models.
const MOST: usize = 8 * 1024 * 1024;

/// Asks all of them at once.
pub(super) async fn examine(config: &Config) -> Vec<Finding> {
    let one = async |connection: &Connection| {
        let check = format!("connection {}", connection.id);
        match &connection.kind {
            ConnectionKind::Demo(_) => Some(Finding::ok(check, "the demo's model is in the server")),
            ConnectionKind::Sql(sql) => Some(database(check, sql).await),
            ConnectionKind::Http(http) => Some(service(check, http).await),
            ConnectionKind::Mcp(_) | ConnectionKind::RemoteAgent(_) => None,
            ConnectionKind::Anthropic(of) => {
                let version = [("anthropic-version", "2023-06-01")];
                Some(models(check, of, "https://api.anthropic.com/v1", ("x-api-key", ""), &version).await)
            }
            ConnectionKind::Google(of) => {
                let base = "https://generativelanguage.googleapis.com/v1beta";
                Some(models(check, of, base, ("x-goog-api-key", ""), &[]).await)
            }
            ConnectionKind::OpenAi(of) | ConnectionKind::OpenAiCompatible(of) => {
                Some(models(check, of, "https://api.openai.com/v1", ("authorization", "Bearer "), &[]).await)
            }
            ConnectionKind::AiGateway(of) => {
                Some(models(check, of, "https://ai-gateway.vercel.sh/v1", ("authorization", "Bearer "), &[]).await)
            }
        }
    };
    let (asked, sources) = futures::join!(join_all(config.connections.values().map(one)), compose::sources(config));
    let sources = sources.into_iter().map(|(name, offered)| {
        let check = format!("tools of {name}");
        match offered {
            Ok(offered) if !offered.left_out.is_empty() => {
                let left_out: Vec<_> =
                    offered.left_out.iter().map(|tool| format!("{} ({})", tool.name, tool.reason)).collect();
                Finding::note(check, format!("{} tool(s); left out: {}", offered.tools, left_out.join("; ")))
            }
            Ok(offered) if offered.tools == 0 => Finding::note(check, "it answers, and offers no tool"),
            Ok(offered) => Finding::ok(check, format!("{} tool(s)", offered.tools)),
            Err(error) => Finding::wrong(check, error),
        }
    });
    asked.into_iter().flatten().chain(sources).collect()
}

/// The provider's list of models, with the key in this header, behind this word.
async fn models(
    check: String,
    of: &ModelConnection,
    base: &str,
    (header, word): (&'static str, &str),
    more: &[(&'static str, &str)],
) -> Finding {
    let base = of.base_url.as_deref().unwrap_or(base).trim_end_matches('/');
    let Ok(url) = Url::parse(&format!("{base}/models")) else {
        return Finding::wrong(check, format!("`{base}` is no address"));
    };
    let mut headers = HeaderMap::new();
    let key = of.api_key.as_ref().map(|key| (header, format!("{word}{}", key.expose_secret())));
    let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
    for (name, value) in key.into_iter().chain(more) {
        let Some(value) = sensitive(&value) else { return Finding::wrong(check, "its key cannot stand in a header") };
        headers.insert(name, value);
    }
    add(&mut headers, &of.headers);
    let host = url.host_str().unwrap_or_default().to_owned();
    match ask(true, Method::GET, url, headers).await {
        Ok(200..=299) => Finding::ok(check, format!("{host} answers, and takes the key")),
        Ok(status @ (401 | 403)) => Finding::wrong(check, format!("{host} refuses the key ({status})")),
        Ok(status @ (404 | 405)) => Finding::note(
            check,
            format!("{host} answers, and does not list its models ({status}): the key is untested"),
        ),
        Ok(status) => Finding::note(check, format!("{host} answers with {status}")),
        Err(error) => Finding::wrong(check, format!("{host} cannot be asked: {error}")),
    }
}

/// Any answer is one.
async fn service(check: String, http: &HttpConnection) -> Finding {
    let mut headers = HeaderMap::new();
    add(&mut headers, &http.headers);
    let host = http.base_url.host_str().unwrap_or_default().to_owned();
    match ask(http.allow_private, Method::HEAD, http.base_url.clone(), headers).await {
        Ok(status @ (401 | 403)) => {
            Finding::note(check, format!("{host} answers with {status}: are its headers right?"))
        }
        Ok(status) => Finding::ok(check, format!("{host} answers ({status})")),
        Err(error) => Finding::wrong(check, format!("{host} cannot be asked: {error}")),
    }
}

/// The file, or the other end of a connection. Nobody signs in, nothing is made.
async fn database(check: String, sql: &SqlConnection) -> Finding {
    let url = sql.url.expose_secret();
    if let Some(rest) = url.strip_prefix("sqlite:") {
        let path = rest.strip_prefix("//").unwrap_or(rest).split('?').next().unwrap_or_default();
        return match path {
            ":memory:" => Finding::ok(check, "in memory"),
            path if Path::new(path).is_file() => Finding::ok(check, "its file is there"),
            _ if sql.init.is_some() => Finding::ok(check, "its file will be made at the first start"),
            _ => Finding::wrong(check, "its file is not there"),
        };
    }
    let Some((host, port)) = Url::parse(url).ok().and_then(|url| Some((url.host_str()?.to_owned(), url.port()))) else {
        return Finding::note(check, "its address names no host: it is not asked");
    };
    let address = (host.trim_matches(['[', ']']).to_owned(), port.unwrap_or(5432));
    match tokio::time::timeout(TIME, TcpStream::connect(address)).await {
        Ok(Ok(_)) => Finding::ok(check, format!("{host} takes connections; nobody signed in")),
        Ok(Err(error)) => Finding::wrong(check, format!("{host} cannot be reached: {error}")),
        Err(_) => Finding::wrong(check, format!("{host} does not answer within {} s", TIME.as_secs())),
    }
}

async fn ask(allow_private: bool, method: Method, url: Url, headers: HeaderMap) -> Result<u16, String> {
    let request = Request { method, url, headers, body: None, time: TIME, max_bytes: MOST };
    match Egress::new(allow_private)?.send(request).await {
        Ok(answer) => Ok(answer.status),
        // It answered.
        Err(EgressError::TooLarge(_)) => Ok(200),
        Err(error) => Err(error.to_string()),
    }
}

fn add(headers: &mut HeaderMap, more: &[(String, SecretString)]) {
    for (name, value) in more {
        if let (Ok(name), Some(value)) = (name.parse::<HeaderName>(), sensitive(value.expose_secret())) {
            headers.insert(name, value);
        }
    }
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
