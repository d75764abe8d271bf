//! The handbook of `examples/handbook`, from its folder to cited answers, and who may read what.

use crate::access::{TestRequest, call_route, caller, get, open_path, post, send};
use axum::Router;
use chat::Caller;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use wire::library::{
    Document, DocumentList, DocumentState, EntityDetails, EntityList, ExtractionStatus, Library, LibraryChanges,
    LibraryList, LibraryResults, RoleList, TextParts,
};

/// The least mean of the reciprocal ranks of the answers to `questions.tsv`, of at most 1.
const LEAST_QUALITY: f64 = 0.85;
/// The PDF of the example. A process of the server reads it, which tests in one process do not have:
/// `serve::tools::handbook` tests it.
const PDF: &str = "bicycle-leasing.pdf";

pub(crate) struct Site {
    pub(crate) routes: Router,
    ada: Caller,
    /// The folder of the config, if it is a copy.
    _folder: Option<TempDir>,
}

impl Site {
    /// Serves the example without its PDF, once its documents are read.
    async fn open() -> Self {
        let folder = TempDir::new().unwrap();
        copy_texts(&example(), folder.path());
        let site = Self::serve(&folder.path().join("chatwright.yaml"), &[("handbook", 13)]).await;
        Self { _folder: Some(folder), ..site }
    }

    /// Serves a config, once the libraries have these numbers of documents. Ada may read them.
    pub(crate) async fn serve(config: &Path, libraries: &[(&str, u64)]) -> Self {
        let server = open_path(config).await;
        server.start_background_work();
        let ada = caller(("ada", true, &["staff"]));
        let site = Self { routes: server.caller_routes(), ada, _folder: None };
        for (id, count) in libraries {
            site.read(id, *count).await;
        }
        site
    }

    /// Waits until a library has this number of documents.
    async fn read(&self, library: &str, count: u64) {
        for _ in 0..1_500 {
            let (_, library) = self.call(&format!("/api/libraries/{library}"), None).await;
            let documents = &library["documents"];
            if documents["ready"] == count && documents["queued"] == 0 && documents["processing"] == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the documents are not read");
    }

    async fn call(&self, path: &str, body: Option<Value>) -> (u16, Value) {
        let request = match body {
            Some(body) => post(path.to_owned(), body),
            None => get(path.to_owned()),
        };
        self.call_as(&self.ada, request).await
    }

    pub(crate) async fn call_as(&self, who: &Caller, request: TestRequest) -> (u16, Value) {
        let (status, answer) = call_route(&self.routes, who, request).await;
        (status, serde_json::from_str(&answer).unwrap_or(Value::Null))
    }

    /// Returns an answer as the page reads it.
    async fn read_as<T: DeserializeOwned>(&self, path: &str, body: Option<Value>) -> T {
        let (status, answer) = self.call(path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_value(answer).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Waits until entities are extracted from all documents of the handbook; returns how far that is.
    async fn extracted(&self) -> Value {
        let mut status = Value::Null;
        for _ in 0..1_500 {
            status = self.call("/api/libraries/handbook/graph", None).await.1;
            if status["done"] == 13 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        status
    }

    /// Asks the agent; returns the message of its answer.
    async fn ask(&self, conversation: &str, question: &str) -> Value {
        self.ask_as(&self.ada, "helper", conversation, question).await
    }

    pub(crate) async fn ask_as(&self, who: &Caller, agent: &str, conversation: &str, question: &str) -> Value {
        let (status, answer) = call_route(&self.routes, who, send("home", agent, conversation, question)).await;
        assert_eq!(status, 200, "{answer}");
        let (_, view) = self.call_as(who, get(format!("/api/conversations/{conversation}"))).await;
        view["messages"].as_array().unwrap().last().unwrap().clone()
    }
}

fn example() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handbook")
}

/// Copies a folder without the PDF.
fn copy_texts(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if path.is_dir() {
            copy_texts(&path, &to.join(name));
        } else if name != PDF {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Returns the first citation of a message.
pub(crate) fn citation(message: &Value) -> Value {
    let parts = message["parts"].as_array().unwrap();
    let cited = parts.iter().find_map(|part| part["citations"].as_array().filter(|all| !all.is_empty()));
    cited.unwrap_or_else(|| panic!("{message}"))[0].clone()
}

fn text_of(message: &Value) -> String {
    let parts = message["parts"].as_array().into_iter().flatten();
    parts.filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_cite_their_sources() {
    let site = Site::open().await;
    let message = site.ask("c1", "How many days of vacation do I have?").await;
    let text = text_of(&message);
    assert!(text.contains("28 days of paid vacation") && !text.contains("[S"), "{text}");
    let citation = citation(&message);
    let source = &citation["source"];
    assert!(source["title"].as_str().unwrap().starts_with("vacation.md"), "{source}");
    assert!(citation["citedText"].as_str().unwrap().contains("28 days"), "{citation}");
    // The document is read with the caller's rights, also where it is cited.
    let document = source["id"].as_str().unwrap();
    assert_eq!(site.call(&format!("/api/documents/{document}"), None).await.1["fileName"], "vacation.md");
    let nothing = site.ask("c2", "Zzyzx qwertz?").await;
    assert_eq!(text_of(&nothing), "I found nothing about this in the documents.");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_about_the_handbook_find_their_answers() {
    let site = Site::open().await;
    let questions = std::fs::read_to_string(example().join("questions.tsv")).unwrap();
    let (mut sum, mut count, mut missed) = (0.0, 0.0, Vec::new());
    for (question, file) in questions.lines().filter_map(|line| line.split_once('\t')) {
        if file == PDF {
            continue;
        }
        let search = json!({ "query": question, "limit": 10 });
        let (status, found) = site.call("/api/libraries/handbook/search", Some(search)).await;
        assert_eq!(status, 200, "{found}");
        let rank = found["results"].as_array().unwrap().iter().position(|result| result["fileName"] == file);
        sum += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        count += 1.0;
        if rank != Some(0) {
            missed.push((question, rank));
        }
    }
    assert!(sum / count >= LEAST_QUALITY, "{} {missed:?}", sum / count);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_searches_and_changes_of_a_folder_are_refused() {
    let site = Site::open().await;
    let search = async |body: Value| site.call("/api/libraries/handbook/search", Some(body)).await.0;
    assert_eq!(search(json!({ "query": "vacation" })).await, 200);
    assert_eq!(search(json!({ "query": " " })).await, 422);
    assert_eq!(search(json!({ "query": "vacation", "limit": 51 })).await, 422);
    // There are too few chunks for vectors of its own.
    assert_eq!(search(json!({ "query": "vacation", "mode": "semantic" })).await, 409);
    let several =
        async |ids: Value| site.call("/api/search", Some(json!({ "libraries": ids, "query": "pay" }))).await.0;
    assert_eq!(several(json!(["handbook"])).await, 200);
    assert_eq!(several(json!(["handbook", "other"])).await, 404);
    assert_eq!(several(json!([])).await, 422);
    let (_, list) = site.call("/api/libraries/handbook/documents", None).await;
    let id = list["items"][0]["id"].as_str().unwrap();
    assert_eq!(site.call(&format!("/api/documents/{id}/retry"), Some(json!({}))).await.0, 403);
}

/// The types by which pages read answers stand apart from those that the server sends: here they meet.
#[tokio::test(flavor = "multi_thread")]
async fn pages_can_read_the_answers_about_libraries() {
    let site = Site::open().await;
    let handbook = "/api/libraries/handbook";
    let libraries = site.read_as::<LibraryList>("/api/libraries", None).await.items;
    let library = &libraries[0];
    assert_eq!((library.id.as_str(), library.declared, library.graph), ("handbook", true, Some(true)));
    assert!(library.bytes > 0 && library.documents.all() == 13, "{library:?}");
    assert_eq!(site.read_as::<Library>(handbook, None).await, *library);
    assert!(site.read_as::<RoleList>("/api/libraries/roles", None).await.roles.is_sorted());
    let changes = site.read_as::<LibraryChanges>(&format!("{handbook}/changes"), None).await;
    assert_eq!((changes.library.id.as_str(), changes.deleted), ("handbook", false));
    let documents = site.read_as::<DocumentList>(&format!("{handbook}/documents"), None).await;
    let vacation = documents.items.iter().find(|document| document.file_name == "vacation.md").unwrap();
    assert_eq!((vacation.state, vacation.progress), (DocumentState::Ready, 1.0));
    assert!(vacation.bytes > 0 && vacation.pages > 0 && vacation.chunks > 0, "{vacation:?}");
    let path = format!("/api/documents/{}", vacation.id);
    assert_eq!(site.read_as::<Document>(&path, None).await, *vacation);
    for part in ["text", "chunks"] {
        let text = site.read_as::<TextParts>(&format!("{path}/{part}"), None).await;
        let first = &text.parts[0];
        assert!(first.no == 1 && !first.place.kind.is_empty() && !first.text.is_empty(), "{first:?}");
    }
    let search = json!({ "query": "vacation" });
    let found = site.read_as::<LibraryResults>(&format!("{handbook}/search"), Some(search)).await.results;
    assert!(found[0].passage().is_some() && !found[0].marks.is_empty(), "{found:?}");
    let status = site.read_as::<ExtractionStatus>(&format!("{handbook}/graph"), None).await;
    assert!(status.entity_types.contains(&"team".to_owned()) && status.documents == 13, "{status:?}");
    site.extracted().await;
    let entities = site.read_as::<EntityList>(&format!("{handbook}/graph/entities?limit=3"), None).await;
    assert!(entities.cursor.is_some() && entities.items.iter().all(|entity| entity.mentions > 0), "{entities:?}");
    let details = site.read_as::<EntityDetails>(&format!("{handbook}/graph/explore?entity=service%20desk"), None).await;
    assert!(details.entity.name == "service desk" && details.mentions[0].number().is_some(), "{details:?}");
    let relation = &details.relations[0];
    assert_eq!((relation.relation.as_str(), relation.to.name.as_str()), ("leads", "service desk"));
}

#[tokio::test(flavor = "multi_thread")]
async fn entities_are_extracted_listed_followed_and_cited() {
    let site = Site::open().await;
    let graph = async |rest: &str| site.call(&format!("/api/libraries/handbook/graph{rest}"), None).await;
    let status = site.extracted().await;
    assert_eq!((&status["done"], &status["entities"], &status["relations"]), (&json!(13), &json!(7), &json!(6)));
    let names = |list: &Value| {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&graph("/entities?type=team").await.1), ["people team", "security team", "service desk"]);
    let (_, page) = graph("/entities?name=TANAKA&fileName=who-*").await;
    assert_eq!(names(&page), ["Aiko Tanaka"]);
    let (_, first) = graph("/entities?limit=3").await;
    let cursor = first["cursor"].as_str().unwrap().replace(' ', "%20");
    let (_, rest) = graph(&format!("/entities?cursor={cursor}")).await;
    assert_eq!((names(&first).len(), names(&rest).len(), &rest["cursor"]), (3, 4, &Value::Null));
    let (_, explored) = graph("/explore?entity=service%20desk&depth=2&relation=").await;
    let relations = explored["relations"].as_array().unwrap().iter();
    let lines: Vec<_> = relations
        .map(|one| {
            let text = |of: &Value| of.as_str().unwrap().to_owned();
            let evidence = &one["evidence"];
            assert_eq!(evidence["fileName"], "who-is-who.md");
            [&one["from"]["name"], &one["relation"], &one["to"]["name"], &evidence["quote"]].map(text).join(" | ")
        })
        .collect();
    assert_eq!(
        lines,
        [
            "Jonas Weber | leads | service desk | Jonas Weber leads the service desk.",
            "Jonas Weber | reports to | Aiko Tanaka | Jonas Weber reports to Aiko Tanaka.",
        ]
    );
    for (path, expected) in
        [("/explore?entity=nobody", 404), ("/explore?entity=x&depth=5", 422), ("/entities?limit=0", 422)]
    {
        assert_eq!(graph(path).await.0, expected, "{path}");
    }
    let redo = async |who: &Caller| {
        site.call_as(who, post("/api/libraries/handbook/graph/redo".to_owned(), json!({}))).await.0
    };
    assert_eq!(redo(&site.ada).await, 403);
    assert_eq!(redo(&caller(("boss", true, &["admin"]))).await, 202);
    assert_eq!(redo(&caller(("visitor", false, &[]))).await, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_about_connections_cite_the_sentences_that_state_them() {
    let site = Site::open().await;
    let mut message = Value::Null;
    // The extraction follows the reading.
    for round in 0..200 {
        message = site.ask(&format!("c{round}"), "Who is connected with the service desk?").await;
        if text_of(&message).contains("Tanaka") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let text = text_of(&message);
    assert_eq!(text.lines().last().map(str::trim_end), Some("- Jonas Weber reports to Aiko Tanaka"), "{message}");
    let citation = citation(&message);
    let source = &citation["source"];
    assert!(source["title"].as_str().unwrap().starts_with("who-is-who.md"), "{source}");
    assert!(citation["citedText"].as_str().unwrap().contains("leads the service desk"), "{citation}");
    let document = source["id"].as_str().unwrap();
    assert_eq!(site.call(&format!("/api/documents/{document}"), None).await.0, 200);
}
