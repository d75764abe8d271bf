//! The transactions in which files are stored, on both databases.

use super::*;
use crate::store::{PIECE, SMALL};
use documents::{Converter, Limits};
use futures::TryStreamExt;
use test_postgres::database_files_of_each_kind;

#[tokio::test(flavor = "multi_thread")]
async fn files_of_all_sizes_are_stored_whole() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        for size in [1, SMALL, SMALL + 1, PIECE, PIECE + 1] {
            let text: String = "Pumps run at night.\n".chars().cycle().take(size).collect();
            let document = server.add(&library, &format!("{size}.txt"), &text, false).await.unwrap();
            let version = document.next_id.or(document.version_id).unwrap();
            let stored = store::pieces(server.knowledge.store().clone(), version);
            let stored: Vec<_> = stored.try_collect().await.unwrap();
            assert_eq!(stored.len(), size.div_ceil(PIECE), "{size}");
            let content: Vec<u8> = stored.iter().flat_map(|piece| piece.to_vec()).collect();
            assert!(content == text.as_bytes(), "{size}");
        }
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_interrupted_upload() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        for size in [1, SMALL + 1, PIECE + 1] {
            let file = NewFile { name: "a.txt".to_owned(), media_type: None, identity: None, stamp: None };
            let content = futures::stream::iter([Ok(Bytes::from(vec![b'x'; size])), Err("gone")]);
            let (ada, options) = (viewer("ada"), UploadOptions::default());
            let error = server.knowledge.upload(&ada, &library, file, options, content).await.unwrap_err();
            assert_eq!(error.message, "The upload was interrupted. Send the file again.", "{size}");
            let left = (server.rows("knowledge_versions").await, server.rows("knowledge_pieces").await);
            assert_eq!(left, (0, 0), "{size}");
        }
        server.close().await;
    }
}

/// A search finds the same, however many transactions the upload took.
#[tokio::test(flavor = "multi_thread")]
async fn long_and_short_texts_are_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let texts = [(0, "alpacas"), (60, "beetles"), (250, "camels")];
        for (sections, animal) in texts {
            let section = |no: u32| format!("## Part {no}\n\nThe pumps run at night.\n\n");
            let text: String = (0..sections).map(section).chain([format!("## End\n\nHere are {animal}.\n")]).collect();
            server.add(&library, &format!("{sections}.md"), &text, false).await.unwrap();
        }
        let rows = server.settled(&library).await;
        assert_eq!(server.rows("knowledge_chunks").await, rows.iter().map(|row| row.chunks).sum::<i64>());
        for (sections, animal) in texts {
            let name = format!("{sections}.md");
            let version = rows.iter().find(|row| row.file_name == name).and_then(|row| row.version_id.clone()).unwrap();
            let parts = store::parts(server.knowledge.store(), &version, 0, 1_000).await.unwrap();
            assert!(parts.iter().any(|part| part.text.contains(animal)), "{animal}");
            let found = server.found(&viewer("ada"), &library, animal).await.unwrap();
            assert_eq!(found.first(), Some(&name), "{animal}: {found:?}");
        }
        server.close().await;
    }
}

/// The rows of a short text are stored in the transaction that ends the job. If the database refuses them each time, the
/// document fails with a reason, as if they were stored before.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_cannot_be_stored_is_a_failure() {
    let store = Schema::new(TABLES).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
    let refuse = ::store::sql::query(
        "CREATE TRIGGER refuse BEFORE INSERT ON knowledge_chunks BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    store.write(move |db| Box::pin(async move { Ok(refuse.execute(db).await.map(drop)?) })).await.unwrap();
    let jobs = Jobs::new(store.clone());
    let workers = Workers::new(jobs.clone());
    let knowledge = Knowledge::new(store, jobs);
    workers.add(ingest::handler_with(Converter::new(Limits::default()), knowledge.clone(), 1));
    workers.start();
    let server = Server { knowledge, workers };
    let library = server.library().await;
    server.add(&library, "a.txt", "The pumps run at night.", false).await.unwrap();
    let rows = server.settled(&library).await;
    let reason = ("unavailable".to_owned(), "The server could not read the document. Try again later.".to_owned());
    assert_eq!((rows[0].state, rows[0].error.clone()), (DocumentState::Failed, Some(reason)));
    assert_eq!((rows[0].version_id.clone(), server.rows("knowledge_parts").await), (None, 0));
    server.close().await;
}
