//! Decides by content type and first bytes how a body is read, and reads HTML and text.

use super::client::Received;
use super::page::Page;
use super::{html, plain};
use encoding_rs::{Encoding, UTF_8};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// The number of first bytes of HTML in which the encoding is declared.
const META_BYTES: usize = 1_024;
static META: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:-]{2,40})"#).ok());

/// How a body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As HTML.
    Html,
    /// As text, as it is.
    Text,
    /// As a document, in a child process.
    Document,
}

/// Reads a page that is HTML or text.
pub(super) fn read(received: Received, kind: Kind, with_links: bool) -> Page {
    let Received { url, content_type, body, .. } = received;
    let text = decode(content_type.as_deref().unwrap_or_default(), kind, &body);
    match kind {
        Kind::Html => html::read(&text, &url, with_links),
        Kind::Text | Kind::Document => Page { text: plain::visible(&text), ..Page::default() },
    }
}

/// Returns whether a body of this type can be a document: any that is not known to be something else.
pub(super) fn may_be_document(content_type: &str) -> bool {
    kind_of_type(&media_type(Some(content_type))) == Ok(Kind::Document)
}

/// Returns how a body is read. Documents are recognised by their first bytes, since many servers send
/// them with a wrong type or none.
///
/// # Errors
/// A message for the model: the body is of a type that cannot be read.
pub(super) fn kind(content_type: Option<&str>, body: &[u8]) -> Result<Kind, String> {
    let media_type = media_type(content_type);
    if documents::looks_like_document(body) {
        return Ok(Kind::Document);
    }
    if media_type.contains('/') {
        return kind_of_type(&media_type);
    }
    if std::str::from_utf8(body).is_err() {
        return Err("It is not a text.".to_owned());
    }
    Ok(if body.trim_ascii_start().starts_with(b"<") { Kind::Html } else { Kind::Text })
}

fn media_type(content_type: Option<&str>) -> String {
    content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase()
}

fn kind_of_type(media_type: &str) -> Result<Kind, String> {
    let is_json_or_xml =
        |name: &str| name == "json" || name == "xml" || name.ends_with("+json") || name.ends_with("+xml");
    match media_type.split_once('/').unwrap_or_default() {
        ("text", "html") | ("application", "xhtml+xml") => Ok(Kind::Html),
        ("text", _) => Ok(Kind::Text),
        ("application", name) if is_json_or_xml(name) => Ok(Kind::Text),
        ("application", "yaml" | "x-yaml" | "toml" | "javascript" | "x-ndjson") => Ok(Kind::Text),
        ("application", _) | ("message", "rfc822") => Ok(Kind::Document),
        // The type that the server has sent is not quoted: it may be any text.
        ("image", _) => Err("It is an image, which this tool cannot read.".to_owned()),
        ("audio" | "video", _) => Err("It is a recording, which this tool cannot read.".to_owned()),
        _ => Err("It is a file of a type that this tool cannot read.".to_owned()),
    }
}

/// Decodes a body by its byte order mark, its header, or what HTML says about itself.
fn decode(content_type: &str, kind: Kind, body: &[u8]) -> String {
    let parameter = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').as_bytes().to_owned())
    });
    let label = parameter.or_else(|| {
        let begin = body.get(..META_BYTES).unwrap_or(body);
        (kind == Kind::Html).then(|| META.as_ref()?.captures(begin)?.get(1).map(|found| found.as_bytes().to_owned()))?
    });
    let encoding = label.and_then(|label| Encoding::for_label(&label)).unwrap_or(UTF_8);
    encoding.decode(body).0.into_owned()
}
