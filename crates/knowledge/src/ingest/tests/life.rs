//! The life of documents, on both databases.

use super::*;
use ::store::AuditFilter;
use chat::Caller;
use serde_json::json;
use std::collections::HashMap;
use test_postgres::database_files_of_each_kind;
use wire::ErrorCode;

const PUMPS: &str =
    "# Pumps\n\n## Night\n\nThe pumps run from 22:00 to 6:00.\n\n## Day\n\nAt noon the valves are cleaned.\n";

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_added_found_replaced_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
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

/// A replaced text is not found any more, also if another document has its bytes.
#[tokio::test(flavor = "multi_thread")]
async fn files_replace_the_newest_one_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let ada = viewer("ada");
        let (alpha, beta) = ("The first one is about alpacas.", "The second one is about beetles.");
        let first = server.add(&library, "a.txt", alpha, false).await.unwrap();
        let other = server.add(&library, "b.txt", beta, false).await.unwrap();
        server.settled(&library).await;
        for _ in 0..2 {
            let replaced = server.add(&library, "a.txt", beta, true).await.unwrap();
            assert_eq!((&replaced.id, replaced.file_name.as_str()), (&first.id, "a.txt"));
            server.settled(&library).await;
            assert_eq!(server.rows("knowledge_versions").await, 2);
        }
        assert_eq!(server.found(&ada, &library, "alpacas").await.unwrap(), Vec::<String>::new());
        let documents = store::documents(server.knowledge.store(), &library, None, "", 10).await.unwrap();
        let names: Vec<_> = documents.iter().map(|row| (row.file_name.as_str(), row.state)).collect();
        assert_eq!(names, [("a.txt", DocumentState::Ready), ("b.txt", DocumentState::Ready)]);
        // Without a file of its name, the bytes are the document that has them.
        assert_eq!(server.add(&library, "c.txt", beta, true).await.unwrap().id, other.id);
        // Of two files with one name, the newest is replaced.
        let newest = server.add(&library, "b.txt", "Something newer.", false).await.unwrap();
        server.settled(&library).await;
        assert_eq!(server.add(&library, "b.txt", "Something newest.", true).await.unwrap().id, newest.id);
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_out_is_kept_with_the_document() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let wide = |columns: usize| (vec!["pump"; columns].join(",") + "\n").repeat(2);
        server.add(&library, "pumps.csv", &wide(501), false).await.unwrap();
        let rows = server.settled(&library).await;
        let warnings: Vec<_> = rows[0].warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(warnings, ["Only the first 500 of 501 columns were read."]);
        // A version without them has none.
        server.add(&library, "pumps.csv", &wide(500), true).await.unwrap();
        assert!(server.settled(&library).await[0].warnings.is_empty());
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
    let error = server.add(&library, "empty.md", "", false).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Invalid, "The file empty.md is empty."));
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_get_404_and_readers_may_only_read() {
    let server = Server::open("sqlite::memory:").await;
    let library = server.library().await;
    let document = server.add(&library, "pumps.md", PUMPS, false).await.unwrap();
    server.settled(&library).await;
    let eve = viewer("eve");
    let staff = viewer_with_roles("bob", &["staff"]);
    assert_eq!(server.found(&eve, &library, "pumps").await.unwrap_err(), UserError::not_found());
    assert_eq!(server.found(&staff, &library, "pumps").await.unwrap(), ["pumps.md"]);
    let delete = async |viewer: &Viewer| server.knowledge.delete_document(viewer, &document.id).await.unwrap_err().code;
    assert_eq!(delete(&eve).await, ErrorCode::NotFound);
    assert_eq!(delete(&staff).await, ErrorCode::Forbidden);
    assert_eq!(server.knowledge.delete(&eve, &library).await.unwrap_err().code, ErrorCode::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn libraries_are_deleted_with_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let store = server.knowledge.store().clone();
        let user = ::store::NewUser {
            id: "ada".to_owned(),
            name: "ada".to_owned(),
            name_key: "ada".to_owned(),
            password: String::new(),
            must_change_password: false,
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
    // Administrators are told of a folder that is gone; its documents stay.
    let library = store::library(server.knowledge.store(), "manual").await.unwrap().unwrap();
    let boss = Viewer::from(&Caller::signed_in("boss").with_roles(vec!["admin".to_owned()]));
    assert_eq!(server.knowledge.folder_problem(&boss, &library), None);
    std::fs::rename(&files, folder.path().join("elsewhere")).unwrap();
    assert_eq!(found("bread").await, ["more/cooks.md"]);
    let problem = server.knowledge.folder_problem(&boss, &library).unwrap();
    assert!(problem.starts_with("the folder cannot be listed") && !problem.contains("files"), "{problem}");
    assert_eq!(server.knowledge.folder_problem(&ada, &library), None);
    std::fs::rename(folder.path().join("elsewhere"), &files).unwrap();
    assert_eq!(found("bread").await, ["more/cooks.md"]);
    assert_eq!(server.knowledge.folder_problem(&boss, &library), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_of_the_config_follow_it() {
    let server = Server::open("sqlite::memory:").await;
    let declared = |documents: &str| {
        let config = format!("libraries:\n  - id: manual\n    documents: {documents}\n");
        let language = capability::language(&[crate::DEFINITION]);
        language.read_text(&config)
    };
    let found = async |documents: &str, query: &str| {
        let (config, _) = declared(documents).unwrap_or_else(|problems| panic!("{}", config::render(&problems)));
        server.knowledge.use_config(&std::sync::Arc::new(config));
        ingest::follow(&server.knowledge).await.unwrap();
        server.settled("manual").await;
        server.found(&viewer("ada"), "manual", query).await.unwrap()
    };
    let pumps = "{ name: pumps.md, text: Pumps run at night. }";
    let both = format!("[{pumps}, {{ name: cooks.md, text: Cooks bake bread. }}]");
    assert_eq!(found(&both, "bread").await, ["cooks.md"]);
    let versions = server.rows("knowledge_versions").await;
    assert_eq!(found(&both, "pump").await, ["pumps.md"]);
    assert_eq!(server.rows("knowledge_versions").await, versions, "nothing has changed");
    assert_eq!(found("[{ name: pumps.md, text: Pumps are green. }]", "green").await, ["pumps.md"]);
    assert_eq!(found(&format!("[{pumps}]"), "bread").await, Vec::<String>::new());
    for invalid in ["[]", &format!("[{pumps}, {pumps}]"), &format!("[{pumps}]\n    folder: files")] {
        assert!(declared(invalid).is_err(), "{invalid}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn libraries_of_the_config_are_there_before_their_documents_are_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let ada = viewer("ada");
        let use_config = |config: &str| {
            let (config, _) = capability::language(&[crate::DEFINITION]).read_text(config).unwrap();
            server.knowledge.use_config(&std::sync::Arc::new(config));
        };
        let listed = async || {
            let all = server.knowledge.libraries(&ada).await.unwrap();
            all.into_iter().map(|library| (library.id, library.name)).collect::<Vec<_>>()
        };
        let documents = "documents: [{ name: pumps.md, text: Pumps run at night. }]";
        use_config(&format!(
            "libraries: [{{ id: manual, title: The manual, {documents} }}, {{ id: rules, {documents} }}]\n"
        ));
        let opened = server.knowledge.library(&ada, "rules", Access::Read).await.unwrap();
        assert_eq!((opened.id.as_str(), opened.owner.as_str()), ("rules", ""));
        let pairs = [("manual", "The manual"), ("rules", "rules")].map(|(id, name)| (id.to_owned(), name.to_owned()));
        assert_eq!(listed().await, pairs);
        let unknown = server.knowledge.library(&ada, "other", Access::Read).await;
        assert_eq!(unknown.unwrap_err().code, ErrorCode::NotFound);
        ingest::follow(&server.knowledge).await.unwrap();
        server.settled("manual").await;
        assert_eq!(server.found(&ada, "manual", "pumps").await.unwrap(), ["pumps.md"]);
        assert_eq!(listed().await, pairs);
        // One that is removed from the config is gone at once, and is not made again.
        use_config(&format!("libraries: [{{ id: rules, {documents} }}]\n"));
        let removed = server.knowledge.library(&ada, "manual", Access::Read).await;
        assert_eq!(removed.unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(listed().await, pairs[1..]);
        ingest::follow(&server.knowledge).await.unwrap();
        assert_eq!(server.rows("knowledge_libraries").await, 1);
        server.close().await;
    }
}

/// Text that takes a while to be stored.
fn long_text() -> String {
    (0..20_000).map(|line| format!("Line {line} about pumps.\n\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_is_cancelled_and_retried() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let document = server.add(&library, "a.txt", &long_text(), false).await.unwrap();
        let cancelled = server.knowledge.cancel(&viewer("ada"), &document.id).await.unwrap();
        assert_eq!((cancelled.state, cancelled.step), (DocumentState::Failed, None));
        assert_eq!(cancelled.error.unwrap().0, "cancelled");
        // The reader that is at work notices, and writes nothing over it.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(server.settled(&library).await[0].state, DocumentState::Failed);
        let again = server.knowledge.cancel(&viewer("ada"), &document.id).await;
        assert_eq!(again.unwrap_err().code, ErrorCode::Conflict);
        let staff = viewer_with_roles("bob", &["staff"]);
        let denied = server.knowledge.cancel(&staff, &document.id).await;
        assert_eq!(denied.unwrap_err().code, ErrorCode::Forbidden);
        server.knowledge.retry(&viewer("ada"), &document.id).await.unwrap();
        assert_eq!(server.settled(&library).await[0].state, DocumentState::Ready);
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_told_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let ada = viewer("ada");
        let changes =
            async |since, wait| server.knowledge.changes(&ada, &library, since, Duration::from_secs(wait)).await;
        let first = changes(None, 20).await.unwrap();
        assert!(first.documents.is_empty());
        let idle = changes(Some(first.cursor), 0).await.unwrap();
        assert_eq!((idle.documents.len(), idle.cursor), (0, first.cursor));
        let added = server.add(&library, "a.md", "# A\n\nPumps.", false).await.unwrap();
        let mut cursor = first.cursor;
        loop {
            let told = changes(Some(cursor), 20).await.unwrap();
            cursor = told.cursor;
            assert!(told.documents.iter().all(|document| document.id == added.id));
            if told.documents.iter().any(|document| document.state == DocumentState::Ready) {
                break;
            }
        }
        server.knowledge.delete_document(&ada, &added.id).await.unwrap();
        let told = changes(Some(cursor), 20).await.unwrap();
        assert!(told.documents.is_empty() && told.cursor != cursor);
        let stranger = server.knowledge.changes(&viewer("eve"), &library, None, Duration::ZERO).await;
        assert_eq!(stranger.unwrap_err().code, ErrorCode::NotFound);
        // A page that waits is told of the end, and one that asks later gets an error.
        let cursor = told.cursor;
        let delete = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            server.knowledge.delete(&ada, &library).await.unwrap();
        };
        let (told, ()) = tokio::join!(changes(Some(cursor), 20), delete);
        assert!(told.unwrap().is_deleted);
        assert_eq!(changes(Some(cursor), 20).await.unwrap_err().code, ErrorCode::NotFound);
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn libraries_are_changed_by_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let change = |name: &str, readers: &[&str]| LibraryChange {
            name: Some(name.to_owned()),
            description: Some(" ".to_owned()),
            readers: Some(readers.iter().map(|role| (*role).to_owned()).collect()),
            writers: Some(vec!["editor".to_owned()]),
            graph: None,
        };
        let changed = server.knowledge.change(&viewer("ada"), &library, change(" Papers ", &["team"])).await.unwrap();
        assert_eq!((changed.name.as_str(), changed.description), ("Papers", None));
        assert_eq!((changed.readers, changed.writers), (vec!["team".to_owned()], vec!["editor".to_owned()]));
        let kept = server.knowledge.change(&viewer("ada"), &library, LibraryChange::default()).await.unwrap();
        assert_eq!((kept.name.as_str(), kept.readers), ("Papers", vec!["team".to_owned()]));
        let check = async |user: Viewer, name: &str, expected| {
            let outcome = server.knowledge.change(&user, &library, change(name, &[])).await;
            assert_eq!(outcome.unwrap_err().code, expected, "{name:?}");
        };
        check(viewer("ada"), "", ErrorCode::Invalid).await;
        check(viewer("eve"), "Mine", ErrorCode::NotFound).await;
        let writer = viewer_with_roles("bob", &["editor"]);
        check(writer, "Mine", ErrorCode::Forbidden).await;
        server.close().await;
    }
}
