//! The file-system tools of agents: with any path, pattern or query of a model, no file outside the base folder is
//! read.
#![no_main]

use contract::{CallReports, RunScope, Tool, ToolContext};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The content of files that must not be read.
const CANARY: &str = "canary-7f3a";
/// The start of `/etc/passwd`, to which a link leads.
const PASSWD: &str = "root:x:0";

/// One folder for all inputs, since the tools only read.
static ENVIRONMENT: LazyLock<(Runtime, Vec<Arc<dyn Tool>>)> = LazyLock::new(|| {
    let base = create_folder().expect("a folder can be created");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be created");
    (runtime, tools::file_system::open(&base, Duration::from_secs(5)).expect("the folder can be opened"))
});

/// Creates a base folder with all kinds of links, and files around it. It is not removed, since the
/// fuzzer does not end normally.
fn create_folder() -> std::io::Result<PathBuf> {
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
    let (which, path, text_argument) = given;
    let (runtime, tools) = &*ENVIRONMENT;
    let tool = &tools[usize::from(which) % tools.len()];
    let input = match tool.spec().name.as_str() {
        "list-files" => json!({ "path": path, "glob": text_argument }),
        "search-files" => json!({ "path": path, "query": text_argument }),
        _ => json!({ "path": path }),
    };
    let (called, cancel) = ("call".to_owned(), CancellationToken::new());
    let context = ToolContext {
        call_id: called,
        scope: Arc::new(RunScope { user_id: "u".to_owned(), conversation_id: "c".to_owned(), ..RunScope::default() }),
        cancel,
        reports: CallReports::default(),
        may_repeat: false,
        models: contract::ModelUse::default(),
    };
    let output: String = match runtime.block_on(tool.call(input, context)) {
        Ok(found) => found.to_string(),
        Err(error) => Value::from(error.message.clone()).to_string(),
    };
    assert!(text_argument.contains(CANARY) || path.contains(CANARY) || !output.contains(CANARY), "{output}");
    assert!(path.contains(PASSWD) || text_argument.contains(PASSWD) || !output.contains(PASSWD), "{output}");
    // Results must not contain the path of the folder.
    assert!(
        path.contains("chatwright-fuzz")
            || text_argument.contains("chatwright-fuzz")
            || !output.contains("chatwright-fuzz")
    );
});
