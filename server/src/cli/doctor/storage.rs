//! Checks of the database, its disk and its permissions.

use super::CheckResult;
use crate::capabilities::database_schema;
use std::fs;
use std::path::Path;
use std::time::SystemTime;
use store::{ServerInfo, Store};

/// A server does not work with less free disk space, in bytes.
const MIN_FREE_BYTES: u64 = 100 * 1024 * 1024;
/// Below this free disk space, in bytes, the operator gets a note.
const LOW_FREE_BYTES: u64 = 1024 * 1024 * 1024;

/// Checks the database of a URL.
pub(super) async fn check_storage(url: &str) -> Vec<CheckResult> {
    if Store::is_on_server(url) {
        return check_server(url).await;
    }
    let path = match Store::database_file(url) {
        Ok(Some(path)) => path,
        Ok(None) => return vec![CheckResult::note("database", "in memory: all data is lost when the process ends")],
        Err(error) => return vec![CheckResult::wrong("database", error.to_string())],
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut findings = vec![check_file(url, &path, folder).await];
    findings.extend(check_disk(folder));
    findings.extend([path.as_path(), &folder.join("cookie.key")].into_iter().filter_map(check_permissions));
    findings.extend(check_modified_time(&path));
    findings
}

async fn check_file(url: &str, path: &Path, folder: &Path) -> CheckResult {
    let shown = path.display();
    if !path.exists() {
        return match existing_ancestor(folder).map(|there| rustix::fs::access(there, rustix::fs::Access::WRITE_OK)) {
            Some(Ok(())) => CheckResult::ok("database", format!("the first start creates {shown}")),
            _ => CheckResult::wrong("database", format!("cannot create {shown}: its folder is not writable")),
        };
    }
    if let Err(error) = Store::check_location(path) {
        return CheckResult::wrong("database", format!("{shown}: {error}"));
    }
    let copied = match Store::inspect(path).await {
        Ok(copied) => copied,
        Err(error) => return CheckResult::wrong("database", error.to_string()),
    };
    let store = match database_schema().open_existing(url).await {
        Ok(store) => store,
        // The file was intact a moment ago.
        Err(error) => return CheckResult::note("database", format!("{error}; a start migrates an older database")),
    };
    let answered = store.ping().await;
    store.close().await;
    match answered {
        Ok(()) => CheckResult::ok("database", format!("{shown}: intact, writable, schema {}", copied.schema)),
        Err(error) => CheckResult::wrong("database", format!("cannot write to {shown}: {error}")),
    }
}

async fn check_server(url: &str) -> Vec<CheckResult> {
    let facts = match Store::server_info(url).await {
        Ok(facts) => facts,
        Err(error) => return vec![CheckResult::wrong("database", error.to_string())],
    };
    let mut findings = vec![match facts.schema {
        None => CheckResult::ok("database", format!("{}: the first start creates its tables", facts.name)),
        Some(schema) if schema == facts.newest => check_writable(url, &facts).await,
        Some(schema) if schema < facts.newest => {
            CheckResult::note("database", format!("{}: schema {schema}; a start migrates it", facts.name))
        }
        Some(schema) => {
            CheckResult::wrong("database", format!("{}: written by a newer version (schema {schema})", facts.name))
        }
    }];
    if !facts.is_durable {
        let text = format!("{}: `fsync` is off, so a crash of the machine can lose acknowledged data", facts.name);
        findings.push(CheckResult::note("database", text));
    }
    findings
}

async fn check_writable(url: &str, facts: &ServerInfo) -> CheckResult {
    let name = &facts.name;
    let store = match database_schema().open_existing(url).await {
        Ok(store) => store,
        Err(error) => return CheckResult::wrong("database", error.to_string()),
    };
    let answered = store.ping().await;
    store.close().await;
    match answered {
        Ok(()) => CheckResult::ok(
            "database",
            format!("{name}: PostgreSQL {}, writable, schema {}", facts.version, facts.newest),
        ),
        Err(error) => CheckResult::wrong("database", format!("cannot write to {name}: {error}")),
    }
}

/// Returns the folder, or its nearest existing ancestor.
fn existing_ancestor(folder: &Path) -> Option<&Path> {
    let mut above = folder.ancestors().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    above.find(|above| above.is_dir())
}

fn check_disk(folder: &Path) -> Option<CheckResult> {
    let found = rustix::fs::statvfs(existing_ancestor(folder)?).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let text = format!("{} MB free at {}", free / 1_000_000, folder.display());
    Some(match free {
        free if free < MIN_FREE_BYTES => CheckResult::wrong("disk", format!("{text}; free up space")),
        free if free < LOW_FREE_BYTES => CheckResult::note("disk", format!("{text}; free up space soon")),
        _ => CheckResult::ok("disk", text),
    })
}

/// Checks that only the owner of a file can access it.
fn check_permissions(path: &Path) -> Option<CheckResult> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    let shown = path.display();
    Some(match mode & 0o077 {
        0 => CheckResult::ok("permissions", format!("only its owner can access {shown} ({mode:o})")),
        _ => CheckResult::note(
            "permissions",
            format!("others can access {shown} ({mode:o}); restrict it with `chmod 600`"),
        ),
    })
}

/// Checks that the database was not modified in the future, which happens when the clock is set
/// back.
fn check_modified_time(path: &Path) -> Option<CheckResult> {
    let ahead = fs::metadata(path).ok()?.modified().ok()?.duration_since(SystemTime::now()).ok()?;
    let text = format!("the database was written {} s in the future: check the clock", ahead.as_secs());
    (ahead.as_secs() > 60).then(|| CheckResult::note("clock", text))
}
