//! The life of documents, on both databases.

use super::*;
use ::store::AuditFilter;
use serde_json::json;
use std::collections::HashMap;

const PUMPS: &str =
    "# Pumps\n\n## Night\n\nThe pumps run from 22:00 to 6:00.\n\n## Day\n\nAt noon the valves are cleaned.\n";

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_added_found_replaced_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    for url in databases(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let ada = viewer("ada");
        let pumps = server.add(&library, "pumps.md", PUMPS, false).await.unwrap();
        let again = server.add(&library, "other-name.md", PUMPS, false).await.unwrap();
        assert_eq!(pumps.id, again.id, "the same bytes are the same document");
        server.add(&library, "cooks.txt", "Cooks bake bread in the kitchen every morning.", false).await.unwrap();
        let rows = server.settled(&library).await;
        assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [DocumentState::Ready; 2]);
        assert!(rows.iter().all(|row| row.chunks > 0 && row.pages > 0), "{rows:?}");
        assert_eq!(server.found(&ada, &library, "When does the pump run?").await.unwrap(), ["pumps.md"]);
        assert_eq!(server.found(&ada, &library, "baking").await.unwrap(), ["cooks.txt"]);
        // A new version takes the place of the old one.
        let new = server.add(&library, "pumps.md", "# Pumps\n\nThey are painted green.\n", true).await.unwrap();
        assert_eq!(new.id, pumps.id);
        server.settled(&library).await;
        assert_eq!(server.found(&ada, &library, "valves at noon").await.unwrap(), Vec::<String>::new());
        assert_eq!(server.found(&ada, &library, "green").await.unwrap(), ["pumps.md"]);
        assert_eq!(server.rows("knowledge_versions").await, 2);
        server.knowledge.delete_document(&ada, &pumps.id).await.unwrap();
        assert_eq!(server.found(&ada, &library, "green").await.unwrap(), Vec::<String>::new());
        assert!(manage(&server, &library).await);
        server.knowledge.delete(&ada, &library).await.unwrap();
        let events = server.knowledge.store().events_after("document.ready", 0, 10).await.unwrap();
        let told = |event: &::store::NumberedEvent| {
            let data = &event.event.data;
            assert_eq!((&data["libraryId"], &data["userId"]), (&json!(library), &json!("ada")));
            format!("{} {} {}", data["fileName"], data["chunks"], data["replaced"])
        };
        let mut told: Vec<_> = events.iter().map(told).collect();
        // Documents are read at the same time.
        told[..2].sort_unstable();
        assert_eq!(told, ["\"cooks.txt\" 1 false", "\"pumps.md\" 1 false", "\"pumps.md\" 1 true"]);
        let rows = server.knowledge.store().audit_list(AuditFilter::default(), 20, None).await.unwrap();
        let rows: Vec<_> = rows.iter().rev().map(|row| row.tool.as_str()).collect();
        let expected =
            ["library:create", "document:add", "document:add", "document:replace", "document:delete", "library:delete"];
        assert_eq!(rows, expected);
        for table in
            ["knowledge_documents", "knowledge_versions", "knowledge_pieces", "knowledge_parts", "knowledge_chunks"]
        {
            assert_eq!(server.rows(table).await, 0, "{table}");
        }
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_read_fail_with_a_reason() {
    let server = Server::open("sqlite::memory:").await;
    let library = server.library().await;
    server.add(&library, "blank.md", " \n", false).await.unwrap();
    let rows = server.settled(&library).await;
    let (code, message) = rows[0].error.clone().unwrap();
    assert_eq!((rows[0].state, code.as_str()), (DocumentState::Failed, "empty"));
    assert!(message.contains("blank.md"), "{message}");
    // Reading it again fails again.
    server.knowledge.retry(&viewer("ada"), &rows[0].id).await.unwrap();
    let rows = server.settled(&library).await;
    assert_eq!(rows[0].state, DocumentState::Failed);
    assert_eq!(server.add(&library, "empty.md", "", false).await.unwrap_err().code, wire::ErrorCode::Invalid);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_get_404_and_readers_may_only_read() {
    let server = Server::open("sqlite::memory:").await;
    let library = server.library().await;
    let document = server.add(&library, "pumps.md", PUMPS, false).await.unwrap();
    server.settled(&library).await;
    let eve = viewer("eve");
    let staff = Viewer { roles: vec!["staff".to_owned()], ..viewer("bob") };
    assert_eq!(server.found(&eve, &library, "pumps").await.unwrap_err(), UserError::not_found());
    assert_eq!(server.found(&staff, &library, "pumps").await.unwrap(), ["pumps.md"]);
    let delete = async |viewer: &Viewer| server.knowledge.delete_document(viewer, &document.id).await.unwrap_err().code;
    assert_eq!(delete(&eve).await, wire::ErrorCode::NotFound);
    assert_eq!(delete(&staff).await, wire::ErrorCode::Forbidden);
    assert_eq!(server.knowledge.delete(&eve, &library).await.unwrap_err().code, wire::ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn libraries_are_deleted_with_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    for url in databases(folder.path()).await {
        let server = Server::open(&url).await;
        let store = server.knowledge.store().clone();
        let user = ::store::NewUser {
            id: "ada".to_owned(),
            name: "ada".to_owned(),
            name_key: "ada".to_owned(),
            password: String::new(),
            roles: Vec::new(),
            now: 0,
        };
        store.add_user(user, false, None).await.unwrap();
        let library = server.library().await;
        server.add(&library, "pumps.md", PUMPS, false).await.unwrap();
        server.settled(&library).await;
        let text = String::new;
        let entry = ::store::AuditEntry {
            at: 1,
            user_id: "boss".to_owned(),
            agent_id: text(),
            conversation_id: text(),
            message_id: text(),
            run_id: text(),
            call_id: text(),
            tool: "admin:delete".to_owned(),
            arguments: serde_json::Value::Null,
            gates: Vec::new(),
            outcome: ::store::AuditOutcome::Ok,
            duration_ms: None,
        };
        store.change_user("ada", ::store::UserChange::Delete, 5, entry).await.unwrap();
        assert!(store.delete_user("ada").await.unwrap());
        for table in ["knowledge_libraries", "knowledge_documents", "knowledge_chunks"] {
            assert_eq!(server.rows(table).await, 0, "{table}");
        }
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn folder_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("pumps.md"), PUMPS).unwrap();
    let config = "libraries: [{ id: manual, folder: files }]\n";
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let language = capability::language(&[crate::DEFINITION]);
    let loaded = language.read_path(&folder.path().join("chatwright.yaml"), &HashMap::<String, String>::new()).outcome;
    let (config, _) = loaded.unwrap_or_else(|problems| panic!("{}", config::render(&problems)));
    let server = Server::open("sqlite::memory:").await;
    server.knowledge.use_config(&std::sync::Arc::new(config));
    let ada = viewer("ada");
    let found = async |query: &str| {
        ingest::follow(&server.knowledge).await.unwrap();
        server.settled("manual").await;
        server.found(&ada, "manual", query).await.unwrap()
    };
    assert_eq!(found("pump").await, ["pumps.md"]);
    std::fs::create_dir(files.join("more")).unwrap();
    std::fs::write(files.join("more/cooks.md"), "Cooks bake bread.").unwrap();
    assert_eq!(found("bread").await, ["more/cooks.md"]);
    std::fs::write(files.join("pumps.md"), "# Pumps\n\nThey are painted green, and this is longer.\n").unwrap();
    assert_eq!(found("green").await, ["pumps.md"]);
    assert_eq!(found("valves").await, Vec::<String>::new());
    std::fs::remove_file(files.join("pumps.md")).unwrap();
    assert_eq!(found("green").await, Vec::<String>::new());
    assert_eq!(server.rows("knowledge_versions").await, 1);
}
