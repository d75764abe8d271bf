//! The texts of e-mails.

use super::{EmailNotifications, link};
use crate::deliver::agent_title;
use crate::message::cut_title;
use config::Config;
use mail::Mail;
use url::Url;
use wire::api::ConversationSummary;

/// The most conversations in an e-mail.
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

/// Returns the e-mail about conversations with something unread, of which there is at least one; `None` as with
/// [`confirmation`].
pub(crate) fn digest(
    config: &Config,
    settings: &EmailNotifications,
    id: &str,
    (to, token): (&str, &str),
    unseen: &[ConversationSummary],
) -> Option<Mail> {
    let stop = link(config, &format!("{STOP_PATH}/{token}"))?;
    let site = site(&stop);
    let subject = match unseen {
        [one] => format!("{}: {}", name(config, settings, one), state(one).to_lowercase()),
        _ => format!("{site}: {} conversations have something new", unseen.len()),
    };
    let mut text = String::new();
    for found in unseen.iter().take(MAX_LISTED) {
        let url = link(config, &format!("/{}?conversation={}", found.page_id, found.id))?;
        text += &format!("{}\n{}.\n{url}\n\n", name(config, settings, found), state(found));
    }
    if let Some(more) = unseen.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
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

/// Names a conversation, by its agent and, if it may be shown, its title. The title is one line.
fn name(config: &Config, settings: &EmailNotifications, found: &ConversationSummary) -> String {
    let title = settings.show_titles.then_some(found.title.as_str());
    cut_title(agent_title(config, &found.agent_id), title).replace(['\r', '\n'], " ")
}

/// Says why a conversation is in the e-mail.
fn state(found: &ConversationSummary) -> &'static str {
    if found.waiting { "A decision is needed to go on" } else { "An answer is there" }
}
