//! This server as a client of an authorization server, and how it authenticates (RFC 6749, 2.3; RFC 7591, 2).

use ::http::HeaderValue;
use auth::oauth::basic_credentials;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use settings::user_auth::OauthClient;
use std::fmt;
use url::form_urlencoded::Serializer;

/// How a client proves at the token endpoint who it is, with the names of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum AuthMethod {
    /// Not at all: it is public.
    #[serde(rename = "none")]
    None,
    /// With its secret in the header.
    #[serde(rename = "client_secret_basic")]
    Basic,
    /// With its secret in the body.
    #[serde(rename = "client_secret_post")]
    Post,
}

impl AuthMethod {
    /// Returns the best of the methods that a server supports; RFC 8414 has a default. With a secret, it is used if any
    /// method of the server allows it.
    pub(crate) fn choose(supported: Option<&[String]>, has_secret: bool) -> Self {
        let is_supported = |name: &str| supported.is_none_or(|list| list.iter().any(|method| method == name));
        if has_secret && is_supported("client_secret_basic") {
            Self::Basic
        } else if has_secret && is_supported("client_secret_post") {
            Self::Post
        } else {
            Self::None
        }
    }
}

/// A client of an authorization server. It is stored only encrypted.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ClientIdentity {
    pub(crate) id: String,
    /// The secret; empty for a public client.
    secret: String,
    pub(crate) method: AuthMethod,
}

impl ClientIdentity {
    /// Creates a client.
    pub(crate) fn new(id: String, secret: Option<String>, method: AuthMethod) -> Self {
        let secret = secret.unwrap_or_default();
        let method = if secret.is_empty() { AuthMethod::None } else { method };
        Self { id, secret, method }
    }

    /// Creates a client of the config for a server that supports these methods.
    pub(crate) fn from_config(client: &OauthClient, supported: Option<&[String]>) -> Self {
        let secret = client.secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        let method = AuthMethod::choose(supported, secret.is_some());
        Self::new(client.id.clone(), secret, method)
    }

    /// Adds the client's credentials to the form, and returns the value of the header `Authorization`.
    pub(crate) fn prove(&self, form: &mut Serializer<'_, String>) -> Option<HeaderValue> {
        match self.method {
            AuthMethod::Basic => return Some(basic_credentials(&self.id, &self.secret)),
            AuthMethod::Post => {
                form.append_pair("client_id", &self.id).append_pair("client_secret", &self.secret);
            }
            AuthMethod::None => {
                form.append_pair("client_id", &self.id);
            }
        }
        None
    }
}

/// Formats the id and the method only.
impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity").field("id", &self.id).field("method", &self.method).finish_non_exhaustive()
    }
}
