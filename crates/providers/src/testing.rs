//! What the tests of all codecs share.

use crate::driver::{Codec, Reader};
use contract::{ModelError, Part};
use serde_json::Value;

/// A fixture (one event a line) as the bytes that a provider sends.
pub(crate) fn events(fixture: &str, end: &str) -> String {
    let events: String = fixture.lines().map(|line| format!("data: {line}\n\n")).collect();
    events + end
}

/// What a codec makes of a whole stream that arrives in these pieces.
pub(crate) fn read(codec: impl Codec, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    let (mut reader, mut parts) = (Reader::new(codec), Vec::new());
    let read = pieces.iter().try_for_each(|piece| reader.bytes(piece, &mut parts));
    let read = read.and_then(|()| reader.end(&mut parts));
    (parts, read)
}

/// The parts of a good stream, a line each, without what is absent. Ids that were minted are written `call_*`.
pub(crate) fn shown(codec: impl Codec, stream: &str) -> String {
    let (parts, read) = read(codec, &[stream.as_bytes()]);
    let mut lines: Vec<_> = parts.iter().map(show).collect();
    lines.extend(read.err().map(|error| format!("error: {error}")));
    lines.join("\n")
}

fn show(part: &Part) -> String {
    let Ok(Value::Object(mut part)) = serde_json::to_value(part) else { return "?".to_owned() };
    part.retain(|_, value| !value.is_null() && *value != Value::Bool(false));
    if part.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with("call_") && id.len() == 37) {
        part.insert("id".to_owned(), "call_*".into());
    }
    let kind = part.shift_remove("type").unwrap_or_default();
    format!("{} {}", kind.as_str().unwrap_or_default(), Value::Object(part))
}

/// The same stream cut at these places.
pub(crate) fn cut<'a>(stream: &'a [u8], cuts: &[proptest::sample::Index]) -> Vec<&'a [u8]> {
    let places = cuts.iter().map(|cut| cut.index(stream.len() + 1));
    let mut places: Vec<_> = places.chain([0, stream.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect()
}
