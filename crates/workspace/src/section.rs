//! The key `workspace` of an agent.

use crate::tool_names::{BASH, GLOB, GREP, LS, PRESENT_FILES, READ_FILE, STR_REPLACE, VIEW_IMAGE, WRITE_FILE};
use config::{PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Gives each conversation of the agent a tree of files: `/workspace` for the agent, `/uploads` with what the
/// user attached, and `/outputs` for results. The agent gets tools for them, and a shell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WorkspaceKey {
    /// The shell for the tool `bash`: `virtual`, which is emulated, without other programs and without a
    /// network; `process`, for the programs of the machine in a sandbox; `container`, for those of an image; `none`; or
    /// settings. A server that was built without it refuses the config, and a machine that has no sandbox does not start it
    /// with `process`, nor one without containers with `container`.
    pub(crate) shell: ShellKey,
    /// The containers in which commands run at the level `container`.
    pub(crate) container: Option<ContainerKey>,
    /// Whether the model sees images: then the agent gets the tool `view_image`.
    pub(crate) view_images: bool,
    /// Whether results of tools that are too large for the model, or that were cleared, become files in
    /// `/workspace/tool-results`, of which it can read parts and in which it can search.
    pub(crate) save_results: bool,
    /// How much a workspace may hold.
    pub(crate) limits: WorkspaceLimits,
}

impl Default for WorkspaceKey {
    fn default() -> Self {
        Self {
            shell: ShellKey::default(),
            container: None,
            view_images: false,
            save_results: true,
            limits: WorkspaceLimits::default(),
        }
    }
}

/// How much a workspace may hold. `limits.userFileBytes` counts for it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WorkspaceLimits {
    /// The largest file in bytes.
    #[schemars(range(min = 1024, max = 67_108_864))]
    pub(crate) file_bytes: u64,
    /// All files of a conversation with their old versions, in bytes.
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub(crate) bytes: u64,
    /// The most files of a conversation.
    #[schemars(range(min = 1, max = 2000))]
    pub(crate) files: u64,
    /// All files of a user in bytes, with those that they attach to messages.
    #[schemars(range(min = 1024))]
    pub(crate) user_bytes: u64,
    /// The most files of all conversations of a user.
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) user_files: u64,
    /// The number of versions of a file that are kept.
    #[schemars(range(min = 1, max = 50))]
    pub(crate) versions: u64,
}

impl Default for WorkspaceLimits {
    fn default() -> Self {
        Self {
            file_bytes: 4 << 20,
            bytes: 32 << 20,
            files: 500,
            user_bytes: 256 << 20,
            user_files: 5_000,
            versions: 10,
        }
    }
}

/// The shell: its name, or settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ShellKey {
    /// A level.
    Level(ShellLevel),
    /// Settings.
    Settings(ShellSettings),
}

/// The level of isolation of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
// From the strictest one on: the order says which of two levels allows less.
pub(crate) enum ShellLevel {
    /// Not at all.
    None,
    /// Emulated, over the files of the conversation only.
    #[default]
    Virtual,
    /// With the programs of the machine, in a sandbox, over a copy of the files of the conversation. On Linux.
    Process,
    /// With the programs of an image, in a container of Podman or Docker, over a copy of the files of the conversation. On
    /// Linux.
    Container,
}

impl ShellLevel {
    /// Returns the name in the config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Virtual => "virtual",
            Self::Process => "process",
            Self::Container => "container",
        }
    }
}

/// The containers in which commands run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContainerKey {
    /// The image. It must be on the machine, since nothing is fetched, and needs `/bin/sh` and `tar`.
    pub(crate) image: String,
    /// The program that runs containers.
    #[serde(default)]
    pub(crate) engine: ContainerEngine,
    /// The runtime of the engine, such as `runsc`; that of the engine's own settings by default.
    #[serde(default)]
    pub(crate) runtime: Option<String>,
    /// The processors that a container may use.
    #[serde(default = "one_processor")]
    #[schemars(range(min = 1, max = 64))]
    pub(crate) cpus: u32,
}

fn one_processor() -> u32 {
    1
}

/// A program that runs containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ContainerEngine {
    /// Podman.
    #[default]
    Podman,
    /// Docker.
    Docker,
}

#[cfg(feature = "shell")]
impl ContainerEngine {
    /// Returns the name of the program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }

    /// Returns the option for a folder in memory.
    pub(crate) fn memory_folder(self, path: &str, bytes: u64, mode: &str) -> String {
        let folder = format!("type=tmpfs,destination={path},tmpfs-size={bytes},tmpfs-mode={mode}");
        match self {
            // Without a copy of what the image has there.
            Self::Podman => folder + ",notmpcopyup",
            Self::Docker => folder,
        }
    }
}

/// The limits of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ShellSettings {
    /// The level of isolation.
    pub(crate) level: ShellLevel,
    /// The most seconds of a call.
    #[serde(rename = "timeoutSeconds", with = "settings::seconds")]
    #[schemars(with = "u32", range(min = 1, max = 120))]
    pub(crate) timeout: Duration,
    /// The memory of a call in bytes. `virtual`: for what it reads, for variables, and for what passes between
    /// commands; 64 MB by default, 256 MB at most. `process`: for all of its processes together, beside its files;
    /// `container`: for all processes of the container, with their files; 512 MB by default.
    #[schemars(range(min = 1_048_576, max = 17_179_869_184_u64))]
    pub(crate) memory_bytes: Option<u64>,
    /// `process` and `container`: the most processes and threads of a call; 64 by default.
    #[schemars(range(min = 4, max = 1024))]
    pub(crate) processes: Option<u64>,
    /// The maximum size of the output that the model reads, in bytes.
    #[schemars(range(min = 1024, max = 262_144))]
    pub(crate) output_bytes: u64,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            level: ShellLevel::Virtual,
            timeout: Duration::from_secs(30),
            memory_bytes: None,
            processes: None,
            output_bytes: 48 << 10,
        }
    }
}

/// The most memory of a call of the emulated shell.
const MAX_EMULATED_MEMORY: u64 = 256 << 20;
/// The least memory of a call with the programs of the machine. With less, Python does not start.
const MIN_PROCESS_MEMORY: u64 = 16 << 20;
/// The processes and threads of a call, unless the config says otherwise.
#[cfg(feature = "shell")]
const PROCESSES: u64 = 64;

#[cfg(feature = "shell")]
impl ShellSettings {
    /// Returns the memory of a call in bytes.
    pub(crate) fn memory(&self) -> u64 {
        match self.level {
            ShellLevel::Process | ShellLevel::Container => self.memory_bytes.unwrap_or(512 << 20),
            ShellLevel::Virtual | ShellLevel::None => self.memory_bytes.unwrap_or(64 << 20).min(MAX_EMULATED_MEMORY),
        }
    }

    /// Returns the most processes and threads of a call.
    pub(crate) fn most_processes(&self) -> u64 {
        self.processes.unwrap_or(PROCESSES)
    }
}

impl Default for ShellKey {
    fn default() -> Self {
        Self::Level(ShellLevel::default())
    }
}

impl ShellKey {
    /// Returns the same settings with another level.
    pub(crate) fn at_level(&self, level: ShellLevel) -> Self {
        Self::Settings(ShellSettings { level, ..self.written() })
    }

    /// Returns the level as it is written.
    pub(crate) fn level(&self) -> ShellLevel {
        self.written().level
    }

    /// Returns the settings as they are written.
    fn written(&self) -> ShellSettings {
        match self {
            Self::Level(level) => ShellSettings { level: *level, ..ShellSettings::default() },
            Self::Settings(settings) => *settings,
        }
    }

    /// Returns the settings; `None` if the agent has no shell.
    pub(crate) fn settings(&self) -> Option<ShellSettings> {
        let settings = self.written();
        (settings.level != ShellLevel::None).then_some(settings)
    }
}

/// The problem of a key of the level `process` at another level.
const ONLY_PROCESS: &str = "the emulated shell starts no processes";

/// Whether the shell is part of this program.
pub(crate) const HAS_SHELL: bool = cfg!(feature = "shell");

impl Section for WorkspaceKey {
    const KEY: &'static str = "workspace";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        self.check_container(problems);
        if self.shell.settings().is_some() && !HAS_SHELL {
            let help = Some("build it with the feature `shell` or `full`, or write `shell: none`".to_owned());
            problems.error(&[], "this program has no shell", help);
        }
        let ShellSettings { level, memory_bytes, processes, .. } = self.shell.written();
        let has_programs = matches!(level, ShellLevel::Process | ShellLevel::Container);
        if has_programs && !cfg!(target_os = "linux") {
            let help = Some("write `shell: virtual`".to_owned());
            let message = format!("the level `{}` exists on Linux only", level.name());
            problems.error(&[PathStep::Key("shell")], message, help);
        }
        if has_programs && memory_bytes.is_some_and(|bytes| bytes < MIN_PROCESS_MEMORY) {
            let at = [PathStep::Key("shell"), PathStep::Key("memoryBytes")];
            let message = format!("programs need {MIN_PROCESS_MEMORY} bytes");
            problems.error(&at, message, Some("raise it, or write `level: virtual`".to_owned()));
        }
        if !has_programs {
            if processes.is_some() {
                let help = Some("remove it, or write `level: process`".to_owned());
                problems.error(&[PathStep::Key("shell"), PathStep::Key("processes")], ONLY_PROCESS, help);
            }
            if memory_bytes.is_some_and(|bytes| bytes > MAX_EMULATED_MEMORY) {
                let at = [PathStep::Key("shell"), PathStep::Key("memoryBytes")];
                let message = format!("the emulated shell may have {MAX_EMULATED_MEMORY} bytes");
                problems.error(&at, message, Some("lower it, or write `level: process`".to_owned()));
            }
        }
        if self.limits.file_bytes > self.limits.bytes {
            let at = [PathStep::Key("limits"), PathStep::Key("fileBytes")];
            problems.error(&at, "a file may not be larger than all files together", Some("raise `bytes`".to_owned()));
        }
    }

    fn tool_names(&self) -> Vec<String> {
        let mut names = vec![LS, READ_FILE, WRITE_FILE, STR_REPLACE, GLOB, GREP, PRESENT_FILES];
        if self.view_images {
            names.push(VIEW_IMAGE);
        }
        if self.shell.settings().is_some() {
            names.push(BASH);
        }
        names.into_iter().map(str::to_owned).collect()
    }
}

impl WorkspaceKey {
    fn check_container(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        let is_needed = self.shell.level() == ShellLevel::Container;
        let Some(ContainerKey { image, runtime, .. }) = &self.container else {
            if is_needed {
                let help = Some(
                    "name one beside `shell`: `container: { image: docker.io/library/python:3.13-slim }`".to_owned(),
                );
                problems.error(&[PathStep::Key("shell")], "the level `container` needs an image", help);
            }
            return;
        };
        if !is_needed {
            let help = Some("remove it, or write `shell: container`".to_owned());
            problems.error(&[PathStep::Key("container")], "only the level `container` has containers", help);
        }
        // Image and runtime are arguments of a program, so they must not look like options.
        let is_name = |name: &str| {
            let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-/:@+".contains(char);
            !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
        };
        for (key, name) in [("image", Some(image)), ("runtime", runtime.as_ref())] {
            if name.is_some_and(|name| !is_name(name)) {
                let at = [PathStep::Key("container"), PathStep::Key(key)];
                let help = Some("a name has letters, digits and `._-/:@+`, and does not begin with `-`".to_owned());
                problems.error(&at, format!("this is not a name of an {key}").replace("an runtime", "a runtime"), help);
            }
        }
    }
}

#[cfg(all(test, feature = "shell", target_os = "linux"))]
mod tests {
    use super::*;
    use config::{Language, SectionType};

    #[test]
    fn keys_of_another_level_are_refused() {
        let check = |shell: &str, expected: &str| {
            let text = format!(
                "
connections: [{{ id: demo, type: Demo }}]
agents: [{{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo }}, workspace: {{ shell: {shell} }} }}]
pages: [{{ id: p }}]
"
            );
            let read = Language::new(&[SectionType::of::<WorkspaceKey>()], &[]).read_text(&text);
            let problems = read.err().unwrap_or_default();
            let problems: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
            assert_eq!(problems.join("; "), expected, "{shell}");
        };
        check("process", "");
        check("{ level: process, processes: 8, memoryBytes: 1073741824 }", "");
        check("{ level: virtual, memoryBytes: 268435456 }", "");
        check("{ level: process, memoryBytes: 16777216 }", "");
        check("{ level: process, memoryBytes: 16777215 }", "programs need 16777216 bytes");
        check("{ level: virtual, memoryBytes: 1048576 }", "");
        check("{ processes: 8 }", "the emulated shell starts no processes");
        check("{ memoryBytes: 268435457 }", "the emulated shell may have 268435456 bytes");
        check("container", "the level `container` needs an image");
        check("container, container: { image: 'a.example/b:1' }", "");
        check("{ level: container, processes: 8 }, container: { image: b, runtime: runsc, engine: docker }", "");
        check("container, container: { image: '--privileged' }", "this is not a name of an image");
        check("container, container: { image: b, runtime: 'a b' }", "this is not a name of a runtime");
        check("virtual, container: { image: b }", "only the level `container` has containers");
        check("{ level: container, memoryBytes: 16777215 }, container: { image: b }", "programs need 16777216 bytes");
    }
}
