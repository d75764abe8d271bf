//! Reads documents: a job for each, whose writes name the version that it reads. After a server was
//! killed, another attempt begins the version anew. When a document was deleted or has a newer version,
//! writes about the old version have no effect. The last rows of a version are stored with the end of the
//! job, so a short text takes two transactions. A document with pages that are pictures is left to a job of
//! another kind ([`pictures`]).

mod embed;
mod folders;
mod page_question;
mod pictures;
mod rows;
mod sweep;
#[cfg(test)]
mod tests;

pub(crate) use embed::handler as embed_handler;
pub(crate) use folders::follow;
pub(crate) use pictures::handler as pages_handler;
pub(crate) use sweep::sweep;

use crate::graph;
use crate::service::Knowledge;
use crate::store::{self, Finished, NewPart, OpenVersion, Progress};
use ::store::StoreError;
use ::store::sql::Db;
use documents::{Converter, Document, Failure, FailureCode, Limits, SplitOptions, Warning, split};
use jobs::{Backoff, Handler, JobContext, JobError, Jobs, Kind, OnPending, Outcome};
use page_question::ReadPages;
use pictures::READ_PAGES;
use rows::{BATCH, Rows};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use web::times::now_millis;

/// The number of attempts.
const ATTEMPTS: u32 = 3;
/// The interval at which it is checked whether the reading of a file was cancelled.
const UNWANTED_CHECK: Duration = Duration::from_secs(1);
/// The progress after reading, and after splitting.
const READ: f64 = 0.5;
const SPLIT: f64 = 0.6;
/// The most warnings of a document that are kept, and the longest one in characters.
const MAX_WARNINGS: usize = 20;
const MAX_WARNING: usize = 500;

/// The job that reads a document. Its key is the document's id, so it is read by one at a time.
pub(crate) const INGEST: Kind<Ingest> = Kind::new("knowledge.ingest")
    .concurrency(4)
    .attempts(ATTEMPTS)
    .backoff(Backoff { base: Duration::from_secs(2), cap: Duration::from_secs(60) })
    .timeout(Duration::from_secs(15 * 60));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ingest {
    pub(crate) document_id: String,
}

/// Enqueues the job that reads a document, in a transaction. `owner` is the owner of the library.
pub(crate) async fn enqueue(jobs: &Jobs, db: &mut Db, document_id: &str, owner: &str) -> Result<(), StoreError> {
    let job = INGEST.job(&Ingest { document_id: document_id.to_owned() }).key(document_id);
    let job = if owner.is_empty() { job } else { job.owner(owner) };
    jobs.enqueue_in(db, job).await?;
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn handler(knowledge: Knowledge) -> Handler {
    handler_with(Converter::new(Limits::default()), knowledge, ATTEMPTS)
}

/// As [`handler`], with another program that reads files, and another number of attempts.
fn handler_with(converter: Converter, knowledge: Knowledge, attempts: u32) -> Handler {
    Handler::new(INGEST, move |job, Ingest { document_id }| {
        let (knowledge, converter) = (knowledge.clone(), converter.clone());
        async move { Reader { knowledge, converter, job, document_id, model: None, attempts }.read().await }
    })
}

/// An attempt to read a document.
struct Reader {
    knowledge: Knowledge,
    converter: Converter,
    job: JobContext,
    document_id: String,
    /// The model that reads pages that are pictures; `None` in the job that leaves them to another one.
    model: Option<Arc<dyn ReadPages>>,
    /// The number of attempts of the job.
    attempts: u32,
}

/// The text of a version.
struct Text {
    parts: Vec<NewPart>,
    chunks: Vec<NewPart>,
    pages: i64,
    warnings: Vec<Warning>,
}

/// The text of a version that is stored, except for its last rows.
struct Stored {
    pages: i64,
    chunks: i64,
    warnings: Vec<Warning>,
    /// The last rows.
    last: Vec<Rows>,
}

/// How an attempt at a version ended.
enum Read {
    /// The version is not to be read any more.
    Unwanted,
    /// The job ends or goes on in this way.
    Ended(Outcome),
}

/// Why a version could not be read.
enum Problem {
    /// The attempt failed, whatever the file is.
    Job(JobError),
    /// The file cannot be read.
    File(Failure),
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::Job(error.into())
    }
}

impl Reader {
    async fn read(self) -> Result<Outcome, JobError> {
        let Some(version) = store::open_version(self.job.store(), &self.document_id).await? else {
            return Ok(Outcome::DONE);
        };
        if self.model.is_none() && store::has_job(self.job.store(), READ_PAGES.name(), &self.document_id).await? {
            return Ok(self.leave_to_model().await?);
        }
        match self.read_version(&version).await {
            // Deleted or replaced; the newer version has enqueued the job again.
            Ok(Read::Unwanted) => Ok(Outcome::DONE),
            Ok(Read::Ended(outcome)) => Ok(outcome),
            Err(Problem::Job(error)) => {
                if self.is_last_attempt() {
                    let message = "The server could not read the document. Try again later.";
                    self.fail(&version, "unavailable", message).await?;
                }
                Err(error)
            }
            Err(Problem::File(failure)) if failure.is_temporary() && !self.is_last_attempt() => {
                Err(JobError::retry(failure.detail.unwrap_or(failure.message)))
            }
            Err(Problem::File(Failure { code, message, detail, .. })) => {
                tracing::info!(document = self.document_id, ?code, detail, "a document could not be read");
                let code = serde_json::to_value(code).ok().and_then(|code| code.as_str().map(str::to_owned));
                self.fail(&version, &code.unwrap_or_default(), &message).await?;
                Ok(Outcome::DONE)
            }
        }
    }

    /// Returns whether there is no attempt after this one.
    fn is_last_attempt(&self) -> bool {
        self.job.attempt() >= self.attempts && self.job.why_stopped().is_none()
    }

    /// Reads a version, stores its text and chunks, and makes it the one that is found.
    async fn read_version(&self, version: &OpenVersion) -> Result<Read, Problem> {
        if !self.begin(version).await? {
            return Ok(Read::Unwanted);
        }
        let Some(found) = self.convert(version).await? else { return Ok(Read::Unwanted) };
        let document = match self.with_pictures(version, found).await? {
            ControlFlow::Continue(document) => document,
            ControlFlow::Break(read) => return Ok(read),
        };
        let Some(stored) = self.store_text(version, document).await? else { return Ok(Read::Unwanted) };
        Ok(Read::Ended(self.finish(version, stored).await?))
    }

    /// Returns what is in the file; `None` if the version is not to be read any more.
    async fn convert(&self, version: &OpenVersion) -> Result<Option<Result<Document, Failure>>, Problem> {
        if let Some(image) = self.image(version).await? {
            return Ok(Some(Err(image)));
        }
        let content = store::pieces(self.job.store().clone(), version.version_id.clone());
        let read = self.converter.convert(&version.file_name, Some(&version.media_type), content);
        let document = tokio::select! {
            document = self.job.stop().run_until_cancelled(read) => document,
            () = self.until_unwanted(version) => return Ok(None),
        };
        let Some(document) = document else {
            return Err(Problem::Job(JobError::retry("it was stopped")));
        };
        Ok(Some(document))
    }

    /// Stores the text and the chunks of a version, except for the last rows; `None` if the version is not to be read any
    /// more.
    async fn store_text(&self, version: &OpenVersion, document: Document) -> Result<Option<Stored>, Problem> {
        // Nobody sees the progress of a short text.
        let is_long = document.parts.len() > BATCH;
        let splitting = || Progress { step: "splitting", part: READ, now: now_millis() };
        if is_long && !self.step(version, splitting(), Vec::new()).await? {
            return Ok(None);
        }
        let text = tokio::task::spawn_blocking(move || Text::new(&document)).await;
        let text = text.map_err(|_| Problem::File(Failure::new(FailureCode::Crashed, &version.file_name)))?;
        let Text { parts, chunks, pages, warnings } = text;
        self.check_room(version, chunks.len()).await?;
        let (all, mut done, count) = ((parts.len() + chunks.len()).max(1), 0, chunks.len() as i64);
        let mut batches = Rows::batches(parts, chunks);
        let last = batches.pop().unwrap_or_default();
        for rows in batches {
            done += rows.iter().map(Rows::count).sum::<usize>();
            let part = SPLIT + (1.0 - SPLIT) * done as f64 / all as f64;
            if !self.step(version, Progress { step: "indexing", part, now: now_millis() }, rows).await? {
                return Ok(None);
            }
        }
        Ok(Some(Stored { pages, chunks: count, warnings, last }))
    }

    /// Waits until a version is not to be read any more: it was deleted, replaced or cancelled.
    async fn until_unwanted(&self, version: &OpenVersion) {
        loop {
            tokio::time::sleep(UNWANTED_CHECK).await;
            let open = store::open_version(self.job.store(), &self.document_id).await;
            // An error of the database says nothing about the version.
            if open.is_ok_and(|open| open.is_none_or(|open| open.version_id != version.version_id)) {
                return;
            }
        }
    }

    /// Begins a version anew: deletes what an earlier attempt has stored.
    async fn begin(&self, version: &OpenVersion) -> Result<bool, StoreError> {
        let (id, version) = (self.document_id.clone(), version.version_id.clone());
        let progress = Progress { step: "reading", part: 0.0, now: now_millis() };
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let is_open = store::progress(db, &id, &version, progress).await?;
                if is_open {
                    store::clear_text(db, &version).await?;
                }
                Ok(is_open)
            })
        });
        write.await
    }

    /// Stores rows with the progress. Returns false if the version is not to be read any more.
    async fn step(&self, version: &OpenVersion, progress: Progress, rows: Vec<Rows>) -> Result<bool, StoreError> {
        let (id, version) = (self.document_id.clone(), version.version_id.clone());
        let write = self.job.write(move |db| {
            Box::pin(async move {
                let is_open = store::progress(db, &id, &version, progress).await?;
                if is_open {
                    Rows::insert(rows, db, &version).await?;
                }
                Ok(is_open)
            })
        });
        write.await
    }

    /// Checks that the library may have so many more chunks.
    async fn check_room(&self, version: &OpenVersion, chunks: usize) -> Result<(), Problem> {
        let counts = store::counts(self.job.store(), vec![version.library_id.clone()]).await?;
        let known = counts.get(&version.library_id).map_or(0, |counts| counts.chunks);
        let most = self.knowledge.settings().library_chunks;
        if known + chunks as i64 <= i64::from(most) {
            return Ok(());
        }
        let failure = Failure {
            code: FailureCode::TooLarge,
            message: "The library has reached its limit of text. Delete documents that you no longer need.".to_owned(),
            detail: None,
            picture_pages: Vec::new(),
        };
        Err(Problem::File(failure))
    }

    /// Stores the last rows, and makes the version the one that is found.
    async fn finish(&self, version: &OpenVersion, stored: Stored) -> Result<Outcome, StoreError> {
        let (id, library, version) = (self.document_id.clone(), version.library_id.clone(), version.version_id.clone());
        let Stored { pages, chunks, warnings, last } = stored;
        let finished = Finished { pages, chunks, warnings, now: now_millis() };
        let has_embedder = self.knowledge.models().embedder.is_some();
        let row = store::library(self.job.store(), &library).await?;
        let has_graph = row.is_some_and(|row| self.knowledge.graph_settings(&row).is_some());
        let (jobs, owner) = (self.job.jobs().clone(), self.job.owner().unwrap_or_default().to_owned());
        let finish = self.job.finish(Outcome::DONE, move |db| {
            Box::pin(async move {
                let is_found = store::finish(db, &id, &version, finished).await?;
                if is_found {
                    Rows::insert(last, db, &version).await?;
                }
                if is_found && has_graph {
                    graph::enqueue(&jobs, db, &id, &owner).await?;
                }
                if is_found && has_embedder {
                    embed::enqueue(&jobs, db, (&library, &owner), OnPending::Earlier).await?;
                }
                Ok(())
            })
        });
        finish.await
    }

    async fn fail(&self, version: &OpenVersion, code: &str, message: &str) -> Result<(), StoreError> {
        let (id, version) = (self.document_id.clone(), version.version_id.clone());
        let (code, message) = (code.to_owned(), message.to_owned());
        let write = self.job.write(move |db| {
            Box::pin(async move { store::fail(db, (&id, &version), (&code, &message), now_millis()).await })
        });
        write.await
    }
}

impl Text {
    fn new(document: &Document) -> Self {
        let place = |place: &documents::Place| serde_json::to_string(place).unwrap_or_default();
        let parts = (0..).zip(&document.parts).map(|(no, part)| NewPart {
            no,
            place: place(&part.place),
            heading: part.headings.join(" > "),
            text: part.display(),
        });
        // Without gaps in the numbers: the index counts chunks.
        let placed =
            split(document, &SplitOptions::default()).into_iter().filter_map(|chunk| Some((chunk.place()?, chunk)));
        let chunks = (0..).zip(placed).map(|(no, (at, chunk))| NewPart {
            no,
            place: place(&at),
            heading: chunk.context,
            text: chunk.text,
        });
        let places: HashSet<_> = document.parts.iter().map(|part| &part.place).collect();
        let warning = |Warning { code, message }: &Warning| Warning {
            code: *code,
            message: message.chars().take(MAX_WARNING).collect(),
        };
        let warnings = document.warnings.iter().take(MAX_WARNINGS).map(warning).collect();
        Self { parts: parts.collect(), chunks: chunks.collect(), pages: places.len() as i64, warnings }
    }
}
