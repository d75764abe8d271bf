//! Kills processes that write files: what was acknowledged is there, whole, and nothing is there in part.

use crate::SharedFile;
use crate::path::WorkspacePath;
use crate::section::WorkspaceLimits;
use crate::store::{Conversation, NewShare, TABLES, share, shares, tree};
use crate::workspace::{Change, Workspaces};
use ::store::sql::query_scalar;
use ::store::{CapabilityTables, Store};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use test_store::{begin_run, open};
use wire::UiMessage;

const URL: &str = "WORKSPACE_KILL_URL";

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

fn path(name: &str) -> WorkspacePath {
    WorkspacePath::parse_file(name).unwrap()
}

/// The process to kill: each change writes two files with the same content, and replaces those of the round before.
#[tokio::test]
#[ignore = "run by the test below"]
async fn victim() {
    let store = open(&ALL_TABLES, &std::env::var(URL).unwrap()).await;
    let of = Conversation { owner: "ada".to_owned(), id: "c".to_owned() };
    let workspace =
        Workspaces::new(store.clone()).open("ada", "c", WorkspaceLimits { versions: 2, ..WorkspaceLimits::default() });
    for number in 0.. {
        let known = tree(&store, &of).await.unwrap();
        let content = format!("{}-{number} {}", std::process::id(), "x".repeat(300_000));
        let change = |name: &str| {
            let base = known.get(&path(name)).and_then(|entry| entry.version());
            Change { path: path(name), base, content: Some(content.clone().into()) }
        };
        let versions = workspace.apply(vec![change("a"), change("/outputs/b")]).await.unwrap();
        // A link for each round, of which the version is dropped later on.
        let id = content.split(' ').next().unwrap().to_owned();
        let new = NewShare { id: id.clone(), version: versions[0].unwrap(), path: String::new(), created_at: 1 };
        let row = auth::audit_row("ada", "workspace:share", "c", serde_json::json!({}));
        share(&store, &of, new, None, row).await.unwrap();
        println!("\nwritten {id}");
    }
}

struct Victim(Child);

impl Victim {
    fn start(url: &str) -> Self {
        let mut command = test_process::command("kill_tests::victim", URL, url);
        Self(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Reads until this many changes were acknowledged, kills the process, and returns the last one.
    fn kill_after(mut self, count: usize) -> Option<String> {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut written = lines.filter_map(|line| line.strip_prefix("written ").map(str::to_owned));
        let last = written.by_ref().take(count).last();
        self.0.kill().unwrap();
        let last = written.last().or(last);
        self.0.wait().unwrap();
        last
    }
}

#[tokio::test]
async fn acknowledged_changes_are_whole_however_often_the_server_is_killed() {
    check_databases(3).await;
}

#[tokio::test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn acknowledged_changes_are_whole_thoroughly() {
    check_databases(1).await;
}

async fn check_databases(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    check(&format!("sqlite://{}", folder.path().join("files.db").display()), step).await;
    if let Some(url) = test_postgres::new_database().await {
        check(&url, step).await;
    }
}

/// Kills processes after every `step`-th number of changes.
async fn check(url: &str, step: usize) {
    let store = open(&ALL_TABLES, url).await;
    let begin = begin_run("c", None, UiMessage::user("q", "q"), ("a", "r"));
    store.begin_run("ada", begin).await.unwrap();
    store.close().await;
    for count in (1..=5).step_by(step) {
        let acknowledged = Victim::start(url).kill_after(count).expect("nothing was written");
        let store = open(&ALL_TABLES, url).await;
        let workspace = Workspaces::new(store.clone()).open("ada", "c", WorkspaceLimits::default());
        let tree = workspace.tree().await.unwrap();
        let mut contents = Vec::new();
        for name in ["a", "/outputs/b"] {
            let entry = tree.get(&path(name)).unwrap();
            let content = workspace.read(&path(name), entry).await.unwrap();
            assert_eq!(content.len() as u64, entry.size);
            contents.push(String::from_utf8(content.to_vec()).unwrap());
        }
        assert_eq!(contents[0], contents[1], "a change is there in part");
        let number = |text: &str| text.split([' ', '-']).nth(1).unwrap().parse::<u64>().unwrap();
        // The next one may have been stored and not acknowledged.
        assert!(number(&contents[0]) >= number(&acknowledged), "{acknowledged} is lost");
        check_links(&store, &acknowledged).await;
        let dangling = "SELECT count(*) FROM (SELECT file_id, conversation_id FROM workspace_versions
            UNION ALL SELECT file_id, conversation_id FROM artifact_shares) v WHERE NOT EXISTS
            (SELECT 1 FROM file_uses u WHERE u.file_id = v.file_id AND u.conversation_id = v.conversation_id)";
        let dangling =
            store.read(move |db| Box::pin(async move { Ok(query_scalar::<i64>(dangling).fetch_one(db).await?) }));
        assert_eq!(dangling.await.unwrap(), 0);
        store.close().await;
    }
}

/// Checks that the acknowledged link is there, unless there were too many before it, and that all links show what was
/// shared, whole, also where the version was dropped meanwhile.
async fn check_links(store: &Store, acknowledged: &str) {
    let links = shares(store, &Conversation { owner: "ada".to_owned(), id: "c".to_owned() }).await.unwrap();
    let is_full = links.len() == ::store::MAX_SHARES as usize;
    assert!(is_full || links.iter().any(|link| link.id == acknowledged), "the link {acknowledged} is lost");
    for link in links {
        let file = SharedFile::find(store, &link.id).await.unwrap().expect("a link without a file");
        let text = file.text(1 << 20).await.unwrap();
        assert_eq!((text.len() as u64, text.split(' ').next()), (file.size(), Some(&*link.id)));
    }
}
