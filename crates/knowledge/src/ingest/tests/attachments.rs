//! Files that are attached in a conversation, as documents of it.

use super::*;
use ::store::NewFile as StoredFile;
use contract::RunScope;
use serde_json::json;
use test_postgres::database_files_of_each_kind;

/// Attaches a file to a new message.
async fn attach(server: &Server, id: &str, name: &str, text: &'static str) {
    let store = server.knowledge.store();
    let new = StoredFile { id: id.to_owned(), name: name.to_owned(), reserved: text.len() as u64, now: 1 };
    assert!(store.begin_file("ada", new, 1 << 20).await.unwrap());
    store.add_piece("ada", id, 0, Bytes::from_static(text.as_bytes())).await.unwrap();
    store.finish_file("ada", id, "text/markdown", text.len() as u64).await.unwrap();
    let file = json!({ "type": "file", "mediaType": "text/markdown", "url": format!("/api/files/{id}") });
    let message = json!({ "id": format!("with-{id}"), "role": "user", "parts": [file] });
    let (answer, run) = (format!("answer-{id}"), format!("run-{id}"));
    let begin = test_store::begin_run("c", None, serde_json::from_value(message).unwrap(), (&answer, &run));
    store.begin_run("ada", begin).await.unwrap();
    execute(server, "UPDATE runs SET status = 'done', ended_at = 1, events_until = 0").await;
}

pub(super) async fn execute(server: &Server, statement: &'static str) {
    let query = ::store::sql::query(statement);
    let write =
        server.knowledge.store().write(move |db| Box::pin(async move { Ok(query.execute(db).await.map(drop)?) }));
    write.await.unwrap();
}

/// Returns the names of the files of the conversation that can be searched.
async fn searched(server: &Server, scope: &RunScope) -> Vec<String> {
    server.knowledge.follow_attachments(scope).await.unwrap();
    assert_eq!(server.knowledge.unread_attachments(scope).await.unwrap(), []);
    let library = store::attachment_library(server.knowledge.store(), "c").await.unwrap().unwrap();
    let found = server.found(&viewer(&scope.user_id), &library.id, "pumps").await.unwrap();
    found.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_files_are_documents_of_their_conversation() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let scope =
            |user: &str| RunScope { user_id: user.to_owned(), conversation_id: "c".to_owned(), ..RunScope::default() };
        let ada = scope("ada");
        assert!(!server.knowledge.follow_attachments(&ada).await.unwrap());
        attach(&server, "one", "one.md", "The pumps run at night.").await;
        assert_eq!(searched(&server, &ada).await, ["one.md"]);
        attach(&server, "two", "two.md", "The pumps are red.").await;
        // Two turns at once make one library and one document of each file.
        let both = tokio::join!(server.knowledge.follow_attachments(&ada), server.knowledge.follow_attachments(&ada));
        assert!(both.0.unwrap() && both.1.unwrap());
        assert_eq!(searched(&server, &ada).await, ["one.md", "two.md"]);
        assert_eq!((server.rows("knowledge_libraries").await, server.rows("knowledge_documents").await), (1, 2));
        // A file that an agent has written in the conversation does not count as attached.
        execute(&server, "UPDATE file_uses SET is_attached = 0 WHERE file_id = 'two'").await;
        assert_eq!(searched(&server, &ada).await, ["one.md"]);
        execute(&server, "UPDATE file_uses SET is_attached = 1 WHERE file_id = 'two'").await;
        assert_eq!(searched(&server, &ada).await, ["one.md", "two.md"]);
        // Nobody else is told, and the user's own libraries have the same room as before.
        assert_eq!(server.rows("events").await, 0);
        assert_eq!(store::used_bytes(server.knowledge.store(), "ada").await.unwrap(), 0);
        assert_eq!(server.knowledge.libraries(&viewer("ada")).await.unwrap(), []);
        // The conversation becomes another user's, as that of a visitor who signs in.
        execute(&server, "UPDATE conversations SET owner = 'bob'").await;
        assert_eq!(searched(&server, &scope("bob")).await, ["one.md", "two.md"]);
        let library = store::attachment_library(server.knowledge.store(), "c").await.unwrap().unwrap();
        assert!(server.found(&viewer("ada"), &library.id, "pumps").await.is_err());
        // A file that is gone is not found any more.
        execute(&server, "DELETE FROM file_uses WHERE file_id = 'one'").await;
        assert_eq!(searched(&server, &scope("bob")).await, ["two.md"]);
        execute(&server, "DELETE FROM conversations").await;
        assert_eq!((server.rows("knowledge_libraries").await, server.rows("knowledge_documents").await), (0, 0));
        server.close().await;
    }
}
