//! Kills the process at many moments while documents are read, and lets another one go on.

use super::*;
use crate::models::testing::{LocalEmbedder, models};
use crate::testing::kill_repeatedly;

const URL: &str = "KNOWLEDGE_KILL_URL";
const TEST: &str = "ingest::tests::kill::reading_survives_being_killed_at_any_time";
/// Into how many parts the moments split the time. With PostgreSQL the next process waits each time for the lease of
/// the jobs.
const KILLS: [u32; 2] = [12, 4];
const DOCUMENTS: usize = 12;

fn text(number: usize) -> String {
    let paragraph = |at: usize| {
        format!(
            "## Part {at}\n\nDocument{number} says word{number}x{at} about pumps. {}\n\n",
            "More words. ".repeat(80)
        )
    };
    (0..30).map(paragraph).collect()
}

/// Adds the documents, waits until they are read and have their vectors, and checks that each is found once.
async fn serve(url: &str) {
    let server = Server::open(url).await;
    server.knowledge.use_models(models(Some(std::sync::Arc::new(LocalEmbedder)), None));
    let known = server.knowledge.libraries(&viewer("ada")).await.unwrap();
    let library = match known.first() {
        Some(library) => library.id.clone(),
        None => server.library().await,
    };
    for number in 0..DOCUMENTS {
        server.add(&library, &format!("{number}.md"), &text(number), false).await.unwrap();
    }
    let rows = server.settled(&library).await;
    assert_eq!(rows.len(), DOCUMENTS);
    assert!(rows.iter().all(|row| row.state == DocumentState::Ready && row.next_id.is_none()), "{rows:?}");
    let chunks: i64 = rows.iter().map(|row| row.chunks).sum();
    assert_eq!(server.rows("knowledge_chunks").await, chunks);
    server.served(&library, "local").await;
    while server.rows("knowledge_vectors").await != chunks {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for number in 0..DOCUMENTS {
        let found = server.found(&viewer("ada"), &library, &format!("word{number}x7")).await.unwrap();
        assert_eq!(found.first(), Some(&format!("{number}.md")));
    }
    server.close().await;
}

/// Tries every `step`-th moment with each database.
fn check([sqlite, postgres]: [usize; 2]) {
    kill_repeatedly((TEST, URL), (KILLS[0], sqlite), |folder| {
        Some(format!("sqlite://{}", folder.join("test.db").display()))
    });
    kill_repeatedly((TEST, URL), (KILLS[1], postgres), |_| runtime().block_on(test_postgres::new_database()));
}

#[test]
fn reading_survives_being_killed_at_any_time() {
    if let Some(url) = std::env::var_os(URL) {
        return runtime().block_on(serve(url.to_str().unwrap()));
    }
    // With PostgreSQL, one early moment.
    check([4, 3]);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn reading_survives_being_killed_at_each_moment_thoroughly() {
    check([1, 1]);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
