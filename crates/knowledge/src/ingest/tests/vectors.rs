//! Vectors of models: computed, searched, changed, and out of reach.

use super::*;
use crate::models::testing::{Answer, StandIn, embedded, models};
use crate::models::{Embedder, Models};
use contract::ModelUse;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use test_postgres::database_files_of_each_kind;

/// Texts of which each says one thing.
const TEXTS: [(&str, &str); 3] = [
    ("cats.md", "# Pets\n\nA feline sleeps for most of the day."),
    ("cars.md", "# Roads\n\nAn automobile needs fuel."),
    ("bread.md", "# Kitchen\n\nA loaf is baked at noon."),
];

impl Server {
    /// A library with the texts, which are read.
    async fn texts(&self) -> String {
        let library = self.library().await;
        for (name, text) in TEXTS {
            self.add(&library, name, text, false).await.unwrap();
        }
        self.settled(&library).await;
        library
    }

    async fn search(&self, library: &str, query: &str, mode: SearchMode) -> Result<Vec<String>, UserError> {
        let (libraries, query) = (vec![library.to_owned()], query.to_owned());
        let request = SearchRequest { libraries, query, limit: 10, mode, filter: Filter::default() };
        let outcome = self.knowledge.search(&viewer("ada"), request, &ModelUse::default()).await?;
        Ok(outcome.found.into_iter().map(|found| found.chunk.file_name).collect())
    }
}

fn key(embedder: &Arc<dyn Embedder>) -> String {
    embedder.key().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_computed_searched_and_changed() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let service = StandIn::embeddings().await;
        let first = service.embedder(json!({ "batchSize": 2 }));
        server.knowledge.use_models(models(Some(first.clone()), None));
        let library = server.texts().await;
        assert_eq!(server.served(&library, &key(&first)).await, 4);
        // The words of the questions are in none of the texts.
        let semantic = async |query: &str| server.search(&library, query, SearchMode::Semantic).await.unwrap();
        assert_eq!(semantic("kitten").await[0], "cats.md");
        assert_eq!(semantic("vehicle").await[0], "cars.md");
        assert_eq!(server.search(&library, "kitten", SearchMode::Hybrid).await.unwrap()[0], "cats.md");
        assert_eq!(server.search(&library, "kitten", SearchMode::Keyword).await.unwrap(), Vec::<String>::new());
        // A document that comes later is found with its vectors, and not after it is deleted.
        let more =
            server.add(&library, "more.md", "# Animals\n\nEvery cat is a feline, and a kitten a young one.", false);
        let more = more.await.unwrap();
        server.settled(&library).await;
        let is_found = async || semantic("kitten").await.contains(&"more.md".to_owned());
        while !is_found().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.knowledge.delete_document(&viewer("ada"), &more.id).await.unwrap();
        assert!(!is_found().await);
        assert_eq!(server.rows("knowledge_vectors").await, 3);

        // Another model: the first one is used until the second has all vectors.
        let is_held = Arc::new(AtomicBool::new(true));
        let held = is_held.clone();
        let slow = StandIn::start(move |_, body| {
            if held.load(Relaxed) { Answer { retry_after: "0", ..503_u16.into() } } else { embedded(body).into() }
        })
        .await;
        let second = slow.embedder(json!({ "dimensions": 16 }));
        server.knowledge.use_models(models(Some(second.clone()), Some(first.clone())));
        ingest::sweep(&server.knowledge).await.unwrap();
        while slow.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(semantic("kitten").await[0], "cats.md");
        let progress = store::embedding_progress(server.knowledge.store(), &library, second.key()).await.unwrap();
        assert_eq!(progress, store::EmbeddingProgress { embedded: 0, chunks: 3 });
        is_held.store(false, Relaxed);
        server.served(&library, &key(&second)).await;
        assert_eq!(semantic("vehicle").await[0], "cars.md");
        assert_eq!(slow.requests().last().unwrap().1["input"], json!(["vehicle"]));
        // The vectors of the first one are deleted.
        while server.rows("knowledge_vectors").await > 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Without a model, a library of this size has no vectors.
        server.knowledge.use_models(Models::default());
        let refused = server.search(&library, "kitten", SearchMode::Semantic).await.unwrap_err();
        assert_eq!(refused.code, wire::ErrorCode::Conflict);
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_go_on_with_keywords_while_the_service_is_out_of_reach() {
    let server = Server::open("sqlite::memory:").await;
    let is_down = Arc::new(AtomicBool::new(false));
    let down = is_down.clone();
    let service =
        StandIn::start(move |_, body| if down.load(Relaxed) { 500_u16.into() } else { embedded(body).into() }).await;
    let embedder = service.embedder(json!({}));
    server.knowledge.use_models(models(Some(embedder.clone()), None));
    let library = server.texts().await;
    server.served(&library, &key(&embedder)).await;
    is_down.store(true, Relaxed);
    assert_eq!(server.search(&library, "automobile", SearchMode::Hybrid).await.unwrap(), ["cars.md"]);
    let failed = server.search(&library, "automobile", SearchMode::Semantic).await.unwrap_err();
    assert_eq!(failed.code, wire::ErrorCode::Unavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_ordered_by_a_model_if_it_answers() {
    let server = Server::open("sqlite::memory:").await;
    let library = server.texts().await;
    let is_down = Arc::new(AtomicBool::new(false));
    let down = is_down.clone();
    // Whatever is asked, the passage about bread is the best.
    let judge = StandIn::start(move |_, body| {
        let passages = body["documents"].as_array().unwrap().iter().enumerate();
        let score = |text: &str| if text.contains("loaf") { 0.9 } else { 0.1 };
        let results: Vec<_> = passages
            .map(|(index, text)| json!({ "index": index, "relevance_score": score(text.as_str().unwrap()) }))
            .collect();
        if down.load(Relaxed) { 500_u16.into() } else { json!({ "results": results }).into() }
    })
    .await;
    let query = "automobile feline fuel loaf";
    let plain = server.search(&library, query, SearchMode::Keyword).await.unwrap();
    assert_eq!((plain[0].as_str(), plain.len()), ("cars.md", 3));
    let reranker = Some(Arc::new(judge.reranker(5_000)));
    server.knowledge.use_models(Models { reranker, ..Models::default() });
    assert_eq!(server.search(&library, query, SearchMode::Keyword).await.unwrap()[0], "bread.md");
    is_down.store(true, Relaxed);
    assert_eq!(server.search(&library, query, SearchMode::Keyword).await.unwrap(), plain);
}
