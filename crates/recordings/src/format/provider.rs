//! Replies as model providers send them: the events of a stream, from a file. A line has an event
//! as JSON, or is one of server-sent events, as `curl --no-buffer` writes them.

use super::file::{is_own_line, read};
use super::lines::{Lines, Problem};
use super::{BlobId, FormatError, Recording};
use contract::ModelErrorKind;
use providers::recorded::{Api, decode};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::BufRead;

/// The line after the last event of some APIs.
const DONE: &str = "[DONE]";
/// The fields of server-sent events beside `data`.
const OTHER_FIELDS: [&str; 3] = ["event:", "id:", "retry:"];

/// A reply as the provider sent it, in a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawReply {
    /// The API.
    pub api: Api,
    /// The events: a blob with a list of texts.
    pub events: BlobId,
}

/// A reply as the provider sent it, from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderReply {
    /// The API.
    pub api: Api,
    /// The events, in their order.
    pub events: Vec<String>,
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyFile {
    /// Recordings of the product.
    Recordings(Vec<Recording>),
    /// The reply of a provider.
    Reply(ProviderReply),
}

/// Reads a file of recordings, or the streamed reply of a provider. The first line tells which it
/// is. `api` is the API of a reply; without it, the events tell.
///
/// # Errors
/// The file cannot be read, is too large, or is damaged; a provider's reply is not complete, or
/// cannot be decoded.
pub fn read_any(mut file: impl BufRead, api: Option<Api>) -> Result<AnyFile, FormatError> {
    // Only the beginning of the file is inspected, and then read again.
    let beginning = first_line(&mut file)?;
    let is_own = is_own_line(beginning.trim_ascii());
    let whole = std::io::Read::chain(beginning.as_slice(), file);
    if is_own { read(whole).map(AnyFile::Recordings) } else { read_reply(whole, api).map(AnyFile::Reply) }
}

/// Reads up to the end of the first line that is not empty.
fn first_line(file: &mut impl BufRead) -> Result<Vec<u8>, FormatError> {
    let mut beginning = Vec::new();
    let mut lines = Lines::new(file);
    while let Some((_, line)) = lines.next()? {
        let is_empty = line.is_empty();
        beginning.extend_from_slice(line);
        beginning.push(b'\n');
        if !is_empty {
            break;
        }
    }
    Ok(beginning)
}

/// An event, and where it begins.
struct Event {
    line: usize,
    /// The number of bytes before it in its line.
    offset: usize,
    data: String,
}

/// Reads the streamed reply of a provider.
fn read_reply(file: impl BufRead, api: Option<Api>) -> Result<ProviderReply, FormatError> {
    let events = events(file)?;
    let Some(first) = events.first() else { return Err(FormatError::Empty) };
    let unknown = || {
        let names = Api::ALL.map(Api::name).join(", ");
        Problem::new(format!("the provider of these events is unknown; name it with `--provider`: {names}"))
            .in_line(first.line)
    };
    let api = api.or_else(|| detect_api(&events)).ok_or_else(unknown)?;
    check_decodes(api, &events)?;
    Ok(ProviderReply { api, events: events.into_iter().map(|event| event.data).collect() })
}

/// Returns the events of a file.
fn events(file: impl BufRead) -> Result<Vec<Event>, FormatError> {
    let (mut events, mut lines) = (Vec::new(), Lines::new(file));
    // An event whose data has several lines.
    let mut open: Option<Event> = None;
    while let Some((number, line)) = lines.next()? {
        let line = std::str::from_utf8(line).map_err(|error| {
            Problem { column: error.valid_up_to() + 1, text: "this is not UTF-8".to_owned() }.in_line(number)
        })?;
        // A file that was written by an editor may begin with a mark.
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
        let is_other = line.starts_with(':') || OTHER_FIELDS.iter().any(|field| line.starts_with(field));
        match line.strip_prefix("data:") {
            Some(data) => {
                let data = data.strip_prefix(' ').unwrap_or(data);
                let offset = line.len() - data.len();
                match &mut open {
                    Some(event) => {
                        event.data.push('\n');
                        event.data.push_str(data);
                    }
                    None => open = Some(Event { line: number, offset, data: data.to_owned() }),
                }
            }
            None if line.is_empty() => {
                open.take().map(|event| add(&mut events, event)).transpose()?;
            }
            None if is_other => {}
            None => add(&mut events, Event { line: number, offset: 0, data: line.to_owned() })?,
        }
    }
    // The last event may lack its blank line.
    open.take().map(|event| add(&mut events, event)).transpose()?;
    Ok(events)
}

/// Adds an event.
fn add(events: &mut Vec<Event>, event: Event) -> Result<(), FormatError> {
    if event.data.trim() != DONE {
        serde_json::from_str::<IgnoredAny>(&event.data).map_err(|error| {
            let line = event.line + error.line().saturating_sub(1);
            Problem::from_json("neither an event as JSON nor a line of server-sent events: ", &error, event.offset)
                .in_line(line)
        })?;
        if !event.data.trim_start().starts_with('{') {
            let problem = "an event of a provider is a JSON object; record the streamed reply, an event in each line";
            return Err(Problem { column: event.offset + 1, text: problem.to_owned() }.in_line(event.line));
        }
    }
    events.push(event);
    Ok(())
}

fn detect_api(events: &[Event]) -> Option<Api> {
    events.iter().find_map(|event| Api::from_event(&serde_json::from_str::<Value>(&event.data).ok()?))
}

/// Checks that the reply is one, that it is complete, and that it can be decoded. An error that the
/// provider has reported in it is a valid end.
fn check_decodes(api: Api, events: &[Event]) -> Result<(), FormatError> {
    let decoded = decode(api, events.iter().map(|event| event.data.as_str()));
    let at = |index: usize| events.get(index).or(events.last()).map_or(1, |event| event.line);
    if let Some(error) = decoded.failure {
        let problem = format!("the reply of {} cannot be decoded: {}", api.name(), error.cause);
        let is_valid = error.kind != ModelErrorKind::BrokenStream;
        return if is_valid { Ok(()) } else { Err(Problem::new(problem).in_line(at(decoded.events_read - 1))) };
    }
    match events.get(decoded.events_read..).and_then(<[_]>::first) {
        Some(next) if next.data.trim() != DONE => {
            Err(Problem::new("the reply is complete before this line; a file has one reply").in_line(next.line))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = r#"{"choices":[{"delta":{"content":"Hi"}}]}"#;
    const END: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

    fn reply(text: &str) -> Result<ProviderReply, String> {
        match read_any(text.as_bytes(), None) {
            Ok(AnyFile::Reply(reply)) => Ok(reply),
            Ok(AnyFile::Recordings(_)) => Err("recordings".to_owned()),
            Err(error) => Err(error.in_file("f")),
        }
    }

    #[test]
    fn json_lines_and_server_sent_events_are_the_same() {
        let lines = reply(&format!("\n{CHAT}\n{END}\n")).unwrap();
        assert_eq!((lines.api, lines.events.len()), (Api::OpenAiChat, 2));
        let sent = format!(": hello\r\nevent: x\r\ndata: {CHAT}\r\n\r\nid: 7\r\ndata:{END}\r\n\r\ndata: [DONE]");
        let sent = reply(&sent).unwrap();
        assert_eq!(sent.events[..2], lines.events);
        // Data of several lines is one event.
        let split = CHAT.replacen("[{", "[\ndata: {", 1);
        let split = reply(&format!("data: {split}\n\ndata: {END}\n\n")).unwrap();
        assert_eq!(split.events[0].replace('\n', ""), CHAT);
    }

    #[test]
    fn what_is_wrong_has_its_line_and_column() {
        let check = |text: &str, expected: &str| {
            let error = reply(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        check("", "f: the file has no recording");
        check(": nothing\n", "f: the file has no recording");
        check(&format!("{CHAT}\n{{\"choices\": [}}\n"), "f:2:14: neither an event as JSON");
        check(&format!("{CHAT}\n\ndata: {{\"choices\": [}}\n"), "f:3:20: neither an event as JSON");
        check("HTTP/1.1 200 OK\n", "f:1:1: neither an event as JSON");
        check("[1]\n", "f:1:1: an event of a provider is a JSON object");
        check(
            "{\"a\":1}\n",
            "f:1:1: the provider of these events is unknown; name it with `--provider`: anthropic, google",
        );
        check(&format!("{CHAT}\n"), "f:1:1: the reply of openai-chat cannot be decoded: the stream ended without");
        check(&format!("{END}\n[DONE]\n{CHAT}\n"), "f:3:1: the reply is complete before this line");
        check("{\"type\":\"blob\",\"id\":\"x\",\"value\":1}\n", "f:1:1: the first line must be a `recording`");
        let Err(error) = read_any(&b"{\"choices\":\xff}"[..], None) else { panic!("it is read") };
        assert_eq!(error.in_file("f"), "f:1:12: this is not UTF-8");
    }

    #[test]
    fn an_error_of_the_provider_is_a_valid_end() {
        let failed = reply("{\"choices\":[]}\n{\"error\":{\"message\":\"busy\",\"code\":503}}\n").unwrap();
        assert_eq!(failed.events.len(), 2);
    }
}
