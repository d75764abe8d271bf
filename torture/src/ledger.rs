//! The world outside: what tools do to it is entered here, on disk before it is answered, whatever becomes of the server.

use anyhow::Result;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;

/// Keys that begin so are entered, and then the answer fails.
pub(crate) const LOST_ANSWER: &str = "lost";

/// The ledger; a cheap handle.
#[derive(Clone)]
pub(crate) struct Ledger {
    /// Its origin.
    pub(crate) origin: String,
    entries: Arc<Mutex<Entries>>,
}

struct Entries {
    file: File,
    counts: HashMap<String, u64>,
}

impl Ledger {
    /// Opens one in a folder.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(folder.join("ledger"))?;
        let entries = Arc::new(Mutex::new(Entries { file, counts: HashMap::new() }));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let router = Router::new().route("/effects", post(enter)).with_state(entries.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { origin, entries })
    }

    /// How often each effect was had.
    pub(crate) fn counts(&self) -> HashMap<String, u64> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).counts.clone()
    }
}

async fn enter(State(entries): State<Arc<Mutex<Entries>>>, Json(effect): Json<Value>) -> (StatusCode, Json<Value>) {
    let key = effect["key"].as_str().unwrap_or_default().to_owned();
    let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    let written = writeln!(entries.file, "{key}").and_then(|()| entries.file.sync_data());
    assert!(written.is_ok(), "the ledger cannot be written: {written:?}");
    let count = entries.counts.entry(key.clone()).or_default();
    *count += 1;
    let status = if key.starts_with(LOST_ANSWER) { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
    (status, Json(json!({ "entered": key })))
}
