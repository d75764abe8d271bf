//! Authenticator apps: secrets, the address in the QR code, and codes.

use super::PendingApp;
use crate::token_parts::random_bytes;
use totp_rs::{Builder, Secret, Totp};

/// The length of a secret in bytes, as RFC 4226 recommends.
const SECRET: usize = 20;
/// The number of digits of a code.
const DIGITS: usize = 6;

/// A new app that its user has not confirmed yet.
pub struct NewApp {
    /// The secret and what the app is for, as the QR code has it (`otpauth://…`).
    pub uri: String,
    /// The secret in base32, in two lines of groups of four characters.
    pub secret: String,
}

impl PendingApp {
    /// Returns a new app.
    pub fn random(replaced: Option<String>) -> Self {
        Self { secret: Secret::from(random_bytes::<SECRET>().to_vec()).to_base32(), replaced }
    }

    /// Returns what the user puts into the app, for an account with this name on the server with this host.
    pub fn shown(&self, name: &str, host: Option<&str>) -> Option<NewApp> {
        // A colon would separate the issuer from the name.
        let issuer = host.filter(|host| !host.is_empty() && !host.contains(':')).unwrap_or("Chatwright");
        let secret = secret_from_text(&self.secret)?;
        let totp = totp(secret).with_issuer(Some(issuer)).with_account_name(name).build().ok()?;
        let groups: Vec<_> = self.secret.as_bytes().chunks(4).map(String::from_utf8_lossy).collect();
        let lines: Vec<_> = groups.chunks(4).map(|line| line.join(" ")).collect();
        Some(NewApp { uri: totp.to_url().ok()?, secret: lines.join("\n") })
    }
}

/// Reads a secret in base32.
pub(super) fn secret_from_text(text: &str) -> Option<Vec<u8>> {
    Some(Secret::try_from_base32(text).ok()?.as_bytes().to_vec())
}

/// Returns whether a text has the form of a code.
pub(super) fn is_code(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the time step to which a code belongs: the current one, or the one before or after it. `now` is the Unix time
/// in milliseconds.
pub(super) fn matching_step(secret: &[u8], code: &str, now: i64) -> Option<i64> {
    let totp: Totp = totp(secret.to_vec()).with_account_name("user").build().ok()?;
    let time = u64::try_from(now / 1_000).ok()?;
    totp.check(code, time).and_then(|step| i64::try_from(step).ok())
}

/// Codes of six digits every thirty seconds with SHA-1, which every app understands; a clock may be one step off.
fn totp(secret: Vec<u8>) -> Builder {
    Builder::new().with_secret(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last six digits of the codes in appendix B of RFC 6238.
    #[test]
    fn codes_are_those_of_the_rfc_and_may_be_one_step_off() {
        let secret = b"12345678901234567890";
        let check = |seconds: i64, code: &str, expected: Option<i64>| {
            assert_eq!(matching_step(secret, code, seconds * 1_000), expected, "{seconds} {code}");
        };
        check(59, "287082", Some(1));
        check(1_111_111_109, "081804", Some(37_037_036));
        check(1_234_567_890, "005924", Some(41_152_263));
        check(20_000_000_000, "353130", Some(666_666_666));
        check(59 + 30, "287082", Some(1));
        check(59 + 31, "287082", None);
        check(59 - 59, "287082", Some(1));
        check(1_111_111_109 - 60, "081804", None);
        for wrong in ["287083", "28708", "2870820", "+87082", "", "２８７０８２"] {
            check(59, wrong, None);
        }
    }

    #[test]
    fn app_gets_the_secret_with_the_host_and_the_name() {
        let app = PendingApp { secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP".to_owned(), replaced: None };
        let check = |host: Option<&str>, expected: &str| {
            let shown = app.shown("ada+x@a.test", host).unwrap();
            let uri = shown.uri.split_once('?').unwrap();
            assert_eq!(uri.0, expected);
            assert!(uri.1.contains("secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"), "{}", uri.1);
            assert_eq!(shown.secret, "JBSW Y3DP EHPK 3PXP\nJBSW Y3DP EHPK 3PXP");
        };
        check(Some("chat.test"), "otpauth://totp/chat.test:ada%2Bx%40a.test");
        check(Some("[::1]"), "otpauth://totp/Chatwright:ada%2Bx%40a.test");
        check(None, "otpauth://totp/Chatwright:ada%2Bx%40a.test");
        let random = PendingApp::random(None);
        assert_eq!(secret_from_text(&random.secret).unwrap().len(), SECRET);
        assert_ne!(random, PendingApp::random(None));
    }
}
