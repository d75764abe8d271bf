//! The secrets of a sender.

use crate::Scheme;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use thiserror::Error;

/// The most secrets of a verifier.
pub const MAX_SECRETS: usize = 8;

/// The fewest characters of a secret that is a text.
const MIN_TEXT: usize = 16;

/// The reason why secrets cannot be used, for the operator. It does not contain them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SecretError {
    /// There is none.
    #[error("a secret is needed")]
    None,
    /// There are too many.
    #[error("there are more than {MAX_SECRETS} secrets")]
    TooMany,
    /// A secret is too short to be one.
    #[error("the secret number {0} has fewer than {MIN_TEXT} characters")]
    Short(usize),
    /// A secret of Standard Webhooks has another form.
    #[error("the secret number {0} is not `whsec_` followed by 24 to 64 bytes in Base64")]
    Form(usize),
}

/// Returns the keys of secrets.
pub(crate) fn keys<'s>(
    scheme: Scheme,
    secrets: impl IntoIterator<Item = &'s str>,
) -> Result<Vec<hmac::Key>, SecretError> {
    let mut keys = Vec::new();
    for (index, secret) in secrets.into_iter().enumerate() {
        if index == MAX_SECRETS {
            return Err(SecretError::TooMany);
        }
        let number = index + 1;
        let bytes = match scheme {
            Scheme::Standard => {
                let decoded = secret.trim().strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
                decoded.filter(|bytes| (24..=64).contains(&bytes.len())).ok_or(SecretError::Form(number))?
            }
            Scheme::GitHub | Scheme::Stripe | Scheme::Bearer if secret.trim().chars().count() < MIN_TEXT => {
                return Err(SecretError::Short(number));
            }
            Scheme::GitHub | Scheme::Stripe | Scheme::Bearer => secret.trim().as_bytes().to_vec(),
        };
        keys.push(hmac::Key::new(hmac::HMAC_SHA256, &bytes));
    }
    if keys.is_empty() { Err(SecretError::None) } else { Ok(keys) }
}
