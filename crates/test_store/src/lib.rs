#![doc = include_str!("../README.md")]

use std::time::Duration;
use store::{BeginRun, CapabilityTables, NewMessage, Schema, Store};
use wire::{Role, UiMessage};

/// How long [`open`] waits for a killed process that still has the file open.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a database with the tables of these capabilities.
///
/// # Panics
/// Panics if it cannot be opened.
pub async fn open(tables: &'static [CapabilityTables], url: &str) -> Store {
    Schema::new(tables).open(url, "", PATIENCE).await.unwrap()
}

/// Runs a test with an empty database of each kind, with the tables of these capabilities.
///
/// # Panics
/// Panics if a database cannot be opened.
pub async fn on_each_database(tables: &'static [CapabilityTables], test: impl AsyncFn(&Store)) {
    for url in test_postgres::databases_of_each_kind().await {
        let store = open(tables, &url).await;
        test(&store).await;
        store.close().await;
    }
}

/// Returns the submission of a user's message after `parent`, with the ids of the answer and of the run that writes it, for
/// the page `p` and the agent `helper` at the time 1. For another time, write `BeginRun { now: 10, ..begin_run(…) }`.
pub fn begin_run(
    conversation_id: &str,
    parent: Option<&str>,
    message: UiMessage,
    (answer_id, run_id): (&str, &str),
) -> BeginRun {
    let key = message.id.clone();
    BeginRun {
        conversation_id: conversation_id.to_owned(),
        page_id: "p".to_owned(),
        agent_id: "helper".to_owned(),
        title: "Talk".to_owned(),
        submission_key: key.clone(),
        insert: vec![
            NewMessage { parent_id: parent.map(str::to_owned), message },
            NewMessage { parent_id: Some(key), message: UiMessage::new(answer_id, Role::Assistant) },
        ],
        update: Vec::new(),
        message_id: answer_id.to_owned(),
        run_id: run_id.to_owned(),
        now: 1,
        lease_until: 2,
        audit: Vec::new(),
        grants: Vec::new(),
    }
}
