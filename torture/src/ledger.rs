//! A ledger of tool effects outside of the server. An effect is on disk before the tool is
//! answered.

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

/// Effects whose key has this prefix are recorded, but answered with an error.
pub(crate) const LOST_ANSWER: &str = "lost";

/// The ledger; clones share its state.
#[derive(Clone)]
pub(crate) struct Ledger {
    /// The origin of its URL.
    pub(crate) origin: String,
    state: Arc<Mutex<LedgerState>>,
}

struct LedgerState {
    file: File,
    counts: HashMap<String, u64>,
}

impl Ledger {
    /// Starts a ledger with its file in a folder.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(folder.join("ledger"))?;
        let state = Arc::new(Mutex::new(LedgerState { file, counts: HashMap::new() }));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let origin = format!("http://{}", listener.local_addr()?);
        let router = Router::new().route("/effects", post(record_effect)).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { origin, state })
    }

    /// Returns the number of times that each effect happened.
    pub(crate) fn counts(&self) -> HashMap<String, u64> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).counts.clone()
    }
}

async fn record_effect(
    State(state): State<Arc<Mutex<LedgerState>>>,
    Json(effect): Json<Value>,
) -> (StatusCode, Json<Value>) {
    let key = effect["key"].as_str().unwrap_or_default().to_owned();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let written = writeln!(state.file, "{key}").and_then(|()| state.file.sync_data());
    assert!(written.is_ok(), "the ledger cannot be written: {written:?}");
    let count = state.counts.entry(key.clone()).or_default();
    *count += 1;
    let status = if key.starts_with(LOST_ANSWER) { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
    (status, Json(json!({ "entered": key })))
}
