//! The key `workspace` of an agent.

use crate::tools;
use config::{PathStep, Section, SectionPlace, SectionProblems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Gives each conversation of the agent a tree of files: `/workspace` for the agent, `/uploads` with what the
/// user attached, and `/outputs` for results. The agent gets tools for them, and a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WorkspaceKey {
    /// The shell for the tool `bash`: `virtual`, which is emulated, without other programs and without a
    /// network; `none`; or settings. A server that was built without it refuses the config.
    pub(crate) shell: ShellKey,
    /// Whether the model sees images: then the agent gets the tool `view_image`.
    pub(crate) view_images: bool,
    /// How much a workspace may hold.
    pub(crate) limits: WorkspaceLimits,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ShellLevel {
    /// Not at all.
    None,
    /// Emulated, over the files of the conversation only.
    #[default]
    Virtual,
}

impl ShellLevel {
    /// Returns the name in the config.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Virtual => "virtual",
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
    /// The memory of a call in bytes: for what it reads, for variables, and for what passes between commands.
    #[schemars(range(min = 1_048_576, max = 268_435_456))]
    pub(crate) memory_bytes: u64,
    /// How much of the output the model reads, in bytes.
    #[schemars(range(min = 1024, max = 262_144))]
    pub(crate) output_bytes: u64,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            level: ShellLevel::Virtual,
            timeout: Duration::from_secs(30),
            memory_bytes: 64 << 20,
            output_bytes: 48 << 10,
        }
    }
}

impl Default for ShellKey {
    fn default() -> Self {
        Self::Level(ShellLevel::default())
    }
}

impl ShellKey {
    /// Returns the settings; `None` if the agent has no shell.
    pub(crate) fn settings(&self) -> Option<ShellSettings> {
        let settings = match self {
            Self::Level(level) => ShellSettings { level: *level, ..ShellSettings::default() },
            Self::Settings(settings) => *settings,
        };
        (settings.level != ShellLevel::None).then_some(settings)
    }
}

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
        if self.limits.file_bytes > self.limits.bytes {
            let at = [PathStep::Key("limits"), PathStep::Key("fileBytes")];
            problems.error(&at, "a file may not be larger than all files together", Some("raise `bytes`".to_owned()));
        }
    }

    fn tool_names(&self) -> Vec<String> {
        tools::names(self).into_iter().map(str::to_owned).collect()
    }
}
