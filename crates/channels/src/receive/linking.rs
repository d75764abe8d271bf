//! Links people to accounts: a person sends a code, and confirms that the account is theirs. With the rule
//! `verifiedEmail`, Slack says whose e-mail address they have confirmed.

use super::Session;
use super::reply::Reply;
use super::sort::Batch;
use crate::ids::{CODE_LENGTH, hash_code};
use crate::messenger::{ApiError, Bot, Button, Incoming, Messenger, Person, ReadUpdate, SendError};
use crate::store::{self, Link, LinkOutcome, NewLink};
use crate::turn::command;
use crate::visible::visible;
use ::store::{StoreError, User};
use auth::password::credential_rules::name_key;
use std::time::Instant;
use web::times::now_millis;

const WRONG_CODE: &str = "This code is not valid any more: it works once, within ten minutes. Get a new one on the page \
                          Messengers of your account.";
const TOO_MANY_LINKS: &str =
    "Your account has too many links. Remove one on the page Messengers of your account, and link yourself again.";
const CODE_IN_GROUP: &str = "Others read this chat, so your code is not valid any more. Get a new one on the page Messengers of \
                             your account, and send it to me in a direct message.";
/// The prefix of the data of the button that confirms a link, before the code.
const LINK: &str = "link:";
/// The word before the code in a mail that confirms a link.
const CONFIRM: &str = "confirm";

/// Returns the code with which a person asks to be linked: `/start CODE`, or `/link CODE`.
pub(crate) fn start_code(text: &str) -> Option<&str> {
    let (name, code) = command(text)?;
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|digit| digit.is_ascii_hexdigit());
    (matches!(name, "start" | "link") && is_code).then_some(code)
}

/// Returns the code of a pressed button that confirms a link, or of a mail that does.
pub(super) fn confirmed_code(incoming: &Incoming) -> Option<&str> {
    match incoming {
        Incoming::Press { data, .. } => data.strip_prefix(LINK),
        Incoming::Message { text, mail: Some(_), .. } => {
            command(text).filter(|(name, _)| *name == CONFIRM).map(|(_, code)| code)
        }
        Incoming::Message { .. } => None,
    }
}

impl Session<'_> {
    /// Asks whether a person wants to be linked to the account whose code they have sent: somebody else may have sent
    /// them the address with the code. A code in a group is deleted, since whoever reads the group could use it, and the
    /// person is told so.
    pub(super) async fn offer_link(
        &self,
        code: String,
        read: ReadUpdate,
        link: Option<Link>,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        if !self.receiver.codes.allows(&read.person_id, Instant::now()) {
            return Ok(());
        }
        let store = &self.receiver.context.store;
        let account = store::account_of_code(store, hash_code(&code), &self.channel.id.0, now_millis()).await?;
        if !read.is_private {
            if account.is_some() {
                store::delete_code(store, hash_code(&code)).await?;
                batch.replies.push(Reply::new(&read, CODE_IN_GROUP));
            }
            return Ok(());
        }
        let reply = match (link, account) {
            (Some(link), _) => Reply::new(&read, linked_already(self.bot.messenger(), link.account_name())),
            (None, None) => Reply::new(&read, WRONG_CODE),
            (None, Some(account)) if self.bot.messenger() == Messenger::Email => {
                Reply::new(&read, mail_question(&account, &code))
            }
            (None, Some(account)) => {
                let button = Button { label: "Link".to_owned(), data: format!("{LINK}{code}") };
                Reply::new(&read, link_question(&account)).with_button(button)
            }
        };
        batch.replies.push(reply);
        Ok(())
    }

    /// Links a person who has confirmed it.
    pub(super) async fn link(&self, code: String, read: ReadUpdate, batch: &mut Batch) -> Result<(), StoreError> {
        if !read.is_private || !self.receiver.codes.allows(&read.person_id, Instant::now()) {
            return Ok(());
        }
        let name = match read.person_name.as_str() {
            "" => self.bot.person_name(&read.person_id).await,
            name => name.to_owned(),
        };
        let person = (read.person_id.clone(), name);
        let store = &self.receiver.context.store;
        let used = store::use_code(store, hash_code(&code), self.channel.id.0.clone(), person, now_millis()).await?;
        let text = match used {
            LinkOutcome::Done(account) => {
                let help = self.bot.messenger().command("help");
                format!(
                    "You are linked to the account “{}”. Write your first message; {help} lists the commands.",
                    visible(&account)
                )
            }
            LinkOutcome::Already(account) => linked_already(self.bot.messenger(), &account),
            LinkOutcome::Unknown => WRONG_CODE.to_owned(),
            LinkOutcome::Full => TOO_MANY_LINKS.to_owned(),
        };
        batch.replies.push(Reply::new(&read, text));
        Ok(())
    }

    /// Links a person to the account whose name is their confirmed e-mail address, if they belong to the workspace of
    /// the config. Slack is asked once in a while.
    pub(super) async fn link_by_email(&self, read: &ReadUpdate) -> Result<Option<Link>, SendError> {
        let Bot::Slack(bot) = &self.bot else { return Ok(None) };
        let key = format!("{} {}", self.channel.id.0, read.person_id);
        if !self.receiver.lookups.allows(&key, Instant::now()) {
            return Ok(None);
        }
        let person = match bot.person(&read.person_id).await {
            Ok(person) => person,
            Err(error @ ApiError::Refused { .. }) => {
                tracing::warn!(channel = self.channel.id.0, %error, "the e-mail address of a person is not known");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let Some(person) = person.filter(|person| bot.team_id() == Some(person.team_id.as_str())) else {
            return Ok(None);
        };
        let Some(user) = self.find_user(&person).await? else { return Ok(None) };
        let context = &self.receiver.context;
        let new = NewLink {
            channel_id: self.channel.id.0.clone(),
            person_id: read.person_id.clone(),
            person_name: person.name,
            owner: user.id,
            mode: context.current.config().auth.mode.name(),
            user_name: Some(user.name),
        };
        Ok(store::add_link(&context.store, new, now_millis()).await?)
    }

    /// Returns the account whose name is the confirmed e-mail address of a person.
    async fn find_user(&self, person: &Person) -> Result<Option<User>, StoreError> {
        // The normalized form of other letters can be the address of somebody else.
        let email = person.verified_email.as_deref().filter(|email| email.is_ascii() && email.contains('@'));
        let Some(email) = email else { return Ok(None) };
        let store = &self.receiver.context.store;
        let found = store.user_by_name(&name_key(email)).await?;
        let user = found.map(|(user, _)| user).filter(|user| user.name.eq_ignore_ascii_case(email));
        let Some(user) = user else { return Ok(None) };
        // An account from a provider has the name that the provider gave it, whoever chose that.
        let is_from_provider = !store.identities(&user.id).await?.is_empty();
        Ok((!is_from_provider).then_some(user))
    }
}

fn link_question(account: &str) -> String {
    format!(
        "Link this chat to the account “{}”?\n\nI then act for that account, and whoever uses it can read what you write \
         here. Press Link only if the account is yours; otherwise do nothing.",
        visible(account)
    )
}

fn mail_question(account: &str, code: &str) -> String {
    format!(
        "Link this address to the account “{}”?\n\nI then act for that account, and whoever uses it can read what you write \
         to me. If the account is not yours, do nothing. If it is, reply with:\n\n{CONFIRM} {code}",
        visible(account)
    )
}

fn linked_already(messenger: Messenger, account: &str) -> String {
    format!(
        "You are linked as “{}”. To link another account, unlink first: send {}, or remove the link on the page \
         Messengers of your account.",
        visible(account),
        messenger.command("unlink")
    )
}
