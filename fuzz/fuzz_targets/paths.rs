//! An agent's tools that read files: whatever path, pattern or words a model names, nothing outside the folder is read.
#![no_main]

use contract::{Progress, Tool, ToolContext};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Stands in each file that must not be read.
const CANARY: &str = "canary-7f3a";
/// How the file of the system begins that a path must not lead to.
const PASSWD: &str = "root:x:0";

/// One folder for all inputs; tools that only read leave it as it is.
static WORLD: LazyLock<(Runtime, Vec<Arc<dyn Tool>>)> = LazyLock::new(|| {
    let base = tree().expect("a folder can be made");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    (runtime, tools::file_system::open(&base, Duration::from_secs(5)).expect("the folder can be opened"))
});

/// A base with links of all kinds, and files around it. It stays when the fuzzer has ended, as its kind of process does not end in order.
fn tree() -> std::io::Result<PathBuf> {
    let top = std::env::temp_dir().join(format!("chatwright-fuzz-paths-{}", std::process::id()));
    let base = top.join("base");
    let write = |path: &Path, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        std::fs::write(path, text)
    };
    write(&base.join("a.txt"), "alpha\n")?;
    write(&base.join("sub/deep/b.txt"), "beta\n")?;
    for outside in ["secret.txt", "outside/secret.txt", "base-evil/secret.txt"] {
        write(&top.join(outside), CANARY)?;
    }
    for (target, name) in [
        ("../secret.txt", "out"),
        ("../outside", "out-folder"),
        ("../base-evil", "sibling"),
        ("..", "parent"),
        ("sub", "inside"),
        ("loop", "loop"),
        ("/etc/passwd", "passwd"),
        ("/dev/zero", "zero"),
    ] {
        symlink(target, base.join(name))?;
    }
    Ok(base)
}

fuzz_target!(|given: (u8, &str, &str)| {
    let (which, path, words) = given;
    let (runtime, tools) = &*WORLD;
    let tool = &tools[usize::from(which) % tools.len()];
    let input = match tool.spec().name.as_str() {
        "list-files" => json!({ "path": path, "glob": words }),
        "search-files" => json!({ "path": path, "query": words }),
        _ => json!({ "path": path }),
    };
    let (called, cancel) = ("call".to_owned(), CancellationToken::new());
    let context = ToolContext {
        call_id: called,
        user_id: "u".to_owned(),
        conversation_id: "c".to_owned(),
        cancel,
        progress: Progress::default(),
        may_repeat: false,
        models: contract::ModelUse::default(),
    };
    let told: String = match runtime.block_on(tool.call(input, context)) {
        Ok(found) => found.to_string(),
        Err(error) => Value::from(error.message.clone()).to_string(),
    };
    assert!(words.contains(CANARY) || path.contains(CANARY) || !told.contains(CANARY), "{told}");
    assert!(path.contains(PASSWD) || words.contains(PASSWD) || !told.contains(PASSWD), "{told}");
    // Where the folder is, is nobody's business.
    assert!(path.contains("chatwright-fuzz") || words.contains("chatwright-fuzz") || !told.contains("chatwright-fuzz"));
});
