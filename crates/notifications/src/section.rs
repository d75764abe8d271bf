//! The section `notifications` of the config.

use crate::email::EmailNotifications;
use config::{AccessRule, Config, PathStep, Section, SectionProblems};
use schemars::JsonSchema;
use serde::Deserialize;
use settings::Text;
use url::Url;

/// Notifications in the browsers of users, also when no page is open: an answer is there, a call waits for a
/// decision, a workflow asks something, or a trigger was paused. Signed-in users switch them on at `/account/notifications`. Without this
/// section there are none.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Notifications {
    /// The address at which push services reach the operator when something is wrong:
    /// `mailto:ops@example.com` or that of a page. They require it.
    pub(crate) contact: Text,
    /// The time in seconds for which an answer stays unread, or a question of a workflow unanswered, before there is
    /// a notification.
    /// Default: 15.
    #[serde(default = "default_after")]
    #[schemars(range(min = 1, max = 3600))]
    pub(crate) after_seconds: u32,
    /// Whether notifications have the title of the conversation, or the question of the workflow. They can be read on
    /// a locked screen, and by the next user of the browser. Default: false.
    #[serde(default)]
    pub(crate) show_titles: bool,
    /// The most browsers of a user. With another one, the oldest is removed. Default: 10.
    #[serde(default = "default_per_user")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) per_user: u32,
    /// Whether a push service may be a server of your own network, also without encryption. The
    /// addresses come from users. Default: false.
    #[serde(default)]
    pub(crate) allow_private: bool,
    /// Notifications by e-mail, too. Without this key there are none.
    #[serde(default)]
    pub(crate) email: Option<EmailNotifications>,
}

fn default_after() -> u32 {
    15
}

fn default_per_user() -> u32 {
    10
}

impl Section for Notifications {
    const KEY: &'static str = "notifications";

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let url = Url::parse(&self.contact.0).ok();
        let is_contact = url.is_some_and(|url| match url.scheme() {
            "mailto" => url.path().contains('@'),
            "https" => url.host().is_some(),
            _ => false,
        });
        if !is_contact {
            let help = Some("for example `mailto:ops@example.com`".to_owned());
            problems.error(&[PathStep::Key("contact")], "this is neither a `mailto:` nor an `https:` address", help);
        }
        if let Some(email) = &self.email {
            email.check(problems);
        }
    }

    fn check_with_config(&self, config: &Config, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.email.is_some() {
            EmailNotifications::check_with_config(config, problems);
        }
    }

    fn access_rules(&self) -> Vec<&AccessRule> {
        Vec::new()
    }
}
