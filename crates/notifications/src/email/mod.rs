//! Notifications by e-mail: an address that its user has confirmed gets one e-mail about everything that is unread,
//! no more often than the config says.

pub(crate) mod deliver;
pub(crate) mod pace;
pub(crate) mod page;
pub(crate) mod service;
pub(crate) mod store;
mod text;

use config::{Config, ConnectionProperties, PathStep, SectionProblems};
use mail::Smtp;
use pace::Pace;
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// Notifications by e-mail. Users switch them on at `/account/notifications`, with an address that they confirm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmailNotifications {
    /// The id of a connection of the type `Smtp`.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) connection_id: String,
    /// How long an answer stays unread, in minutes, before there is an e-mail; 0 for at once. Default: 10.
    #[serde(default = "default_after")]
    #[schemars(range(max = 1440))]
    pub(crate) after_minutes: u32,
    /// The shortest time between two e-mails to a user, in minutes. Events in the meantime are in the next one.
    /// Default: 60.
    #[serde(default = "default_every")]
    #[schemars(range(min = 5, max = 10080))]
    pub(crate) every_minutes: u32,
    /// Whether e-mails have the titles of conversations and the questions of workflows. Nothing else of them is in
    /// e-mails. Default: true.
    #[serde(default = "default_titles")]
    pub(crate) show_titles: bool,
}

fn default_after() -> u32 {
    10
}

fn default_every() -> u32 {
    60
}

fn default_titles() -> bool {
    true
}

/// The key of the section `notifications`.
const KEY: PathStep<'static> = PathStep::Key("email");

impl EmailNotifications {
    /// Checks the settings as far as possible without the connection.
    pub(crate) fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        problems.check_connection_type(&[KEY, PathStep::Key("connectionId")], &self.connection_id, &[Smtp::TYPE]);
    }

    /// Checks that links can be written.
    pub(crate) fn check_with_config(config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        if config.auth.public_urls.is_empty() {
            let help =
                "add `publicUrls: [https://chat.example.com]` to `auth`, in a mode with several users".to_owned();
            problems.error(&[KEY], "the links in e-mails need the address of this server", Some(help));
        }
    }

    /// Returns when e-mails are sent.
    pub(crate) fn pace(&self) -> Pace {
        Pace { after_minutes: self.after_minutes, every_minutes: self.every_minutes }
    }

    /// Returns the connection.
    pub(crate) fn smtp<'c>(&self, config: &'c Config) -> Option<&'c Smtp> {
        config.connections.get(&self.connection_id)?.properties()
    }
}

/// Returns the address of a path of this server.
pub(crate) fn link(config: &Config, path: &str) -> Option<Url> {
    config.auth.public_urls.first()?.join(path).ok()
}
