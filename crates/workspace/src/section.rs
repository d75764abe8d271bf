//! The key `workspace` of an agent.

use crate::tools;
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
    /// network; `process`, for the programs of the machine in a sandbox; `none`; or settings. A server that was
    /// built without it refuses the config, and a machine that has no sandbox does not start it with `process`.
    pub(crate) shell: ShellKey,
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
        Self { shell: ShellKey::default(), view_images: false, save_results: true, limits: WorkspaceLimits::default() }
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
    /// How many versions of a file are kept.
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

/// How commands run.
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
}

impl ShellLevel {
    /// Returns the name in the config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Virtual => "virtual",
            Self::Process => "process",
        }
    }
}

/// What a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ShellSettings {
    /// How commands run.
    pub(crate) level: ShellLevel,
    /// The most seconds of a call.
    #[serde(rename = "timeoutSeconds", with = "settings::seconds")]
    #[schemars(with = "u32", range(min = 1, max = 120))]
    pub(crate) timeout: Duration,
    /// The memory of a call in bytes. `virtual`: for what it reads, for variables, and for what passes between
    /// commands; 64 MB by default, 256 MB at most. `process`: for all of its processes together, beside its files;
    /// 512 MB by default.
    #[schemars(range(min = 1_048_576, max = 17_179_869_184_u64))]
    pub(crate) memory_bytes: Option<u64>,
    /// `process`: the most processes and threads of a call; 64 by default.
    #[schemars(range(min = 4, max = 1024))]
    pub(crate) processes: Option<u64>,
    /// How much of the output the model reads, in bytes.
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
            ShellLevel::Process => self.memory_bytes.unwrap_or(512 << 20),
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

/// What is said of a key of the level `process` at another one.
const ONLY_PROCESS: &str = "the emulated shell starts no processes";

/// Whether the shell is part of this program.
pub(crate) const HAS_SHELL: bool = cfg!(feature = "shell");

impl Section for WorkspaceKey {
    const KEY: &'static str = "workspace";
    const PLACE: SectionPlace = SectionPlace::Agent;

    fn check(&self, problems: &mut SectionProblems<'_, '_, '_>) {
        if self.shell.settings().is_some() && !HAS_SHELL {
            let help = Some("build it with the feature `shell` or `full`, or write `shell: none`".to_owned());
            problems.error(&[], "this program has no shell", help);
        }
        let ShellSettings { level, memory_bytes, processes, .. } = self.shell.written();
        if level == ShellLevel::Process && !cfg!(target_os = "linux") {
            let help = Some("write `shell: virtual`".to_owned());
            problems.error(&[PathStep::Key("shell")], "the level `process` exists on Linux only", help);
        }
        if level == ShellLevel::Process && memory_bytes.is_some_and(|bytes| bytes < MIN_PROCESS_MEMORY) {
            let at = [PathStep::Key("shell"), PathStep::Key("memoryBytes")];
            let message = format!("programs need {MIN_PROCESS_MEMORY} bytes");
            problems.error(&at, message, Some("raise it, or write `level: virtual`".to_owned()));
        }
        if level != ShellLevel::Process {
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
        tools::names(self).into_iter().map(str::to_owned).collect()
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
    }
}
