//! Why a path is not read, in words that a model can act on.

use contract::ToolError;
use std::io;

/// Characters of a path that an error repeats.
const SHOWN: usize = 200;

/// Why a path is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It leads out of the base folder, or a file there may have another name outside.
    Outside,
    /// Nothing is there.
    Missing,
    /// A file where a folder is needed.
    NotFolder,
    /// A folder where a file is needed.
    NotFile,
    /// A pipe, a socket or a device.
    Special,
    /// Not text.
    Binary,
    /// The server may not read it, or the disk failed.
    Unreadable,
}

impl Refusal {
    /// From an error of the sandbox.
    pub(super) fn of(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            // The sandbox's own error: no system call failed.
            Kind::PermissionDenied if error.raw_os_error().is_none() => Self::Outside,
            Kind::NotFound | Kind::InvalidFilename | Kind::InvalidInput => Self::Missing,
            // A file in the middle of a path.
            Kind::NotADirectory => Self::Missing,
            _ => Self::Unreadable,
        }
    }

    /// The error, about the path as the model wrote it.
    pub(super) fn about(self, written: &str) -> ToolError {
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
