//! E-mail messages: who wrote what to whom when, and the text. Messages
//! in it, as forwarded ones, are read in the same way; other attachments are named, not read.

use crate::collector::Collector;
use crate::document::{Part, Place, Syntax, WarningCode};
use crate::encoding::{normalize, one_line};
use crate::formats::html;
use crate::sections::{Numbering, push_sections};
use crate::{Failure, FailureCode, Source};
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

/// The maximum number of addresses that are listed per header.
const MAX_ADDRESSES: usize = 50;
/// The maximum number of attachments that are named.
const MAX_ATTACHMENTS: usize = 50;

/// The maximum number of messages in messages that are read, and their deepest nesting.
const MAX_FORWARDED: usize = 50;
const MAX_DEPTH: usize = 3;

/// Adds the headers as the first section, then the text, then forwarded messages in the same way.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let message = MessageParser::default().parse(source.bytes);
    let Some(message) = message else { return Err(Failure::new(FailureCode::Damaged, source.name)) };
    let subject = message.subject().map(one_line).unwrap_or_default().into_owned();
    collector.set_title(&subject);
    let mut reader = Reader { name: source.name, collector, section: 0, forwarded: 0, unread: Vec::new() };
    reader.message(&message, 0)?;
    let unread = reader.unread;
    if !unread.is_empty() {
        collector.warn(WarningCode::Skipped, format!("Attachments were not read: {}.", unread.join(", ")));
    }
    Ok(())
}

/// Reads a message and those in it.
struct Reader<'r, 'c> {
    name: &'r str,
    collector: &'r mut Collector<'c>,
    /// The number of the last section.
    section: u32,
    /// The number of messages in messages.
    forwarded: usize,
    /// The names of attachments that are not read.
    unread: Vec<String>,
}

impl Reader<'_, '_> {
    fn message(&mut self, message: &Message<'_>, depth: usize) -> Result<(), Failure> {
        let headers = self.next_section();
        self.collector.push_plain(headers, headers_of(message).join("\n"));
        let text = self.next_section();
        for id in &message.text_body {
            let Some(part) = message.part(*id) else { continue };
            match &part.body {
                PartType::Html(html) => {
                    let markdown = html::to_markdown(html, self.name)?;
                    push_sections(self.collector, &markdown, &Numbering::Within(&text));
                }
                PartType::Text(plain) => self.collector.push(Part {
                    place: text.clone(),
                    headings: Vec::new(),
                    table_header: None,
                    syntax: Syntax::Plain,
                    text: normalize(plain),
                }),
                _ => {}
            }
        }
        for attachment in message.attachments() {
            match attachment.message() {
                Some(inner) if depth < MAX_DEPTH && self.forwarded < MAX_FORWARDED => {
                    self.forwarded += 1;
                    self.message(inner, depth + 1)?;
                }
                _ if self.unread.len() < MAX_ATTACHMENTS => self.unread.push(attachment_name(attachment)),
                _ => {}
            }
        }
        Ok(())
    }

    fn next_section(&mut self) -> Place {
        self.section += 1;
        Place::Section { section: self.section }
    }
}

fn headers_of(message: &Message<'_>) -> Vec<String> {
    let addresses = [("From", message.from()), ("To", message.to()), ("Cc", message.cc())];
    let mut lines: Vec<_> = addresses
        .into_iter()
        .filter_map(|(name, addresses)| Some(format!("{name}: {}", written(addresses?))))
        .collect();
    if let Some(date) = message.date() {
        lines.push(format!("Date: {}", date.to_rfc3339()));
    }
    lines.push(format!("Subject: {}", message.subject().map(one_line).unwrap_or_default()));
    let attachments: Vec<_> = message.attachments().take(MAX_ATTACHMENTS).map(attachment_name).collect();
    if !attachments.is_empty() {
        lines.push(format!("Attachments: {}", attachments.join(", ")));
    }
    lines
}

fn written(addresses: &Address<'_>) -> String {
    let each = addresses.iter().take(MAX_ADDRESSES).map(|address| match (address.name(), address.address()) {
        (Some(name), Some(address)) => format!("{} <{}>", one_line(name), one_line(address)),
        (name, address) => one_line(name.or(address).unwrap_or_default()).into_owned(),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Returns the name of an attachment, which of a message is its subject.
fn attachment_name(part: &MessagePart<'_>) -> String {
    let subject = || part.message().and_then(Message::subject);
    one_line(part.attachment_name().or_else(subject).unwrap_or("without a name")).into_owned()
}
