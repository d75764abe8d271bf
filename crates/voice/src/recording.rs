//! Recordings: their kinds, and the form in which they are sent to the service.

/// A kind of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordingKind {
    /// The extension of the file, by which services know the kind.
    pub(crate) extension: &'static str,
    pub(crate) media_type: &'static str,
    /// The usual bytes of a second, for recordings whose length the service does not say.
    bytes_per_second: u32,
}

/// The usual bytes of a second of compressed speech: 32 kbit/s.
const COMPRESSED: u32 = 4_000;
/// Those of uncompressed speech, with 16 bits and 16 kHz.
const UNCOMPRESSED: u32 = 32_000;

impl RecordingKind {
    const fn compressed(extension: &'static str, media_type: &'static str) -> Self {
        Self { extension, media_type, bytes_per_second: COMPRESSED }
    }

    /// Detects the kind from the first bytes; `None` for data that services do not accept as a recording.
    pub(crate) fn detect(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x1a, 0x45, 0xdf, 0xa3, ..] => Some(Self::compressed("webm", "audio/webm")),
            [b'O', b'g', b'g', b'S', ..] => Some(Self::compressed("ogg", "audio/ogg")),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some(Self::compressed("mp4", "audio/mp4")),
            [b'I', b'D', b'3', ..] => Some(Self::compressed("mp3", "audio/mpeg")),
            // A frame of MP3; in one of AAC, the bits of the layer are zero.
            [0xff, second, ..] if second & 0xe0 == 0xe0 && second & 0x06 != 0 => {
                Some(Self::compressed("mp3", "audio/mpeg"))
            }
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => {
                Some(Self { extension: "wav", media_type: "audio/wav", bytes_per_second: UNCOMPRESSED })
            }
            _ => None,
        }
    }

    /// Estimates the seconds of a recording of this size: at least one, and at most `most`.
    pub(crate) fn estimated_seconds(self, bytes: usize, most: u32) -> f64 {
        (bytes as f64 / f64::from(self.bytes_per_second)).clamp(1.0, f64::from(most.max(1)))
    }
}

/// Returns the body of a `multipart/form-data` request with these fields and the recording.
pub(crate) fn form(boundary: &str, fields: &[(&str, &str)], kind: RecordingKind, recording: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(recording.len() + 1_024);
    for (name, value) in fields {
        let field = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(field.as_bytes());
    }
    let RecordingKind { extension, media_type, .. } = kind;
    let file = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"recording.{extension}\"\r\n\
         Content-Type: {media_type}\r\n\r\n"
    );
    body.extend_from_slice(file.as_bytes());
    body.extend_from_slice(recording);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_are_detected_from_the_bytes() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            assert_eq!(RecordingKind::detect(bytes).map(|kind| kind.extension), expected, "{bytes:?}");
        };
        check(b"\x1a\x45\xdf\xa3more", Some("webm"));
        check(b"OggS\0", Some("ogg"));
        check(b"\0\0\0\x20ftypM4A ", Some("mp4"));
        check(b"ID3\x04", Some("mp3"));
        check(b"\xff\xfb\x90", Some("mp3"));
        check(b"RIFF\0\0\0\0WAVEfmt ", Some("wav"));
        check(b"\xff\xf1\x50", None);
        check(b"RIFF\0\0\0\0AVI ", None);
        check(b"%PDF-1.7", None);
        check(b"<html>", None);
        check(b"", None);
    }

    #[test]
    fn unknown_lengths_are_estimated_within_the_bound() {
        let check = |bytes: &[u8], size: usize, expected: f64| {
            let seconds = RecordingKind::detect(bytes).unwrap().estimated_seconds(size, 60);
            assert!((seconds - expected).abs() < 1e-9, "{size}: {seconds}");
        };
        check(b"OggS", 0, 1.0);
        check(b"OggS", 40_000, 10.0);
        check(b"RIFF\0\0\0\0WAVE", 320_000, 10.0);
        check(b"OggS", 4_000_000, 60.0);
    }

    #[test]
    fn form_has_the_fields_and_the_recording() {
        let kind = RecordingKind::detect(b"OggS").unwrap();
        let body = form("b0", &[("model", "m"), ("language", "en")], kind, b"OggS");
        let text = String::from_utf8(body).unwrap().replace("\r\n", "|");
        insta::assert_snapshot!(text, @r#"--b0|Content-Disposition: form-data; name="model"||m|--b0|Content-Disposition: form-data; name="language"||en|--b0|Content-Disposition: form-data; name="file"; filename="recording.ogg"|Content-Type: audio/ogg||OggS|--b0--|"#);
    }

    proptest! {
        #[test]
        fn estimated_lengths_are_bounded(is_wave: bool, size: usize, most: u32) {
            let start: &[u8] = if is_wave { b"RIFF\0\0\0\0WAVE" } else { b"OggS" };
            let seconds = RecordingKind::detect(start).unwrap().estimated_seconds(size, most);
            prop_assert!((1.0..=f64::from(most.max(1))).contains(&seconds), "{seconds}");
        }
    }
}
