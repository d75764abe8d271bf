//! Reads a mail: who has sent it, whether that is certain, what they have written themselves, and in which thread.

use super::imap::MailId;
use super::quote::{own_html, own_text};
use super::thread::{own_id, thread_chat};
use super::verify::is_verified;
use crate::ids::CODE_LENGTH;
use crate::messenger::{Incoming, IncomingFile, MailHead, ReadUpdate, bang_command, person_name};
use crate::section::Mailbox;
use mail_parser::decoders::html::html_to_text;
use mail_parser::{HeaderValue, Message, MessageParser, MimeHeaders, PartType};

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 64 << 10;
/// The longest subject, in characters.
const MAX_SUBJECT: usize = 200;
/// The longest id of a mail, in bytes, and how many ids of a thread are repeated.
const MAX_ID: usize = 250;
const MAX_REFERENCES: usize = 20;
/// The most files of a mail that are attached.
const MAX_FILES: usize = 10;
/// Headers that only mailing lists and automatic mails have.
const LISTS: [&str; 5] = ["List-Id", "List-Unsubscribe", "List-Post", "List-Help", "X-Loop"];
/// The beginnings of addresses that nobody reads.
const AUTOMATIC: [&str; 6] = ["mailer-daemon@", "postmaster@", "noreply@", "no-reply@", "donotreply@", "bounces+"];

/// A parsed mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadMail {
    Update(Box<ReadUpdate>),
    /// The mail gets no answer, for this reason.
    Ignored(&'static str),
}

/// Reads a mail to the address of the bot.
pub(crate) fn read_mail(bytes: &[u8], id: MailId, address: &str, mailbox: &Mailbox) -> ReadMail {
    let Some(mail) = MessageParser::default().parse(bytes) else { return ReadMail::Ignored("it cannot be read") };
    read(&mail, id, address, mailbox).map_or_else(ReadMail::Ignored, |update| ReadMail::Update(Box::new(update)))
}

fn read(mail: &Message<'_>, id: MailId, address: &str, mailbox: &Mailbox) -> Result<ReadUpdate, &'static str> {
    let sender = sender(mail).ok_or("it has not exactly one sender")?;
    if sender.address.eq_ignore_ascii_case(address) {
        return Err("it is from the bot itself");
    }
    if let Some(reason) = automatic(mail, &sender.address) {
        return Err(reason);
    }
    if !is_certain(mail, &sender.address, mailbox) {
        return Err("its sender is not authenticated");
    }
    let message_id = mail.message_id().and_then(valid_id).ok_or("it has no `Message-ID`")?;
    let references = ids(mail.references()).into_iter().chain(ids(mail.in_reply_to()));
    let mut references: Vec<String> = references.collect();
    let replies_to = ids(mail.in_reply_to()).pop().and_then(|id| own_id(&id, address).map(str::to_owned));
    let chat = thread_chat(&message_id, &references, address);
    references.dedup();
    let surplus = references.len().saturating_sub(MAX_REFERENCES);
    references.drain(..surplus);
    let text = bang_command(command_line(text(mail)));
    let files = files(mail, id);
    if text.is_empty() && files.is_empty() {
        return Err("it is empty");
    }
    let head = MailHead { to: sender.address.clone(), subject: subject(mail), message_id, references };
    Ok(ReadUpdate {
        update_id: id.update_id(),
        person_id: sender.address.clone(),
        person_name: person_name(if sender.name.is_empty() { &sender.address } else { &sender.name }),
        is_private: true,
        is_addressed: true,
        begins_thread: false,
        incoming: Incoming::Message { chat, text, is_forwarded: false, replies_to, files, mail: Some(head) },
    })
}

struct Sender {
    /// In lower case.
    address: String,
    name: String,
}

/// Returns the sender; `None` if there is not exactly one.
fn sender(mail: &Message<'_>) -> Option<Sender> {
    let headers = mail.headers_raw().filter(|(name, _)| name.eq_ignore_ascii_case("from")).count();
    let mut senders = mail.from()?.iter();
    let (first, second) = (senders.next()?, senders.next());
    let address = first.address()?.to_ascii_lowercase();
    let is_one = headers == 1 && second.is_none() && address.len() <= MAX_ID && mail::is_address(&address);
    is_one.then(|| Sender { address, name: first.name().unwrap_or_default().to_owned() })
}

/// Returns why a mail was not written by a person (RFC 3834).
fn automatic(mail: &Message<'_>, sender: &str) -> Option<&'static str> {
    let header = |name: &str| {
        let value = mail.headers_raw().find(|(known, _)| known.eq_ignore_ascii_case(name));
        value.map(|(_, value)| value.trim().to_ascii_lowercase())
    };
    if header("Auto-Submitted").is_some_and(|value| !value.starts_with("no")) {
        return Some("it is an automatic answer");
    }
    if header("Precedence").is_some_and(|value| matches!(value.as_str(), "bulk" | "junk" | "list" | "auto_reply")) {
        return Some("it is a bulk mail");
    }
    if LISTS.iter().any(|name| header(name).is_some()) {
        return Some("it is of a mailing list");
    }
    let is_report = mail
        .content_type()
        .is_some_and(|kind| kind.ctype().eq_ignore_ascii_case("multipart") && kind.subtype() == Some("report"));
    if header("Return-Path").is_some_and(|path| path == "<>") || is_report {
        return Some("it is a report about a mail");
    }
    AUTOMATIC.iter().any(|begin| sender.starts_with(begin)).then_some("its sender reads no answers")
}

/// Returns whether the mail is from its sender for sure.
fn is_certain(mail: &Message<'_>, address: &str, mailbox: &Mailbox) -> bool {
    let Some((_, domain)) = address.rsplit_once('@') else { return false };
    if mailbox.trusted_domains.iter().any(|trusted| trusted.eq_ignore_ascii_case(domain)) {
        return true;
    }
    let Some(server) = &mailbox.authentication_server else { return false };
    // The own server adds its header above all others. Those below it may have come with the mail.
    let mut results = mail.headers_raw().filter(|(name, _)| name.eq_ignore_ascii_case("authentication-results"));
    results.next().is_some_and(|(_, header)| is_verified(header, server, domain))
}

/// Returns the text of the person.
fn text(mail: &Message<'_>) -> String {
    let text = match mail.text_part(0).map(|part| &part.body) {
        Some(PartType::Text(text)) => own_text(text),
        Some(PartType::Html(html)) => own_text(&html_to_text(own_html(html))),
        _ => String::new(),
    };
    let text = text.replace('\0', "");
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}

/// Returns a text whose first line links the person, as a command: `link CODE`, or `confirm CODE`.
fn command_line(text: String) -> String {
    let line = text.lines().next().unwrap_or_default().trim().trim_start_matches(['/', '!']);
    let Some((name, code)) = line.split_once(' ') else { return text };
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|digit| digit.is_ascii_hexdigit());
    let name = name.to_ascii_lowercase();
    if is_code && matches!(name.as_str(), "link" | "confirm") { format!("/{name} {code}") } else { text }
}

fn subject(mail: &Message<'_>) -> String {
    let plain = mail.subject().unwrap_or_default().chars().map(|sign| if sign.is_control() { ' ' } else { sign });
    plain.take(MAX_SUBJECT).collect::<String>().trim().to_owned()
}

fn ids(value: &HeaderValue<'_>) -> Vec<String> {
    let texts: Vec<&str> = match value {
        HeaderValue::Text(text) => vec![text.as_ref()],
        HeaderValue::TextList(texts) => texts.iter().map(AsRef::as_ref).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().filter_map(valid_id).collect()
}

/// Returns an id of a mail, if it is one: it becomes part of headers.
fn valid_id(id: &str) -> Option<String> {
    let is_sign = |sign: u8| sign.is_ascii_graphic() && !matches!(sign, b'<' | b'>');
    ((1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_sign)).then(|| id.to_owned())
}

fn files(mail: &Message<'_>, id: MailId) -> Vec<IncomingFile> {
    let file = |(index, part): (usize, &mail_parser::MessagePart<'_>)| {
        let name = part.attachment_name()?.replace('\0', "");
        let id = format!("{}/{}/{index}", id.validity, id.uid);
        Some(IncomingFile { id, name: name.chars().take(200).collect() })
    };
    mail.attachments().enumerate().filter_map(file).take(MAX_FILES).collect()
}

/// Returns the content of the attachment with this number.
pub(super) fn attachment(bytes: &[u8], index: usize) -> Option<Vec<u8>> {
    let mail = MessageParser::default().parse(bytes)?;
    let part = mail.attachments().nth(index)?;
    Some(part.contents().to_vec())
}

#[cfg(test)]
mod tests;
