//! Files that users attach: kept by the server, named in messages by an address of ours.

use crate::read::read_struct;
use serde::Serialize;

/// The beginning of the address of a kept file; its id follows.
pub const FILES: &str = "/api/files/";

/// A file that the server keeps for its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptFile {
    /// By which it is read and deleted.
    pub id: String,
    /// Its address; what a `file` part of a message says.
    pub url: String,
    /// What its bytes say that it is, for example `image/png`.
    pub media_type: String,
    /// As its owner named it.
    pub filename: String,
    /// Bytes.
    pub size: u64,
}

read_struct!(KeptFile { id: "id", url: "url", media_type: "mediaType", filename: "filename", size: "size" });

/// The id of the kept file at an address, if it is one of ours.
pub fn kept_file_id(url: &str) -> Option<&str> {
    url.strip_prefix(FILES)
}

/// Whether a browser shows it in a page, without anything in it that could act there.
pub fn is_shown_inline(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// A number of bytes for people: in which unit, how many, and tenths where they say something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Fewer than a kilobyte.
    Bytes(u64),
    /// To the nearest one.
    Kilobytes(u64),
    /// To the nearest one.
    Megabytes(u64),
    /// Below ten that are not whole, with their tenths.
    TenthsOfMegabytes(u64, u64),
}

impl Size {
    /// Rounds a number of bytes, in units of 1,000. What would be 1,000 KB is a megabyte.
    pub fn of(bytes: u64) -> Self {
        // Before they are multiplied, so that no number is too large.
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
        let check = |bytes, expected| assert_eq!(Size::of(bytes), expected, "{bytes}");
        check(0, Size::Bytes(0));
        check(999, Size::Bytes(999));
        check(1_000, Size::Kilobytes(1));
        check(1_024, Size::Kilobytes(1));
        check(4_000, Size::Kilobytes(4));
        check(999_499, Size::Kilobytes(999));
        check(999_500, Size::Megabytes(1));
        check(1_000_000, Size::Megabytes(1));
        check(1_600_000, Size::TenthsOfMegabytes(1, 6));
        check(5_000_000, Size::Megabytes(5));
        check(9_940_000, Size::TenthsOfMegabytes(9, 9));
        check(10_485_760, Size::Megabytes(10));
        check(26_000_000, Size::Megabytes(26));
        check(u64::MAX, Size::Megabytes(18_446_744_073_710));
    }
}
