//! Files that users attach, which the server stores and messages refer to by URL, and files that an
//! agent shows to the user as results.

use crate::hidden_characters::{TextKind, TextRun, text_runs};
use crate::message::DataPart;
use crate::read::read_struct;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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

/// The maximum length of a file's name in characters.
const MAX_FILE_NAME: usize = 200;

/// Returns the last component of a path as a file's name: without hidden and control characters and leading dots, of a
/// bounded length. Names come from users and programs, and may be hostile.
pub fn clean_file_name(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean = visible_name(last, MAX_FILE_NAME);
    // Strips dots and spaces alternately, since the result must not start with a dot.
    let clean = clean.trim_start_matches(|char: char| char == '.' || char.is_whitespace()).trim_end();
    if clean.is_empty() { "file".to_owned() } else { clean.to_owned() }
}

/// Returns the beginning of a name without hidden and control characters: people choose by what they see.
pub fn visible_name(name: &str, most_characters: usize) -> String {
    let shown = text_runs(name, TextKind::Value).into_iter().filter_map(|run| match run {
        TextRun::Text(text) => Some(text),
        TextRun::Hidden(_) => None,
    });
    let shown: String = shown.collect();
    shown.chars().filter(|char| !char.is_control()).take(most_characters).collect()
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

/// The name of the data part with the files: `{files: [PresentedFile]}`.
pub const PRESENTED: &str = "data-presented-files";

/// A version of a file that an agent shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PresentedFile {
    /// The path in the workspace, for example `/outputs/report.md`.
    pub path: String,
    /// The number of the version in the conversation.
    pub version: i64,
    /// Where this version is read.
    pub url: String,
    /// The media type.
    pub media_type: String,
    /// The size in bytes.
    pub size: u64,
}

/// A version of a file that an agent shows, with what the server needs to send it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PresentedContent {
    /// The version.
    #[serde(flatten)]
    pub file: PresentedFile,
    /// The id of the stored content; `None` in messages that are older than this field.
    pub file_id: Option<String>,
}

/// Returns the files that a data part shows, with the ids of their contents; none if it is another part.
pub fn presented_contents(part: &DataPart) -> Vec<PresentedContent> {
    read_files(part)
}

/// Returns the files that a data part shows; none if it is another part.
pub fn presented_files(part: &DataPart) -> Vec<PresentedFile> {
    read_files(part)
}

fn read_files<T: DeserializeOwned>(part: &DataPart) -> Vec<T> {
    if part.kind != PRESENTED {
        return Vec::new();
    }
    let files = part.data.get("files").cloned().unwrap_or_default();
    serde_json::from_value(files).unwrap_or_default()
}

/// A version of a file in a conversation, with the fields that pages show.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileVersion {
    /// The path of the file.
    pub path: String,
    /// The number of the version.
    pub version: i64,
    /// Where its content is read.
    pub url: String,
    /// Its media type.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was written; Unix time in milliseconds.
    pub changed_at: i64,
}

/// The versions of a file.
#[derive(Clone, Debug, Deserialize)]
pub struct FileVersions {
    /// The newest one first.
    pub items: Vec<FileVersion>,
}

/// A link to a version of a file, which anybody who has it may read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLink {
    /// The secret id of the link.
    pub id: String,
    /// The path of the file.
    pub path: String,
    /// The number of the version.
    pub version: i64,
    /// The path of the page.
    pub url: String,
    /// When the link was made; Unix time in milliseconds.
    pub created_at: i64,
}

/// The links to files of a conversation.
#[derive(Clone, Debug, Deserialize)]
pub struct FileLinks {
    /// The newest one first.
    pub items: Vec<FileLink>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_cleaned() {
        let check = |given: &str, expected: &str| assert_eq!(clean_file_name(given), expected, "{given:?}");
        check("report.pdf", "report.pdf");
        check("../../etc/passwd", "passwd");
        check("C:\\Users\\ada\\a.txt", "a.txt");
        check(".htaccess", "htaccess");
        check(". .htaccess", "htaccess");
        check("a\r\nSet-Cookie: x", "aSet-Cookie: x");
        check("invoice\u{202e}fdp.exe", "invoicefdp.exe");
        check("a\u{200b}b\u{e0041}.txt", "ab.txt");
        for nothing in ["", ".", "..", "/", "a/", "  ", " \u{0}\n", "\u{202e}"] {
            check(nothing, "file");
        }
        assert_eq!(clean_file_name(&"é".repeat(300)).chars().count(), MAX_FILE_NAME);
    }

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
