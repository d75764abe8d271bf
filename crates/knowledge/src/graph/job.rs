//! Reads a document with a model: a job for each, which stores what is found batch by batch and continues where an
//! attempt before it has stopped. Each write names the version, what is extracted, and the chunk that is next, so
//! it has no effect any more once one of them is another.

use super::answer::{FORM, INSTRUCTIONS, Kept, kept, prompt, schema};
use crate::section::GraphSettings;
use crate::service::Knowledge;
use crate::store::graph::{self, Extraction, ExtractionState, NewBatch};
use crate::store::{self, PartRow};
use ::store::StoreError;
use ::store::sql::Db;
use capability::{CurrentConfig, ModelFailure, ModelQuestion};
use chat::Caller;
use futures::future::BoxFuture;
use jobs::{Backoff, Due, Handler, JobContext, JobError, Jobs, Kind, OnPending, Outcome};
use metrics::counter;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use web::times::now_millis;

/// The number of attempts.
const ATTEMPTS: u32 = 5;
/// The most chunks, and about the most characters, that the model reads at once.
const MAX_CHUNKS: u32 = 8;
const MAX_TEXT: usize = 8_000;
/// The time limit of the model.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The longest answer in tokens, for models that reason before it.
const MAX_OUTPUT_TOKENS: u32 = 8_000;
/// The time after which the job goes back to the queue, so that other jobs get their turn.
const TURN: Duration = Duration::from_secs(5 * 60);
/// The pause of a job whose quota is used up.
const QUOTA_PAUSE: Duration = Duration::from_secs(15 * 60);

/// The job. Its key is the document's id.
pub(crate) const EXTRACT: Kind<Extract> = Kind::new("knowledge.extract")
    .concurrency(4)
    .attempts(ATTEMPTS)
    .backoff(Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(10 * 60) })
    .timeout(Duration::from_secs(15 * 60));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Extract {
    pub(crate) document_id: String,
}

/// A model that finds entities and relations in chunks.
pub(crate) trait ReadChunks: Send + Sync + 'static {
    /// Asks the model about chunks. It counts in the usage of `caller`, the owner of the library, under the name
    /// `library`, which is `library:ID`.
    fn read<'a>(
        &'a self,
        caller: &'a Caller,
        library: &'a str,
        settings: &'a GraphSettings,
        chunks: &'a [PartRow],
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Value, ModelFailure>>;
}

impl ReadChunks for Arc<dyn CurrentConfig> {
    fn read<'a>(
        &'a self,
        caller: &'a Caller,
        library: &'a str,
        settings: &'a GraphSettings,
        chunks: &'a [PartRow],
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Value, ModelFailure>> {
        Box::pin(async move {
            let question = ModelQuestion {
                caller,
                agent_id: library,
                model: Some(&settings.model),
                instructions: INSTRUCTIONS.to_owned(),
                prompt: prompt(settings, chunks),
                files: Vec::new(),
                form: (FORM, schema(settings)),
                max_output_tokens: MAX_OUTPUT_TOKENS,
                time: TIMEOUT,
                cancel,
            };
            self.ask_model(question).await
        })
    }
}

/// Enqueues the job of a document, in a transaction. `owner` is the owner of the library.
pub(crate) async fn enqueue(jobs: &Jobs, db: &mut Db, document_id: &str, owner: &str) -> Result<(), StoreError> {
    let job = EXTRACT.job(&Extract { document_id: document_id.to_owned() }).key(document_id);
    let job = job.on_pending(OnPending::Earlier);
    let job = if owner.is_empty() { job } else { job.owner(owner) };
    jobs.enqueue_in(db, job).await?;
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn handler(knowledge: Knowledge, model: Arc<dyn ReadChunks>) -> Handler {
    Handler::new(EXTRACT, move |job, Extract { document_id }| {
        let (knowledge, model) = (knowledge.clone(), model.clone());
        async move { Extractor { knowledge, model, job }.run(&document_id).await }
    })
}

/// An attempt to extract from a document.
struct Extractor {
    knowledge: Knowledge,
    model: Arc<dyn ReadChunks>,
    job: JobContext,
}

/// The work of an attempt.
struct Work {
    settings: GraphSettings,
    extraction: Extraction,
    caller: Caller,
}

impl Extractor {
    async fn run(self, document_id: &str) -> Result<Outcome, JobError> {
        let begun = Instant::now();
        loop {
            // Each round looks again, so a newer version or another config is followed at once.
            let Some(work) = self.work(document_id).await? else { return Ok(Outcome::DONE) };
            let Some(from) = self.next_chunk(&work.extraction).await? else { return Ok(Outcome::DONE) };
            if begun.elapsed() > TURN {
                return Ok(Outcome::again(Due::Now));
            }
            if let Some(outcome) = self.read(&work, from).await? {
                return Ok(outcome);
            }
        }
    }

    /// Returns what there is to do; `None` if the document is gone, or nothing is extracted from its library.
    async fn work(&self, document_id: &str) -> Result<Option<Work>, StoreError> {
        let Some(document) = store::document(self.job.store(), document_id).await? else { return Ok(None) };
        let Some(library) = store::library(self.job.store(), &document.library_id).await? else { return Ok(None) };
        let settings = self.knowledge.graph_settings(&library);
        let Some((settings, version_id)) = settings.zip(document.version_id) else { return Ok(None) };
        let caller = Knowledge::library_caller(&library.id, &library.owner);
        let extraction =
            Extraction { library_id: library.id, document_id: document.id, version_id, settings: settings.key() };
        Ok(Some(Work { settings, extraction, caller }))
    }

    /// Returns the chunk with which it continues; `None` if nothing is left to do.
    async fn next_chunk(&self, extraction: &Extraction) -> Result<Option<u32>, StoreError> {
        let known = graph::extraction(self.job.store(), &extraction.document_id).await?;
        let known =
            known.filter(|known| known.version_id == extraction.version_id && known.settings == extraction.settings);
        match known {
            Some(known) if known.state == ExtractionState::Open => Ok(Some(known.next_chunk)),
            Some(_) => Ok(None),
            None => {
                let extraction = extraction.clone();
                let begin = self
                    .job
                    .write(move |db| Box::pin(async move { graph::begin(db, &extraction, now_millis()).await }));
                Ok(begin.await?.then_some(0))
            }
        }
    }

    /// Reads the next chunks. Returns the outcome if the attempt ends here.
    async fn read(&self, work: &Work, from: u32) -> Result<Option<Outcome>, JobError> {
        let Work { settings, extraction, caller } = work;
        let (chunks, has_more) = self.chunks(&extraction.version_id, from).await?;
        let stored = graph::kept_of_version(self.job.store(), &extraction.version_id).await?;
        let room = i64::from(settings.max_per_document).saturating_sub(stored).max(0) as usize;
        let next = from + chunks.len() as u32;
        let found = if chunks.is_empty() || room == 0 {
            Kept::default()
        } else {
            let library = format!("library:{}", extraction.library_id);
            let answer = self.model.read(caller, &library, settings, &chunks, self.job.stop().clone()).await;
            match answer {
                Ok(answer) => kept(answer, settings, &chunks, room),
                Err(failure) => return self.unanswered(extraction, failure).await,
            }
        };
        let Kept { entities, relations, dropped } = found;
        count("kept", (entities.len() + relations.len()) as u64);
        count("dropped", dropped.into());
        let is_last = !has_more || room == 0;
        let max_entities = settings.max_entities;
        let batch = NewBatch { from, next, is_last, entities, relations, dropped, max_entities };
        let extraction = extraction.clone();
        let write = self
            .job
            .write(move |db| Box::pin(async move { graph::add_batch(db, &extraction, batch, now_millis()).await }));
        // If the extraction was changed meanwhile, nothing is written, and the next round reads the change.
        write.await?;
        Ok(None)
    }

    /// Returns the chunks that the model reads next, and whether more follow.
    async fn chunks(&self, version_id: &str, from: u32) -> Result<(Vec<PartRow>, bool), StoreError> {
        let mut chunks = store::chunks(self.job.store(), version_id, from, MAX_CHUNKS + 1).await?;
        let mut room = MAX_TEXT;
        let fits = chunks.iter().take_while(|chunk| {
            let length = chunk.text.len();
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        });
        let count = fits.count().clamp(1, MAX_CHUNKS as usize);
        let has_more = chunks.len() > count;
        chunks.truncate(count);
        Ok((chunks, has_more))
    }

    /// Stores why there is no answer. A quota is waited for; otherwise it is tried again, as often as jobs of this
    /// kind are.
    async fn unanswered(&self, extraction: &Extraction, failure: ModelFailure) -> Result<Option<Outcome>, JobError> {
        let (extraction, now) = (extraction.clone(), now_millis());
        match failure {
            ModelFailure::Refused(cause) => {
                let outcome = Outcome::again(Due::After(QUOTA_PAUSE));
                let finish = self.job.finish(outcome, move |db| {
                    Box::pin(async move { graph::postpone(db, &extraction, &cause, now).await })
                });
                Ok(Some(finish.await?))
            }
            ModelFailure::Failed(cause) => {
                tracing::warn!(document = extraction.document_id, cause, "nothing can be extracted from a document");
                if self.job.attempt() >= ATTEMPTS && self.job.why_stopped().is_none() {
                    let write = self.job.write(move |db| {
                        Box::pin(async move {
                            graph::fail(db, &extraction, "The model did not answer, or its answer cannot be used.", now)
                                .await
                        })
                    });
                    write.await?;
                }
                Err(JobError::retry(cause))
            }
        }
    }
}

fn count(outcome: &'static str, number: u64) {
    counter!("chatwright_extracted_total", "outcome" => outcome).increment(number);
}
