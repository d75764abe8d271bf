//! The HTTP client of a remote agent: headers, limits and secrets.

use crate::secrets::Secrets;
use crate::settings::{RemoteAgentSettings, UserToken};
use crate::user::{UserAccess, UserCredentials};
use contract::is_name;
use egress::{Egress, EgressError, EgressRequest, challenges};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::time::Duration;
use thiserror::Error;
use url::Url;

/// The header of the API key.
const API_KEY: &str = "x-api-key";

/// The header of a key that is the same whenever a request is made again.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The client of one server.
pub(crate) struct RemoteClient {
    egress: Egress,
    base_url: Url,
    headers: HeaderMap,
    secrets: Secrets,
    pub(crate) users: UserAccess,
    /// The prefix of the tools' names for the model.
    pub(crate) prefix: Option<String>,
    /// The time limit of one tool call.
    pub(crate) call_time: Duration,
}

/// A request.
pub(crate) struct RemoteRequest<'a> {
    /// The path segments after the base URL; empty ones are ignored.
    pub(crate) path: [&'a str; 2],
    /// The JSON body of a POST request; without it the request is a GET.
    pub(crate) body: Option<Value>,
    pub(crate) behalf: Requester<'a>,
    /// A key that is the same whenever the request is made again.
    pub(crate) idempotency_key: Option<&'a str>,
    /// The time limit of the whole request.
    pub(crate) time: Duration,
    /// The maximum size of the answer in bytes.
    pub(crate) max_bytes: usize,
}

/// The user for whom a request is made.
#[derive(Clone, Copy)]
pub(crate) enum Requester<'a> {
    /// No user.
    Nobody,
    /// A user.
    User(&'a UserCredentials),
}

/// An answer with any status.
pub(crate) struct RemoteReply {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    /// The value of `WWW-Authenticate`; empty if there was none.
    pub(crate) challenge: String,
    /// The secrets of the request, to be removed from everything that is returned.
    pub(crate) secrets: Secrets,
}

/// Why there is no answer. The messages contain nothing from the server.
#[derive(Debug, Error)]
pub(crate) enum RemoteError {
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error("the user's token holds a character that HTTP forbids")]
    Token,
    #[error("what the user has entered holds a character that HTTP forbids")]
    Variable,
    // With only the API key the agent would act for an unknown user, with possibly more rights than
    // this one.
    #[error("it requires the user's own token, and this user has none")]
    NoToken,
}

impl RemoteClient {
    pub(crate) fn new(settings: RemoteAgentSettings) -> Result<Self, String> {
        let RemoteAgentSettings {
            base_url,
            api_key,
            user_token,
            variables,
            user_variables,
            prefix,
            allow_private,
            call_time,
        } = settings;
        check_address(&base_url, allow_private)?;
        if api_key.expose_secret().trim().is_empty() {
            return Err("the api key is empty".to_owned());
        }
        if prefix.as_deref().is_some_and(|prefix| !is_name(prefix)) {
            return Err("the prefix may have letters, digits, `_` and `-`".to_owned());
        }
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone()), (CONTENT_TYPE, json)]);
        let mut secrets = vec![&api_key];
        headers.insert(API_KEY, secret_value("api key", api_key.expose_secret())?);
        for (name, value) in &variables {
            let header = variable_header(name)?;
            if headers.insert(header, secret_value(name, value.expose_secret())?).is_some() {
                return Err(format!("the header `x-{name}` is there already"));
            }
            secrets.push(value);
        }
        for variable in user_variables.iter().flat_map(|variables| &variables.wanted.variables) {
            if headers.contains_key(variable_header(&variable.key)?) {
                return Err(format!("the header `x-{}` is there already", variable.key));
            }
        }
        if let Some(UserToken::Fixed(token)) = &user_token {
            headers.insert(AUTHORIZATION, bearer(token)?);
            secrets.push(token);
        }
        let secrets = Secrets::new(secrets);
        let users = UserAccess { token: user_token, variables: user_variables };
        Ok(Self { egress: Egress::new(allow_private)?, base_url, headers, secrets, users, prefix, call_time })
    }

    /// Sends a request and returns the complete answer. Dropping the future ends the request.
    pub(crate) async fn ask(&self, question: RemoteRequest<'_>) -> Result<RemoteReply, RemoteError> {
        let time = question.time;
        tokio::time::timeout(time, self.send(question)).await.unwrap_or(Err(EgressError::TimedOut(time).into()))
    }

    async fn send(&self, question: RemoteRequest<'_>) -> Result<RemoteReply, RemoteError> {
        let RemoteRequest { path, body, behalf, idempotency_key, time, max_bytes } = question;
        let (mut headers, mut secrets) = (self.headers.clone(), self.secrets.clone());
        if let Requester::User(user) = behalf {
            if let Some(UserToken::Own | UserToken::Service(_)) = &self.users.token {
                let token = SecretString::from(user.token.as_ref().ok_or(RemoteError::NoToken)?.expose());
                headers.insert(AUTHORIZATION, bearer(&token).map_err(|_| RemoteError::Token)?);
                secrets = secrets.with(&token);
            }
            for (name, value) in &user.values {
                let header = variable_header(name).map_err(|_| RemoteError::Variable)?;
                headers.insert(header, secret_value(name, value.expose_secret()).map_err(|_| RemoteError::Variable)?);
                secrets = secrets.with(value);
            }
        }
        if let Some(key) = idempotency_key.and_then(|key| HeaderValue::from_str(key).ok()) {
            headers.insert(IDEMPOTENCY_KEY, key);
        }
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let (url, body) = (self.address(path), body.map(|body| body.to_string().into_bytes()));
        let answer = self.egress.send(EgressRequest { method, url, headers, body, timeout: time, max_bytes }).await?;
        let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let challenge = challenges(&answer.headers);
        Ok(RemoteReply { status, body: answer.body, challenge, secrets })
    }

    /// Returns the base URL with two further segments; empty ones are left out.
    fn address(&self, path: [&str; 2]) -> Url {
        let mut url = self.base_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.iter().filter(|step| !step.is_empty()));
        }
        url
    }
}

/// Checks the base URL. Requests to it carry keys, so it must be encrypted, and must not contain a
/// key itself.
fn check_address(url: &Url, allow_private: bool) -> Result<(), String> {
    let is_encrypted = url.scheme() == "https";
    if url.host().is_none() || !(is_encrypted || url.scheme() == "http") {
        return Err("the agent's URL must begin with https:// or http://".to_owned());
    }
    if !is_encrypted && !allow_private {
        return Err("the agent's URL must begin with https://, unless private addresses are allowed".to_owned());
    }
    let is_plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if is_plain { Ok(()) } else { Err("the agent's URL may only have a host and a path".to_owned()) }
}

fn variable_header(name: &str) -> Result<HeaderName, String> {
    format!("x-{name}").parse().map_err(|_| format!("`{name}` cannot be in the name of a header"))
}

fn bearer(token: &SecretString) -> Result<HeaderValue, String> {
    secret_value("user's token", &format!("Bearer {}", token.expose_secret()))
}

fn secret_value(name: &str, value: &str) -> Result<HeaderValue, String> {
    let mut value: HeaderValue =
        value.parse().map_err(|_| format!("the {name} holds a character that HTTP forbids"))?;
    value.set_sensitive(true);
    Ok(value)
}
