//! Files that users attach. The server stores them; messages refer to them by URL.

use crate::read::read_struct;
use serde::Serialize;

/// The URL prefix of a stored file; its id follows.
pub const FILES: &str = "/api/files/";

/// A file that the server stores for its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StoredFile {
    /// The id by which it is read and deleted.
    pub id: String,
    /// Its URL, as in a `file` part of a message.
    pub url: String,
    /// The media type detected from its bytes, for example `image/png`.
    pub media_type: String,
    /// The name that its owner gave it.
    pub filename: String,
    /// The size in bytes.
    pub size: u64,
}

read_struct!(StoredFile { id: "id", url: "url", media_type: "mediaType", filename: "filename", size: "size" });

/// Returns the id of the stored file at a URL; `None` for a URL that is not a stored file's.
pub fn stored_file_id(url: &str) -> Option<&str> {
    url.strip_prefix(FILES)
}

/// Returns whether a browser may show files of this type inline, because they cannot contain active
/// content.
pub fn is_shown_inline(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// A file size for display: a unit, a rounded number, and tenths where they matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSize {
    /// Less than a kilobyte.
    Bytes(u64),
    /// Rounded to the nearest kilobyte.
    Kilobytes(u64),
    /// Rounded to the nearest megabyte.
    Megabytes(u64),
    /// Megabytes below ten with a non-zero tenth: the whole number and the tenths.
    TenthsOfMegabytes(u64, u64),
}

impl FileSize {
    /// Rounds a number of bytes, in units of 1,000. 1,000 KB becomes 1 MB.
    pub fn from_bytes(bytes: u64) -> Self {
        // Divides before it rounds, so that the addition cannot overflow.
        let tenths = (bytes / 1_000 + 50) / 100;
        match bytes {
            0..1_000 => Self::Bytes(bytes),
            1_000..999_500 => Self::Kilobytes((bytes + 500) / 1_000),
            _ => match (tenths / 10, tenths % 10) {
                (whole @ 0..10, tenths @ 1..) => Self::TenthsOfMegabytes(whole, tenths),
                _ => Self::Megabytes((bytes / 1_000 + 500) / 1_000),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded() {
        let check = |bytes, expected| assert_eq!(FileSize::from_bytes(bytes), expected, "{bytes}");
        check(0, FileSize::Bytes(0));
        check(999, FileSize::Bytes(999));
        check(1_000, FileSize::Kilobytes(1));
        check(1_024, FileSize::Kilobytes(1));
        check(4_000, FileSize::Kilobytes(4));
        check(999_499, FileSize::Kilobytes(999));
        check(999_500, FileSize::Megabytes(1));
        check(1_000_000, FileSize::Megabytes(1));
        check(1_600_000, FileSize::TenthsOfMegabytes(1, 6));
        check(5_000_000, FileSize::Megabytes(5));
        check(9_940_000, FileSize::TenthsOfMegabytes(9, 9));
        check(10_485_760, FileSize::Megabytes(10));
        check(26_000_000, FileSize::Megabytes(26));
        check(u64::MAX, FileSize::Megabytes(18_446_744_073_710));
    }
}
