//! The database, the disk below it, and who may read it.

use super::Finding;
use std::fs;
use std::path::Path;
use std::time::SystemTime;
use store::{ServerFacts, Store};

/// A server cannot work with less free disk, in bytes.
const TOO_LITTLE: u64 = 100 * 1024 * 1024;
/// An operator should know of less, in bytes.
const LITTLE: u64 = 1024 * 1024 * 1024;

/// Looks at the database that a URL names.
pub(super) async fn examine(url: &str) -> Vec<Finding> {
    if Store::is_on_server(url) {
        return on_server(url).await;
    }
    let path = match Store::database_file(url) {
        Ok(Some(path)) => path,
        Ok(None) => return vec![Finding::note("database", "in memory: everything is gone with the process")],
        Err(error) => return vec![Finding::wrong("database", error.to_string())],
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut findings = vec![database(url, &path, folder).await];
    findings.extend(disk(folder));
    findings.extend([path.as_path(), &folder.join("cookie.key")].into_iter().filter_map(permissions));
    findings.extend(from_the_future(&path));
    findings
}

async fn database(url: &str, path: &Path, folder: &Path) -> Finding {
    let shown = path.display();
    if !path.exists() {
        return match there(folder).map(|there| rustix::fs::access(there, rustix::fs::Access::WRITE_OK)) {
            Some(Ok(())) => Finding::ok("database", format!("{shown} will be made at the first start")),
            _ => Finding::wrong("database", format!("{shown} cannot be made: its folder cannot be written")),
        };
    }
    if let Err(error) = Store::check_place(path) {
        return Finding::wrong("database", format!("{shown}: {error}"));
    }
    let copied = match Store::inspect(path).await {
        Ok(copied) => copied,
        Err(error) => return Finding::wrong("database", error.to_string()),
    };
    let store = match Store::open_existing(url).await {
        Ok(store) => store,
        // It was whole a moment ago.
        Err(error) => return Finding::note("database", format!("{error}; a start brings an older one up to date")),
    };
    let answered = store.ping().await;
    store.close().await;
    match answered {
        Ok(()) => Finding::ok("database", format!("{shown}: whole, can be written, schema {}", copied.schema)),
        Err(error) => Finding::wrong("database", format!("{shown} cannot be written: {error}")),
    }
}

async fn on_server(url: &str) -> Vec<Finding> {
    let facts = match Store::on_server(url).await {
        Ok(facts) => facts,
        Err(error) => return vec![Finding::wrong("database", error.to_string())],
    };
    let mut findings = vec![match facts.schema {
        None => Finding::ok("database", format!("{}: its tables will be made at the first start", facts.name)),
        Some(schema) if schema == facts.newest => writes(url, &facts).await,
        Some(schema) if schema < facts.newest => {
            Finding::note("database", format!("{}: schema {schema}; a start brings it up to date", facts.name))
        }
        Some(schema) => {
            Finding::wrong("database", format!("{}: a newer version wrote it (schema {schema})", facts.name))
        }
    }];
    if !facts.is_durable {
        let text = format!("{}: `fsync` is off, so what was acknowledged can be lost with the machine", facts.name);
        findings.push(Finding::note("database", text));
    }
    findings
}

async fn writes(url: &str, facts: &ServerFacts) -> Finding {
    let name = &facts.name;
    let store = match Store::open_existing(url).await {
        Ok(store) => store,
        Err(error) => return Finding::wrong("database", error.to_string()),
    };
    let answered = store.ping().await;
    store.close().await;
    match answered {
        Ok(()) => Finding::ok(
            "database",
            format!("{name}: PostgreSQL {}, can be written, schema {}", facts.version, facts.newest),
        ),
        Err(error) => Finding::wrong("database", format!("{name} cannot be written: {error}")),
    }
}

/// The folder, or the nearest one above it that is there.
fn there(folder: &Path) -> Option<&Path> {
    let mut above = folder.ancestors().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    above.find(|above| above.is_dir())
}

fn disk(folder: &Path) -> Option<Finding> {
    let found = rustix::fs::statvfs(there(folder)?).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let text = format!("{} MB are free at {}", free / 1_000_000, folder.display());
    Some(match free {
        free if free < TOO_LITTLE => Finding::wrong("disk", format!("{text}; make room")),
        free if free < LITTLE => Finding::note("disk", format!("{text}; make room soon")),
        _ => Finding::ok("disk", text),
    })
}

/// What others on this machine may read should be its owner's alone.
fn permissions(path: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let shown = path.display();
    Some(match mode & 0o077 {
        0 => Finding::ok("permissions", format!("{shown} is its owner's alone ({mode:o})")),
        _ => Finding::note("permissions", format!("{shown} is open to others ({mode:o}); `chmod 600` closes it")),
    })
}

/// A clock that was set back makes what was written look newer than it is.
fn from_the_future(path: &Path) -> Option<Finding> {
    let ahead = fs::metadata(path).ok()?.modified().ok()?.duration_since(SystemTime::now()).ok()?;
    let text = format!("the database was written {} s in the future: is the clock right?", ahead.as_secs());
    (ahead.as_secs() > 60).then(|| Finding::note("clock", text))
}
