//! Why a file could not be read.

use serde::{Deserialize, Serialize};

/// The error of a file that could not be read. It says to the user what is wrong with which file,
/// and what they can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct Failure {
    /// The reason, for programs.
    pub code: FailureCode,
    /// The reason for the user: whole sentences with the name of the file.
    pub message: String,
    /// The message of the parser, for the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// For [`FailureCode::NoTextLayer`]: the numbers of the pages that are pictures, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picture_pages: Vec<u32>,
}

/// The reasons why a file could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FailureCode {
    /// The format is not one of [`Format`](crate::Format).
    Unsupported,
    /// The format is supported, but not by this build of the program.
    NotBuilt,
    /// The file has no content.
    Empty,
    /// The file, or what is packed in it, is over a limit.
    TooLarge,
    /// A password is needed to read the file.
    Encrypted,
    /// The content does not follow the format.
    Damaged,
    /// The pages are pictures, as in a scanned document. A model that sees images can read them.
    NoTextLayer,
    /// Reading took longer than allowed.
    TimedOut,
    /// Reading needed more memory than allowed.
    OutOfMemory,
    /// The parser crashed.
    Crashed,
    /// The program that reads files could not be run. Trying again may help; with all other reasons
    /// it does not.
    Unavailable,
}

/// The maximum length in bytes of what is kept of a parser's message.
const MAX_DETAIL: usize = 500;
/// The maximum number of characters of a file name in a message.
const MAX_NAME: usize = 120;

impl Failure {
    /// Builds the failure of a file with the message of its code.
    pub fn new(code: FailureCode, file_name: &str) -> Self {
        let name: String = file_name.chars().filter(|char| !char.is_control()).take(MAX_NAME).collect();
        let name = if name.trim().is_empty() { "The file".to_owned() } else { format!("“{name}”") };
        Self { code, message: format!("{name} {}", code.predicate()), detail: None, picture_pages: Vec::new() }
    }

    /// Adds what the parser said.
    #[must_use]
    pub fn with_detail(mut self, detail: impl ToString) -> Self {
        let mut detail = detail.to_string();
        detail.truncate(detail.floor_char_boundary(MAX_DETAIL));
        self.detail = Some(detail);
        self
    }

    /// Returns whether another attempt with the same file can succeed.
    pub fn is_temporary(&self) -> bool {
        self.code == FailureCode::Unavailable
    }
}

impl FailureCode {
    /// Returns the text that follows the name of the file in the message.
    fn predicate(self) -> &'static str {
        match self {
            Self::Unsupported => {
                "is not of a format that can be read. Save it as PDF, DOCX, PPTX, XLSX, ODS, EPUB, HTML, Markdown, \
                 CSV or plain text."
            }
            Self::NotBuilt => {
                "cannot be read by this server, which was built without the support of its format (see “Features” in \
                 CONTRIBUTING.md)."
            }
            Self::Empty => "has no text.",
            Self::TooLarge => "is larger than allowed, or unpacks to more than allowed. Split it into smaller files.",
            Self::Encrypted => "is protected with a password. Remove the password and add the file again.",
            Self::Damaged => "is damaged or is not what its name says. Open it, save it again, and add the new file.",
            Self::NoTextLayer => {
                "consists of pictures of pages without text, as scanners make them. Run text recognition (OCR) over \
                 it and add the result."
            }
            Self::TimedOut => "took too long to read. Split it into smaller files, or save it in another format.",
            Self::OutOfMemory => {
                "needs more memory to read than allowed. Split it into smaller files, or save it in another format."
            }
            Self::Crashed => {
                "could not be read: the program that reads files crashed over it. Save it in another format, such as \
                 PDF or plain text."
            }
            Self::Unavailable => "could not be read, since the server is overloaded. Try again later.",
        }
    }
}
