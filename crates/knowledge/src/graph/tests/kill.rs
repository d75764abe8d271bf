//! Kills the process at many moments while documents are read and extracted, and lets another one continue.

use super::*;
use crate::testing::{KillTest, runtime};

const KILLS: KillTest = KillTest {
    variable: "GRAPH_KILL_URL",
    test: "graph::tests::kill::extraction_survives_being_killed_at_any_time",
    // With PostgreSQL the next process waits each time for the lease of the jobs.
    moments: [10, 3],
};
const DOCUMENTS: usize = 6;

fn text(number: usize) -> String {
    let line = |at: usize| format!("Person{number}x{at} reports to Chief\n\n{}\n\n", "Filler. ".repeat(100));
    (0..20).map(line).collect()
}

/// Adds the documents, waits until they are extracted, and checks that each relation is there once.
async fn serve(url: &str) {
    let server = Server::open(url).await;
    let known = server.knowledge.libraries(&viewer("ada")).await.unwrap();
    let library = match known.first() {
        Some(library) => library.id.clone(),
        None => server.library(true).await,
    };
    for number in 0..DOCUMENTS {
        server.add(&library, &format!("{number}.md"), &text(number)).await;
    }
    server.extracted(&library, DOCUMENTS as i64).await;
    let counts = server.knowledge.extraction_counts(&viewer("ada"), &library).await.unwrap().0;
    let people = (DOCUMENTS * 20) as i64;
    assert_eq!((counts.entities, counts.relations, counts.dropped), (people + 1, people, 0));
    // The chunks of a document overlap.
    assert!(server.rows("knowledge_relations").await >= people);
    server.close().await;
}

#[test]
fn extraction_survives_being_killed_at_any_time() {
    if let Some(url) = KILLS.url() {
        return runtime().block_on(serve(&url));
    }
    // With PostgreSQL, one early moment.
    KILLS.run([4, 2]);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn extraction_survives_being_killed_at_each_moment_thoroughly() {
    KILLS.run([1, 1]);
}

#[test]
fn two_servers_extract_each_document_once() {
    runtime().block_on(async {
        let Some(url) = test_postgres::new_database().await else { return };
        let (one, other) = (Server::open(&url).await, Server::open(&url).await);
        let library = one.library(true).await;
        for number in 0..DOCUMENTS {
            one.add(&library, &format!("{number}.txt"), &format!("Person{number} reports to Chief\n")).await;
        }
        one.extracted(&library, DOCUMENTS as i64).await;
        let asked = one.reader.asked.lock().len() + other.reader.asked.lock().len();
        assert_eq!(asked, DOCUMENTS);
        assert_eq!(one.rows("knowledge_entities").await, DOCUMENTS as i64 + 1);
        one.close().await;
        other.close().await;
    });
}
