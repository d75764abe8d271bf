//! Reads the body of a page by its content type.

use super::client::Received;
use super::{MAX_TEXT, Page, html, plain};
use encoding_rs::{Encoding, UTF_8};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Where the encoding stands in HTML: within the first bytes.
const META_BYTES: usize = 1_024;
static META: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:-]{2,40})"#).ok());

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Text,
}

/// Reads a page.
///
/// # Errors
/// A message for the model: the body is of a type that cannot be read.
pub(crate) fn read(received: Received, with_links: bool) -> Result<Page, String> {
    let Received { url, content_type, body } = received;
    let media_type = content_type.as_deref().map(|value| value.split(';').next().unwrap_or_default().trim());
    let kind = kind(media_type.unwrap_or_default(), &body)?;
    let text = decode(content_type.as_deref().unwrap_or_default(), kind, &body);
    let mut page = match kind {
        Kind::Html => html::read(&text, &url, with_links),
        Kind::Text => Page { text: plain::visible(&text), ..Page::default() },
    };
    if let Some((end, _)) = page.text.char_indices().nth(MAX_TEXT) {
        page.text.truncate(end);
        page.is_cut = true;
    }
    Ok(page)
}

fn kind(media_type: &str, body: &[u8]) -> Result<Kind, String> {
    let media_type = media_type.to_ascii_lowercase();
    let is_json_or_xml =
        |name: &str| name == "json" || name == "xml" || name.ends_with("+json") || name.ends_with("+xml");
    match media_type.split_once('/') {
        Some(("text", "html") | ("application", "xhtml+xml")) => Ok(Kind::Html),
        Some(("text", _)) => Ok(Kind::Text),
        Some(("application", name)) if is_json_or_xml(name) => Ok(Kind::Text),
        Some(("application", "yaml" | "x-yaml" | "toml" | "javascript" | "x-ndjson")) => Ok(Kind::Text),
        Some(("application", "pdf")) => Err("It is a PDF file, which this tool cannot read.".to_owned()),
        None if std::str::from_utf8(body).is_ok() => Ok(match body.trim_ascii_start().first() {
            Some(b'<') => Kind::Html,
            _ => Kind::Text,
        }),
        None => Err("It is not a text.".to_owned()),
        // What the server wrote is not repeated: it may be anything.
        Some((group, _)) => Err(match group {
            "image" => "It is an image, which this tool cannot read.".to_owned(),
            "audio" | "video" => "It is a recording, which this tool cannot read.".to_owned(),
            _ => "It is a file of a type that this tool cannot read.".to_owned(),
        }),
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
