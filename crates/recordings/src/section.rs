//! The key `record` of an agent and the section `recordings`.

use config::{Section, SectionPlace};
use schemars::JsonSchema;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// The part of the conversations that `sample` records.
const DEFAULT_SAMPLE: f64 = 0.1;

/// Records the runs of the agent, to be replayed with `chatwright replay`: `on`, `off`, `sample`
/// for a tenth of the conversations, or `{ sample: 0.25 }` for another part of them. Temporary
/// conversations are never recorded. Default: `off`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RecordKey {
    /// Whether runs are recorded.
    Switch(bool),
    /// A mode.
    Mode(RecordMode),
    /// A part of the conversations.
    Sample(SampleSettings),
}

/// The runs that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RecordMode {
    /// All.
    On,
    /// Those of a tenth of the conversations.
    Sample,
    /// None.
    Off,
}

/// A part of the conversations.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SampleSettings {
    /// The part of the conversations that is recorded, from 0 to 1. All runs of a conversation are
    /// recorded, or none.
    #[schemars(range(min = 0, max = 1))]
    pub(crate) sample: f64,
}

impl RecordKey {
    /// Returns the part of the conversations that is recorded, from 0 to 1.
    fn rate(self) -> f64 {
        match self {
            Self::Switch(true) | Self::Mode(RecordMode::On) => 1.0,
            Self::Switch(false) | Self::Mode(RecordMode::Off) => 0.0,
            Self::Mode(RecordMode::Sample) => DEFAULT_SAMPLE,
            Self::Sample(settings) => settings.sample,
        }
    }

    /// Returns whether the runs of a conversation are recorded. The answer is the same each time
    /// and on each server.
    pub(crate) fn records(self, conversation_id: &str) -> bool {
        let digest = Sha256::digest(conversation_id);
        let first = digest.first_chunk().copied().map_or(0, u32::from_be_bytes);
        f64::from(first) < self.rate() * (f64::from(u32::MAX) + 1.0)
    }
}

impl Section for RecordKey {
    const KEY: &'static str = "record";
    const PLACE: SectionPlace = SectionPlace::Agent;
}

/// The retention time of recordings of runs, and their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Recordings {
    /// The days after which a recording is deleted. It is deleted with its conversation in any
    /// case.
    #[schemars(range(min = 1, max = 3650))]
    pub(crate) keep_days: u32,
    /// The size of one recording in MiB. A run that becomes larger is not recorded.
    #[schemars(range(min = 1, max = 256))]
    pub(crate) run_megabytes: u32,
    /// The size of all recordings together in MiB. The oldest are deleted first.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub(crate) total_megabytes: u32,
}

impl Default for Recordings {
    fn default() -> Self {
        Self { keep_days: 30, run_megabytes: 16, total_megabytes: 1024 }
    }
}

impl Recordings {
    /// Returns the retention time of a recording.
    pub(crate) fn keep(self) -> Duration {
        Duration::from_secs(u64::from(self.keep_days) * 24 * 60 * 60)
    }

    /// Returns the most bytes of one recording.
    pub(crate) fn run_bytes(self) -> usize {
        (self.run_megabytes as usize).saturating_mul(1024 * 1024)
    }

    /// Returns the most bytes of all recordings.
    pub(crate) fn total_bytes(self) -> i64 {
        i64::from(self.total_megabytes) * 1024 * 1024
    }
}

impl Section for Recordings {
    const KEY: &'static str = "recordings";
}
