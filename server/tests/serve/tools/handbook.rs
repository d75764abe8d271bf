//! The PDF of `examples/handbook`, from its folder to an answer that cites its page.

use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const PDF: &str = "bicycle-leasing.pdf";

#[tokio::test]
async fn answer_from_the_pdf_of_the_handbook_cites_its_page() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handbook");
    let server = Server::start_with(&["--config", example.to_str().unwrap()]);
    let mut documents = Value::Null;
    for _ in 0..600 {
        let library = server.request(Method::GET, "/api/libraries/handbook").send().await.unwrap();
        documents = library.json::<Value>().await.unwrap()["documents"].take();
        if documents["ready"] == 14 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(documents, json!({ "queued": 0, "processing": 0, "ready": 14, "failed": 0 }));
    let questions = std::fs::read_to_string(example.join("questions.tsv")).unwrap();
    let questions = questions.lines().filter_map(|line| line.split_once('\t'));
    let mut count = 0;
    for (question, _) in questions.filter(|(_, file)| *file == PDF) {
        let search = server.request(Method::POST, "/api/libraries/handbook/search");
        let found = search.json(&json!({ "query": question })).send().await.unwrap().json::<Value>().await.unwrap();
        assert_eq!(found["results"][0]["fileName"], PDF, "{question}: {found}");
        count += 1;
    }
    assert_eq!(count, 3);
    let part = json!({ "type": "text", "text": "Can I buy the bicycle when the lease ends?" });
    let body = json!({ "messages": [{ "id": "m1", "role": "user", "parts": [part] }] });
    let request = server.request(Method::POST, "/api/agent/home/helper?conversationId=c1");
    let answer = request.json(&body).send().await.unwrap().text().await.unwrap();
    assert!(answer.contains("\"title\":\"bicycle-leasing.pdf, page 2\""), "{answer}");
}
