//! E-mail: a mailbox over IMAP, who has sent a mail, what they have written themselves, threads, and answers over SMTP.

mod bot;
mod imap;
mod incoming;
mod quote;
mod render;
mod thread;
mod verify;

pub(crate) use bot::{EmailBot, OutgoingMail};
pub(crate) use imap::{Fetched, Folder, MailId};
pub(crate) use incoming::{ReadMail, read_mail};
pub(crate) use thread::mail_id;
