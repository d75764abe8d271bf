//! Pages that are pictures, with a program that reads files and a model that reads pages, which both say what a test
//! wants.

use super::*;
use crate::ingest::page_question::{PageQuestion, ReadPages};
use crate::ingest::pictures;
use crate::testing::{KillTest, runtime};
use capability::ModelFailure;
use documents::{Converter, Limits};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::sync::Arc;
use test_postgres::database_files_of_each_kind;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo }]
knowledge: { pageReader: { model: { connectionId: demo, model: m }, maxPages: 4, pagesPerRequest: 2 } }
";
/// The output of the program for a file of five pages without text.
const SCAN: &str = r#"{"Err":{"code":"noTextLayer","message":"It has no text.","picturePages":[1,2,3,4,5]}}"#;
/// The output of the program for a file with a scanned page before a typed one.
const MIXED: &str = r#"{"Ok":{"format":"pdf","title":"Plant","parts":[{"place":{"kind":"page","page":2},"syntax":"markdown","text":"Typed words about valves."}],"warnings":[{"code":"pagesWithoutText","message":"Pages without text: 1."}],"picturePages":[1]}}"#;
const PDF: &str = "%PDF-1.7 and pictures";

/// How the model answers a request.
#[derive(Clone, Debug)]
enum Answer {
    /// With no pages.
    Nothing,
    Failure(ModelFailure),
}

/// A model that reads a sentence with its number from each page.
#[derive(Default)]
struct Scanner {
    asked: Mutex<Vec<String>>,
    /// The answers to the next requests, the last one first; `None` for the usual one.
    answers: Mutex<Vec<Option<Answer>>>,
}

impl Scanner {
    fn new(mut answers: Vec<Option<Answer>>) -> Arc<Self> {
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), ..Self::default() })
    }

    fn asked(&self) -> String {
        self.asked.lock().join("\n")
    }
}

impl ReadPages for Scanner {
    fn read<'a>(&'a self, question: PageQuestion<'a>) -> BoxFuture<'a, Result<Value, ModelFailure>> {
        let PageQuestion { caller, library, model, file, pages, .. } = question;
        assert!(library.starts_with("library:"));
        self.asked.lock().push(format!("{} {} {} {pages:?}", caller.user_id, model.model, file.media_type));
        let page = |page: &u32| json!({ "page": page, "text": format!("# Page {page}\n\nIt tells of turbine{page}.") });
        let answer = match self.answers.lock().pop().flatten() {
            None => Ok(json!({ "pages": pages.iter().map(page).collect::<Vec<_>>() })),
            Some(Answer::Nothing) => Ok(json!({ "pages": [] })),
            Some(Answer::Failure(failure)) => Err(failure),
        };
        Box::pin(async move { answer })
    }
}

/// Opens a server whose program that reads files prints this, with a config.
async fn open(url: &str, config: &str, printed: &str, scanner: &Arc<Scanner>) -> Server {
    open_with(url, config, printed, scanner, 5).await
}

/// As [`open`], with the number of attempts at the pages of a document.
async fn open_with(url: &str, config: &str, printed: &str, scanner: &Arc<Scanner>, attempts: u32) -> Server {
    let store = Schema::new(TABLES).open(url, "", Duration::ZERO).await.unwrap();
    let jobs = Jobs::new(store.clone());
    let workers = Workers::new(jobs.clone());
    let knowledge = Knowledge::new(store, jobs);
    let (config, _) = capability::language(&[crate::DEFINITION]).read_text(config).unwrap();
    knowledge.use_config(&Arc::new(config));
    let arguments: [OsString; 2] = ["-c".into(), format!("printf '%s' '{printed}'").into()];
    let converter = Converter::with_program("/bin/sh".into(), arguments, Limits::default());
    workers.add(ingest::handler_with(converter.clone(), knowledge.clone(), ingest::ATTEMPTS));
    workers.add(pictures::handler_with(converter, knowledge.clone(), scanner.clone(), attempts));
    workers.start();
    Server { knowledge, workers }
}

/// Returns the warnings of a document.
fn warnings(document: &DocumentRow) -> Vec<&str> {
    document.warnings.iter().map(|warning| warning.message.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_scans_are_read_by_the_model() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let scanner = Scanner::new(Vec::new());
        let server = open(&url, CONFIG, SCAN, &scanner).await;
        let library = server.library().await;
        server.add(&library, "scan.pdf", PDF, false).await.unwrap();
        let rows = server.settled(&library).await;
        assert_eq!((rows[0].state, rows[0].pages), (DocumentState::Ready, 4), "{rows:?}");
        assert_eq!(scanner.asked(), "ada m application/pdf [1, 2]\nada m application/pdf [3, 4]");
        assert_eq!(
            warnings(&rows[0]),
            [
                "The text of these pages was read by a model from pictures and may have mistakes: 1, 2, 3, 4.",
                "Pages without text, which are pictures or cannot be decoded: 5."
            ]
        );
        let found = server.found(&viewer("ada"), &library, "turbine3").await.unwrap();
        assert_eq!(found.first().map(String::as_str), Some("scan.pdf"));
        let version = rows[0].version_id.clone().unwrap();
        let parts = store::parts(server.knowledge.store(), &version, 0, 10).await.unwrap();
        let places: Vec<_> = parts.iter().map(|part| format!("{} {}", part.place, part.heading)).collect();
        assert_eq!(places, ["page 1 Page 1", "page 2 Page 2", "page 3 Page 3", "page 4 Page 4"]);
        assert_eq!(server.rows("knowledge_read_pages").await, 0);
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_and_scanned_pages_among_others_are_read() {
    let check = async |name: &str, content: &str, printed: &str, asked: &str, query: &str| {
        let scanner = Scanner::new(Vec::new());
        let server = open("sqlite::memory:", CONFIG, printed, &scanner).await;
        let library = server.library().await;
        server.add(&library, name, content, false).await.unwrap();
        let rows = server.settled(&library).await;
        assert_eq!(rows[0].state, DocumentState::Ready, "{rows:?}");
        assert_eq!(scanner.asked(), asked);
        assert_eq!(
            warnings(&rows[0]),
            ["The text of these pages was read by a model from pictures and may have mistakes: 1."]
        );
        for query in ["turbine1", query] {
            let found = server.found(&viewer("ada"), &library, query).await.unwrap();
            assert_eq!(found.first().map(String::as_str), Some(name));
        }
        server.close().await;
    };
    check("photo.gif", "GIF89a and pixels", "", "ada m image/gif [1]", "tell").await;
    check("plant.pdf", PDF, MIXED, "ada m application/pdf [1]", "valves").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_tell_why_a_model_has_not_read_them() {
    let check = async |config: &str, printed: &str, answers: Vec<Option<Answer>>, state: DocumentState, told: &str| {
        let scanner = Scanner::new(answers);
        let server = open("sqlite::memory:", config, printed, &scanner).await;
        let library = server.library().await;
        server.add(&library, "scan.pdf", PDF, false).await.unwrap();
        let rows = server.settled(&library).await;
        let (code, message) = rows[0].error.clone().unwrap_or_default();
        let lines = [vec![code.as_str(), message.as_str()], warnings(&rows[0])].concat();
        let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!((rows[0].state, lines.join("\n").as_str()), (state, told));
        server.close().await;
    };
    let blind = || vec![Some(Answer::Nothing)];
    check(
        CONFIG,
        SCAN,
        blind(),
        DocumentState::Failed,
        "noTextLayer\nIt has no text. The model `m` has returned no page of it: it may not read files of this type or size.",
    )
    .await;
    check(CONFIG, MIXED, blind(), DocumentState::Ready, "Pages without text: 1.").await;
    // Pages that the model leaves out later, also if it is asked for one alone, are named.
    let later = [vec![None], vec![Some(Answer::Nothing); 3]].concat();
    check(
        CONFIG,
        SCAN,
        later,
        DocumentState::Ready,
        "The text of these pages was read by a model from pictures and may have mistakes: 1, 2.\n\
         Pages without text, which are pictures or cannot be decoded: 3, 4, 5.",
    )
    .await;
    check(
        "connections: [{ id: demo, type: Demo }]",
        SCAN,
        Vec::new(),
        DocumentState::Failed,
        "noTextLayer\nIt has no text.",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_paid_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let (failed, refused) = (ModelFailure::Failed("busy".to_owned()), ModelFailure::Refused("used up".to_owned()));
    for url in database_files_of_each_kind(folder.path()).await {
        for failure in [failed.clone(), refused.clone()] {
            let scanner = Scanner::new(vec![None, Some(Answer::Failure(failure))]);
            let server = open(&url, CONFIG, SCAN, &scanner).await;
            let library = server.library().await;
            let document = server.add(&library, "scan.pdf", PDF, false).await.unwrap();
            // The job waits after the failure.
            let waits = "jobs WHERE kind = 'knowledge.read_pages' AND state = 'waiting'";
            while scanner.asked.lock().len() < 2 || server.rows(waits).await == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(server.rows("knowledge_read_pages").await, 2);
            // Cancelled and tried again: the job that waits goes on at once.
            server.knowledge.cancel(&viewer("ada"), &document.id).await.unwrap();
            server.knowledge.retry(&viewer("ada"), &document.id).await.unwrap();
            let rows = server.settled(&library).await;
            assert_eq!(rows[0].state, DocumentState::Ready, "{rows:?}");
            let pages = |pages: &str| format!("ada m application/pdf {pages}");
            assert_eq!(scanner.asked(), [pages("[1, 2]"), pages("[3, 4]"), pages("[3, 4]")].join("\n"));
            server.close().await;
        }
    }
}

/// Of a document that has text otherwise, nothing that the model has read is lost if it does not answer in the end.
#[tokio::test(flavor = "multi_thread")]
async fn pages_before_a_failure_are_kept() {
    let check = async |answers: Vec<Option<Answer>>, warned: &[&str]| {
        let scanner = Scanner::new(answers);
        let printed = MIXED.replace(r#""picturePages":[1]"#, r#""picturePages":[1,3,4]"#);
        let server = open_with("sqlite::memory:", CONFIG, &printed, &scanner, 1).await;
        let library = server.library().await;
        server.add(&library, "plant.pdf", PDF, false).await.unwrap();
        let rows = server.settled(&library).await;
        assert_eq!((rows[0].state, warnings(&rows[0])), (DocumentState::Ready, warned.to_vec()));
        assert_eq!(server.rows("knowledge_read_pages").await, 0);
        server.close().await;
    };
    let failed = || Some(Answer::Failure(ModelFailure::Failed("busy".to_owned())));
    check(vec![failed()], &["Pages without text: 1."]).await;
    let read = "The text of these pages was read by a model from pictures and may have mistakes: 1, 3.";
    check(vec![None, failed()], &[read, "Pages without text, which are pictures or cannot be decoded: 4."]).await;
}

/// The text of pictures in a file is deleted with it.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_replaced_and_deleted_files_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let refused = || Some(Answer::Failure(ModelFailure::Refused("used up".to_owned())));
        let scanner = Scanner::new(vec![None, refused(), None, refused()]);
        let server = open(&url, CONFIG, SCAN, &scanner).await;
        let library = server.library().await;
        let waiting = "jobs WHERE kind = 'knowledge.read_pages' AND state = 'waiting'";
        for requests in [2, 4] {
            let content = format!("{PDF} {requests}");
            let document = server.add(&library, "scan.pdf", &content, true).await.unwrap();
            while scanner.asked.lock().len() < requests || server.rows(waiting).await == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!((server.rows("knowledge_versions").await, server.rows("knowledge_read_pages").await), (1, 2));
            if requests == 4 {
                server.knowledge.delete_document(&viewer("ada"), &document.id).await.unwrap();
            }
        }
        assert_eq!((server.rows("knowledge_versions").await, server.rows("knowledge_read_pages").await), (0, 0));
        server.close().await;
    }
}

const KILLS: KillTest = KillTest {
    variable: "PICTURES_KILL_URL",
    test: "ingest::tests::pictures::reading_pictures_survives_being_killed_at_any_time",
    // With PostgreSQL the next process waits each time for the lease of the jobs.
    moments: [10, 3],
};
const DOCUMENTS: usize = 6;

/// Adds scans, waits until they are read, and checks that each page is there once.
async fn serve(url: &str) {
    let scanner = Scanner::new(Vec::new());
    let server = open(url, CONFIG, SCAN, &scanner).await;
    let known = server.knowledge.libraries(&viewer("ada")).await.unwrap();
    let library = match known.first() {
        Some(library) => library.id.clone(),
        None => server.library().await,
    };
    for number in 0..DOCUMENTS {
        server.add(&library, &format!("{number}.pdf"), &format!("{PDF} {number}"), false).await.unwrap();
    }
    let rows = server.settled(&library).await;
    assert_eq!(rows.len(), DOCUMENTS);
    assert!(rows.iter().all(|row| (row.state, row.pages) == (DocumentState::Ready, 4)), "{rows:?}");
    assert_eq!(server.rows("knowledge_parts").await, (DOCUMENTS * 4) as i64);
    assert_eq!(server.rows("knowledge_read_pages").await, 0);
    server.close().await;
}

#[test]
fn reading_pictures_survives_being_killed_at_any_time() {
    if let Some(url) = KILLS.url() {
        return runtime().block_on(serve(&url));
    }
    // With PostgreSQL, one early moment.
    KILLS.run([4, 2]);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn reading_pictures_survives_being_killed_at_each_moment_thoroughly() {
    KILLS.run([1, 1]);
}
