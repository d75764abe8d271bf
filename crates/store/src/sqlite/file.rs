//! Parses database URLs and creates database files, which only their owner can read.

use crate::StoreError;
use rustix::fs::Access;
use sqlx::sqlite::SqliteConnectOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The location of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SqliteLocation {
    /// In memory: lost when the process ends.
    Memory,
    /// A file.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether to create it if it is missing (not with `?mode=rw`).
        create: bool,
    },
}

impl SqliteLocation {
    /// Parses `sqlite:PATH`, `sqlite://PATH` or `sqlite::memory:`, with `?mode=rwc` (the default) or `?mode=rw`.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let Some(rest) = url.strip_prefix("sqlite:") else {
            let scheme = url.split(':').next().unwrap_or_default();
            return Err(StoreError::Open(format!(
                "`{scheme}:` databases are not supported; use `sqlite://PATH` or `postgres://…`"
            )));
        };
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        if path == ":memory:" {
            return Ok(Self::Memory);
        }
        let create = match query {
            "" | "mode=rwc" => true,
            "mode=rw" => false,
            _ => return Err(StoreError::Open(format!("`?{query}` is not supported; use `?mode=rw` or `?mode=rwc`"))),
        };
        if path.is_empty() {
            return Err(StoreError::Open("the database URL names no file; use `sqlite://PATH`".to_owned()));
        }
        // The driver decodes %XX in the path.
        let options = SqliteConnectOptions::from_str(&format!("sqlite://{path}"))
            .map_err(|_| StoreError::Open(format!("`{path}` is not a valid path in a URL")))?;
        Ok(Self::File { path: options.get_filename().to_owned(), create })
    }
}

/// Returns the path of the file that a URL names; `None` for a database in memory.
pub(crate) fn path(url: &str) -> Result<Option<PathBuf>, StoreError> {
    Ok(match SqliteLocation::parse(url)? {
        SqliteLocation::Memory => None,
        SqliteLocation::File { path, .. } => Some(path),
    })
}

/// Returns the folder of the file that a URL names; `None` for a database in memory.
pub(crate) fn folder(url: &str) -> Result<Option<PathBuf>, StoreError> {
    Ok(path(url)?.map(|path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new(".")).to_owned()
    }))
}

/// Creates the file and its folder if they are missing. An existing file keeps its permissions and
/// is not opened, because closing it again would drop the locks that SQLite has on it in this process.
pub(super) fn prepare(path: &Path, create: bool) -> Result<(), StoreError> {
    let refused = |what: &str, error: std::io::Error| {
        let reason = match error.kind() {
            ErrorKind::PermissionDenied => "permission denied".to_owned(),
            ErrorKind::NotFound => "there is no such file".to_owned(),
            kind => kind.to_string(),
        };
        StoreError::Open(format!("cannot {what} the database {}: {reason}", path.display()))
    };
    if path.is_dir() {
        return Err(StoreError::Open(format!("cannot open the database {}: it is a folder", path.display())));
    }
    if create {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
        if let Some(parent) = parent {
            private_folder().create(parent).map_err(|error| refused("create the folder of", error))?;
        }
    }
    if create && !path.exists() {
        match private_file().create_new(true).open(path) {
            Ok(_) => return Ok(()),
            // Another process was faster, or it is a symbolic link to a file that does not exist yet.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refused("create", error)),
        }
        if !path.exists() {
            private_file().create(true).truncate(false).open(path).map_err(|error| refused("create", error))?;
        }
    }
    rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK).map_err(|error| refused("open", error.into()))
}

fn private_folder() -> std::fs::DirBuilder {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Returns the options to create a private file. SQLite gives the files beside the database the same permissions.
fn private_file() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests;
