//! The command lines of Podman and Docker, which take the same arguments.

use crate::path::{OUTPUTS, UPLOADS, WORKSPACE};
use crate::section::{ContainerEngine, ContainerKey, ShellSettings, WorkspaceLimits};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The user who runs scripts. The first process of a container belongs to another user, so that a script
/// cannot end it.
const USER: &str = "65534:65534";
/// The user of the first process, without any capability.
const FIRST_USER: &str = "0:0";
/// The first process ends, and with it the container, when its input does: when the server closes it or is no more. Runtimes give
/// folders in memory the mode that the image has for them.
const FIRST_PROCESS: &str = "chmod 1777 /workspace /outputs /tmp && chmod 755 /uploads /script && echo ready && cat; :";
/// Beside those of scripts: the first process and its child, and those that copy files.
const OWN_PROCESSES: u64 = 8;
/// The threads of gVisor for a process of a container: about eight, and 55 for its kernel. They count as processes of the container.
const GVISOR_THREADS: u64 = 10;
/// The folder of the script, which has nothing else.
pub(super) const SCRIPT: &str = "/script";
/// Files take whole pages of memory.
const PAGE: u64 = 4096;
/// The variables that the clients of the engines need to find their service and their settings.
const ENVIRONMENT: [&str; 8] = [
    "PATH",
    "HOME",
    "USER",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "CONTAINER_HOST",
];
/// The environment of scripts.
const SCRIPT_ENVIRONMENT: [(&str, &str); 6] = [
    ("HOME", WORKSPACE),
    ("TMPDIR", "/tmp"),
    ("LANG", "C.UTF-8"),
    // Caches of programs are not among the files of the user.
    ("XDG_CACHE_HOME", "/tmp/.cache"),
    ("XDG_CONFIG_HOME", "/tmp/.config"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
];

/// The user of a process in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunAs {
    /// The user who runs scripts.
    Script,
    /// The owner of what scripts only read.
    First,
}

impl RunAs {
    fn user(self) -> &'static str {
        match self {
            Self::Script => USER,
            Self::First => FIRST_USER,
        }
    }
}

/// Returns the command of an engine, with no more of the server's environment than it needs.
pub(super) fn engine(key: &ContainerKey) -> Command {
    let mut command = Command::new(key.engine.program());
    command.env_clear().current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    // Ctrl-C in the terminal of the server is for the server, which drains first.
    command.process_group(0);
    command
}

/// Returns the command that starts a container. It runs until its standard input ends.
pub(super) fn start(key: &ContainerKey, settings: &ShellSettings, limits: &WorkspaceLimits, name: &str) -> Command {
    let mut command = engine(key);
    let memory = settings.memory().to_string();
    let options = [
        // A missing image is not fetched: the operator decides when an image changes.
        "--rm --interactive --pull never --network none --read-only --cap-drop all",
        "--security-opt no-new-privileges --log-driver none --hostname sandbox --workdir /",
        // The processes of all containers together; Podman would set the highest number, which it may not everywhere.
        "--ulimit nofile=1024:1024 --ulimit core=0:0 --ulimit nproc=4096:4096",
    ];
    command.arg("run").args(options.iter().flat_map(|some| some.split(' ')));
    command.args(["--name", name, "--label", "chatwright=shell", "--user", FIRST_USER]);
    // The limit for memory and swap together equals that for memory, so no swap is used.
    command.args(["--memory", &memory, "--memory-swap", &memory, "--cpus", &key.cpus.to_string()]);
    command.arg("--pids-limit").arg(most_tasks(key, settings).to_string());
    if let Some(runtime) = &key.runtime {
        command.args(["--runtime", runtime]);
    }
    if is_gvisor(key) && key.engine == ContainerEngine::Podman {
        // Otherwise it looks for interfaces to take over, and may take the network of the container for that of the machine. Docker
        // takes such flags from its own settings only.
        command.args(["--runtime-flag", "network=none"]);
    }
    let tree = limits.bytes.saturating_add(limits.files * PAGE);
    for (folder, bytes, mode) in [
        (WORKSPACE, tree, "1777"),
        (OUTPUTS, tree, "1777"),
        ("/tmp", settings.memory() / 2, "1777"),
        (UPLOADS, settings.memory(), "0755"),
        (SCRIPT, super::super::MAX_SCRIPT as u64 + PAGE, "0755"),
    ] {
        command.arg("--mount").arg(key.engine.memory_folder(folder, bytes, mode));
    }
    command.args(SCRIPT_ENVIRONMENT.iter().flat_map(|(name, value)| ["--env".to_owned(), format!("{name}={value}")]));
    command.args(["--entrypoint", "/bin/sh", &key.image, "-c", FIRST_PROCESS]);
    command
}

/// Returns the most processes and threads of a container, as the kernel of the machine counts them.
fn most_tasks(key: &ContainerKey, settings: &ShellSettings) -> u64 {
    let processes = settings.most_processes() + OWN_PROCESSES;
    if is_gvisor(key) { processes * GVISOR_THREADS } else { processes }
}

/// Returns whether the runtime is gVisor, by the name of its program.
pub(super) fn is_gvisor(key: &ContainerKey) -> bool {
    let program = key.runtime.as_deref().and_then(|runtime| Path::new(runtime).file_name());
    program.is_some_and(|name| name.to_string_lossy().starts_with("runsc"))
}

/// Returns the command that runs a program in a container.
pub(super) fn execute(key: &ContainerKey, name: &str, as_user: RunAs, program: &[&str]) -> Command {
    let mut command = engine(key);
    command.args(["exec", "--interactive", "--user", as_user.user(), "--workdir"]);
    command.arg(if as_user == RunAs::Script { WORKSPACE } else { "/" }).arg(name).args(program);
    command
}

/// Ends a container at once, with all of its processes. The caller does not wait for that.
pub(super) fn kill(key: &ContainerKey, name: &str) {
    // The engine removes a container when it ends, so this one may be gone already.
    if let Ok(mut child) = engine(key).args(["kill", name]).spawn() {
        // The thread is short-lived, and the process must be waited for by somebody.
        let waits = std::thread::Builder::new().name("container-end".to_owned()).spawn(move || child.wait());
        if let Err(error) = waits {
            tracing::debug!(%error, "nobody waits for the end of a container");
        }
    }
}

/// The beginning of the names of containers, which name the server process that has started them.
const NAME: &str = "chatwright";

/// Returns a name for a new container of this process.
pub(super) fn new_name() -> String {
    let process = std::process::id();
    let began = began_at(process).unwrap_or_default();
    format!("{NAME}-{}-{process}-{began}-{}", host(), uuid::Uuid::new_v4().simple())
}

/// Returns whether a container was started by a process of this host that is no more.
pub(super) fn is_left_behind(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('-')) else { return false };
    let mut parts = rest.rsplitn(4, '-').skip(1);
    let (Some(began), Some(process), Some(on)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (Ok(process), Ok(began)) = (process.parse(), began.parse()) else { return false };
    on == host() && began_at(process) != Some(began)
}

/// Returns when a process began, in ticks since the start of the machine; `None` if there is none.
fn began_at(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may have spaces.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// Returns a name of this host that container names may contain. Several hosts may share the service of an engine.
fn host() -> String {
    let name = std::fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).unwrap_or_default();
    name.trim().chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).take(40).collect()
}

/// Returns whether an engine is installed where the server looks for programs.
pub(super) fn is_installed(key: &ContainerKey) -> bool {
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(key.engine.program()).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_gvisor_have_room_for_its_threads() {
        let check = |engine: ContainerEngine, runtime: Option<&str>, most: &str, is_told: bool| {
            let (image, runtime) = ("i".to_owned(), runtime.map(str::to_owned));
            let key = ContainerKey { image, engine, runtime, cpus: 1 };
            let settings = ShellSettings { processes: Some(24), ..ShellSettings::default() };
            let command = start(&key, &settings, &WorkspaceLimits::default(), "n");
            let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
            let has = |pair: [&str; 2]| arguments.windows(2).any(|two| two == pair);
            assert!(has(["--pids-limit", most]), "{arguments:?}");
            assert_eq!(has(["--runtime-flag", "network=none"]), is_told, "{arguments:?}");
        };
        check(ContainerEngine::Podman, None, "32", false);
        check(ContainerEngine::Podman, Some("crun"), "32", false);
        check(ContainerEngine::Podman, Some("/usr/bin/runsc"), "320", true);
        check(ContainerEngine::Docker, Some("runsc"), "320", false);
    }

    #[test]
    fn containers_of_ended_processes_are_left_behind() {
        let own = new_name();
        assert!(!is_left_behind(&own));
        // The id of the process that made the container now belongs to another process.
        let (process, began) = (std::process::id(), began_at(std::process::id()).unwrap());
        let of_earlier = own.replace(&format!("-{process}-{began}-"), &format!("-{process}-{}-", began - 1));
        assert!(is_left_behind(&of_earlier), "{of_earlier}");
        for name in ["chatwright", "chatwright-", "chatwright-other-1-1-x", "postgres", "chatwright-a-b-c-d"] {
            assert!(!is_left_behind(name), "{name}");
        }
    }
}
