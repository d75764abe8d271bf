//! A scanned PDF of a library, from the file to the model's request and the text that is found.

use crate::process::Server;
use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;

type Requests = Arc<Mutex<Vec<Value>>>;

/// Starts a provider that reads a sentence from each page that it is asked for, and keeps its requests.
async fn start_reader(requests: Requests) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let reply = async |State(requests): State<Requests>, Json(request): Json<Value>| {
        let asked = request["messages"].as_array().unwrap().last().unwrap()["content"][0]["text"].as_str().unwrap();
        let asked: Value = serde_json::from_str(asked).unwrap();
        let page = |page: &Value| json!({ "page": page, "text": format!("Turbine {page} is green.") });
        let pages: Vec<_> = asked["pages"].as_array().unwrap().iter().map(page).collect();
        requests.lock().unwrap().push(request);
        let delta = json!({ "content": json!({ "pages": pages }).to_string() });
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": "stop" }]);
        let chunk = json!({ "id": "x", "object": "chat.completion.chunk", "choices": choices });
        ([("content-type", "text/event-stream")], format!("data: {chunk}\n\ndata: [DONE]\n\n"))
    };
    let router = Router::new().route("/v1/chat/completions", post(reply)).with_state(requests);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

/// Makes a PDF file of two pages that are pictures, without a table of offsets, which readers restore.
fn scan() -> String {
    let mut file = "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
        2 0 obj\n<< /Type /Pages /Kids [4 0 R 6 0 R] /Count 2 >>\nendobj\n\
        3 0 obj\n<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 \
        /Length 1 >>\nstream\nx\nendstream\nendobj\n"
        .to_owned();
    let stream = "q 595 0 0 842 0 0 cm /Im1 Do Q";
    for number in [4, 6] {
        let (content, length) = (number + 1, stream.len());
        file.push_str(&format!(
            "{number} 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} 0 R \
             /Resources << /XObject << /Im1 3 0 R >> >> >>\nendobj\n\
             {content} 0 obj\n<< /Length {length} >>\nstream\n{stream}\nendstream\nendobj\n"
        ));
    }
    file.push_str("trailer\n<< /Size 8 /Root 1 0 R >>\n%%EOF\n");
    file
}

#[tokio::test]
async fn scanned_document_is_read_by_the_model_of_the_config() {
    let (folder, requests) = (TempDir::new().unwrap(), Requests::default());
    let model = start_reader(requests.clone()).await;
    std::fs::create_dir(folder.path().join("letters")).unwrap();
    std::fs::write(folder.path().join("letters/scan.pdf"), scan()).unwrap();
    let config = folder.path().join("chatwright.yaml");
    let text = format!(
        "
connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{model}' }} }}]
libraries: [{{ id: letters, folder: letters }}]
knowledge: {{ pageReader: {{ model: {{ connectionId: model, model: seeing }} }} }}
pages: [{{ id: p }}]
"
    );
    std::fs::write(&config, text).unwrap();
    let server = Server::start_with(&["--config", config.to_str().unwrap()]);
    let get =
        async |path: &str| -> Value { server.request(Method::GET, path).send().await.unwrap().json().await.unwrap() };
    let mut document = Value::Null;
    for _ in 0..600 {
        document = get("/api/libraries/letters/documents").await["items"][0].clone();
        if ["ready", "failed"].iter().any(|state| document["state"] == *state) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!((&document["state"], &document["pages"]), (&json!("ready"), &json!(2)), "{document}");
    assert_eq!(document["warnings"][0]["code"], "readByModel", "{document}");
    let id = document["id"].as_str().unwrap();
    let text = get(&format!("/api/documents/{id}/text")).await.to_string();
    assert!(text.contains("Turbine 1 is green.") && text.contains("Turbine 2 is green."), "{text}");
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["model"], "seeing");
    let file = &requests[0]["messages"].as_array().unwrap().last().unwrap()["content"][1]["file"];
    let data = file["file_data"].as_str().unwrap();
    assert!(file["filename"] == "scan.pdf" && data.starts_with("data:application/pdf;base64,"), "{file}");
}
