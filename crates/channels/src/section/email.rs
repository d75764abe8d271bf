//! The type of connection to a mailbox.

use config::{ConnectionProperties, PathStep, SecretText, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;

/// A mailbox whose mails an agent answers: they are read over IMAP and answered over a connection of the type `Smtp`, whose
/// sender is the address of the mailbox.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Mailbox {
    /// The host of the IMAP server, such as `imap.example.com`.
    #[schemars(length(min = 1, max = 253))]
    pub(crate) host: String,
    /// The port. Default: 993 with `tls`, 143 with `none`.
    #[serde(default)]
    #[schemars(range(min = 1))]
    port: Option<u16>,
    /// The encryption of the connection. Default: `tls`.
    #[serde(default)]
    pub(crate) security: ImapSecurity,
    /// The user name.
    #[schemars(length(min = 1, max = 320))]
    pub(crate) username: String,
    /// The password, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    pub(crate) password: SecretText,
    /// The folder. Default: `INBOX`.
    #[serde(default = "default_folder")]
    #[schemars(length(min = 1, max = 200))]
    pub(crate) folder: String,
    /// The connection of the type `Smtp` that sends the answers.
    pub(crate) smtp_connection_id: String,
    /// The name of the mail server in the headers `Authentication-Results` that it adds, such as
    /// `mx.example.com`. The sender of a mail is accepted if the first of these headers says that DMARC or a
    /// signature (DKIM) of the sender's domain has passed.
    #[serde(default)]
    #[schemars(length(min = 1, max = 253))]
    pub(crate) authentication_server: Option<String>,
    /// Domains whose mails are believed without that, because the mail server takes mails in their names only from people
    /// who have signed in.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub(crate) trusted_domains: Vec<String>,
    /// The interval at which the mailbox is checked, in seconds. Default: 15.
    #[serde(default = "default_poll")]
    #[schemars(range(min = 1, max = 3600))]
    pub(crate) poll_seconds: u64,
    /// The maximum number of mails of one person that are answered in an hour; further ones get no answer.
    /// Default: 30.
    #[serde(default = "default_per_hour")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) max_per_hour: u32,
}

/// The encryption of a connection to an IMAP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ImapSecurity {
    /// Encrypted from the start.
    #[default]
    Tls,
    /// Not encrypted: only to this machine.
    None,
}

fn default_folder() -> String {
    "INBOX".to_owned()
}

fn default_poll() -> u64 {
    15
}

fn default_per_hour() -> u32 {
    30
}

impl Mailbox {
    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or(match self.security {
            ImapSecurity::Tls => 993,
            ImapSecurity::None => 143,
        })
    }
}

impl ConnectionProperties for Mailbox {
    const TYPE: &'static str = "Mailbox";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let mut error = |key, message: &str, help: &str| {
            problems.error(&[PathStep::Key(key)], message, Some(help.to_owned()));
        };
        if self.host.contains(|sign: char| sign.is_whitespace() || "/@".contains(sign)) {
            error("host", "this is not the name of a host", "write it without a scheme and a port: `imap.example.com`");
        }
        if self.security == ImapSecurity::None && !mail::is_this_machine(&self.host) {
            error("security", "the password and the mails would be sent unencrypted", "use `tls`");
        }
        if self.authentication_server.is_none() && self.trusted_domains.is_empty() {
            let help = "add `authenticationServer`, as the headers `Authentication-Results` of received mails begin";
            error("host", "nothing authenticates the senders of mails, so no mail would be answered", help);
        }
        let is_domain = |domain: &String| mail::is_address(&format!("a@{domain}")) && domain.contains('.');
        if !self.trusted_domains.iter().all(is_domain) {
            error("trustedDomains", "this is not a list of domains", "write them as `example.com`");
        }
    }
}
