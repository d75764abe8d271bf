#![doc = include_str!("../README.md")]

use std::collections::VecDeque;
use std::fmt;

/// Size limits in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SseLimits {
    /// The maximum size of a line.
    pub line: usize,
    /// The maximum size of an event's data.
    pub event: usize,
}

impl Default for SseLimits {
    /// 4 MiB each: providers put a whole event into one line.
    fn default() -> Self {
        Self { line: 4 * 1024 * 1024, event: 4 * 1024 * 1024 }
    }
}

/// A server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The `event` field; absent means `message`.
    pub event: Option<String>,
    /// The `data` lines, joined by line feeds.
    pub data: String,
    /// The `id` field of this event.
    pub id: Option<String>,
}

/// An error of the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// A line or an event is larger than the limit.
    TooLarge,
    /// A line is not UTF-8.
    NotUtf8,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "an event is larger than the limit",
            Self::NotUtf8 => "the stream is not UTF-8",
        })
    }
}

impl std::error::Error for DecodeError {}

/// Decodes bytes into events in linear time: each byte is examined once, wherever the input is
/// split.
#[derive(Debug)]
pub struct SseDecoder {
    limits: SseLimits,
    /// The incomplete current line.
    line: Vec<u8>,
    /// Whether the last byte was a CR, so that a following LF belongs to the same line end.
    after_cr: bool,
    /// Whether nothing was decoded yet, so that a byte order mark may follow.
    at_start: bool,
    open: Event,
    has_data: bool,
    ready: VecDeque<Event>,
    #[cfg(feature = "retry")]
    retry: Option<u64>,
}

impl SseDecoder {
    /// Creates a decoder for the start of a stream.
    pub fn new(limits: SseLimits) -> Self {
        Self {
            limits,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            open: Event::default(),
            has_data: false,
            ready: VecDeque::new(),
            #[cfg(feature = "retry")]
            retry: None,
        }
    }

    /// Decodes the next bytes.
    ///
    /// # Errors
    /// See [`DecodeError`]. The decoder cannot be used further, but complete events can still be
    /// read.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), DecodeError> {
        if self.after_cr
            && let Some((&first, rest)) = bytes.split_first()
        {
            // Only the first byte can belong to the line end, wherever the input is split.
            self.after_cr = false;
            if first == b'\n' {
                bytes = rest;
            }
        }
        while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.complete_line(&bytes[..at])?;
            let was_cr = bytes[at] == b'\r';
            bytes = &bytes[at + 1..];
            if was_cr {
                match bytes.split_first() {
                    Some((b'\n', rest)) => bytes = rest,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
        }
        if self.line.len() + bytes.len() > self.limits.line {
            return Err(DecodeError::TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the next complete event.
    #[expect(clippy::should_implement_trait, reason = "more may come after None, unlike in an iterator")]
    pub fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// Returns the reconnection time in milliseconds, if the stream has set one since the last call. It counts
    /// as soon as its line is read, with or without an event.
    #[cfg(feature = "retry")]
    pub fn take_retry(&mut self) -> Option<u64> {
        self.retry.take()
    }

    /// Returns whether the stream may end here, that is, no event is incomplete. (The standard
    /// drops an event without its blank line.)
    pub fn is_between_events(&self) -> bool {
        self.line.is_empty() && !self.has_data
    }

    /// Completes a line, which may have started in earlier bytes.
    fn complete_line(&mut self, end: &[u8]) -> Result<(), DecodeError> {
        if self.line.len() + end.len() > self.limits.line {
            return Err(DecodeError::TooLarge);
        }
        if self.line.is_empty() {
            return self.process_line(end);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let taken = self.process_line(&line);
        line.clear();
        self.line = line;
        taken
    }

    fn process_line(&mut self, line: &[u8]) -> Result<(), DecodeError> {
        let line = std::str::from_utf8(line).map_err(|_| DecodeError::NotUtf8)?;
        let line =
            if std::mem::take(&mut self.at_start) { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line };
        if line.is_empty() {
            self.dispatch();
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => return self.append_data(value),
            "event" => self.open.event = Some(value.to_owned()),
            "id" if !value.contains('\0') => self.open.id = Some(value.to_owned()),
            #[cfg(feature = "retry")]
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry)
            }
            // Comments have an empty field name; unknown fields are ignored.
            _ => {}
        }
        Ok(())
    }

    fn append_data(&mut self, value: &str) -> Result<(), DecodeError> {
        if self.open.data.len() + value.len() + 1 > self.limits.event {
            return Err(DecodeError::TooLarge);
        }
        if self.has_data {
            self.open.data.push('\n');
        }
        self.has_data = true;
        self.open.data.push_str(value);
        Ok(())
    }

    fn dispatch(&mut self) {
        let event = std::mem::take(&mut self.open);
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<Event>, DecodeError> {
        let mut decoder = SseDecoder::new(SseLimits::default());
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece)?;
            events.extend(std::iter::from_fn(|| decoder.next()));
        }
        Ok(events)
    }

    fn check(stream: &str, expected: &[(Option<&str>, &str, Option<&str>)]) {
        let events = decode(&[stream.as_bytes()]).unwrap();
        let seen: Vec<_> = events.iter().map(|e| (e.event.as_deref(), e.data.as_str(), e.id.as_deref())).collect();
        assert_eq!(seen, expected, "{stream:?}");
    }

    #[test]
    fn fields_and_line_ends_are_decoded() {
        check("data: a\n\n", &[(None, "a", None)]);
        check("data:a\r\n\r\ndata: b\r\r", &[(None, "a", None), (None, "b", None)]);
        check("event: x\nid: 3.4\ndata: a\ndata:  b\n\n", &[(Some("x"), "a\n b", Some("3.4"))]);
        check("\u{feff}data: a\n\n", &[(None, "a", None)]);
        check(": comment\n\ndata\n\n", &[(None, "", None)]);
        check("event: x\n\nretry: 5\ndata: a\n\n", &[(None, "a", None)]);
        check("data: not complete\n", &[]);
        check("id: a\0b\ndata: a\n\n", &[(None, "a", None)]);
    }

    /// Found by fuzzing: a lone second half of `\r\n` was handled as if more of it could follow,
    /// and the blank line after it was lost.
    #[test]
    fn split_line_end_is_one_line_end() {
        const STREAM: &[u8] = b"data: a\r\n\ndata: b\n\n";
        let pieces: Vec<_> = STREAM.chunks(1).collect();
        let seen = decode(&pieces);
        assert_eq!(seen.as_ref().map(Vec::len), Ok(2));
        assert_eq!(seen, decode(&[STREAM]));
    }

    #[test]
    fn oversized_and_non_utf8_input_is_rejected() {
        let mut decoder = SseDecoder::new(SseLimits { line: 16, event: 24 });
        assert_eq!(decoder.push(b"data: 0123456789\n"), Ok(()));
        assert_eq!(decoder.push(b"data: 0123456789\n"), Ok(()));
        assert_eq!(decoder.push(b"data: 0123456789\n"), Err(DecodeError::TooLarge));
        let mut decoder = SseDecoder::new(SseLimits { line: 16, event: 24 });
        assert_eq!(decoder.push(&[b'x'; 16]), Ok(()));
        assert_eq!(decoder.push(b"x"), Err(DecodeError::TooLarge));
        assert_eq!(decode(&[b"data: \xff\n"]), Err(DecodeError::NotUtf8));
    }

    #[test]
    #[cfg(feature = "retry")]
    fn reconnection_time_is_read() {
        let check = |stream: &str, expected| {
            let mut decoder = SseDecoder::new(SseLimits::default());
            decoder.push(stream.as_bytes()).unwrap();
            assert_eq!(decoder.take_retry(), expected, "{stream:?}");
            assert_eq!(decoder.take_retry(), None, "{stream:?}");
        };
        check("retry: 500\n", Some(500));
        check("retry: 500\ndata: a\n\nretry:7\n\n", Some(7));
        check("retry: 500\nretry: soon\n", Some(500));
        check("retry: 99999999999999999999999\n", None);
        check("retry\n", None);
        check("data: retry: 5\n\n", None);
    }

    #[test]
    fn end_between_events_is_recognized() {
        let check = |stream: &str, between| {
            let mut decoder = SseDecoder::new(SseLimits::default());
            decoder.push(stream.as_bytes()).unwrap();
            assert_eq!(decoder.is_between_events(), between, "{stream:?}");
        };
        check("", true);
        check("data: a\n\n", true);
        check("data: a\n\n: comment\n", true);
        check("data: a\n", false);
        check("data: a\n\ndat", false);
    }

    proptest! {
        #[test]
        fn split_points_do_not_change_the_events(
            lines in prop::collection::vec((prop::sample::select(vec!["data: ", "data:", "id: ", "event: ", ": ", "", "x"]), "[a-zé€🦀 :]{0,6}"), 0..12),
            end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let stream: String = lines.iter().map(|(field, value)| format!("{field}{value}{end}")).collect();
            let bytes = stream.as_bytes();
            let mut at: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
            at.sort_unstable();
            let pieces: Vec<_> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode(&pieces), decode(&[bytes]));
        }

        #[test]
        fn no_input_panics(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..8)) {
            let mut decoder = SseDecoder::new(SseLimits { line: 40, event: 60 });
            for piece in pieces {
                if decoder.push(&piece).is_err() { break }
            }
        }
    }
}
