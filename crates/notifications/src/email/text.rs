//! The texts of e-mails.

use super::{EmailNotifications, link};
use crate::deliver::agent_title;
use crate::message::cut_title;
use capability::{WaitingItem, WaitingKind};
use config::Config;
use mail::Mail;
use url::Url;
use wire::api::ConversationSummary;

/// The most entries in an e-mail.
const MAX_LISTED: usize = 20;

/// The path of the links that switch e-mails off.
pub(crate) const STOP_PATH: &str = "/account/notifications/stop";
/// The path of the links that confirm an address.
pub(crate) const CONFIRM_PATH: &str = "/account/notifications/confirm";

/// Returns the e-mail that asks to confirm an address; `None` if the config has no address of this server any more.
/// `id` is the same whenever it is sent again.
pub(crate) fn confirmation(config: &Config, id: &str, to: &str, token: &str) -> Option<Mail> {
    let confirm = link(config, &format!("{CONFIRM_PATH}/{token}"))?;
    let site = site(&confirm);
    let text = format!(
        "To get notifications of {site} at this address, open this link while you are signed in there:\n\n{confirm}\n\n\
         If you have not asked for this, do nothing: nothing else will be sent.\n"
    );
    let subject = format!("{site}: confirm your address for notifications");
    Some(Mail { id: id.to_owned(), to: vec![to.to_owned()], subject, text, ..Mail::default() })
}

/// A conversation, or an item that waits, of which an e-mail notifies.
pub(crate) struct Entry {
    /// The name of a conversation, or of what waits.
    name: String,
    /// Why it is in the e-mail.
    state: &'static str,
    /// The path of its page.
    path: String,
    is_conversation: bool,
}

impl Entry {
    /// A conversation with something unread.
    pub(crate) fn of_conversation(config: &Config, settings: &EmailNotifications, found: &ConversationSummary) -> Self {
        let title = settings.show_titles.then_some(found.title.as_str());
        Self {
            name: one_line(agent_title(config, &found.agent_id), title),
            state: if found.waiting { "A decision is needed to go on" } else { "An answer is there" },
            path: format!("/{}?conversation={}", found.page_id, found.id),
            is_conversation: true,
        }
    }

    /// Something that waits for the user, with the path of its page.
    pub(crate) fn of_item(settings: &EmailNotifications, item: &WaitingItem, path: String) -> Self {
        let title = settings.show_titles.then_some(item.title.as_str());
        let state = match item.kind {
            WaitingKind::Task => "A question waits for your answer",
            WaitingKind::AgentRun => "A decision is needed to go on",
            WaitingKind::PausedTrigger => "A trigger was paused: its runs have failed",
        };
        Self { name: one_line(&item.subject, title), state, path, is_conversation: false }
    }
}

/// Returns the e-mail about these entries, of which there is at least one; `None` as with [`confirmation`].
pub(crate) fn digest(config: &Config, id: &str, (to, token): (&str, &str), entries: &[Entry]) -> Option<Mail> {
    let stop = link(config, &format!("{STOP_PATH}/{token}"))?;
    let site = site(&stop);
    let subject = match entries {
        [one] => format!("{}: {}", one.name, one.state.to_lowercase()),
        all if all.iter().all(|entry| entry.is_conversation) => {
            format!("{site}: {} conversations have something new", all.len())
        }
        all => format!("{site}: {} notifications", all.len()),
    };
    let mut text = String::new();
    for Entry { name, state, path, .. } in entries.iter().take(MAX_LISTED) {
        let url = link(config, path)?;
        text += &format!("{name}\n{state}.\n{url}\n\n");
    }
    if let Some(more) = entries.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        text += &format!("And {more} more: {}\n\n", link(config, "/")?);
    }
    text +=
        &format!("-- \nYou get this because you have switched on notifications by e-mail. No more of these: {stop}\n");
    let unsubscribe = Some(stop.into());
    Some(Mail { id: id.to_owned(), to: vec![to.to_owned()], subject, text, unsubscribe, ..Mail::default() })
}

/// Returns the name of this server for its users.
fn site(url: &Url) -> String {
    match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    }
}

/// Names an entry in one line.
fn one_line(sender: &str, title: Option<&str>) -> String {
    cut_title(sender, title).replace(['\r', '\n'], " ")
}
