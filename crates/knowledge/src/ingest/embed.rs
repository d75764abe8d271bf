//! Computes the vectors of a library: a job for each, which stores them in batches and continues where an attempt
//! before it has stopped. When all are there, searches use them, and those of the model before are deleted.

use crate::models::{Embedder, EmbeddingFailure, Purpose};
use crate::service::{Knowledge, passage};
use crate::store::{self, NewVectors};
use ::store::StoreError;
use ::store::sql::Db;
use contract::ReplyUsage;
use jobs::{Backoff, Handler, JobContext, JobError, Jobs, Kind, OnPending, Outcome};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time after which the job goes back to the queue, so that other jobs get their turn.
const TURN: Duration = Duration::from_secs(5 * 60);
/// The most texts that are computed at once.
const MAX_ROUND: usize = 1_024;

/// The job. Its key is the library's id.
pub(crate) const EMBED: Kind<Embed> = Kind::new("knowledge.embed")
    .concurrency(2)
    .attempts(8)
    .backoff(Backoff { base: Duration::from_secs(5), cap: Duration::from_secs(10 * 60) })
    .timeout(Duration::from_secs(30 * 60));

/// The payload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Embed {
    pub(crate) library_id: String,
}

/// Enqueues the job of a library, in a transaction. `owner` is the owner of the library; `on_pending` says
/// whether a job that waits, for example because its service is out of reach, is tried at once.
pub(crate) async fn enqueue(
    jobs: &Jobs,
    db: &mut Db,
    (library_id, owner): (&str, &str),
    on_pending: OnPending,
) -> Result<(), StoreError> {
    let job = EMBED.job(&Embed { library_id: library_id.to_owned() }).key(library_id).on_pending(on_pending);
    let job = if owner.is_empty() { job } else { job.owner(owner) };
    jobs.enqueue_in(db, job).await?;
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn handler(knowledge: Knowledge) -> Handler {
    Handler::new(EMBED, move |job, Embed { library_id }| {
        let knowledge = knowledge.clone();
        async move {
            let Some(embedder) = knowledge.models().embedder.clone() else { return Ok(Outcome::DONE) };
            LibraryVectors { knowledge, embedder, job, library_id }.compute().await
        }
    })
}

/// An attempt to compute the vectors of a library.
struct LibraryVectors {
    knowledge: Knowledge,
    embedder: Arc<dyn Embedder>,
    job: JobContext,
    library_id: String,
}

/// The texts of a round, with the chunks that they are of.
struct Round {
    texts: Vec<String>,
    /// The documents; `vectors` are empty until they are computed.
    documents: Vec<NewVectors>,
}

impl LibraryVectors {
    async fn compute(self) -> Result<Outcome, JobError> {
        let begun = Instant::now();
        while let Some(round) = self.next_round().await? {
            let is_changed =
                self.knowledge.models().embedder.as_ref().is_none_or(|now| now.key() != self.embedder.key());
            if begun.elapsed() > TURN || is_changed {
                return Ok(Outcome::again(jobs::Due::Now));
            }
            self.compute_round(round).await?;
        }
        let (library, model) = (self.library_id.clone(), self.embedder.key().to_owned());
        self.job.write(move |db| Box::pin(async move { store::serve_model(db, &library, &model).await })).await?;
        self.delete_others().await?;
        Ok(Outcome::DONE)
    }

    /// Returns the next chunks without vectors; `None` if there are none.
    async fn next_round(&self) -> Result<Option<Round>, StoreError> {
        let most = self.embedder.round().clamp(1, MAX_ROUND);
        let (store, model) = (self.job.store(), self.embedder.key());
        let pending = store::documents_without_vectors(store, &self.library_id, model, most as u32).await?;
        if pending.is_empty() {
            return Ok(None);
        }
        let mut round = Round { texts: Vec::new(), documents: Vec::new() };
        for document in pending {
            let room = most - round.texts.len();
            if room == 0 {
                break;
            }
            // One chunk more than fits shows whether more are left.
            let mut chunks = store::chunks_without_vectors(store, &document.version_id, model, room as u32 + 1).await?;
            let is_complete = chunks.len() <= room;
            chunks.truncate(room);
            round.texts.extend(chunks.iter().map(|chunk| passage(&chunk.heading, &chunk.text)));
            let vectors = chunks.iter().map(|chunk| (chunk.no, Vec::new())).collect();
            let (document_id, version_id) = (document.id, document.version_id);
            round.documents.push(NewVectors { document_id, version_id, vectors, is_complete });
        }
        Ok(Some(round))
    }

    /// Computes and stores the vectors of a round.
    async fn compute_round(&self, Round { texts, mut documents }: Round) -> Result<(), JobError> {
        if !texts.is_empty() {
            let begun = Instant::now();
            let embed = self.embedder.embed(&texts, Purpose::Document);
            let Some(embedded) = self.job.stop().run_until_cancelled(embed).await else {
                return Err(JobError::retry("it was stopped"));
            };
            let embedded = embedded.map_err(|failure: EmbeddingFailure| {
                tracing::warn!(library = self.library_id, %failure, "the vectors of a library cannot be computed");
                JobError::retry(failure)
            })?;
            if let Some((model, _)) = self.embedder.bill() {
                let meter = self.knowledge.library_meter(&self.library_id, self.job.owner().unwrap_or_default());
                let usage = ReplyUsage::of_request(model, embedded.usage, embedded.cost_usd, begun.elapsed());
                meter.record_reply(usage).await;
            }
            if embedded.vectors.len() != texts.len() {
                return Err(JobError::retry("the model gave another number of vectors than texts"));
            }
            let mut vectors = embedded.vectors.into_iter();
            let targets = documents.iter_mut().flat_map(|document| &mut document.vectors);
            targets.zip(&mut vectors).for_each(|((_, target), vector)| *target = vector);
        }
        let (library, model) = (self.library_id.clone(), self.embedder.key().to_owned());
        let write = self
            .job
            .write(move |db| Box::pin(async move { store::insert_vectors(db, &library, &model, documents).await }));
        Ok(write.await?)
    }

    async fn delete_others(&self) -> Result<(), StoreError> {
        loop {
            let (library, model) = (self.library_id.clone(), self.embedder.key().to_owned());
            let delete = self
                .job
                .write(move |db| Box::pin(async move { store::delete_other_vectors(db, &library, &model).await }));
            if !delete.await? {
                return Ok(());
            }
        }
    }
}
