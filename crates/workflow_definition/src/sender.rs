//! Connections of the type `Webhook`: the senders of webhooks.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;
use webhooks::{Scheme, SecretError, Verifier};

/// A service that sends webhooks, and how it proves that it is the sender.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSender {
    /// How the service signs.
    pub scheme: Scheme,
    /// The secrets. A request is accepted if it is signed with any of them; while they are changed there
    /// are two.
    #[schemars(length(min = 1))]
    pub secrets: Vec<SecretText>,
    /// By how many seconds the signed time may differ from the clock. For the schemes that sign it.
    #[serde(default = "default_tolerance")]
    #[schemars(range(min = 1, max = 3600))]
    pub tolerance_seconds: u32,
}

fn default_tolerance() -> u32 {
    300
}

impl WebhookSender {
    /// Returns the verifier of its requests.
    ///
    /// # Errors
    /// A secret has another form than the scheme's.
    pub fn verifier(&self) -> Result<Verifier, SecretError> {
        let verifier = Verifier::new(self.scheme, self.secrets.iter().map(SecretText::expose))?;
        Ok(verifier.with_tolerance(Duration::from_secs(self.tolerance_seconds.into())))
    }
}

impl ConnectionProperties for WebhookSender {
    const TYPE: &'static str = "Webhook";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if let Err(error) = self.verifier() {
            problems.error(&[PathStep::Key("secrets")], error.to_string(), help(self.scheme, &error));
        }
        if !self.scheme.has_timestamp() && self.tolerance_seconds != default_tolerance() {
            let message = format!("requests of the scheme `{:?}` have no signed time", self.scheme);
            problems.error(&[PathStep::Key("toleranceSeconds")], message, Some("leave it out".to_owned()));
        }
    }
}

fn help(scheme: Scheme, error: &SecretError) -> Option<String> {
    Some(match error {
        SecretError::Form(_) => {
            "create one with `echo whsec_$(openssl rand -base64 32)`, and enter it at the service, too".to_owned()
        }
        SecretError::Short(_) if scheme == Scheme::Stripe => "Stripe shows it as the signing secret".to_owned(),
        SecretError::Short(_) => "create one with `openssl rand -hex 32`".to_owned(),
        SecretError::None | SecretError::TooMany => return None,
    })
}
