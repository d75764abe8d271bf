//! Links people to accounts: a person sends a code, and confirms that the account is theirs.

use super::{Batch, Reply, Session};
use crate::ids::{CODE_LENGTH, hash_code};
use crate::store::{self, Link, Linked};
use crate::telegram::{Button, Incoming, ReadUpdate};
use crate::turn::command;
use crate::visible::visible;
use ::store::StoreError;
use std::time::Instant;
use web::times::now_millis;

const WRONG_CODE: &str = "This code is not valid any more. Make a new one on the page Messengers of your account.";
const TOO_MANY_LINKS: &str =
    "Your account is linked to too many people. Remove a link on the page Messengers of your account.";
/// What the button that confirms a link stands for, before the code.
const LINK: &str = "link:";

/// Returns the code with which a person asks to be linked: `/start CODE`.
pub(super) fn start_code(text: &str) -> Option<&str> {
    let (name, code) = command(text)?;
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|digit| digit.is_ascii_hexdigit());
    (name == "start" && is_code).then_some(code)
}

/// Returns the code of a pressed button that confirms a link.
pub(super) fn confirmed_code(incoming: &Incoming) -> Option<&str> {
    match incoming {
        Incoming::Press { data, .. } => data.strip_prefix(LINK),
        Incoming::Message { .. } => None,
    }
}

impl Session<'_> {
    /// Asks whether a person wants to be linked to the account whose code they have sent: somebody else may have sent
    /// them the address with the code. A code in a group is deleted, since whoever reads the group could use it.
    pub(super) async fn offer_link(
        &self,
        code: String,
        read: ReadUpdate,
        link: Option<Link>,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        if !self.poller.codes.allows(&read.person_id, Instant::now()) {
            return Ok(());
        }
        let chat = read.incoming.chat().to_owned();
        let store = &self.poller.context.store;
        let account = store::account_of_code(store, hash_code(&code), &self.channel.id.0, now_millis()).await?;
        if !read.is_private {
            return match account {
                Some(_) => store::delete_code(store, hash_code(&code)).await,
                None => Ok(()),
            };
        }
        let reply = match (link, account) {
            (Some(link), _) => Reply::new(chat, linked_already(link.account_name())),
            (None, None) => Reply::new(chat, WRONG_CODE),
            (None, Some(account)) => {
                let button = Button { label: "Link".to_owned(), data: format!("{LINK}{code}") };
                Reply { button: Some(button), ..Reply::new(chat, link_question(&account)) }
            }
        };
        batch.replies.push(reply);
        Ok(())
    }

    /// Links a person who has confirmed it.
    pub(super) async fn link(&self, code: String, read: ReadUpdate, batch: &mut Batch) -> Result<(), StoreError> {
        let Incoming::Press { chat, press_id, message_id, .. } = read.incoming else { return Ok(()) };
        if !read.is_private || !self.poller.codes.allows(&read.person_id, Instant::now()) {
            return Ok(());
        }
        let person = (read.person_id, read.person_name);
        let store = &self.poller.context.store;
        let used = store::use_code(store, hash_code(&code), self.channel.id.0.clone(), person, now_millis()).await?;
        let text = match used {
            Linked::Done(account) => {
                format!(
                    "You are linked to the account “{}” now. Just write; /help lists the commands.",
                    visible(&account)
                )
            }
            Linked::Already(account) => linked_already(&account),
            Linked::Unknown => WRONG_CODE.to_owned(),
            Linked::Full => TOO_MANY_LINKS.to_owned(),
        };
        batch.replies.push(Reply { press: Some((press_id, message_id)), ..Reply::new(chat, text) });
        Ok(())
    }
}

fn link_question(account: &str) -> String {
    format!(
        "Link this chat to the account “{}”? Then what you write here is written by that account, and whoever uses it \
         reads it. Press the button only if it is yours.",
        visible(account)
    )
}

fn linked_already(account: &str) -> String {
    format!(
        "You are linked as “{}”. To link another account, unlink first: /unlink, or the page Messengers of your account.",
        visible(account)
    )
}
