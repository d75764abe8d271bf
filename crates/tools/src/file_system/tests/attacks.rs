//! Known attacks on the boundary of the base folder.

use super::{CANARY, Tree, call};
use Expected::{Directory, File, Missing, Outside, Special, Unreadable};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The expected result of `read-file` for a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// The text of a file in the base.
    File(&'static str),
    Directory,
    Outside,
    Missing,
    Special,
    Unreadable,
}

impl Expected {
    /// Returns the expected text for the path.
    fn text(self, path: &str) -> String {
        let path = path.escape_debug();
        match self {
            File(text) => text.to_owned(),
            Directory => format!("\"{path}\" is a directory; list it with list-files."),
            Outside => format!("Path \"{path}\" resolves outside the base directory."),
            Missing => format!("There is no file or directory \"{path}\"."),
            Special => format!("\"{path}\" is neither a file nor a directory."),
            Unreadable => format!("\"{path}\" cannot be read."),
        }
    }
}

/// Paths against the full tree.
const PATHS: &[(&str, Expected)] = &[
    // Valid paths.
    ("a.txt", File("alpha\n")),
    ("./a.txt", File("alpha\n")),
    ("/a.txt", File("alpha\n")),
    ("//a.txt", File("alpha\n")),
    ("a.txt/", File("alpha\n")),
    ("sub/b.txt", File("beta\n")),
    ("sub//./deep/../b.txt", File("beta\n")),
    ("sub/deep/../../a.txt", File("alpha\n")),
    (".hidden", File("dot\n")),
    ("back\\slash", File("backslash\n")),
    ("tail. ", File("tail\n")),
    ("inside", File("alpha\n")),
    ("inside-chain", File("alpha\n")),
    ("inside-folder/b.txt", File("beta\n")),
    ("sub/inside-up", File("alpha\n")),
    // `..` in every position.
    ("..", Outside),
    ("../", Outside),
    ("/..", Outside),
    ("../secret.txt", Outside),
    ("../base-evil/secret.txt", Outside),
    ("../base/a.txt", Outside),
    ("../nowhere", Outside),
    ("./../secret.txt", Outside),
    ("/../secret.txt", Outside),
    ("//../secret.txt", Outside),
    ("sub/../../secret.txt", Outside),
    ("sub/../../outside/secret.txt", Outside),
    ("nowhere/../../secret.txt", Outside),
    ("a.txt/../../secret.txt", Outside),
    ("./././../secret.txt", Outside),
    ("../../../../../../../../etc/passwd", Outside),
    ("sub/deep/../../../secret.txt", Outside),
    ("sub/..//..//secret.txt", Outside),
    ("inside-folder/../../secret.txt", Outside),
    ("..//secret.txt", Outside),
    (".././secret.txt", Outside),
    // Absolute paths start at the base.
    ("/etc/passwd", Missing),
    ("//etc/passwd", Missing),
    ("///etc/passwd", Missing),
    ("/proc/self/environ", Missing),
    ("/proc/self/root/etc/passwd", Missing),
    ("/dev/stdin", Missing),
    ("/dev/zero", Missing),
    ("/dev/fd/0", Missing),
    ("~/.ssh/id_rsa", Missing),
    ("~root/.bashrc", Missing),
    ("$HOME/.bashrc", Missing),
    ("file:///etc/passwd", Missing),
    // Other spellings of `..` and `/` are names.
    ("..\\secret.txt", Missing),
    ("sub\\..\\..\\secret.txt", Missing),
    ("..\\/secret.txt", Missing),
    ("%2e%2e/secret.txt", Missing),
    ("%2e%2e%2fsecret.txt", Missing),
    ("..%2fsecret.txt", Missing),
    ("..%252fsecret.txt", Missing),
    ("..%c0%afsecret.txt", Missing),
    ("%uff0e%uff0e/secret.txt", Missing),
    ("..%00/secret.txt", Missing),
    ("..;/secret.txt", Missing),
    (".../secret.txt", Missing),
    ("....//secret.txt", Missing),
    (". ./secret.txt", Missing),
    (".. /secret.txt", Missing),
    ("\u{ff0e}\u{ff0e}/secret.txt", Missing),
    ("\u{2024}\u{2024}/secret.txt", Missing),
    ("\u{2025}/secret.txt", Missing),
    ("..\u{2215}secret.txt", Missing),
    ("..\u{2044}secret.txt", Missing),
    ("..\u{ff0f}secret.txt", Missing),
    (".\u{200b}./secret.txt", Missing),
    ("\u{202e}txt.terces/..", Directory),
    ("\u{e002e}\u{e002e}/secret.txt", Missing),
    // Bytes that end or hide a name.
    ("a.txt\0", Missing),
    ("\0", Missing),
    ("a.txt\0.md", Missing),
    ("sub\0/../../secret.txt", Outside),
    ("a.txt\n", Missing),
    ("a.txt\r\n", Missing),
    (" a.txt", Missing),
    ("a.txt ", Missing),
    ("a.txt.", Missing),
    ("A.TXT", Missing),
    ("a\u{301}.txt", Missing),
    ("\u{e1}.txt", Missing),
    // Paths with a meaning on other systems.
    ("C:\\Windows\\win.ini", Missing),
    ("C:/Windows/win.ini", Missing),
    ("C:", Missing),
    ("\\\\server\\share", Missing),
    ("//server/share", Missing),
    ("\\\\?\\C:\\", Missing),
    ("CON", Missing),
    ("NUL", Missing),
    ("a.txt::$DATA", Missing),
    ("a.txt:stream", Missing),
    // Links.
    ("out", Outside),
    ("out-chain", Outside),
    ("out-through", Outside),
    ("out-folder", Outside),
    ("out-folder/secret.txt", Outside),
    ("out-folder/nowhere", Outside),
    ("out-sibling/secret.txt", Outside),
    ("inside-folder/out-up", Outside),
    ("sub/out-up", Outside),
    ("parent", Outside),
    ("parent/secret.txt", Outside),
    ("parent/base/a.txt", Outside),
    ("absolute", Outside),
    ("absolute-inside", Outside),
    ("passwd", Outside),
    ("dangling-out", Outside),
    ("dangling", Missing),
    ("loop-a", Unreadable),
    ("self", Unreadable),
    ("hard", Outside),
    // Devices, the process's own files, and pipes.
    ("zero", Outside),
    ("stdin", Outside),
    ("environ", Outside),
    ("proc-root", Outside),
    ("proc-cwd", Outside),
    ("proc-fd", Outside),
    ("pipe", Special),
    ("socket", Special),
    // Folders, and paths through files.
    ("", Directory),
    (".", Directory),
    ("/", Directory),
    ("sub/..", Directory),
    ("sub", Directory),
    ("inside-folder", Directory),
    ("a.txt/b", Missing),
    ("a.txt/..", Directory),
    ("pipe/x", Missing),
];

#[tokio::test]
async fn no_path_leads_out_of_the_base() {
    let tree = Tree::full();
    let check = async |path: &str, expected: Expected| {
        let began = Instant::now();
        assert_eq!(tree.read(path).await, expected.text(path), "{path:?}");
        for tool in ["list-files", "stat-file"] {
            let answer = format!("{:?}", tree.call(tool, json!({ "path": path })).await);
            let refused = answer.contains("resolves outside the base directory");
            assert_eq!(refused, expected == Outside, "{tool} {path:?}: {answer}");
            assert!(
                !answer.contains("secret") || path.contains("secret") || path.contains("terces"),
                "{tool} {path:?}: {answer}"
            );
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{path:?} hangs");
    };
    for (path, expected) in PATHS {
        check(path, *expected).await;
    }
    let long = "a".repeat(4097);
    for path in ["a/".repeat(300), "../".repeat(300), long.clone(), format!("{long}/../../x")] {
        let result = tree.read(&path).await;
        assert!(result.len() < 400 && !result.contains(CANARY), "{result}");
    }
}

#[tokio::test]
async fn lists_and_searches_stay_in_the_base() {
    let tree = Tree::full();
    for glob in
        ["*", "**/*", "**", "../*", "../**", "**/../*", "/etc/*", "{..,sub}/*", "[.][.]/*", "out-folder/*", "parent/**"]
    {
        let list = tree.call("list-files", json!({ "glob": glob })).await.unwrap().to_string();
        for name in
            ["secret", "out", "absolute", "passwd", "hard", "pipe", "socket", "zero", "dangling", "parent", "self"]
        {
            assert!(!list.contains(name), "{glob}: {list}");
        }
        let found = tree.call("search-files", json!({ "query": "canary", "glob": glob })).await.unwrap();
        assert_eq!(found, json!([]), "{glob}");
    }
}

#[tokio::test]
async fn a_base_may_be_a_link() {
    let tree = Tree::full();
    symlink(tree.base(), tree.top.path().join("link")).unwrap();
    let base = tree.top.path().join("link");
    assert_eq!(call(&base, "read-file", json!({ "path": "a.txt" })).await, Ok(json!("alpha\n")));
    assert_eq!(call(&base, "read-file", json!({ "path": "../secret.txt" })).await, Err(Outside.text("../secret.txt")));
}

/// The base stays the folder that was opened, whatever its path leads to later.
#[tokio::test]
async fn a_replaced_base_folder_has_no_effect() {
    let tree = Tree::full();
    let tools = super::open(&tree.base());
    std::fs::rename(tree.base(), tree.top.path().join("moved")).unwrap();
    symlink(tree.top.path().join("outside"), tree.base()).unwrap();
    let read = async |path: &str| tools[0].call(json!({ "path": path }), super::context()).await;
    assert_eq!(read("a.txt").await, Ok(json!("alpha\n")));
    assert!(read("secret.txt").await.is_err());
    std::fs::remove_dir_all(tree.top.path().join("moved")).unwrap();
    assert_eq!(read("a.txt").await.unwrap_err().message, Missing.text("a.txt"));
}

/// A file and a folder on the path turn into links, and a file into a pipe, and back, as fast as
/// possible (TOCTOU).
#[tokio::test]
async fn no_race_leads_out_of_the_base() {
    let tree = Tree::full();
    tree.write("race/secret.txt", "alpha\n");
    tree.write("swap", "alpha\n");
    let (base, stop) = (tree.base(), Arc::new(AtomicBool::new(false)));
    let swapping = std::thread::spawn({
        let stop = stop.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                exchange(&base, "race", "out-folder");
                exchange(&base, "swap", "out");
                exchange(&base, "swap", "pipe");
            }
        }
    });
    let outcomes =
        [File("alpha\n").text(""), Outside.text("race/secret.txt"), Outside.text("swap"), Special.text("swap")];
    let unseen = |answers: &BTreeSet<String>| outcomes.iter().any(|outcome| !answers.contains(outcome));
    let (mut answers, mut rounds, began) = (BTreeSet::new(), 0, Instant::now());
    // On a busy machine it may take longer until each side has won once.
    while rounds < 1000 || (unseen(&answers) && began.elapsed() < Duration::from_secs(120)) {
        answers.extend([tree.read("race/secret.txt").await, tree.read("swap").await]);
        rounds += 1;
    }
    let found = tree.call("search-files", json!({ "query": "canary" })).await;
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(found, Ok(json!([])));
    assert!(!answers.iter().any(|answer| answer.contains(CANARY)), "{answers:?}");
    assert!(!answers.contains(""), "a pipe was read");
    assert!(!unseen(&answers), "the race does not take place: {answers:?}");
}

/// Exchanges two entries atomically.
fn exchange(base: &std::path::Path, one: &str, other: &str) {
    let rename = |from: &str, to: &str| std::fs::rename(base.join(from), base.join(to)).unwrap();
    rename(one, "for-a-moment");
    rename(other, one);
    rename("for-a-moment", other);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Random combinations of existing names, missing names, `..` and odd characters.
    #[test]
    fn no_random_path_leads_out_of_the_base(paths in prop::collection::vec(path(), 40)) {
        no_path_leads_out(paths)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    #[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
    fn no_random_path_leads_out_of_the_base_thoroughly(paths in prop::collection::vec(path(), 40)) {
        no_path_leads_out(paths)?;
    }
}

fn no_path_leads_out(paths: Vec<String>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let tree = Tree::full();
    runtime.block_on(async {
        for path in paths {
            for tool in ["read-file", "list-files", "stat-file"] {
                let answer = tree.call(tool, json!({ "path": path })).await;
                prop_assert!(!format!("{answer:?}").contains(CANARY), "{tool} {path:?}");
                if let Ok(value) = answer {
                    prop_assert!(!value.to_string().contains("secret"), "{tool} {path:?}: {value}");
                }
            }
        }
        Ok(())
    })
}

fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        4 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(String::new()),
        6 => prop::sample::select(vec![
            "secret.txt", "outside", "base", "base-evil", "a.txt", "sub", "deep", "out", "out-folder", "parent", "inside-folder",
            "absolute", "hard", "pipe", "zero", "proc-root", "proc-cwd", "..\\", "%2e%2e", "\0", "\u{ff0e}\u{ff0e}",
        ]).prop_map(str::to_owned),
        1 => r"\PC{0,5}",
    ];
    (prop::sample::select(vec!["", "/", "//", "./"]), prop::collection::vec(name, 0..8))
        .prop_map(|(front, names)| format!("{front}{}", names.join("/")))
}
