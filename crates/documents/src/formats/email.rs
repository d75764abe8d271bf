//! E-mail messages: who wrote what to whom when, and the text. Attachments are named, not read.

use crate::collector::Collector;
use crate::document::{Part, Place, Syntax, WarningCode};
use crate::encoding::{normalize, one_line};
use crate::formats::html;
use crate::sections::{Numbering, push_sections};
use crate::{Failure, FailureCode, Source};
use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};

/// The maximum number of addresses that are listed per header.
const MAX_ADDRESSES: usize = 50;
/// The maximum number of attachments that are named.
const MAX_ATTACHMENTS: usize = 50;

/// Adds the headers as the first section, then the text.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let message = MessageParser::default().parse(source.bytes);
    let Some(message) = message else { return Err(Failure::new(FailureCode::Damaged, source.name)) };
    let subject = message.subject().map(one_line).unwrap_or_default().into_owned();
    collector.set_title(&subject);
    let headers = headers(&message, &subject);
    let first = Place::Section { section: 1 };
    collector.push_plain(first, headers.join("\n"));
    for id in &message.text_body {
        let Some(part) = message.part(*id) else { continue };
        match &part.body {
            PartType::Html(text) => {
                let markdown = html::to_markdown(text, source.name)?;
                push_sections(collector, &markdown, &Numbering::Within(&Place::Section { section: 2 }));
            }
            PartType::Text(text) => collector.push(Part {
                place: Place::Section { section: 2 },
                headings: Vec::new(),
                table_header: None,
                syntax: Syntax::Plain,
                text: normalize(text),
            }),
            _ => {}
        }
    }
    let attachments = attachment_names(&message);
    if !attachments.is_empty() {
        collector.warn(WarningCode::Skipped, format!("Attachments were not read: {}.", attachments.join(", ")));
    }
    Ok(())
}

fn headers(message: &Message<'_>, subject: &str) -> Vec<String> {
    let addresses = [("From", message.from()), ("To", message.to()), ("Cc", message.cc())];
    let mut lines: Vec<_> = addresses
        .into_iter()
        .filter_map(|(name, addresses)| Some(format!("{name}: {}", written(addresses?))))
        .collect();
    if let Some(date) = message.date() {
        lines.push(format!("Date: {}", date.to_rfc3339()));
    }
    lines.push(format!("Subject: {subject}"));
    let attachments = attachment_names(message);
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

fn attachment_names(message: &Message<'_>) -> Vec<String> {
    let named = message.attachments().take(MAX_ATTACHMENTS);
    named.map(|part| one_line(part.attachment_name().unwrap_or("without a name")).into_owned()).collect()
}
