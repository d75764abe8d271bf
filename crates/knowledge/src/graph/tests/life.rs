//! The extraction, its progress, and the rest that is left of it when documents change.

use super::*;
use crate::graph::sweep;
use crate::service::LibraryChange;
use crate::store::graph::Direction;
use test_postgres::database_files_of_each_kind;

const PUMPS: &str = "Mara Lindholm alias ML leads The People Team\nJonas leads Service Desk\n";
const LINES: &str = "ML reports to Ada\nJonas reports to Aiko\nAiko reports to Ada\nJonas leads the service desk\n";

/// Runs the sweep until this holds. The first one may find the job before it, which has done its work and is about to
/// end.
async fn sweep_until(server: &Server, holds: impl AsyncFn() -> bool) {
    for _ in 0..3_000 {
        sweep(&server.knowledge).await.unwrap();
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} entities", server.rows("knowledge_entities").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn entities_are_merged_followed_and_go_with_their_documents() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library(true).await;
        let teams = server.add(&library, "teams.txt", PUMPS).await;
        server.extracted(&library, 1).await;
        server.add(&library, "lines.txt", LINES).await;
        server.extracted(&library, 2).await;
        assert_eq!(
            server.entities(&library).await,
            "person Ada, person Aiko, person Jonas, person Mara Lindholm, team The People Team, team Service Desk"
        );
        assert_eq!(
            server.explore(&library, from("ml", 1)).await,
            "Mara Lindholm leads The People Team ×1\nMara Lindholm reports to Ada ×1"
        );
        // Two documents say it.
        assert_eq!(
            server.explore(&library, from("SERVICE  DESK", 4)).await,
            "Jonas leads Service Desk ×2\nJonas reports to Aiko ×1\nAiko reports to Ada ×1\nMara Lindholm reports to Ada ×1"
        );
        let outwards = Exploration { direction: Direction::Out, relation: "reports to".to_owned(), ..from("Jonas", 2) };
        assert_eq!(
            server.explore(&library, outwards.clone()).await,
            "Jonas reports to Aiko ×1\nAiko reports to Ada ×1"
        );
        let inwards = Exploration { direction: Direction::In, ..outwards.clone() };
        assert_eq!(server.explore(&library, inwards).await, "");
        assert_eq!(server.explore(&library, Exploration { limit: 1, ..outwards }).await, "Jonas reports to Aiko ×1");
        assert_eq!(
            server.explore(&library, Exploration { kind: "team".to_owned(), ..from("ada", 1) }).await,
            "NotFound"
        );
        assert_eq!(server.explore(&library, from("ada", 5)).await, "Invalid");
        assert_eq!(server.explore("another", from("ada", 1)).await, "NotFound");
        // Replaced: what only the old version said is gone.
        server.add(&library, "lines.txt", "Jonas reports to Bob\n").await;
        // Until its version is read, two documents are extracted, too.
        sweep_until(&server, async || server.entities(&library).await.contains("Bob")).await;
        server.extracted(&library, 2).await;
        assert_eq!(
            server.entities(&library).await,
            "person Bob, person Jonas, person Mara Lindholm, team The People Team, team Service Desk"
        );
        server.knowledge.delete_document(&viewer("ada"), &teams.id).await.unwrap();
        assert_eq!(server.entities(&library).await, "person Bob, person Jonas");
        assert_eq!(server.explore(&library, from("jonas", 4)).await, "Jonas reports to Bob ×1");
        server.knowledge.delete(&viewer("ada"), &library).await.unwrap();
        for table in ["entities", "mentions", "relations", "extractions"] {
            assert_eq!(server.rows(&format!("knowledge_{table}")).await, 0, "{table}");
        }
        assert!(server.reader.asked.lock().iter().all(|asked| *asked == format!("ada library:{library}")));
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn owners_switch_the_extraction_on_and_off() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library(false).await;
        server.add(&library, "lines.txt", LINES).await;
        let ada = viewer("ada");
        assert_eq!(
            server.knowledge.extraction_counts(&ada, &library).await.unwrap_err().code,
            wire::ErrorCode::Conflict
        );
        let switch = async |is_on| {
            let change = LibraryChange { graph: Some(is_on), ..LibraryChange::default() };
            server.knowledge.change(&ada, &library, change).await.map(|library| library.has_graph)
        };
        sweep_until(&server, async || server.found(&library).await).await;
        assert_eq!(server.reader.asked.lock().len(), 0);
        assert_eq!(switch(true).await, Ok(true));
        server.extracted(&library, 1).await;
        assert_eq!(server.rows("knowledge_entities").await, 5);
        // Once more, on demand.
        server.knowledge.redo_graph(&ada, &library).await.unwrap();
        server.extracted(&library, 1).await;
        assert_eq!(server.reader.asked.lock().len(), 2);
        assert_eq!(server.rows("knowledge_entities").await, 5);
        // Another form of the answer: all is read again.
        let other = CONFIG
            .replace("[{ type: person }, { type: team }]", "[{ type: person }, { type: team, description: Any }]");
        server.knowledge.use_config(&parsed(&other));
        sweep_until(&server, async || server.reader.asked.lock().len() == 3).await;
        server.extracted(&library, 1).await;
        assert_eq!(server.rows("knowledge_entities").await, 5);
        assert_eq!(switch(false).await, Ok(false));
        sweep_until(&server, async || server.rows("knowledge_entities").await == 0).await;
        assert_eq!(server.rows("knowledge_extractions").await, 0);
        server.knowledge.use_config(&parsed("connections: [{ id: demo, type: Demo }]\n"));
        assert_eq!(switch(true).await.unwrap_err().code, wire::ErrorCode::Invalid);
        server.close().await;
    }
}

impl Server {
    /// Returns whether all documents of a library are read.
    async fn found(&self, library: &str) -> bool {
        let all = store::documents(self.knowledge.store(), library, None, "", 500).await.unwrap();
        all.iter().all(|document| document.version_id.is_some())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_documents_are_read_in_batches_up_to_their_limit() {
    let server = Server::open("sqlite::memory:").await;
    let library = server.library(true).await;
    let long: String =
        (0..300).map(|at| format!("Person{at} reports to Chief\n\n{}\n\n", "Filler. ".repeat(30))).collect();
    server.add(&library, "long.md", &long).await;
    server.extracted(&library, 1).await;
    let asked = server.reader.asked.lock().len();
    assert!(asked > 5, "{asked}");
    let kept = server.rows("knowledge_mentions").await + server.rows("knowledge_relations").await;
    assert!((400..=500).contains(&kept), "{kept}");
    let counts = server.knowledge.extraction_counts(&viewer("ada"), &library).await.unwrap().0;
    assert!(counts.dropped > 0, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_is_waited_for_and_other_failures_are_tried_again() {
    let server = Server::open("sqlite::memory:").await;
    let library = server.library(true).await;
    *server.reader.failures.lock() = vec![ModelFailure::Refused("The quota is used up.".to_owned())];
    server.add(&library, "lines.txt", LINES).await;
    let counts = async || server.knowledge.extraction_counts(&viewer("ada"), &library).await.unwrap().0;
    let error = loop {
        if let Some(error) = counts().await.error {
            break error;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!((error.as_str(), counts().await.done), ("The quota is used up.", 0));
    // The owner does not wait for the pause.
    server.knowledge.redo_graph(&viewer("ada"), &library).await.unwrap();
    assert_eq!(counts().await.error, None);
    server.extracted(&library, 1).await;
}
