//! The file system of a sandboxed process: the arguments of `bwrap`, and the rules of Landlock.

use super::{MemoryFolder, SandboxError, SandboxSettings};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, PathFdError, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::io;
use std::path::{Path, PathBuf};

/// The folders with programs, libraries and their data, on all distributions. Missing ones are left out.
const PROGRAMS: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/// The settings of the machine that programs need. The rest of `/etc` is hidden.
const SETTINGS: [&str; 2] = ["/etc/alternatives", "/etc/ld.so.cache"];
/// The devices that are there.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Links in `/dev`, with their targets.
const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
    ("/tmp", "/dev/shm"),
];
/// The bytes that `/dev` may have.
const DEV_BYTES: u64 = 64 << 10;
/// The user and the group in the sandbox.
const USER: &str = "1000";

/// Returns the arguments of `bwrap`, up to the command.
pub(super) fn arguments(settings: &SandboxSettings) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
    add(&[
        "--unshare-user",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]);
    add(&["--uid", USER, "--gid", USER, "--hostname", "workspace", "--cap-drop", "ALL"]);
    add(&["--die-with-parent", "--new-session"]);
    for path in PROGRAMS {
        // On most distributions, all of them are links into `/usr`.
        match std::fs::read_link(path) {
            Ok(target) => add(&["--symlink", &target.to_string_lossy(), path]),
            Err(_) => add(&["--ro-bind-try", path, path]),
        }
    }
    add(&["--dir", "/etc"]);
    SETTINGS.iter().for_each(|path| add(&["--ro-bind-try", path, path]));
    add(&["--proc", "/proc", "--size", &DEV_BYTES.to_string(), "--tmpfs", "/dev"]);
    DEVICES.iter().for_each(|path| add(&["--dev-bind", path, path]));
    LINKS.iter().for_each(|(target, path)| add(&["--symlink", target, path]));
    add(&["--remount-ro", "/dev"]);
    for MemoryFolder { path, bytes, .. } in &settings.folders {
        add(&["--size", &bytes.max(&1).to_string(), "--tmpfs", path]);
    }
    add(&["--remount-ro", "/", "--chdir", &settings.current_folder]);
    arguments
}

/// Restricts this thread, and all that it starts, to what the sandbox is for. Beside the namespaces it is a second
/// line, which also holds if a process gets out of its mount namespace.
pub(super) fn restrict(settings: &SandboxSettings) -> Result<(), SandboxError> {
    let restricted = ruleset(settings).map_err(|error| SandboxError::Landlock(error.to_string()))?;
    if restricted == RulesetStatus::NotEnforced {
        return Err(SandboxError::Landlock("it is not enforced".to_owned()));
    }
    Ok(())
}

fn ruleset(settings: &SandboxSettings) -> Result<RulesetStatus, RulesetError> {
    // The restrictions of the first version of Landlock are required; those of later versions are added where the
    // kernel has them.
    let newest = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?
        .create()?;
    let readable = PROGRAMS.iter().chain(&SETTINGS).chain(&["/proc", "/dev"]).copied();
    let read = AccessFs::from_read(newest);
    for path in readable {
        if let Some(folder) = opened(path) {
            let rights = if Path::new(path).is_dir() { read } else { read & AccessFs::from_file(newest) };
            rules = rules.add_rule(PathBeneath::new(folder, rights))?;
        }
    }
    for device in DEVICES.iter().filter_map(|path| opened(path)) {
        let rights = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
        rules = rules.add_rule(PathBeneath::new(device, rights))?;
    }
    for folder in &settings.folders {
        let rights = if folder.is_writable { AccessFs::from_all(newest) } else { read };
        if let Some(opened) = opened(&folder.path) {
            rules = rules.add_rule(PathBeneath::new(opened, rights))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// Returns whether commands in sandboxes can read a path, because it is in a folder with programs and the sandboxes are
/// those of this user. `nobody`, as whom the sandboxes of root run, reads none of root's private files.
pub fn shows(path: &Path) -> bool {
    !rustix::process::geteuid().is_root() && is_among_programs(path)
}

fn is_among_programs(path: &Path) -> bool {
    // A path that does not exist yet will be in the nearest folder that exists.
    let Some(real) = path.ancestors().find_map(|above| real_path(above).ok()) else { return false };
    let is_below = |programs: &&str| std::fs::canonicalize(programs).is_ok_and(|programs| real.starts_with(programs));
    PROGRAMS.iter().any(is_below)
}

/// An empty path is the current folder.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

/// Opens a path for a rule. Returns `None` if it does not exist, since it needs no rule then.
fn opened(path: &str) -> Option<PathFd> {
    let opened: Result<_, PathFdError> = PathFd::new(path);
    opened.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_among_programs_are_recognized() {
        let check = |path: &str, expected| assert_eq!(is_among_programs(Path::new(path)), expected, "{path}");
        check("/usr", true);
        check("/bin/sh", true);
        check("/usr/share/not_there/data/chat.db", true);
        check("/tmp/../usr/lib/chat.db", true);
        check("/usr/../tmp", false);
        check("/", false);
        check("/var/lib/not_there/chat.db", false);
        check("not_there/chat.db", false);
        // A link is what it points at.
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("data");
        std::os::unix::fs::symlink("/usr/share", &link).unwrap();
        check(link.join("chat.db").to_str().unwrap(), true);
    }
}
