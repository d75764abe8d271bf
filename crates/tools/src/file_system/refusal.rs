//! Why a path is refused, with messages that a model can act on.

use contract::ToolError;
use std::io;

/// The number of characters of a path that an error quotes.
const SHOWN: usize = 200;

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathRefusal {
    /// It leads out of the base folder, or the file may have another name outside of it.
    Outside,
    /// There is no file or folder.
    Missing,
    /// It is a file, but a folder is required.
    NotFolder,
    /// It is a folder, but a file is required.
    NotFile,
    /// It is a pipe, a socket or a device.
    Special,
    /// It is not text.
    Binary,
    /// The server has no permission to read it, or the disk failed.
    Unreadable,
}

impl PathRefusal {
    /// Converts an error of `cap-std`.
    pub(super) fn from_io(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            // An error of `cap-std` itself: no system call failed.
            Kind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside,
            Kind::NotFound | Kind::InvalidFilename | Kind::InvalidInput => Self::Missing,
            // A file in the middle of a path.
            Kind::NotADirectory => Self::Missing,
            _ => Self::Unreadable,
        }
    }

    /// Returns the error for the model, about the path as the model wrote it.
    pub(super) fn into_tool_error(self, written: &str) -> ToolError {
        let cut = if written.chars().nth(SHOWN).is_some() { "…" } else { "" };
        let path = format!("{}{cut}", written.chars().take(SHOWN).collect::<String>().escape_debug());
        ToolError::new(match self {
            Self::Outside => format!("Path \"{path}\" resolves outside the base directory."),
            Self::Missing => format!("There is no file or directory \"{path}\"."),
            Self::NotFolder => format!("\"{path}\" is a file; read it with read-file."),
            Self::NotFile => format!("\"{path}\" is a directory; list it with list-files."),
            Self::Special => format!("\"{path}\" is neither a file nor a directory."),
            Self::Binary => format!("\"{path}\" is a binary file; only text can be read."),
            Self::Unreadable => format!("\"{path}\" cannot be read."),
        })
    }
}
