//! The type of connection to a mail server.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use lettre::Address;
use lettre::message::Mailbox;
use schemars::JsonSchema;
use serde::Deserialize;

/// A mail server (SMTP) that sends the server's e-mail.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Smtp {
    /// The host, such as `smtp.example.com`.
    #[schemars(length(min = 1, max = 253))]
    pub(crate) host: String,
    /// The port. Default: 587 with `startTls`, 465 with `tls`, 25 with `none`.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) port: Option<u16>,
    /// How the connection is encrypted. Default: `startTls`.
    #[serde(default)]
    pub(crate) security: Security,
    /// The user name, if the server wants one.
    #[serde(default)]
    pub(crate) username: Option<String>,
    /// The password, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    #[serde(default)]
    pub(crate) password: Option<SecretText>,
    /// The sender: `bot@example.com` or `Chat <bot@example.com>`.
    pub(crate) from: String,
}

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Security {
    /// The connection is encrypted after its start (`STARTTLS`), or not used at all.
    #[default]
    StartTls,
    /// Encrypted from the start.
    Tls,
    /// Not encrypted.
    None,
}

/// Returns whether a text is one e-mail address, without a name.
pub fn is_address(text: &str) -> bool {
    text.parse::<Address>().is_ok()
}

/// Returns whether a host is this machine, so that a connection to it need not be encrypted.
pub fn is_this_machine(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl Smtp {
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(match self.security {
            Security::StartTls => 587,
            Security::Tls => 465,
            Security::None => 25,
        })
    }
}

impl ConnectionProperties for Smtp {
    const TYPE: &'static str = "Smtp";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut error = |key, message: &str, help: &str| {
            problems.error(&[PathStep::Key(key)], message, Some(help.to_owned()));
        };
        if self.host.contains(|sign: char| sign.is_whitespace() || "/@".contains(sign)) {
            error("host", "this is not the name of a host", "write it without a scheme and a port: `smtp.example.com`");
        }
        if self.from.parse::<Mailbox>().is_err() {
            error("from", "this is not an e-mail address", "`bot@example.com` or `Chat <bot@example.com>`");
        }
        match (&self.username, &self.password) {
            (Some(_), None) => {
                error("username", "the password is missing", "add `password: { _secret: SMTP_PASSWORD }`")
            }
            (None, Some(_)) => error("password", "the user name is missing", "add `username`"),
            (Some(_), Some(_)) if self.security == Security::None && !is_this_machine(&self.host) => {
                error("security", "the password would be sent unencrypted", "use `startTls` or `tls`");
            }
            _ => {}
        }
    }
}
