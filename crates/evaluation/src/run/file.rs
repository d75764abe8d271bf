//! The results file: JSON Lines, to which each group of results is appended when it is known.

use super::results::{CaseResult, ComparisonResult, ResultSink};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// The largest results file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The first line of the file, which names the evaluation and the configs of the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    /// The name of the evaluation.
    evaluation: String,
    /// The names of the configs, in order.
    configs: Vec<String>,
    /// A hash of the evaluation, the dataset and the configs, the same with every build of the program.
    fingerprint: String,
}

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Line {
    Run(Header),
    Result(CaseResult),
    Comparison(ComparisonResult),
}

/// A results file that is open for writing.
#[derive(Debug)]
pub(super) struct FileSink(Arc<File>);

#[async_trait]
impl ResultSink for FileSink {
    async fn append(&mut self, results: &[CaseResult], comparisons: &[ComparisonResult]) -> Result<(), String> {
        let results = results.iter().cloned().map(Line::Result);
        let lines: Vec<_> = results.chain(comparisons.iter().cloned().map(Line::Comparison)).collect();
        let file = self.0.clone();
        let written = tokio::task::spawn_blocking(move || write(&file, &lines)).await;
        written.unwrap_or_else(|_| Err("the results cannot be written".to_owned()))
    }
}

/// Begins a new file.
pub(super) fn create(path: &Path, names: (&str, &[String]), fingerprint: &str) -> Result<FileSink, String> {
    let opened = OpenOptions::new().create_new(true).append(true).open(path);
    let file = opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!("{} exists already; continue it with `--resume`, or delete it", path.display())
        }
        _ => format!("{} cannot be written: {error}", path.display()),
    })?;
    lock(&file, path)?;
    write(&file, &[Line::Run(header(names, fingerprint))])?;
    Ok(FileSink(Arc::new(file)))
}

/// Opens a file again, and returns its contents. A last line that was cut off is removed.
pub(super) fn resume(
    path: &Path,
    names: (&str, &[String]),
    fingerprint: &str,
) -> Result<(FileSink, Vec<CaseResult>, Vec<ComparisonResult>), String> {
    let shown = path.display().to_string();
    let problem = |error: std::io::Error| format!("{shown} cannot be read: {error}");
    let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(problem)?;
    lock(&file, path)?;
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(problem)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("{shown} is larger than {} MB", MAX_BYTES >> 20));
    }
    // Each line was written with its end, so one without it was cut off.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    file.set_len(whole as u64).map_err(problem)?;
    file.seek(SeekFrom::End(0)).map_err(problem)?;
    let expected = header(names, fingerprint);
    if whole == 0 {
        // The process was killed before the first line was whole.
        write(&file, &[Line::Run(expected)])?;
        return Ok((FileSink(Arc::new(file)), Vec::new(), Vec::new()));
    }
    let KeptLines { header: found, results, comparisons } = read_lines(&bytes[..whole], &shown)?;
    if found != expected {
        return Err(format!(
            "{shown} is of another evaluation: the evaluation, its dataset or a config has changed since; begin a new file with `--output`"
        ));
    }
    Ok((FileSink(Arc::new(file)), results, comparisons))
}

/// The contents of a results file.
struct KeptLines {
    header: Header,
    results: Vec<CaseResult>,
    comparisons: Vec<ComparisonResult>,
}

/// Reads whole lines. `shown` is the file in messages.
fn read_lines(bytes: &[u8], shown: &str) -> Result<KeptLines, String> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
    let mut lines = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    let first = lines.next().and_then(|(line, _)| serde_json::from_slice(line).ok());
    let Some(Line::Run(header)) = first else {
        return Err(format!("{shown}:1: this is not the results of an evaluation"));
    };
    let (mut results, mut comparisons) = (Vec::new(), Vec::new());
    for (line, number) in lines {
        match serde_json::from_slice(line) {
            Ok(Line::Result(result)) => results.push(result),
            Ok(Line::Comparison(comparison)) => comparisons.push(comparison),
            Ok(Line::Run(_)) | Err(_) => return Err(format!("{shown}:{number}: the line is not a result")),
        }
    }
    Ok(KeptLines { header, results, comparisons })
}

/// The results of a whole run, as `--output` has written them.
#[derive(Clone, Debug)]
pub struct ResultsText {
    /// The name of the evaluation.
    pub evaluation: String,
    /// The names of the configs, in order.
    pub configs: Vec<String>,
    /// The hash of all that the results depend on.
    pub fingerprint: String,
    /// The results. Of a case that was evaluated again, the last one counts.
    pub results: Vec<CaseResult>,
    /// The comparisons of two configs.
    pub comparisons: Vec<ComparisonResult>,
}

impl ResultsText {
    /// Reads the text of a results file.
    ///
    /// # Errors
    /// It is not one; the message has the number of the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let KeptLines { header, results, comparisons } = read_lines(text.as_bytes(), "the results")?;
        let Header { evaluation, configs, fingerprint } = header;
        Ok(Self { evaluation, configs, fingerprint, results, comparisons })
    }
}

/// Writes lines and waits until they are on the disk.
fn write(mut file: &File, lines: &[Line]) -> Result<(), String> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line).map_err(|error| error.to_string())?;
        bytes.push(b'\n');
    }
    let written = file.write_all(&bytes).and_then(|()| file.sync_data());
    written.map_err(|error| format!("the results cannot be written: {error}"))
}

/// Locks the file until it is closed: results of two processes would be mixed.
fn lock(file: &File, path: &Path) -> Result<(), String> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => format!("{} is used by another process", path.display()),
        TryLockError::Error(error) => format!("{} cannot be locked: {error}", path.display()),
    })
}

fn header((evaluation, configs): (&str, &[String]), fingerprint: &str) -> Header {
    Header { evaluation: evaluation.to_owned(), configs: configs.to_vec(), fingerprint: fingerprint.to_owned() }
}
