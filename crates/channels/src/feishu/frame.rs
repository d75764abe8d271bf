//! The frame of a long connection: a message of Protocol Buffers with nine fields, `pbbp2.Frame` in Feishu's SDKs. It is read
//! and written here, because a general library would be larger than this file.

use serde_json::json;

/// The value of [`Frame::method`] of a frame that is about the connection.
pub(super) const CONTROL: u64 = 0;
/// The value of [`Frame::method`] of a frame that delivers something.
pub(super) const DATA: u64 = 1;
/// The maximum number of headers.
const MAX_HEADERS: usize = 64;
/// The wire type of a value that is preceded by its length.
const WITH_LENGTH: u64 = 2;

/// A frame. All fields are kept, because a frame is acknowledged by sending it back with another payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    seq_id: u64,
    log_id: u64,
    service: u64,
    pub(super) method: u64,
    headers: Vec<(String, String)>,
    payload_encoding: Option<String>,
    payload_type: Option<String>,
    pub(super) payload: Vec<u8>,
    log_id_new: Option<String>,
}

/// The value of a field.
enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
    /// A number of a fixed size, which no field of a frame has.
    Fixed,
}

impl Frame {
    /// Returns a ping to a service.
    pub(super) fn ping(service: u64) -> Self {
        let headers = vec![("type".to_owned(), "ping".to_owned())];
        Self { service, method: CONTROL, headers, ..Self::default() }
    }

    /// Returns the value of a header.
    pub(super) fn header(&self, key: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns the frame that acknowledges this one. `millis` is the time that handling it has taken.
    pub(super) fn into_acknowledgement(mut self, millis: u128) -> Self {
        self.headers.push(("biz_rt".to_owned(), millis.to_string()));
        self.payload = json!({ "code": 200 }).to_string().into_bytes();
        self
    }

    /// Reads a frame; `None` if it is not one. Unknown fields are ignored.
    pub(super) fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut frame = Self::default();
        while !bytes.is_empty() {
            match read_field(&mut bytes)? {
                (1, Value::Number(number)) => frame.seq_id = number,
                (2, Value::Number(number)) => frame.log_id = number,
                (3, Value::Number(number)) => frame.service = number,
                (4, Value::Number(number)) => frame.method = number,
                (5, Value::Bytes(_)) if frame.headers.len() == MAX_HEADERS => return None,
                (5, Value::Bytes(header)) => frame.headers.push(read_header(header)?),
                (6, Value::Bytes(text)) => frame.payload_encoding = Some(read_text(text)?),
                (7, Value::Bytes(text)) => frame.payload_type = Some(read_text(text)?),
                (8, Value::Bytes(payload)) => frame.payload = payload.to_vec(),
                (9, Value::Bytes(text)) => frame.log_id_new = Some(read_text(text)?),
                _ => {}
            }
        }
        Some(frame)
    }

    /// Writes the frame.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // These fields are required, also if they are 0.
        for (field, number) in [(1, self.seq_id), (2, self.log_id), (3, self.service), (4, self.method)] {
            write_number(&mut bytes, field << 3);
            write_number(&mut bytes, number);
        }
        for (key, value) in &self.headers {
            let mut header = Vec::new();
            write_bytes(&mut header, 1, key.as_bytes());
            write_bytes(&mut header, 2, value.as_bytes());
            write_bytes(&mut bytes, 5, &header);
        }
        for (field, text) in [(6, &self.payload_encoding), (7, &self.payload_type)] {
            if let Some(text) = text {
                write_bytes(&mut bytes, field, text.as_bytes());
            }
        }
        if !self.payload.is_empty() {
            write_bytes(&mut bytes, 8, &self.payload);
        }
        if let Some(text) = &self.log_id_new {
            write_bytes(&mut bytes, 9, text.as_bytes());
        }
        bytes
    }
}

fn read_header(mut bytes: &[u8]) -> Option<(String, String)> {
    let (mut key, mut value) = (None, None);
    while !bytes.is_empty() {
        match read_field(&mut bytes)? {
            (1, Value::Bytes(text)) => key = Some(read_text(text)?),
            (2, Value::Bytes(text)) => value = Some(read_text(text)?),
            _ => {}
        }
    }
    Some((key?, value?))
}

/// Reads the number of a field and its value from the beginning of `bytes`.
fn read_field<'b>(bytes: &mut &'b [u8]) -> Option<(u64, Value<'b>)> {
    let tag = read_number(bytes)?;
    let value = match tag & 7 {
        0 => Value::Number(read_number(bytes)?),
        1 => take(bytes, 8).map(|_| Value::Fixed)?,
        WITH_LENGTH => {
            let length = usize::try_from(read_number(bytes)?).ok()?;
            Value::Bytes(take(bytes, length)?)
        }
        5 => take(bytes, 4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((tag >> 3, value))
}

/// Reads a number of variable size: seven bits in each byte, and the eighth bit in all but the last one.
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(bytes, 1)?.first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Takes the first bytes.
fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn read_text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

fn write_bytes(bytes: &mut Vec<u8>, field: u64, value: &[u8]) {
    write_number(bytes, field << 3 | WITH_LENGTH);
    write_number(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// The check of the fuzz target: what is read from any bytes is the same after it was written. Returns the payload.
#[cfg(feature = "fuzz")]
pub(crate) fn fuzz_frame(bytes: &[u8]) -> Option<Vec<u8>> {
    let frame = Frame::read(bytes)?;
    assert_eq!(Frame::read(&frame.write()).as_ref(), Some(&frame));
    Some(frame.payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by Feishu's SDK for Python 1.7.5.
    const EVENT: &str = "08ac021007188080801020012a0d0a047479706512056576656e742a100a0a6d6573736167655f696412026d312a080a0373756d\
                         1201312a080a037365711201302a0e0a0874726163655f6964120274313201653a016a42027b7d4a016e";
    const PING: &str = "08001000188080801020002a0c0a0474797065120470696e67";

    fn event() -> Vec<u8> {
        hex::decode(EVENT).unwrap()
    }

    #[test]
    fn frames_of_the_sdk_are_read_and_written() {
        let frame = Frame::read(&event()).unwrap();
        assert_eq!((frame.seq_id, frame.log_id, frame.service, frame.method), (300, 7, 33_554_432, DATA));
        let check = |key: &str, expected: Option<&str>| assert_eq!(frame.header(key), expected, "{key}");
        check("type", Some("event"));
        check("message_id", Some("m1"));
        check("sum", Some("1"));
        check("biz_rt", None);
        assert_eq!(frame.payload, b"{}");
        assert_eq!(hex::encode(frame.write()), EVENT);
        assert_eq!(hex::encode(Frame::ping(33_554_432).write()), PING);
        let acknowledged = Frame::read(&frame.into_acknowledgement(12).write()).unwrap();
        assert_eq!(acknowledged.payload, br#"{"code":200}"#);
        assert_eq!((acknowledged.header("trace_id"), acknowledged.header("biz_rt")), (Some("t1"), Some("12")));
    }

    #[test]
    fn broken_frames_are_refused() {
        let check = |bytes: &[u8], is_frame: bool| assert_eq!(Frame::read(bytes).is_some(), is_frame, "{bytes:?}");
        check(&[], true);
        // Unknown fields of each wire type, and one that does not exist.
        check(&[0x78, 1, 0x79, 0, 0, 0, 0, 0, 0, 0, 0, 0x7a, 1, 0, 0x7d, 0, 0, 0, 0], true);
        check(&[0x7b], false);
        // A number that does not end, a length beyond the end, a header without a value, and bytes that are no text.
        check(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], false);
        check(&[0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], false);
        check(&[0x2a, 3, 0x0a, 1, b'a'], false);
        check(&[0x32, 1, 0xff], false);
        let header = [0x2a, 4, 0x0a, 0, 0x12, 0];
        check(&header.repeat(MAX_HEADERS), true);
        check(&header.repeat(MAX_HEADERS + 1), false);
        let event = event();
        let whole = Frame::read(&event);
        for length in 0..event.len() {
            assert_ne!(Frame::read(&event[..length]), whole, "{length}");
        }
    }
}
