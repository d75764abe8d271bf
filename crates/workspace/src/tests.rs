//! The tools over the store, on each kind of database.

use crate::path::WorkspacePath;
use crate::section::WorkspaceKey;
use crate::store::{Conversation, TABLES, tree, versions};
use crate::tools::{AgentWorkspace, tools};
use crate::workspace::{Change, Workspace, Workspaces};
use ::store::sql::query_scalar;
use ::store::{BeginRunOutcome, CapabilityTables, NewFile, Schema, Store};
use contract::{CallReports, ModelUse, RunScope, Tool, ToolContext};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use test_store::begin_run;
use tokio_util::sync::CancellationToken;
use wire::UiMessage;

/// Compares what a model reads, in each kind of database.
macro_rules! reads {
    ($read:expr, @$expected:literal) => {{
        let read = $read;
        insta::allow_duplicates! { insta::assert_snapshot!(read, @$expected) }
    }};
}

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

/// A database with the conversations `c` of Ada and `d` of Bob.
pub(crate) struct House {
    pub(crate) store: Store,
    pub(crate) settings: WorkspaceKey,
}

/// Opens a house in each kind of database.
pub(crate) async fn houses(settings: Value) -> Vec<House> {
    let settings: WorkspaceKey = serde_json::from_value(settings).unwrap();
    let mut houses = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        let store = Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap();
        let house = House { store, settings: settings.clone() };
        for (owner, id) in [("ada", "c"), ("bob", "d")] {
            house.begin(owner, id, UiMessage::user("q", "q")).await;
        }
        houses.push(house);
    }
    houses
}

impl House {
    async fn begin(&self, owner: &str, id: &str, message: UiMessage) {
        let (question, answer) = (format!("{id}-{}", message.id), format!("{id}-answer-{}", message.id));
        let run = format!("run-{question}");
        let begin = begin_run(id, None, UiMessage { id: question, ..message }, (&answer, &run));
        let begun = self.store.begin_run(owner, begin).await.unwrap();
        assert!(matches!(begun, BeginRunOutcome::Started { .. }));
    }

    /// Stores a file of Ada and attaches it to a message of a new conversation with this id.
    pub(crate) async fn attach(&self, conversation: &str, name: &str, media_type: &str, content: &[u8]) {
        let id = format!("file-{conversation}");
        let new = NewFile { id: id.clone(), name: name.to_owned(), reserved: content.len() as u64, now: 1 };
        assert!(self.store.begin_file("ada", new, 1 << 30).await.unwrap());
        self.store.add_piece("ada", &id, 0, content.to_vec().into()).await.unwrap();
        self.store.finish_file("ada", &id, media_type, content.len() as u64).await.unwrap();
        let part = json!({ "type": "file", "mediaType": media_type, "url": format!("/api/files/{id}") });
        let message = json!({ "id": "q", "role": "user", "parts": [part] });
        self.begin("ada", conversation, serde_json::from_value(message).unwrap()).await;
    }

    pub(crate) fn agent(&self) -> AgentWorkspace {
        AgentWorkspace {
            all: Workspaces::new(self.store.clone()),
            settings: Arc::new(self.settings.clone()),
            #[cfg(feature = "shell")]
            shell: Arc::new(crate::shell::test_shell()),
        }
    }

    pub(crate) fn workspace(&self, owner: &str, id: &str) -> Workspace {
        Workspaces::new(self.store.clone()).open(owner, id, self.settings.limits)
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        tools(&self.agent(), true).into_iter().find(|tool| tool.spec().name == name).unwrap()
    }

    /// Calls a tool in a conversation, and returns what the model reads.
    pub(crate) async fn call_in(&self, owner: &str, id: &str, name: &str, input: Value) -> Value {
        let scope = RunScope { user_id: owner.to_owned(), conversation_id: id.to_owned(), ..RunScope::default() };
        let context = ToolContext {
            call_id: "call".to_owned(),
            scope: Arc::new(scope),
            cancel: CancellationToken::new(),
            reports: CallReports::default(),
            may_repeat: false,
            models: ModelUse::default(),
        };
        match self.tool(name).call(input, context).await {
            Ok(result) => result,
            Err(error) => error.message.into(),
        }
    }

    /// Calls a tool in the conversation of Ada.
    pub(crate) async fn call(&self, name: &str, input: Value) -> String {
        let result = self.call_in("ada", "c", name, input).await;
        result.as_str().map_or_else(|| result.to_string(), str::to_owned)
    }

    /// Returns the number of rows of a table.
    pub(crate) async fn count(&self, table: &'static str) -> i64 {
        let count = query_scalar::<i64>(match table {
            "files" => "SELECT count(*) FROM files",
            "file_uses" => "SELECT count(*) FROM file_uses",
            "workspaces" => "SELECT count(*) FROM workspaces",
            "audit" => "SELECT count(*) FROM audit",
            "artifact_shares" => "SELECT count(*) FROM artifact_shares",
            _ => "SELECT count(*) FROM workspace_versions",
        });
        self.store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap()
    }
}

#[tokio::test]
async fn files_are_written_read_and_changed() {
    for house in houses(json!({})).await {
        let write = |path: &str, content: &str, append: bool| {
            house.call("write_file", json!({ "path": path, "content": content, "append": append }))
        };
        reads!(write("data/sales.csv", "month,total\nJan,3\n", false).await, @"`/workspace/data/sales.csv` is written: 18 bytes, version 1.");
        reads!(write("data/sales.csv", "Feb,4\n", true).await, @"`/workspace/data/sales.csv` is extended: 24 bytes, version 2.");
        reads!(write("/outputs/empty.md", "", false).await, @"`/outputs/empty.md` is written: 0 bytes, version 3.");
        reads!(house.call("read_file", json!({ "path": "data/sales.csv", "start_line": 2, "end_line": 2 })).await, @"Jan,3");
        reads!(house.call("ls", json!({})).await, @"
        /
          outputs/ (1 files)
            empty.md (0 bytes)
          uploads/ (0 files)
          workspace/ (1 files)
            data/ (1 files)
        ");
        let replace = |old: &str, all: bool| {
            house.call(
                "str_replace",
                json!({ "path": "data/sales.csv", "old_str": old, "new_str": "5", "replace_all": all }),
            )
        };
        reads!(replace("3", false).await, @"`/workspace/data/sales.csv` is changed: 24 bytes, version 4.");
        reads!(replace("an", false).await, @"`/workspace/data/sales.csv` is changed: 23 bytes, version 5.");
        reads!(replace("5", false).await, @"`/workspace/data/sales.csv` is unchanged: the text to replace occurs 2 times in it; give more of the text around it, or set replace_all.");
        reads!(replace("x", true).await, @"`/workspace/data/sales.csv` is unchanged: the text to replace does not occur in it; read it again.");
        reads!(house.call("glob", json!({ "pattern": "**/*.csv" })).await, @"/workspace/data/sales.csv");
        reads!(house.call("grep", json!({ "pattern": "^feb", "ignore_case": true })).await, @"/workspace/data/sales.csv:3: Feb,4");
        reads!(house.call("grep", json!({ "pattern": "(" })).await, @"The regular expression cannot be used: unclosed group.");
        reads!(house.call("read_file", json!({ "path": "Sales.csv" })).await, @"There is no file `/workspace/Sales.csv`: there is `/workspace/data/sales.csv`.");
        reads!(house.call("read_file", json!({ "path": "data" })).await, @"`/workspace/data` is a folder: list it with ls.");
        reads!(write("../x", "", false).await, @r#"The path "../x" is refused: `..` is not allowed: write the path from its tree, such as /workspace/data.csv."#);
        reads!(write("/uploads/x", "", false).await, @"`/uploads/x` is read-only: write to /workspace, or to /outputs for results.");
        reads!(write("DATA/x", "", false).await, @"`/workspace/DATA/x`: the folder of `/workspace/data/sales.csv` exists, and the names differ only in upper and lower case or in like characters.");
    }
}

#[tokio::test]
async fn only_files_of_the_conversation_and_its_owner_are_seen() {
    for house in houses(json!({})).await {
        house.call("write_file", json!({ "path": "secret.md", "content": "x" })).await;
        reads!(house.call("read_file", json!({ "path": "secret.md" })).await, @"x");
        for (owner, id) in [("bob", "d"), ("bob", "c"), ("ada", "d"), ("ada", "none")] {
            let read = house.call_in(owner, id, "read_file", json!({ "path": "secret.md" })).await;
            assert_eq!(read, "There is no file `/workspace/secret.md`: list the files with ls.", "{owner} {id}");
        }
        for (owner, id) in [("bob", "c"), ("ada", "d"), ("ada", "none")] {
            let written = house.call_in(owner, id, "write_file", json!({ "path": "a.md", "content": "x" })).await;
            assert_eq!(written, "The conversation and its files are gone.", "{owner} {id}");
        }
        // Nothing of what was refused is left.
        assert_eq!((house.count("files").await, house.count("file_uses").await), (1, 1));
    }
}

#[tokio::test]
async fn versions_are_kept_within_limits_and_go_with_the_conversation() {
    let settings = json!({ "limits": { "versions": 3, "files": 3, "bytes": 4096, "fileBytes": 2048 } });
    for house in houses(settings).await {
        let write =
            |path: &str, size: usize| house.call("write_file", json!({ "path": path, "content": "x".repeat(size) }));
        for size in 1..=5 {
            write("a", size).await;
        }
        let of = Conversation { owner: "ada".to_owned(), id: "c".to_owned() };
        let path = WorkspacePath::parse_file("a").unwrap();
        let kept = versions(&house.store, &of, &path).await.unwrap();
        assert_eq!(
            kept.iter().map(|version| (version.version, version.entry.size)).collect::<Vec<_>>(),
            [(5, 5), (4, 4), (3, 3)]
        );
        assert_eq!((house.count("files").await, house.count("file_uses").await), (3, 3));
        reads!(write("b", 2049).await, @"`/workspace/b` would have 2049 bytes, and a file may have 2048.");
        write("b", 2048).await;
        reads!(write("c", 2048).await, @"The files of this conversation would have 4101 bytes, and may have 4096: delete some first.");
        write("c", 2000).await;
        reads!(write("d", 1).await, @"This conversation may have 3 files: delete some first.");
        // Another user's file is not in the way, and stays.
        house.call_in("bob", "d", "write_file", json!({ "path": "a", "content": "x" })).await;
        assert!(house.store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert_eq!((house.count("files").await, house.count("file_uses").await), (1, 1));
        assert_eq!((house.count("workspaces").await, house.count("workspace_versions").await), (1, 1));
    }
}

#[tokio::test]
async fn a_change_and_its_audit_row_are_stored_together() {
    for house in houses(json!({})).await {
        house.call("write_file", json!({ "path": "a", "content": "one" })).await;
        let workspace = house.workspace("ada", "c");
        let change = |base| Change { path: WorkspacePath::parse_file("a").unwrap(), base, content: Some("two".into()) };
        let row = || vec![auth::audit_row("ada", "workspace:restore", "c", json!({}))];
        // Refused, since the file has another version by now.
        assert!(workspace.apply_with_audit(vec![change(None)], row()).await.is_err());
        assert_eq!(house.count("audit").await, 0);
        assert_eq!(workspace.apply_with_audit(vec![change(Some(1))], row()).await.unwrap(), [Some(2)]);
        assert_eq!(house.count("audit").await, 1);
    }
}

#[tokio::test]
async fn attached_files_are_in_uploads_read_only() {
    for house in houses(json!({})).await {
        house.attach("e", "Sales: 2026/1.csv", "text/csv", b"a,b\n1,2\n").await;
        house.attach("f", "report.docx", "application/zip", b"PK").await;
        let listed = house.call_in("ada", "e", "ls", json!({ "path": "/uploads" })).await;
        reads!(listed.as_str().unwrap(), @"
        /uploads
          Sales_ 2026_1.csv (8 bytes)
        ");
        let read = house.call_in("ada", "e", "read_file", json!({ "path": "/uploads/Sales_ 2026_1.csv" })).await;
        assert_eq!(read, "a,b\n1,2\n");
        let listed = house.call_in("ada", "f", "ls", json!({ "path": "/uploads" })).await;
        reads!(listed.as_str().unwrap(), @"
        /uploads
          report.docx (2 bytes)
          report.docx.txt (the text of the document)
        ");
        let of = Conversation { owner: "bob".to_owned(), id: "e".to_owned() };
        assert_eq!(tree(&house.store, &of).await.unwrap().files().count(), 0);
    }
}

#[tokio::test]
async fn only_results_are_presented() {
    for house in houses(json!({})).await {
        house.call("write_file", json!({ "path": "/outputs/a.md", "content": "x" })).await;
        house.call("write_file", json!({ "path": "b.md", "content": "x" })).await;
        let present = |path: &str| house.call("present_files", json!({ "paths": [path] }));
        reads!(present("/outputs/a.md").await, @"Presented to the user: /outputs/a.md.");
        reads!(present("b.md").await, @"`/workspace/b.md` is not in /outputs: only files there are presented.");
        reads!(present("/outputs/c.md").await, @"There is no file `/outputs/c.md`: list the files with ls.");
        reads!(present("/outputs/../workspace/b.md").await, @r#"The path "/outputs/../workspace/b.md" is refused: `..` is not allowed: write the path from its tree, such as /workspace/data.csv."#);
    }
}

#[tokio::test]
async fn images_are_viewed_by_agents_that_see() {
    for house in houses(json!({ "viewImages": true })).await {
        house.attach("e", "a.png", "image/png", b"\x89PNG\r\n\x1a\n").await;
        let view = house.call_in("ada", "e", "view_image", json!({ "path": "/uploads/a.png" })).await;
        assert_eq!(view["content"][1], json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" }));
        house.call("write_file", json!({ "path": "a.svg", "content": "<svg/>" })).await;
        reads!(house.call("view_image", json!({ "path": "a.svg" })).await, @"`/workspace/a.svg` is image/svg+xml, and only PNG, JPEG, GIF and WebP can be viewed.");
    }
}

/// Two writers of a file: the second one is told, and loses nothing of the first.
#[tokio::test]
async fn a_change_of_what_was_read_before_is_refused() {
    use crate::workspace::Change;
    for house in houses(json!({})).await {
        house.call("write_file", json!({ "path": "a", "content": "one" })).await;
        let workspace = house.workspace("ada", "c");
        let change = |base, content: &'static str| Change {
            path: WorkspacePath::parse_file("a").unwrap(),
            base,
            content: Some(content.into()),
        };
        assert_eq!(workspace.apply(vec![change(Some(1), "two")]).await.unwrap(), [Some(2)]);
        let stale = workspace.apply(vec![change(Some(1), "three")]).await.unwrap_err();
        reads!(crate::tools::tool_error(stale).message, @"`/workspace/a` has been changed in the meantime: read it again.");
        reads!(house.call("read_file", json!({ "path": "a" })).await, @"two");
        assert_eq!(house.count("files").await, 2);
    }
}
