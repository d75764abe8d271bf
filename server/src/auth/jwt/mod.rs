//! Users of the application around, by the tokens that it signs (RFC 7519, RFC 8725); and those of the sites that show our chats.

mod claims;
mod crypto;
mod keys;
mod published;
#[cfg(test)]
mod tests;

use self::keys::{Keys, SigningKey};
use chat::{Caller, Vouched};
use config::{JwtAuth, JwtKeys};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Bytes of a token.
const MAX_TOKEN: usize = 16 * 1024;

/// Checks tokens.
pub(crate) struct Jwt {
    settings: JwtAuth,
    keys: Keys,
}

/// Why a token is not accepted; the texts are for who sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("This is not a token that can be read here.")]
    Malformed,
    #[error("The token is not signed by a known key.")]
    Signature,
    #[error("The token has expired. Get a new one.")]
    Expired,
    #[error("The token is not valid yet.")]
    NotYet,
    #[error("The token is for another audience.")]
    Audience,
    #[error("The token is from another issuer.")]
    Issuer,
    #[error("A claim is missing in the token: its audience, its issuer or its expiry.")]
    Missing,
    #[error("The token does not say who its user is.")]
    NoUser,
    #[error("The token's `inputs` must be an object, its `page` and its `agent` texts.")]
    Vouched,
    #[error("The keys that sign tokens are not known just now. Try again.")]
    NoKeys,
}

impl Jwt {
    /// # Errors
    /// One line for the operator: the key cannot be used.
    pub(super) fn new(settings: &JwtAuth) -> anyhow::Result<Self> {
        crypto::install();
        Ok(Self { settings: settings.clone(), keys: Keys::new(&settings.keys)? })
    }

    /// The cookie that may hold a token.
    pub(super) fn cookie(&self) -> Option<&str> {
        self.settings.cookie.as_deref()
    }

    /// Who a token says that its bearer is.
    pub(super) async fn user(&self, token: &str) -> Result<Caller, Refused> {
        let claims = self.checked(token).await?;
        claims::user(&claims, &self.settings.claims).ok_or(Refused::NoUser)
    }

    /// The same of a site's user, with what the site vouches for beside.
    pub(super) async fn user_of_site(&self, token: &str) -> Result<Caller, Refused> {
        let claims = self.checked(token).await?;
        let user = claims::user(&claims, &self.settings.claims).ok_or(Refused::NoUser)?;
        let vouched: Vouched = claims::vouched(&claims).ok_or(Refused::Vouched)?;
        Ok(Caller { vouched: Some(Arc::new(vouched)), ..user })
    }

    /// Whether a token is likely to be for this: it says so, or is signed as only these are. What it says is not believed; it decides
    /// who looks at it.
    pub(super) fn is_meant(&self, token: &str) -> bool {
        let by_secret = matches!(self.settings.keys, JwtKeys::Secrets(_));
        let algorithm = decode_header(token).map(|header| header.alg);
        let is_ours = |audience: &str| self.settings.audience.iter().any(|own| own == audience);
        by_secret && algorithm.is_ok_and(|algorithm| algorithm == Algorithm::HS256)
            || claims::audiences(token).iter().any(|audience| is_ours(audience))
    }

    /// The claims of a good token.
    async fn checked(&self, token: &str) -> Result<Map<String, Value>, Refused> {
        if token.len() > MAX_TOKEN {
            return Err(Refused::Malformed);
        }
        let header = decode_header(token).map_err(|_| Refused::Malformed)?;
        check_header(&header, &self.settings.keys)?;
        let candidates = self.keys.find(header.alg, header.kid.as_deref()).await.ok_or(Refused::NoKeys)?;
        let mut refused = Refused::Signature;
        for key in &candidates {
            match self.claims(token, key) {
                Ok(claims) => return Ok(claims),
                Err(Refused::Signature) => {}
                Err(other) => refused = other,
            }
        }
        Err(refused)
    }

    /// The claims of a token that this key has signed, checked. Each key has its one algorithm, whatever the token says.
    fn claims(&self, token: &str, key: &SigningKey) -> Result<Map<String, Value>, Refused> {
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
                ErrorKind::ExpiredSignature => Refused::Expired,
                ErrorKind::ImmatureSignature => Refused::NotYet,
                ErrorKind::InvalidAudience => Refused::Audience,
                ErrorKind::InvalidIssuer => Refused::Issuer,
                ErrorKind::MissingRequiredClaim(_) => Refused::Missing,
                ErrorKind::InvalidSignature | ErrorKind::InvalidAlgorithm => Refused::Signature,
                _ => Refused::Malformed,
            })?;
        if claims::are_well_formed(&decoded.claims) { Ok(decoded.claims) } else { Err(Refused::Malformed) }
    }
}

/// Only what is signed as its keys sign; `none` is no algorithm here, and a public key is nobody's shared secret.
fn check_header(header: &Header, keys: &JwtKeys) -> Result<(), Refused> {
    let is_signed = match keys {
        JwtKeys::Secrets(_) => header.alg == Algorithm::HS256,
        JwtKeys::Url { .. } | JwtKeys::Pem(_) | JwtKeys::Jwk(_) => {
            matches!(header.alg, Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA)
        }
    };
    // What must be understood is not (RFC 7515, 4.1.11).
    let is_plain = header.crit.is_none() && header.enc.is_none() && header.zip.is_none();
    if is_signed && is_plain { Ok(()) } else { Err(Refused::Malformed) }
}
