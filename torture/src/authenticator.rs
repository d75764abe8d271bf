//! An authenticator app, for accounts with two-step sign-in.

use anyhow::{Context, Result};
use std::time::{SystemTime, UNIX_EPOCH};
use totp_rs::{Builder, Secret, Totp};

/// The seconds for which a code is shown.
const STEP: u64 = 30;

/// An app with the secret of a page.
pub(crate) struct Authenticator {
    totp: Totp,
    /// The last step of which a code was shown.
    last: u64,
}

impl Authenticator {
    /// Reads the secret from the page on which the app is set up.
    pub(crate) fn from_page(page: &str) -> Result<Self> {
        let shown = page.split_once("<pre").and_then(|(_, rest)| rest.split_once('>')).map(|(_, rest)| rest);
        let shown = shown.and_then(|rest| rest.split_once("</pre>")).context("the page shows no secret")?.0;
        let secret: String = shown.split_whitespace().collect();
        let secret = Secret::try_from_base32(secret).ok().context("the secret is not base32")?;
        let totp = Builder::new().with_secret(secret).with_account_name("torture").build();
        Ok(Self { totp: totp.ok().context("the secret is too short")?, last: 0 })
    }

    /// Returns a code that was not shown before. The server accepts two in a row without waiting.
    pub(crate) fn next(&mut self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / STEP);
        self.last = (self.last + 1).max(now);
        self.totp.generate(self.last * STEP).to_string()
    }
}

/// Returns the encrypted step of a page.
pub(crate) fn step_token(page: &str) -> Result<String> {
    let rest =
        page.split_once("name=\"token\"").and_then(|(_, rest)| rest.split_once("value=\"")).map(|(_, rest)| rest);
    let token = rest.and_then(|rest| rest.split('"').next()).context("the page has no step")?;
    Ok(token.to_owned())
}
