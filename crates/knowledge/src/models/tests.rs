//! The clients of the services.

use super::testing::{Answer, StandIn, embedded};
use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| if number % 2 == 0 { "a cat".to_owned() } else { "a car".to_owned() }).collect()
}

#[tokio::test]
async fn documents_are_sent_in_batches_and_a_few_at_once() {
    let server = StandIn::start(|_, body| Answer { delay: Duration::from_millis(30), ..embedded(body).into() }).await;
    let more = json!({ "batchSize": 4, "parallel": 2, "costUsdPerMillionTokens": 2, "documentPrefix": "passage: ", "queryPrefix": "query: ", "dimensions": 8 });
    let embedder = server.embedder(more);
    let result = embedder.embed(&texts(18), Purpose::Document).await.unwrap();
    let expected: Vec<Vec<f32>> =
        (0..18).map(|at| if at % 2 == 0 { vec![1.0, 0.0, 0.0, 1.0] } else { vec![0.0, 1.0, 0.0, 1.0] }).collect();
    assert_eq!(result.vectors, expected);
    assert_eq!((result.usage.input_tokens, result.cost_usd), (180, Some(0.00036)));
    let requests = server.requests();
    assert_eq!((requests.len(), server.most_open()), (5, 2));
    let (asked, body) = &requests[0];
    assert_eq!(asked, "/embeddings Bearer secret-key");
    assert_eq!((&body["input"][0], &body["dimensions"]), (&json!("passage: a cat"), &json!(8)));
    embedder.embed(&texts(1), Purpose::Query).await.unwrap();
    assert_eq!(server.requests()[5].1["input"], json!(["query: a cat"]));
    // Vectors of another length or with another prefix cannot be compared with these.
    let keys = [
        json!({}),
        json!({ "dimensions": 8 }),
        json!({ "documentPrefix": "passage: " }),
        json!({ "queryPrefix": "x" }),
    ];
    let keys = keys.map(|more| server.embedder(more).key().to_owned());
    assert_eq!((keys[0].as_str(), keys[3].as_str(), model_name(&keys[1])), ("concepts", "concepts", "concepts"));
    assert!(keys[1] != keys[0] && keys[2] != keys[0] && keys[1] != keys[2], "{keys:?}");
}

#[tokio::test]
async fn what_may_succeed_later_is_tried_again() {
    let server = StandIn::start(|number, body| match number {
        0 => Answer { retry_after: "0", ..429_u16.into() },
        1 => 503_u16.into(),
        _ => embedded(body).into(),
    })
    .await;
    let embedder = server.embedder(json!({}));
    assert_eq!(embedder.embed(&texts(1), Purpose::Document).await.unwrap().vectors.len(), 1);
    assert_eq!(server.requests().len(), 3);
    let check = async |answer: u16, purpose, requests: usize, expected: &str| {
        let server = StandIn::start(move |_, _| Answer { retry_after: "0", ..answer.into() }).await;
        let error = server.embedder(json!({})).embed(&texts(1), purpose).await.unwrap_err();
        assert_eq!((error.to_string().as_str(), server.requests().len()), (expected, requests));
    };
    let limited =
        "the embeddings service cannot be used: it gets too many requests, or the quota of its plan is used up";
    check(429, Purpose::Document, 4, limited).await;
    // Somebody waits for the answer to a question.
    check(429, Purpose::Query, 1, limited).await;
    check(401, Purpose::Document, 1, "the embeddings service cannot be used: it refused the key").await;
    check(400, Purpose::Document, 1, "the embeddings service cannot be used: it answered with the status 400").await;
    check(200, Purpose::Document, 1, "the embeddings service cannot be used: its answer cannot be read").await;
}

#[tokio::test]
async fn private_addresses_are_refused_unless_they_are_allowed() {
    let server = StandIn::embeddings().await;
    let embedder = server.embedder(json!({ "allowPrivate": false }));
    let error = embedder.embed(&texts(1), Purpose::Query).await.unwrap_err();
    assert!(error.to_string().contains("the address is not public"), "{error}");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn passages_are_ordered_in_time_or_not_at_all() {
    let results =
        json!({ "results": [{ "index": 1, "relevance_score": 0.9 }, { "index": 0, "relevance_score": 0.2 }] });
    let answer = results.clone();
    let server = StandIn::start(move |_, _| answer.clone().into()).await;
    let passages = ["one".to_owned(), "two".to_owned()];
    assert_eq!(server.reranker(5_000).order("q", &passages).await.unwrap(), [(1, 0.9), (0, 0.2)]);
    let (asked, body) = &server.requests()[0];
    assert_eq!(asked, "/v2/rerank");
    let expected =
        json!({ "model": "judge", "query": "q", "documents": ["one", "two"], "top_n": 2, "return_documents": false });
    assert_eq!(*body, expected);
    let slow = StandIn::start(move |_, _| Answer { delay: Duration::from_secs(60), ..results.clone().into() }).await;
    let error = slow.reranker(50).order("q", &passages).await.unwrap_err();
    assert_eq!(error.to_string(), "the server did not answer within 0.05 s");
}

/// Writes a model of five words, whose vectors have two numbers.
#[cfg(feature = "static-embeddings")]
fn write_model(folder: &std::path::Path) {
    let words = ["[UNK]", "cat", "feline", "car", "automobile"];
    let vectors: [[f32; 2]; 5] = [[0.0, 0.0], [1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]];
    let vocabulary: serde_json::Map<_, _> =
        words.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), json!(id))).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "post_processor": null, "decoder": null,
        "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary },
    });
    let data: Vec<u8> = vectors.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    let header =
        json!({ "embeddings": { "dtype": "F32", "shape": [5, 2], "data_offsets": [0, data.len()] } }).to_string();
    let length = (header.len() as u64).to_le_bytes();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("model.safetensors"), [&length[..], header.as_bytes(), &data].concat()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(folder.join("config.json"), json!({ "normalize": true }).to_string()).unwrap();
}

#[cfg(feature = "static-embeddings")]
#[tokio::test]
async fn a_folder_of_static_embeddings_computes_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("tiny"), folder.path().join("same"));
    write_model(&one);
    write_model(&other);
    let embedder = folder::FolderEmbedder::new(one.clone()).unwrap();
    assert_eq!(model_name(embedder.key()), "tiny");
    let hash = |key: &str| key.rsplit_once('#').unwrap().1.to_owned();
    assert_eq!(hash(embedder.key()), hash(folder::FolderEmbedder::new(other).unwrap().key()));
    let texts = ["Cat", "the feline", "automobile car"].map(str::to_owned);
    let vectors = embedder.embed(&texts, Purpose::Document).await.unwrap().vectors;
    let angle = |one: usize, other: usize| {
        vectors[one].iter().zip(&vectors[other]).map(|(one, other)| one * other).sum::<f32>()
    };
    assert!(angle(0, 1) > 0.9 && angle(0, 2) < 0.2, "{vectors:?}");
    std::fs::write(one.join("model.safetensors"), "damaged").unwrap();
    let damaged = folder::FolderEmbedder::new(one.clone()).unwrap();
    assert_ne!(damaged.key(), embedder.key());
    assert!(matches!(damaged.embed(&texts, Purpose::Query).await, Err(EmbeddingFailure::Model(_))));
    assert!(folder::FolderEmbedder::new(folder.path().join("none")).is_err());
}

proptest! {
    #[test]
    fn any_answer_is_read_or_refused(body in "\\PC{0,80}") {
        fuzz_answer(body.as_bytes());
    }
}
