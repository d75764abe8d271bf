//! The cases of a dataset whose answers were recorded, for `chatwright replay`.

use recordings::format::Recording;
use recordings::report::RecordedCase;
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

/// Reads the recordings of the answers that the cases of a dataset were made of. Nothing if there is no such dataset.
pub(super) async fn read(store: &Store, name: &str) -> anyhow::Result<(Vec<Recording>, Vec<RecordedCase>)> {
    let (mut found, mut cases) = (Vec::new(), Vec::new());
    for kept in experiments::answers_of_dataset(store, name).await?.unwrap_or_default() {
        let recorded = match kept.answer {
            Some((conversation, message)) => recordings::find_of_answer(store, &conversation, &message).await?,
            None => Vec::new(),
        };
        let runs = recorded.iter().map(|recording| recording.header.run_id.clone()).collect();
        cases.push(RecordedCase { case: kept.case, runs });
        found.extend(recorded);
    }
    anyhow::ensure!(
        cases.is_empty() || !found.is_empty(),
        "no case of the dataset `{name}` has a recording: its agent needs `record: on` before users rate its answers"
    );
    Ok((found, cases))
}
