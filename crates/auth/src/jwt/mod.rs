//! Users of the host application, identified by JSON Web Tokens that it signs (RFC 7519, RFC 8725),
//! and users of sites that embed chats.

mod claims;
mod crypto;
mod jwks;
mod keys;
mod pace;
#[cfg(test)]
mod tests;

pub(crate) use self::claims::find_claim;
use self::keys::{KeySource, SigningKey};
pub(crate) use self::pace::RequestPace;
use chat::{Caller, SiteClaims};
use config::{JwtAuth, JwtKeys};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The limit on a token in bytes.
const MAX_TOKEN: usize = 16 * 1024;

/// Verifies tokens.
pub(crate) struct Jwt {
    settings: JwtAuth,
    keys: KeySource,
    kind: TokenKind,
}

/// The purpose of tokens, which is in their type (RFC 8725, 3.11): an issuer signs all kinds with the same keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Identifies the user of a request.
    Access,
    /// Tells a client who has signed in.
    Id,
    /// Tells a client who has signed out.
    Logout,
}

/// Why a token is rejected; the messages are for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("The token is not valid here.")]
    Malformed,
    #[error("The token is not signed by a known key.")]
    Signature,
    #[error("The token has expired. Get a new one.")]
    Expired,
    #[error("The token is not valid yet.")]
    NotYetValid,
    #[error("The token is for another audience.")]
    Audience,
    #[error("The token is from another issuer.")]
    Issuer,
    #[error("The token lacks a required claim: audience, issuer or expiry.")]
    MissingClaim,
    #[error("The token has no valid user id.")]
    NoUser,
    #[error("In the token, `inputs` must be an object, and `page` and `agent` must be strings.")]
    SiteClaims,
    #[error("The keys for verifying tokens are not available right now. Try again.")]
    NoKeys,
}

impl Jwt {
    /// Creates a verifier.
    ///
    /// # Errors
    /// The key cannot be used.
    pub(super) fn new(settings: &JwtAuth) -> anyhow::Result<Self> {
        Self::of_kind(settings, TokenKind::Access)
    }

    /// Creates a verifier for tokens of a kind.
    ///
    /// # Errors
    /// The key cannot be used.
    pub(crate) fn of_kind(settings: &JwtAuth, kind: TokenKind) -> anyhow::Result<Self> {
        crypto::install();
        Ok(Self { settings: settings.clone(), keys: KeySource::new(&settings.keys)?, kind })
    }

    /// The cookie that may contain a token.
    pub(super) fn cookie(&self) -> Option<&str> {
        self.settings.cookie.as_deref()
    }

    /// Returns the user of a token.
    pub(super) async fn user(&self, token: &str) -> Result<Caller, TokenError> {
        let claims = self.verified_claims(token).await?;
        claims::user(&claims, &self.settings.claims).ok_or(TokenError::NoUser)
    }

    /// Returns the user of an embed token, with the claims of the site.
    pub(super) async fn site_user(&self, token: &str) -> Result<Caller, TokenError> {
        let claims = self.verified_claims(token).await?;
        let mut user = claims::user(&claims, &self.settings.claims).ok_or(TokenError::NoUser)?;
        let site: SiteClaims = claims::site_claims(&claims).ok_or(TokenError::SiteClaims)?;
        user.site_claims = Some(Arc::new(site));
        Ok(user)
    }

    /// Returns whether a token is likely an embed token, by its unverified audience or by a
    /// shared-secret signature. This only selects the verifier.
    pub(super) fn is_intended(&self, token: &str) -> bool {
        let by_secret = matches!(self.settings.keys, JwtKeys::Secrets(_));
        let algorithm = decode_header(token).map(|header| header.alg);
        let is_ours = |audience: &str| self.settings.audience.iter().any(|own| own == audience);
        by_secret && algorithm.is_ok_and(|algorithm| algorithm == Algorithm::HS256)
            || claims::audiences(token).iter().any(|audience| is_ours(audience))
    }

    /// Returns the claims of a valid token.
    pub(crate) async fn verified_claims(&self, token: &str) -> Result<Map<String, Value>, TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::Malformed);
        }
        let header = decode_header(token).map_err(|_| TokenError::Malformed)?;
        check_header(&header, &self.settings.keys, self.kind)?;
        let candidates = self.keys.find(header.alg, header.kid.as_deref()).await.ok_or(TokenError::NoKeys)?;
        let mut refused = TokenError::Signature;
        for key in &candidates {
            match self.decode_claims(token, key) {
                Ok(claims) => return Ok(claims),
                Err(TokenError::Signature) => {}
                Err(other) => refused = other,
            }
        }
        Err(refused)
    }

    /// Verifies a token with a key and returns its claims. The algorithm is that of the key,
    /// whatever the token says.
    fn decode_claims(&self, token: &str, key: &SigningKey) -> Result<Map<String, Value>, TokenError> {
        let mut validation = Validation::new(key.algorithm);
        validation.set_audience(&self.settings.audience);
        validation.set_required_spec_claims(&["exp", "aud"]);
        if let Some(issuer) = &self.settings.issuer {
            validation.set_issuer(&[issuer]);
            validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        }
        validation.validate_nbf = true;
        validation.leeway = self.settings.leeway.as_secs();
        let decoded =
            decode::<Map<String, Value>>(token, &key.key, &validation).map_err(|error| match error.kind() {
                ErrorKind::ExpiredSignature => TokenError::Expired,
                ErrorKind::ImmatureSignature => TokenError::NotYetValid,
                ErrorKind::InvalidAudience => TokenError::Audience,
                ErrorKind::InvalidIssuer => TokenError::Issuer,
                ErrorKind::MissingRequiredClaim(_) => TokenError::MissingClaim,
                ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm => TokenError::Signature,
                _ => TokenError::Malformed,
            })?;
        if claims::are_well_formed(&decoded.claims) { Ok(decoded.claims) } else { Err(TokenError::Malformed) }
    }
}

/// Returns whether a token of this type is of the kind. A token without a type may be of any kind.
fn is_token_type(name: Option<&str>, kind: TokenKind) -> bool {
    let Some(name) = name else { return true };
    let name = name.to_ascii_lowercase();
    let special = match kind {
        TokenKind::Access => "at+jwt",
        TokenKind::Id => "jwt",
        TokenKind::Logout => "logout+jwt",
    };
    let name = name.strip_prefix("application/").unwrap_or(&name);
    name == "jwt" || name == special
}

/// Checks the type of a token, and its algorithm against the type of the keys. `none` is never accepted, and a
/// public key is never used as a shared secret.
fn check_header(header: &Header, keys: &JwtKeys, kind: TokenKind) -> Result<(), TokenError> {
    let is_signed = match keys {
        JwtKeys::Secrets(_) => header.alg == Algorithm::HS256,
        JwtKeys::Url { .. } | JwtKeys::Pem(_) | JwtKeys::Jwk(_) => {
            matches!(header.alg, Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA)
        }
    };
    // Critical extensions are not supported (RFC 7515, 4.1.11).
    let is_plain = header.crit.is_none() && header.enc.is_none() && header.zip.is_none();
    if is_signed && is_plain && is_token_type(header.typ.as_deref(), kind) {
        Ok(())
    } else {
        Err(TokenError::Malformed)
    }
}
