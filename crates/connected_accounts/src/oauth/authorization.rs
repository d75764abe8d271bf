//! The authorization request with PKCE, and the check of its answer (RFC 6749, 4.1; RFC 7636; RFC 9207; RFC 8707).

use super::{ClientIdentity, OauthError, ServerMetadata};
use auth::oauth::code_challenge;
use auth::random_text;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

/// A new authorization request.
pub(crate) struct NewAuthorization<'a> {
    pub(crate) server: &'a ServerMetadata,
    pub(crate) client: &'a ClientIdentity,
    pub(crate) redirect_uri: &'a str,
    pub(crate) scopes: &'a [String],
    pub(crate) resource: &'a str,
}

/// The state of an authorization between its start and the redirect. It is stored only encrypted.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Authorization {
    /// Binds the answer to the browser.
    state: String,
    /// Binds the code to this request.
    pub(crate) verifier: String,
    issuer: Option<String>,
    names_issuer: bool,
}

/// The parameters that the authorization server adds to the redirect URI.
#[derive(Default, Deserialize)]
pub(crate) struct Callback {
    #[serde(default)]
    state: String,
    code: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// Returns the address at which the user agrees, and what is needed to finish.
pub(crate) fn authorize(new: &NewAuthorization<'_>) -> (Url, Authorization) {
    let authorization = Authorization {
        state: random_text(),
        verifier: random_text(),
        issuer: new.server.issuer.clone(),
        names_issuer: new.server.names_issuer,
    };
    let challenge = code_challenge(&authorization.verifier);
    let mut url = new.server.authorization_endpoint.clone();
    let mut query = url.query_pairs_mut();
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", &new.client.id)
        .append_pair("redirect_uri", new.redirect_uri)
        .append_pair("state", &authorization.state)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .append_pair("resource", new.resource);
    if !new.scopes.is_empty() {
        query.append_pair("scope", &new.scopes.join(" "));
    }
    // OpenID Connect issues refresh tokens only with a consent.
    if new.scopes.iter().any(|scope| scope == "offline_access") {
        query.append_pair("prompt", "consent");
    }
    drop(query);
    (url, authorization)
}

impl Authorization {
    /// Returns the code of the answer, if the answer is that of this request and of the server that was asked.
    pub(crate) fn code(&self, answer: &Callback) -> Result<String, OauthError> {
        if self.state.is_empty() || Sha256::digest(&self.state) != Sha256::digest(&answer.state) {
            return Err(OauthError::Expired);
        }
        // A code of another server must not be sent to this one.
        match (&answer.iss, &self.issuer) {
            (Some(said), Some(issuer)) if said != issuer => {
                return Err(OauthError::Invalid("another authorization server has answered"));
            }
            (None, _) if self.names_issuer => return Err(OauthError::Invalid("the answer does not name its issuer")),
            _ => {}
        }
        match (&answer.error, &answer.code) {
            (Some(error), _) if error == "access_denied" => Err(OauthError::Declined),
            (Some(_), _) => Err(OauthError::Invalid("the authorization server refuses the request")),
            (None, Some(code)) => Ok(code.clone()),
            (None, None) => Err(OauthError::Invalid("the answer has no code")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_others_have_no_code() {
        let check = |issuer: Option<&str>, names_issuer: bool, query: &str, expected: Result<&str, &str>| {
            let text = |text: &str| text.to_owned();
            let issuer = issuer.map(text);
            let request = Authorization { state: text("s"), verifier: text("v"), issuer, names_issuer };
            let answer: Callback = serde_urlencoded_from(query);
            let code = request.code(&answer).map_err(|error| error.to_string());
            assert_eq!(code.as_deref().map_err(String::as_str), expected, "{query}");
        };
        let expired = "it was not begun in this browser, or took too long";
        check(Some("https://a.test"), true, "state=s&code=c&iss=https://a.test", Ok("c"));
        check(Some("https://a.test"), false, "state=s&code=c", Ok("c"));
        check(None, false, "state=s&code=c&iss=https://a.test", Ok("c"));
        check(Some("https://a.test"), true, "state=s&code=c", Err("the answer does not name its issuer"));
        let other = "another authorization server has answered";
        check(Some("https://a.test"), false, "state=s&code=c&iss=https://b.test", Err(other));
        check(Some("https://a.test"), false, "state=s&error=access_denied", Err("access was declined"));
        check(None, false, "state=s", Err("the answer has no code"));
        check(None, false, "state=t&code=c", Err(expired));
        check(None, false, "code=c", Err(expired));
    }

    fn serde_urlencoded_from(query: &str) -> Callback {
        let url = format!("https://chat.test/?{query}").parse().unwrap();
        axum::extract::Query::try_from_uri(&url).unwrap().0
    }
}
