//! The recordings that `chatwright replay` replays: those of a file, a run or a conversation, or of the answers of which the
//! cases of a dataset were made.

use crate::capabilities::database_schema;
use experiments::KeptCaseAnswer;
use recordings::format::Recording;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use store::Store;

/// The error message for a file of cases.
const FILE: &str = "`{}` has the cases of a dataset, not recordings; `chatwright eval` compares two configs on \
    them: `chatwright eval {} --config a.yaml --config b.yaml`. A dataset of a server, whose cases were kept from recorded \
    conversations, is replayed by its name: `chatwright replay NAME --database URL`";
/// How much of the first line is read to find that out, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Refuses a file with the cases of a dataset instead of recordings.
pub(super) fn check_file(path: &Path) -> anyhow::Result<()> {
    let first = || {
        let mut line = Vec::new();
        let read = File::open(path).and_then(|file| BufReader::new(file).take(MAX_LINE).read_until(b'\n', &mut line));
        read.ok().and_then(|_| serde_json::from_slice::<serde_json::Value>(&line).ok())
    };
    let is_dataset = path.extension().is_some_and(|ending| ending == "csv")
        || first().is_some_and(|line| line.get("input").is_some() && line.get("type").is_none());
    anyhow::ensure!(!is_dataset, "{}", FILE.replace("{}", &path.display().to_string()));
    Ok(())
}

/// The recordings to replay, in batches.
pub(super) enum Source {
    /// The recordings of a file, a run or a conversation, one in each batch.
    Loaded(Vec<Recording>),
    /// The recordings of the cases of a dataset, which may be thousands: a batch is read when it is needed.
    Dataset {
        /// The URL of the database.
        database: String,
        /// The cases, one for each batch.
        cases: Vec<KeptCaseAnswer>,
    },
}

/// The properties of all recordings that are needed before the first one is replayed.
#[derive(Default)]
pub(super) struct Outline {
    /// The ids of the agents.
    pub(super) agents: BTreeSet<String>,
    /// The hashes of the configs.
    pub(super) configs: BTreeSet<String>,
}

impl Source {
    /// Finds the cases of a dataset. `None` if there is no such dataset, or if it has no cases.
    pub(super) async fn find_dataset(store: &Store, database: String, name: &str) -> anyhow::Result<Option<Self>> {
        let cases = experiments::answers_of_dataset(store, name).await?.unwrap_or_default();
        Ok((!cases.is_empty()).then_some(Self::Dataset { database, cases }))
    }

    /// Returns the number of batches.
    pub(super) fn batches(&self) -> usize {
        match self {
            Self::Loaded(recordings) => recordings.len(),
            Self::Dataset { cases, .. } => cases.len(),
        }
    }

    /// Returns the case of a batch; `None` if the recordings are not those of a dataset.
    pub(super) fn case(&self, batch: usize) -> Option<&str> {
        match self {
            Self::Loaded(_) => None,
            Self::Dataset { cases, .. } => cases.get(batch).map(|kept| kept.case.as_str()),
        }
    }

    /// Returns the recordings of a batch. The database is open only meanwhile, since a server may use it.
    pub(super) async fn batch(&self, batch: usize) -> anyhow::Result<Cow<'_, [Recording]>> {
        let (database, cases) = match self {
            Self::Loaded(recordings) => return Ok(recordings.get(batch..=batch).unwrap_or_default().into()),
            Self::Dataset { database, cases } => (database, cases),
        };
        let Some((conversation, message)) = cases.get(batch).and_then(|kept| kept.answer.as_ref()) else {
            return Ok(Cow::default());
        };
        let store = database_schema().open_existing(database).await?;
        let found = recordings::find_of_answer(&store, conversation, message).await;
        store.close().await;
        Ok(found?.into())
    }

    /// Reads all recordings, one batch after another.
    pub(super) async fn outline(&self, name: &str) -> anyhow::Result<Outline> {
        let mut outline = Outline::default();
        for batch in 0..self.batches() {
            for recording in self.batch(batch).await?.iter() {
                outline.agents.insert(recording.header.agent_id.clone());
                outline.configs.insert(recording.header.config.clone());
            }
        }
        anyhow::ensure!(
            !outline.agents.is_empty() || matches!(self, Self::Loaded(_)),
            "no case of the dataset `{name}` has a recording: its agent needs `record: on` before users rate its answers"
        );
        Ok(outline)
    }
}
