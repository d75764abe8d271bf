//! Kills the process at many moments while documents are read, and lets another one continue.

use super::*;
use crate::models::testing::{LocalEmbedder, models};
use crate::testing::{KillTest, runtime};

const KILLS: KillTest = KillTest {
    variable: "KNOWLEDGE_KILL_URL",
    test: "ingest::tests::kill::reading_survives_being_killed_at_any_time",
    // With PostgreSQL the next process waits each time for the lease of the jobs.
    moments: [12, 4],
};
const DOCUMENTS: usize = 12;

fn text(number: usize) -> String {
    let paragraph = |at: usize| {
        // Every fourth file is too large for one transaction.
        let words = if number.is_multiple_of(4) { 220 } else { 80 };
        format!(
            "## Part {at}\n\nDocument{number} says word{number}x{at} about pumps. {}\n\n",
            "More words. ".repeat(words)
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

#[test]
fn reading_survives_being_killed_at_any_time() {
    if let Some(url) = KILLS.url() {
        return runtime().block_on(serve(&url));
    }
    // With PostgreSQL, one early moment.
    KILLS.run([4, 3]);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn reading_survives_being_killed_at_each_moment_thoroughly() {
    KILLS.run([1, 1]);
}
