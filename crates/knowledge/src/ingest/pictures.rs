//! Reads pages that are pictures, as scanners make them, with a model: in a job of its own, so that other documents
//! need not wait for it. The text of the pages is stored after each request, so an attempt goes on where the one
//! before it has stopped.

use super::page_question::{PageQuestion, ReadPages, pages_of};
use super::{Ingest, Problem, READ, Read, Reader, Rows};
use crate::section::PageReader;
use crate::service::Knowledge;
use crate::store::{self, OpenVersion, Progress, ReadPage};
use ::store::StoreError;
use ::store::sql::Db;
use capability::{ModelFailure, QuestionFile};
use documents::{Converter, Document, Failure, FailureCode, Limits};
use futures::StreamExt;
use jobs::{Backoff, Due, Handler, Jobs, Kind, Outcome};
use metrics::counter;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use web::times::now_millis;

/// The number of attempts.
const ATTEMPTS: u32 = 5;
/// The largest file that is sent to a model. Providers accept 32 MB, and Base64 adds a third.
const MAX_FILE: usize = 22 << 20;
/// The most pages of a version that are kept.
const MAX_PAGES: u32 = 10_000;
/// How long pages are read before the job goes back to the queue, so that others have their turn.
const TURN: Duration = Duration::from_secs(5 * 60);
/// How long a job waits whose quota is used up.
const QUOTA_PAUSE: Duration = Duration::from_secs(15 * 60);
/// The first bytes of images that models read, with the media types.
const IMAGES: [(&[u8], &str); 3] =
    [(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif")];

/// The job that reads a document of which some pages are pictures. Its key is the document's id. While it waits or
/// runs, [`super::INGEST`] leaves the document to it, so it is read by one at a time.
pub(super) const READ_PAGES: Kind<Ingest> = Kind::new("knowledge.read_pages")
    .concurrency(2)
    .attempts(ATTEMPTS)
    .backoff(Backoff { base: Duration::from_secs(10), cap: Duration::from_secs(10 * 60) })
    .timeout(Duration::from_secs(15 * 60));

/// Enqueues the job, in a transaction. `owner` is the owner of the library.
async fn enqueue(jobs: &Jobs, db: &mut Db, document_id: &str, owner: &str) -> Result<(), StoreError> {
    let job = READ_PAGES.job(&Ingest { document_id: document_id.to_owned() }).key(document_id);
    let job = if owner.is_empty() { job } else { job.owner(owner) };
    jobs.enqueue_in(db, job).await?;
    Ok(())
}

/// Returns the handler of the job.
pub(crate) fn handler(knowledge: Knowledge, model: Arc<dyn ReadPages>) -> Handler {
    handler_with(Converter::new(Limits::default()), knowledge, model, ATTEMPTS)
}

/// As [`handler`], with another program that reads files, and another number of attempts.
pub(super) fn handler_with(
    converter: Converter,
    knowledge: Knowledge,
    model: Arc<dyn ReadPages>,
    attempts: u32,
) -> Handler {
    Handler::new(READ_PAGES, move |job, Ingest { document_id }| {
        let (knowledge, converter, model) = (knowledge.clone(), converter.clone(), Some(model.clone()));
        async move { Reader { knowledge, converter, job, document_id, model, attempts }.read().await }
    })
}

/// The pages of a version that a model is to read.
struct Pictures<'a> {
    version: &'a OpenVersion,
    settings: PageReader,
    model: &'a dyn ReadPages,
    file: QuestionFile,
    /// The numbers of the pages, in ascending order.
    pages: &'a [u32],
}

impl Reader {
    /// Ends the job and leaves the document to the one that reads pictures.
    pub(super) async fn leave_to_model(&self) -> Result<Outcome, StoreError> {
        let (jobs, id) = (self.job.jobs().clone(), self.document_id.clone());
        let owner = self.job.owner().unwrap_or_default().to_owned();
        let finish =
            self.job.finish(Outcome::DONE, move |db| Box::pin(async move { enqueue(&jobs, db, &id, &owner).await }));
        finish.await
    }

    /// Returns a file that is an image as one whose only page is a picture; `None` for every other file, and if no
    /// model reads pages.
    pub(super) async fn image(&self, version: &OpenVersion) -> Result<Option<Failure>, StoreError> {
        if self.page_reader(version).await?.is_none() {
            return Ok(None);
        }
        let mut pieces = store::pieces(self.job.store().clone(), version.version_id.clone());
        let Some(first) = pieces.next().await.transpose()? else { return Ok(None) };
        let unread = || Failure::new(FailureCode::Unsupported, &version.file_name);
        Ok(image_type(&first).map(|_| Failure { picture_pages: vec![1], ..unread() }))
    }

    /// Adds the text of the pages that are pictures to what was found in a file, if a model reads them.
    pub(super) async fn with_pictures(
        &self,
        version: &OpenVersion,
        found: Result<Document, Failure>,
    ) -> Result<ControlFlow<Read, Document>, Problem> {
        let pages = match &found {
            Ok(Document { picture_pages, .. }) | Err(Failure { picture_pages, .. }) => picture_pages.clone(),
        };
        let without = |found: Result<Document, Failure>| found.map(ControlFlow::Continue).map_err(Problem::File);
        let settings = if pages.is_empty() { None } else { self.page_reader(version).await? };
        let Some(settings) = settings else { return without(found) };
        let Some(model) = &self.model else {
            return Ok(ControlFlow::Break(Read::Ended(self.leave_to_model().await?)));
        };
        let Some(file) = self.file(version).await? else { return without(found) };
        let pictures = Pictures { version, settings, model: &**model, file, pages: &pages };
        let read = match self.read_pictures(&pictures).await {
            Ok(ControlFlow::Continue(read)) => read,
            Ok(ControlFlow::Break(read)) => return Ok(ControlFlow::Break(read)),
            // The document is ready nevertheless: with the text of its other pages, and with the pages that the model
            // has read, which are paid for.
            Err(Problem::File(failure)) if found.is_ok() && (self.is_last_attempt() || !failure.is_temporary()) => {
                let (document, detail) = (&self.document_id, failure.detail);
                tracing::warn!(document, detail, "not all pages of a document that are pictures are read");
                let read = store::pages_of_version(self.job.store(), &version.version_id, MAX_PAGES).await?;
                if read.is_empty() {
                    return without(found);
                }
                texts(read)
            }
            Err(Problem::File(failure)) if !failure.is_temporary() => {
                let known = found.err().unwrap_or_else(|| failure.clone());
                let message = format!("{} {}", known.message, failure.message);
                return Err(Problem::File(Failure { message, detail: failure.detail, ..known }));
            }
            Err(problem) => return Err(problem),
        };
        let (name, limits) = (version.file_name.clone(), *self.converter.limits());
        let build = move || Document::with_read_pages(found.ok(), &name, &pages, &read, &limits);
        let built = tokio::task::spawn_blocking(build).await;
        let document = built.map_err(|_| Problem::File(Failure::new(FailureCode::Crashed, &version.file_name)))?;
        if document.parts.is_empty() {
            Err(Problem::File(Failure::new(FailureCode::Empty, &version.file_name)))
        } else {
            Ok(ControlFlow::Continue(document))
        }
    }

    /// Returns how a model reads the pages of a version; `None` if none does. Files that are attached in a conversation
    /// have none: they are sent to the agent's model as they are.
    async fn page_reader(&self, version: &OpenVersion) -> Result<Option<PageReader>, StoreError> {
        let Some(settings) = self.knowledge.settings().page_reader else { return Ok(None) };
        let library = store::library(self.job.store(), &version.library_id).await?;
        Ok(library.filter(|library| library.conversation_id.is_none()).map(|_| settings))
    }

    /// Returns the file as it is sent to the model; `None` if it is too large.
    async fn file(&self, version: &OpenVersion) -> Result<Option<QuestionFile>, StoreError> {
        let mut content = Vec::new();
        let mut pieces = store::pieces(self.job.store().clone(), version.version_id.clone());
        while let Some(piece) = pieces.next().await {
            content.extend_from_slice(&piece?);
            if content.len() > MAX_FILE {
                return Ok(None);
            }
        }
        let media_type = image_type(&content).unwrap_or("application/pdf").to_owned();
        Ok(Some(QuestionFile { name: version.file_name.clone(), media_type, content: content.into() }))
    }

    /// Reads the pages that were not read yet; returns the texts of all that were, by page.
    async fn read_pictures(&self, pictures: &Pictures<'_>) -> Result<ControlFlow<Read, Vec<(u32, String)>>, Problem> {
        let (begun, version) = (Instant::now(), pictures.version);
        let wanted = &pictures.pages[..pictures.pages.len().min(pictures.settings.max_pages as usize)];
        // An answer may have been too long, so a later attempt asks for one page at a time.
        let mut size = if self.job.attempt() > 1 { 1 } else { pictures.settings.pages_per_request as usize };
        let mut read = store::pages_of_version(self.job.store(), &version.version_id, MAX_PAGES).await?;
        loop {
            let is_missing = |page: &u32| read.iter().all(|known| known.page != *page);
            let asked: Vec<_> = wanted.iter().copied().filter(is_missing).take(size).collect();
            if asked.is_empty() {
                read.sort_by_key(|known| known.page);
                return Ok(ControlFlow::Continue(texts(read)));
            }
            if begun.elapsed() > TURN {
                return Ok(ControlFlow::Break(Read::Ended(Outcome::again(Due::Now))));
            }
            let mut pages = match self.ask(pictures, &asked).await? {
                ControlFlow::Continue(pages) => pages,
                ControlFlow::Break(read) => return Ok(ControlFlow::Break(read)),
            };
            if pages.is_empty() && read.is_empty() {
                return Err(Problem::File(unseen(pictures)));
            }
            if pages.is_empty() && asked.len() > 1 {
                // A single page may be the reason, so the pages are asked about one by one.
                size = 1;
                continue;
            }
            if pages.is_empty() {
                // The model sees the file, and has left this page out: it is not asked for again and again.
                pages = asked.iter().map(|page| ReadPage { page: *page, text: String::new() }).collect();
            }
            count(&pages);
            read.extend(pages.iter().cloned());
            let part = READ * read.len() as f64 / wanted.len().max(read.len()) as f64;
            let progress = Progress { step: "reading", part, now: now_millis() };
            if !self.step(version, progress, vec![Rows::Pages(pages)]).await? {
                return Ok(ControlFlow::Break(Read::Unwanted));
            }
        }
    }

    /// Asks the model about pages.
    async fn ask(&self, pictures: &Pictures<'_>, pages: &[u32]) -> Result<ControlFlow<Read, Vec<ReadPage>>, Problem> {
        let Pictures { version, settings, model, file, .. } = pictures;
        let caller = Knowledge::library_caller(&version.library_id, self.job.owner().unwrap_or_default());
        let library = format!("library:{}", version.library_id);
        let cancel = self.job.stop().child_token();
        let question = PageQuestion {
            caller: &caller,
            library: &library,
            model: &settings.model,
            file: file.clone(),
            pages,
            cancel: cancel.clone(),
        };
        let answer = tokio::select! {
            answer = model.read(question) => answer,
            () = self.until_unwanted(version) => {
                cancel.cancel();
                return Ok(ControlFlow::Break(Read::Unwanted));
            }
        };
        match answer {
            Ok(answer) => Ok(ControlFlow::Continue(pages_of(answer, pages))),
            Err(ModelFailure::Refused(cause)) => {
                tracing::info!(document = self.document_id, cause, "pages are not read until the quota allows it");
                Ok(ControlFlow::Break(Read::Ended(Outcome::again(Due::After(QUOTA_PAUSE)))))
            }
            Err(ModelFailure::Failed(cause)) => Err(Problem::File(unanswered(cause))),
        }
    }
}

/// The failure of a file of which the model has returned no page.
fn unseen(pictures: &Pictures<'_>) -> Failure {
    let model = &pictures.settings.model.model;
    Failure {
        code: FailureCode::NoTextLayer,
        message: format!("The model `{model}` has returned no page of it: it may not read files of this type or size."),
        detail: Some(format!("the model `{model}` has returned no page")),
        picture_pages: Vec::new(),
    }
}

/// The failure of a file about which the model did not answer.
fn unanswered(cause: String) -> Failure {
    Failure {
        code: FailureCode::Unavailable,
        message: "The model that reads pages did not answer. Try again later.".to_owned(),
        detail: Some(cause),
        picture_pages: Vec::new(),
    }
}

/// Returns pages with their texts.
fn texts(read: Vec<ReadPage>) -> Vec<(u32, String)> {
    read.into_iter().map(|ReadPage { page, text }| (page, text)).collect()
}

/// Returns the media type of an image that models read.
fn image_type(content: &[u8]) -> Option<&'static str> {
    let is_webp = content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP".as_slice());
    let known = IMAGES.iter().find(|(begin, _)| content.starts_with(begin)).map(|(_, media_type)| *media_type);
    known.or_else(|| is_webp.then_some("image/webp"))
}

fn count(pages: &[ReadPage]) {
    for page in pages {
        let outcome = if page.text.trim().is_empty() { "empty" } else { "read" };
        counter!("chatwright_read_pages_total", "outcome" => outcome).increment(1);
    }
}
