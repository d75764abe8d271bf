//! The tools as an agent calls them, on real folders.

mod attacks;
mod limits;
mod results;

use contract::{Tool, ToolContext};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The content of every file that must not be read.
const CANARY: &str = "canary-7f3a";

/// A base folder, and folders next to it.
struct Tree {
    top: TempDir,
}

impl Tree {
    /// Creates an empty base.
    fn empty() -> Self {
        let tree = Self { top: tempfile::tempdir().unwrap() };
        std::fs::create_dir(tree.base()).unwrap();
        tree
    }

    /// Creates a base with files, links of all kinds, a pipe and a socket; next to it are folders
    /// and files with the canary.
    fn full() -> Self {
        let tree = Self::empty();
        tree.write("a.txt", "alpha\n");
        tree.write("sub/b.txt", "beta\n");
        tree.write("sub/deep/c.txt", "gamma\n");
        tree.write(".hidden", "dot\n");
        tree.write("back\\slash", "backslash\n");
        tree.write("tail. ", "tail\n");
        for (outside, text) in
            [("secret.txt", CANARY), ("outside/secret.txt", CANARY), ("base-evil/secret.txt", CANARY)]
        {
            let file = tree.top.path().join(outside);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        let link = |target: &str, name: &str| symlink(target, tree.base().join(name)).unwrap();
        link("a.txt", "inside");
        link("../a.txt", "sub/inside-up");
        link("sub", "inside-folder");
        link("inside", "inside-chain");
        link("../secret.txt", "out");
        link("../outside", "out-folder");
        link("../base-evil", "out-sibling");
        link("out", "out-chain");
        link("../../secret.txt", "sub/out-up");
        link("sub/../../secret.txt", "out-through");
        link("..", "parent");
        link(&tree.top.path().join("secret.txt").display().to_string(), "absolute");
        link(&tree.base().join("a.txt").display().to_string(), "absolute-inside");
        link("loop-b", "loop-a");
        link("loop-a", "loop-b");
        link("self", "self");
        link("nowhere", "dangling");
        link("../nowhere", "dangling-out");
        link("/dev/zero", "zero");
        link("/dev/stdin", "stdin");
        link("/etc/passwd", "passwd");
        link("/proc/self/environ", "environ");
        link("/proc/self/root/etc/passwd", "proc-root");
        link("/proc/self/cwd", "proc-cwd");
        link("/proc/self/fd/0", "proc-fd");
        std::fs::hard_link(tree.top.path().join("secret.txt"), tree.base().join("hard")).unwrap();
        assert!(Command::new("mkfifo").arg(tree.base().join("pipe")).status().unwrap().success());
        drop(UnixListener::bind(tree.base().join("socket")).unwrap());
        tree
    }

    fn base(&self) -> PathBuf {
        self.top.path().join("base")
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.base().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// Calls a tool for this base.
    async fn call(&self, tool: &str, input: Value) -> Result<Value, String> {
        call(&self.base(), tool, input).await
    }

    /// Returns the result of `read-file`: the text or the error.
    async fn read(&self, path: &str) -> String {
        match self.call("read-file", json!({ "path": path })).await {
            Ok(text) => text.as_str().unwrap().to_owned(),
            Err(error) => error,
        }
    }
}

/// Returns the tools for a base.
fn open(base: &Path) -> Vec<Arc<dyn Tool>> {
    super::open(base, Duration::from_secs(60)).unwrap()
}

async fn call(base: &Path, tool: &str, input: Value) -> Result<Value, String> {
    let tools = open(base);
    let tool = tools.iter().find(|known| known.spec().name == tool).unwrap();
    tool.call(input, context()).await.map_err(|error| error.message)
}

fn context() -> ToolContext {
    ToolContext {
        call_id: "call".to_owned(),
        scope: Arc::new(contract::RunScope {
            user_id: "user".to_owned(),
            conversation_id: "conversation".to_owned(),
            ..contract::RunScope::default()
        }),
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
        may_repeat: false,
        models: contract::ModelUse::default(),
        idempotency_key: None,
    }
}
