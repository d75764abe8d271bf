//! Requests for tokens: with a code, with a refresh token, by token exchange, and with an assertion (RFC 6749, RFC 8693,
//! RFC 7523); and their revocation (RFC 7009).

use super::{ClientIdentity, OauthError, OauthHttp};
use ::http::{HeaderMap, HeaderValue, Method, header};
use auth::oauth::error_code;
use oauth_discovery::read_scopes;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use url::Url;
use url::form_urlencoded::Serializer;

const WHAT: &str = "the token endpoint";
/// The longest token in bytes.
const MAX_TOKEN: usize = 32 << 10;

const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
/// An Identity Assertion JWT Authorization Grant.
const ASSERTION: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// A client at a token endpoint.
pub(crate) struct TokenClient<'a> {
    pub(crate) http: &'a OauthHttp,
    pub(crate) endpoint: &'a Url,
    pub(crate) client: &'a ClientIdentity,
}

/// The tokens that a token endpoint has issued.
pub(crate) struct IssuedTokens {
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    /// The ID token, if a sign-in at a provider of OpenID Connect was renewed.
    pub(crate) id_token: Option<String>,
    /// The lifetime in seconds.
    pub(crate) expires_in: Option<i64>,
    /// The granted scopes; `None` if they are those that were asked for.
    pub(crate) scopes: Option<Vec<String>>,
}

/// A token exchange.
pub(crate) struct ExchangeRequest<'a> {
    /// The token of the user's sign-in.
    pub(crate) subject: &'a str,
    pub(crate) audience: Option<&'a str>,
    pub(crate) resource: &'a str,
    pub(crate) scopes: &'a [String],
}

/// A request for an assertion about a user, with which another authorization server issues a token.
pub(crate) struct AssertionRequest<'a> {
    /// The ID token of the user's sign-in.
    pub(crate) id_token: &'a str,
    /// The issuer of the other authorization server.
    pub(crate) audience: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) scopes: &'a [String],
}

#[derive(Deserialize)]
struct AssertionResponse {
    access_token: String,
    issued_token_type: String,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    token_type: Option<String>,
    refresh_token: Option<String>,
    id_token: Option<Value>,
    expires_in: Option<Value>,
    scope: Option<String>,
}

impl TokenClient<'_> {
    /// Exchanges a code for tokens.
    pub(crate) async fn with_code(
        &self,
        (code, verifier): (&str, &str),
        redirect_uri: &str,
        resource: &str,
    ) -> Result<IssuedTokens, OauthError> {
        let pairs = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", redirect_uri),
            ("resource", resource),
        ];
        self.request(&pairs).await
    }

    /// Exchanges a refresh token for new tokens, with the same scopes. `resource` is empty if they were not issued for one
    /// service.
    pub(crate) async fn refresh(&self, refresh_token: &str, resource: &str) -> Result<IssuedTokens, OauthError> {
        let pairs = [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("resource", resource)];
        self.request(&pairs).await
    }

    /// Exchanges the token of a sign-in for one of a service.
    pub(crate) async fn exchange(&self, request: &ExchangeRequest<'_>) -> Result<IssuedTokens, OauthError> {
        let scopes = request.scopes.join(" ");
        // An authorization server may not support both parameters.
        let target = match request.audience {
            Some(audience) => ("audience", audience),
            None => ("resource", request.resource),
        };
        let pairs = [
            ("grant_type", TOKEN_EXCHANGE),
            ("subject_token", request.subject),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
            target,
            ("scope", scopes.as_str()),
        ];
        self.request(&pairs).await
    }

    /// Exchanges the ID token of a sign-in for an assertion.
    pub(crate) async fn assertion(&self, request: &AssertionRequest<'_>) -> Result<String, OauthError> {
        let scopes = request.scopes.join(" ");
        let pairs = [
            ("grant_type", TOKEN_EXCHANGE),
            ("subject_token", request.id_token),
            ("subject_token_type", ID_TOKEN),
            ("requested_token_type", ASSERTION),
            ("audience", request.audience),
            ("resource", request.resource),
            ("scope", scopes.as_str()),
        ];
        read_assertion(&self.answer(&pairs).await?)
    }

    /// Exchanges an assertion for a token. Its scopes are those of the assertion.
    pub(crate) async fn with_assertion(&self, assertion: &str) -> Result<IssuedTokens, OauthError> {
        let pairs = [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)];
        self.request(&pairs).await
    }

    /// Revokes a token at the endpoint.
    pub(crate) async fn revoke(&self, token: &str, kind: &str) -> Result<(), OauthError> {
        let (status, _) = self.post(&[("token", token), ("token_type_hint", kind)]).await?;
        match status {
            200..=299 => Ok(()),
            status => Err(OauthError::Unreachable("the revocation endpoint", format!("HTTP {status}"))),
        }
    }

    /// Returns the headers and the body of a form, with the authentication of the client. Parameters without a value are left
    /// out: servers must treat them as absent (RFC 6749, 3.2), but some refuse them.
    fn form(&self, pairs: &[(&str, &str)]) -> (HeaderMap, Vec<u8>) {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
        let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
        let mut headers = HeaderMap::from_iter([(header::CONTENT_TYPE, form_type)]);
        headers.extend(self.client.prove(&mut form).map(|proof| (header::AUTHORIZATION, proof)));
        (headers, form.finish().into_bytes())
    }

    async fn post(&self, pairs: &[(&str, &str)]) -> Result<(u16, Vec<u8>), OauthError> {
        let (headers, body) = self.form(pairs);
        let answer = self.http.send(WHAT, Method::POST, self.endpoint.clone(), headers, Some(body)).await?;
        Ok((answer.status, answer.body))
    }

    async fn request(&self, pairs: &[(&str, &str)]) -> Result<IssuedTokens, OauthError> {
        IssuedTokens::read(&self.answer(pairs).await?)
    }

    /// Returns the body of the answer to a request for tokens.
    async fn answer(&self, pairs: &[(&str, &str)]) -> Result<Vec<u8>, OauthError> {
        let (status, body) = self.post(pairs).await?;
        if status == 200 {
            return Ok(body);
        }
        // Other statuses without a known code are not refusals of a token endpoint: the address may be wrong, or there are too
        // many requests.
        let unknown = matches!(status, 400 | 401 | 403).then_some("an unknown error");
        let code = error_code(&body).or(unknown).filter(|_| (400..500).contains(&status));
        Err(code.map_or_else(|| OauthError::Unreachable(WHAT, format!("HTTP {status}")), OauthError::Refused))
    }
}

impl IssuedTokens {
    /// Reads the answer of a token endpoint.
    pub(crate) fn read(body: &[u8]) -> Result<Self, OauthError> {
        let unusable = OauthError::Invalid("the token endpoint's answer has no token that can be used");
        let Ok(answer) = serde_json::from_slice::<TokenResponse>(body) else {
            // Some servers refuse with status 200.
            return Err(error_code(body).map_or(unusable, OauthError::Refused));
        };
        let expires_in = answer.expires_in.and_then(|value| match value {
            Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|seconds| seconds as i64)),
            Value::String(text) => text.parse().ok(),
            _ => None,
        });
        let is_bearer = answer.token_type.as_ref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        let issued = Self::new(answer.access_token, answer.refresh_token, expires_in, answer.scope.as_deref());
        let id_token = answer.id_token.as_ref().and_then(Value::as_str).filter(|token| is_usable(token));
        let issued = issued.map(|issued| Self { id_token: id_token.map(str::to_owned), ..issued });
        issued.filter(|_| is_bearer).ok_or(unusable)
    }

    /// Returns tokens with their lifetime in seconds and their scopes; `None` if they cannot be used.
    pub(crate) fn new(
        access_token: String,
        refresh_token: Option<String>,
        expires_in: Option<i64>,
        granted: Option<&str>,
    ) -> Option<Self> {
        let are_usable = is_usable(&access_token) && refresh_token.as_deref().is_none_or(is_usable);
        (are_usable && !access_token.is_empty()).then(|| Self {
            access_token,
            refresh_token: refresh_token.filter(|token| !token.is_empty()),
            id_token: None,
            expires_in: expires_in.map(|seconds| seconds.clamp(0, 10 * 365 * 86_400)),
            scopes: granted.map(read_scopes),
        })
    }
}

/// Returns whether a token can be stored and sent. One with other characters than visible ASCII could not be sent in a header.
pub(crate) fn is_usable(token: &str) -> bool {
    token.len() <= MAX_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Reads the assertion in the answer of a provider. Its `token_type` says nothing: it is not sent to a service.
fn read_assertion(body: &[u8]) -> Result<String, OauthError> {
    let unusable = OauthError::Invalid("the provider of the sign-in has issued no assertion for the service");
    let Ok(answer) = serde_json::from_slice::<AssertionResponse>(body) else {
        return Err(error_code(body).map_or(unusable, OauthError::Refused));
    };
    let AssertionResponse { access_token, issued_token_type } = answer;
    let is_assertion = issued_token_type == ASSERTION && !access_token.is_empty() && is_usable(&access_token);
    is_assertion.then_some(access_token).ok_or(unusable)
}

/// Formats nothing secret.
impl fmt::Debug for IssuedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IssuedTokens").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_token_endpoints_are_checked() {
        let check = |body: &str, expected: Result<(&str, Option<i64>, Option<&str>), &str>| {
            let read = IssuedTokens::read(body.as_bytes()).map_err(|error| error.to_string());
            let seen = read.as_ref().map(|read| {
                (read.access_token.as_str(), read.expires_in, read.scopes.as_ref().map(|scopes| scopes.join(" ")))
            });
            let expected = expected.map(|(token, life, scopes)| (token, life, scopes.map(str::to_owned)));
            assert_eq!(seen.map_err(String::as_str), expected, "{body}");
        };
        let unusable = Err("the token endpoint's answer has no token that can be used");
        check(r#"{"access_token":"a","token_type":"bearer","expires_in":60}"#, Ok(("a", Some(60), None)));
        check(r#"{"access_token":"a","expires_in":"60","scope":"x y"}"#, Ok(("a", Some(60), Some("x y"))));
        check(r#"{"access_token":"a","expires_in":-5,"scope":"x,y"}"#, Ok(("a", Some(0), Some("x y"))));
        check(r#"{"access_token":"a","token_type":"mac"}"#, unusable);
        check(r#"{"access_token":""}"#, unusable);
        check(r#"{"access_token":"a\r\nb"}"#, unusable);
        check(r#"{"access_token":7}"#, unusable);
        check(r#"{"error":"bad_verification_code"}"#, Err("the authorization server refuses it: invalid_grant"));
        check("<html>", unusable);
        check(&format!(r#"{{"access_token":"{}"}}"#, "x".repeat(MAX_TOKEN + 1)), unusable);
    }

    #[test]
    fn only_assertions_are_read_as_assertions() {
        let check = |body: &str, expected: Result<&str, &str>| {
            let read = read_assertion(body.as_bytes()).map_err(|error| error.to_string());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{body}");
        };
        let none = Err("the provider of the sign-in has issued no assertion for the service");
        let answer = |token: &str, kind: &str| {
            format!(r#"{{"access_token":"{token}","issued_token_type":"{kind}","token_type":"N_A"}}"#)
        };
        check(&answer("a.b.c", ASSERTION), Ok("a.b.c"));
        check(&answer("a.b.c", ACCESS_TOKEN), none);
        check(&answer("", ASSERTION), none);
        check(&answer("a b", ASSERTION), none);
        check(r#"{"access_token":"a.b.c","token_type":"Bearer"}"#, none);
        check(r#"{"error":"invalid_target"}"#, Err("the authorization server refuses it: invalid_target"));
        check("<html>", none);
    }
}
