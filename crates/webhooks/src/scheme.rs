//! The schemes by which senders of webhooks sign.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The scheme by which a sender authenticates its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Scheme {
    /// By the headers of Standard Webhooks. Secrets are `whsec_` and 24 to 64 bytes in Base64.
    Standard,
    /// As GitHub does, by `X-Hub-Signature-256`. Secrets are texts.
    GitHub,
    /// As Stripe does, by `Stripe-Signature`. Secrets are the texts that Stripe shows, with
    /// `whsec_`.
    Stripe,
    /// By a key in `Authorization: Bearer KEY`, for senders that cannot sign. Anyone who sees a
    /// request can send others.
    Bearer,
}

impl Scheme {
    /// Returns whether the scheme signs the time of the request.
    pub const fn has_timestamp(self) -> bool {
        matches!(self, Self::Standard | Self::Stripe)
    }
}
