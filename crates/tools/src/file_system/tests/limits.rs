//! Values below, at and above each limit.

use super::super::base::BaseFolder;
use super::super::budget::{BudgetLimit, WalkBudget};
use super::super::input::parse_input;
use super::super::path::BasePath;
use super::super::tool::FileTool;
use super::super::walk::{WalkEnd, walk};
use super::super::{list, read, search};
use super::{Tree, context};
use contract::Tool;
use serde_json::json;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn a_long_file_is_truncated() {
    const KB: usize = 1024;
    let check = async |content: &str, expected: usize, notice: Option<&str>| {
        let tree = Tree::empty();
        tree.write("long", content);
        let text = tree.read("long").await;
        let (shown, note) = match text.split_once("\n\n[") {
            Some((shown, note)) => (shown, Some(format!("[{note}"))),
            None => (text.as_str(), None),
        };
        assert_eq!((shown.len(), note.as_deref()), (expected, notice));
        assert!(content.starts_with(shown));
    };
    let notice = |size: usize| {
        format!("[File truncated — showing first 512KB of {size}KB. Use search-files to find specific content.]")
    };
    check(&"x".repeat(512 * KB - 1), 512 * KB - 1, None).await;
    check(&"x".repeat(512 * KB), 512 * KB, None).await;
    check(&"x".repeat(512 * KB + 1), 512 * KB, Some(&notice(513))).await;
    check(&"x".repeat(5000 * KB), 512 * KB, Some(&notice(5000))).await;
    // A character is not split.
    check(&format!("x{}", "é".repeat(256 * KB)), 512 * KB - 1, Some(&notice(513))).await;
    check(&format!("xx{}", "😀".repeat(128 * KB)), 512 * KB - 2, Some(&notice(513))).await;
    assert_eq!(read::MAX_BYTES, 512 * KB);
}

#[tokio::test]
async fn a_huge_file_is_not_read_into_memory() {
    let tree = Tree::empty();
    let file = std::fs::File::create(tree.base().join("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    // Reading all of it would take hours.
    assert_eq!(tree.read("huge").await, r#""huge" is a binary file; only text can be read."#);
    assert_eq!(tree.call("search-files", json!({ "query": "x" })).await, Ok(json!([])));
}

#[tokio::test]
async fn a_search_ends_at_200_matches() {
    let check = async |files: &[usize], expected: &[usize], cut: bool| {
        let tree = Tree::empty();
        for (number, lines) in files.iter().enumerate() {
            tree.write(&format!("{number}.txt"), "needle\n".repeat(*lines));
        }
        let found = tree.call("search-files", json!({ "query": "needle" })).await.unwrap();
        let counts: Vec<_> =
            found.as_array().unwrap().iter().map(|file| file["matches"].as_array().unwrap().len()).collect();
        assert_eq!(counts, expected);
        let notice = "[Search stopped — there are more than 200 matches. Narrow it down with path or glob.]";
        assert_eq!(found.as_array().unwrap().last().unwrap().get("notice"), cut.then(|| json!(notice)).as_ref());
    };
    check(&[199], &[199], false).await;
    check(&[200], &[200], false).await;
    check(&[201], &[200], true).await;
    check(&[150, 50], &[150, 50], false).await;
    check(&[150, 51], &[150, 50], true).await;
    check(&[150, 50, 1], &[150, 50], true).await;
    check(&[200, 0], &[200], false).await;
    assert_eq!(search::MAX_MATCHES, 200);
}

#[tokio::test]
async fn a_search_skips_large_files() {
    let check = async |size: usize, found: bool| {
        let tree = Tree::empty();
        tree.write("file", format!("needle{}", " ".repeat(size - 6)));
        let answer = tree.call("search-files", json!({ "query": "needle" })).await.unwrap();
        assert_eq!(answer.as_array().unwrap().len(), usize::from(found), "{size}");
    };
    check(1024 * 1024 - 1, true).await;
    check(1024 * 1024, true).await;
    check(1024 * 1024 + 1, false).await;
    assert_eq!(search::MAX_FILE, 1024 * 1024);
}

#[tokio::test]
async fn a_search_shows_the_match_in_a_long_line() {
    let check = async |line: &str, expected: &str| {
        let tree = Tree::empty();
        tree.write("file", format!("{line}\nnext"));
        let found = tree.call("search-files", json!({ "query": "needle" })).await.unwrap();
        assert_eq!(found[0]["matches"][0]["line"], expected);
    };
    let dots = |count: usize| "é".repeat(count);
    check(&format!("needle{}", dots(294)), &format!("needle{}", dots(294))).await;
    check(&format!("needle{}", dots(295)), &format!("needle{}…", dots(294))).await;
    check(&format!("{}needle", dots(295)), &format!("…{}needle", dots(60))).await;
    check(&format!("{}needle{}", dots(500_000), dots(500)), &format!("…{}needle{}…", dots(60), dots(234))).await;
}

#[tokio::test]
async fn a_list_is_limited_in_size() {
    let tree = Tree::empty();
    // The name and the path of each entry take 200 bytes.
    let name = |number: usize| format!("{number:0100}");
    let whole = list::MAX_BYTES / 200;
    for number in 0..whole {
        tree.write(&name(number), "");
    }
    let list = tree.call("list-files", json!({})).await.unwrap();
    assert_eq!((list.as_array().unwrap().len(), list[whole - 1].get("notice")), (whole, None));
    tree.write(&name(whole), "");
    let list = tree.call("list-files", json!({})).await.unwrap();
    let notice = "[List truncated — the list is too long. Narrow it down with path or glob.]";
    assert_eq!((list.as_array().unwrap().len(), &list[whole - 1]["notice"]), (whole, &json!(notice)));
}

/// Returns the paths that a walk over a tree visits, and how it ends.
fn walked(tree: &Tree, depth: usize, mut budget: WalkBudget) -> (Vec<String>, WalkEnd) {
    let (base, mut seen) = (BaseFolder::open(&tree.base()).unwrap(), Vec::new());
    let end = walk(&base, &BasePath::base(), depth, &mut budget, |path, _| {
        seen.push(path.display_path().to_owned());
        ControlFlow::Continue(())
    });
    (seen, end.unwrap())
}

#[test]
fn a_walk_ends_with_its_budget() {
    let tree = Tree::empty();
    ["a/1", "a/2", "b/3", "c"].iter().for_each(|path| tree.write(path, ""));
    let check = |depth: usize, entries: usize, expected: &[&str], end: WalkEnd| {
        let budget = WalkBudget::with_limits(Duration::from_secs(60), entries, CancellationToken::new());
        assert_eq!(walked(&tree, depth, budget), (expected.iter().map(ToString::to_string).collect(), end));
    };
    check(9, 6, &["a", "a/1", "a/2", "b", "b/3", "c"], WalkEnd::Complete);
    check(9, 7, &["a", "a/1", "a/2", "b", "b/3", "c"], WalkEnd::Complete);
    check(9, 5, &["a", "a/1", "a/2", "b", "c"], WalkEnd::Spent(BudgetLimit::Entries));
    check(1, 3, &["a", "b", "c"], WalkEnd::Complete);
    check(2, 6, &["a", "a/1", "a/2", "b", "b/3", "c"], WalkEnd::Complete);
    let stopped = CancellationToken::new();
    stopped.cancel();
    assert_eq!(
        walked(&tree, 9, WalkBudget::with_limits(Duration::from_secs(60), 99, stopped)).1,
        WalkEnd::Spent(BudgetLimit::Time)
    );
    assert_eq!(
        walked(&tree, 9, WalkBudget::with_limits(Duration::ZERO, 99, CancellationToken::new())).1,
        WalkEnd::Spent(BudgetLimit::Time)
    );
}

/// The limit is lower here, because creating more entries would take long.
#[test]
fn a_truncated_list_has_a_notice() {
    assert_eq!((WalkBudget::ENTRIES, WalkBudget::TIME), (50_000, Duration::from_secs(5)));
    let tree = Tree::empty();
    (0..10).for_each(|number| tree.write(&number.to_string(), ""));
    let base = BaseFolder::open(&tree.base()).unwrap();
    let check = |glob: &str, entries: usize, expected: Result<(usize, bool), &str>| {
        let mut budget = WalkBudget::with_limits(Duration::from_secs(60), entries, CancellationToken::new());
        let answer = list::run(&base, parse_input(json!({ "glob": glob })).unwrap(), &mut budget);
        let answer = answer.map(|list| {
            let list = list.as_array().unwrap().clone();
            (list.len(), list.last().is_some_and(|last| last.get("notice").is_some()))
        });
        assert_eq!(answer.map_err(|error| error.message), expected.map_err(str::to_owned), "{glob} {entries}");
    };
    let notice = "[List truncated — there are more than 50000 entries. Narrow it down with path or glob.]";
    check("*", 11, Ok((10, false)));
    check("*", 10, Ok((10, false)));
    check("*", 9, Ok((9, true)));
    check("nothing", 10, Ok((0, false)));
    check("nothing", 9, Err(notice));
}

#[tokio::test]
async fn the_depth_of_a_walk_is_limited() {
    let tree = Tree::empty();
    tree.write(&format!("{}leaf.txt", "d/".repeat(300)), "needle");
    let list = tree.call("list-files", json!({ "glob": "**" })).await.unwrap();
    assert_eq!(list.as_array().unwrap().len(), 256);
    assert_eq!(tree.call("search-files", json!({ "query": "needle" })).await, Ok(json!([])));
    assert_eq!(tree.read(&format!("{}leaf.txt", "d/".repeat(300))).await, "needle");
}

#[tokio::test]
async fn a_walk_does_not_follow_links() {
    let tree = Tree::empty();
    tree.write("sub/a.txt", "needle");
    symlink(".", tree.base().join("here")).unwrap();
    symlink("..", tree.base().join("sub/up")).unwrap();
    let list = tree.call("list-files", json!({ "glob": "**" })).await.unwrap();
    let paths: Vec<_> = list.as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["here", "sub", "sub/a.txt", "sub/up"]);
    let found = tree.call("search-files", json!({ "query": "needle" })).await.unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
}

/// Calls over the limit of concurrent calls wait.
#[tokio::test]
async fn calls_over_the_limit_wait_and_succeed() {
    let tree = Tree::empty();
    tree.write("a.txt", "alpha");
    let tools = super::open(&tree.base());
    let many = (0..100).map(|_| tools[0].call(json!({ "path": "a.txt" }), context()));
    for answer in futures::future::join_all(many).await {
        assert_eq!(answer, Ok(json!("alpha")));
    }
}

#[tokio::test]
async fn a_waiting_call_can_be_cancelled() {
    let (tree, none) = (Tree::empty(), Arc::new(Semaphore::new(0)));
    let base = Arc::new(BaseFolder::open(&tree.base()).unwrap());
    let (tool, context) = (FileTool::new(read::spec(), read::run, &base, &none), context());
    let cancel = context.cancel.clone();
    let (answer, ()) = tokio::join!(tool.call(json!({ "path": "a.txt" }), context), async { cancel.cancel() });
    assert_eq!(answer.unwrap_err().message, "Stopped before it finished.");
}
