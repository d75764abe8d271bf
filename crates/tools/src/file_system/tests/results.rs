//! The tools' results.

use super::Tree;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Returns a tool's result for a small base. Dates are shown as `DATE`, and the sizes of
/// directories as 0, because they depend on the file system.
async fn check(tool: &str, input: Value) -> String {
    let tree = Tree::empty();
    tree.write("README.md", "# Guide\nRead the guides.\n");
    tree.write(".env.example", "KEY=\n");
    tree.write("guides/setup.md", "Setup\n\nInstall it.\r\nStart it.\n");
    tree.write("guides/old/first.md", "GUIDE to the first version");
    tree.write("straße.txt", "Grüße, ÜBERALL\n");
    tree.write("latin.txt", b"caf\xe9 guide\n");
    tree.write("bom.txt", "\u{feff}guide");
    tree.write("empty.txt", "");
    tree.write("data.bin", b"guide\0guide");
    tree.write("base.sqlite", b"SQLite format 3\0guide");
    let mut answer = match tree.call(tool, input).await {
        Ok(answer) => answer,
        Err(error) => return format!("error: {error}"),
    };
    for date in ["modified", "created"] {
        if let Some(date) = answer.get_mut(date).filter(|date| is_date(date)) {
            *date = json!("DATE");
        }
    }
    for item in answer.as_array_mut().into_iter().flatten().filter(|item| item["type"] == "directory") {
        assert!(item["size"].is_u64());
        item["size"] = json!(0);
    }
    match answer {
        Value::String(text) => text,
        Value::Array(items) => items.iter().map(|item| format!("{item}\n")).collect(),
        other => other.to_string(),
    }
}

/// Not every file system stores when a file was created.
fn is_date(value: &Value) -> bool {
    let date = |text: &str| text.len() == 24 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok();
    value.as_str().map_or(value.is_null(), date)
}

#[tokio::test]
async fn read_file_returns_text_or_an_error() {
    assert_snapshot!(check("read-file", json!({ "path": "README.md" })).await, @"
    # Guide
    Read the guides.
    ");
    assert_snapshot!(check("read-file", json!({ "path": "/guides/old/first.md" })).await, @"GUIDE to the first version");
    assert_snapshot!(check("read-file", json!({ "path": "latin.txt" })).await, @"caf� guide");
    assert_snapshot!(check("read-file", json!({ "path": "bom.txt" })).await, @"guide");
    assert_snapshot!(check("read-file", json!({ "path": "empty.txt" })).await, @"");
    assert_snapshot!(check("read-file", json!({ "path": "data.bin" })).await, @r#"error: "data.bin" is a binary file; only text can be read."#);
    assert_snapshot!(check("read-file", json!({ "path": "base.sqlite" })).await, @r#"error: "base.sqlite" is a binary file; only text can be read."#);
    assert_snapshot!(check("read-file", json!({ "path": "guides" })).await, @r#"error: "guides" is a directory; list it with list-files."#);
    assert_snapshot!(check("read-file", json!({ "path": "nowhere\n\u{202e}" })).await, @r#"error: There is no file or directory "nowhere\n\u{202e}"."#);
}

#[tokio::test]
async fn list_files_returns_matching_entries() {
    assert_snapshot!(check("list-files", json!({})).await, @r#"
    {"name":".env.example","path":".env.example","type":"file","size":5}
    {"name":"README.md","path":"README.md","type":"file","size":25}
    {"name":"base.sqlite","path":"base.sqlite","type":"file","size":21}
    {"name":"bom.txt","path":"bom.txt","type":"file","size":8}
    {"name":"data.bin","path":"data.bin","type":"file","size":11}
    {"name":"empty.txt","path":"empty.txt","type":"file","size":0}
    {"name":"guides","path":"guides","type":"directory","size":0}
    {"name":"latin.txt","path":"latin.txt","type":"file","size":11}
    {"name":"straße.txt","path":"straße.txt","type":"file","size":18}
    "#);
    assert_snapshot!(check("list-files", json!({ "path": "guides" })).await, @r#"
    {"name":"old","path":"guides/old","type":"directory","size":0}
    {"name":"setup.md","path":"guides/setup.md","type":"file","size":30}
    "#);
    assert_snapshot!(check("list-files", json!({ "glob": "**/*.md" })).await, @r#"
    {"name":"README.md","path":"README.md","type":"file","size":25}
    {"name":"first.md","path":"guides/old/first.md","type":"file","size":26}
    {"name":"setup.md","path":"guides/setup.md","type":"file","size":30}
    "#);
    assert_snapshot!(check("list-files", json!({ "path": "guides", "glob": "*/*" })).await, @r#"{"name":"first.md","path":"guides/old/first.md","type":"file","size":26}"#);
    assert_snapshot!(check("list-files", json!({ "path": "guides/../guides/old", "glob": "**" })).await, @r#"{"name":"first.md","path":"guides/old/first.md","type":"file","size":26}"#);
    assert_snapshot!(check("list-files", json!({ "glob": "nothing" })).await, @"");
    assert_snapshot!(check("list-files", json!({ "glob": "{" })).await, @"error: This glob cannot be used: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?).");
    assert_snapshot!(check("list-files", json!({ "path": "README.md" })).await, @r#"error: "README.md" is a file; read it with read-file."#);
    assert_snapshot!(check("list-files", json!({ "path": "nowhere" })).await, @r#"error: There is no file or directory "nowhere"."#);
}

#[tokio::test]
async fn search_files_returns_lines_with_context() {
    assert_snapshot!(check("search-files", json!({ "query": "guide" })).await, @r##"
    {"path":"README.md","matches":[{"lineNumber":1,"line":"# Guide","context":{"before":null,"after":"Read the guides."}},{"lineNumber":2,"line":"Read the guides.","context":{"before":"# Guide","after":null}}]}
    {"path":"bom.txt","matches":[{"lineNumber":1,"line":"guide","context":{"before":null,"after":null}}]}
    {"path":"guides/old/first.md","matches":[{"lineNumber":1,"line":"GUIDE to the first version","context":{"before":null,"after":null}}]}
    {"path":"latin.txt","matches":[{"lineNumber":1,"line":"caf� guide","context":{"before":null,"after":null}}]}
    "##);
    assert_snapshot!(check("search-files", json!({ "query": "INSTALL" })).await, @r#"{"path":"guides/setup.md","matches":[{"lineNumber":3,"line":"Install it.","context":{"before":"","after":"Start it."}}]}"#);
    assert_snapshot!(check("search-files", json!({ "query": "grÜẞe, überall" })).await, @r#"{"path":"straße.txt","matches":[{"lineNumber":1,"line":"Grüße, ÜBERALL","context":{"before":null,"after":null}}]}"#);
    assert_snapshot!(check("search-files", json!({ "query": "guide", "glob": "guides/**" })).await, @r#"{"path":"guides/old/first.md","matches":[{"lineNumber":1,"line":"GUIDE to the first version","context":{"before":null,"after":null}}]}"#);
    assert_snapshot!(check("search-files", json!({ "query": "(a+)+$" })).await, @"");
    assert_snapshot!(check("search-files", json!({ "query": "it.\nStart" })).await, @"");
    assert_snapshot!(check("search-files", json!({ "query": "" })).await, @"error: The query is empty.");
}

#[tokio::test]
async fn stat_file_returns_size_type_and_dates() {
    assert_snapshot!(check("stat-file", json!({ "path": "guides/setup.md" })).await, @r#"{"name":"setup.md","path":"guides/setup.md","size":30,"type":"file","modified":"DATE","created":"DATE"}"#);
    assert_snapshot!(check("stat-file", json!({ "path": "data.bin" })).await, @r#"{"name":"data.bin","path":"data.bin","size":11,"type":"file","modified":"DATE","created":"DATE"}"#);
    let directory = check("stat-file", json!({ "path": "/" })).await;
    assert!(directory.starts_with(r#"{"name":".","path":".","size":"#) && directory.contains(r#""type":"directory""#));
    assert_snapshot!(check("stat-file", json!({ "path": "nowhere" })).await, @r#"error: There is no file or directory "nowhere"."#);
}

#[tokio::test]
async fn tools_are_declared_to_the_model() {
    let tree = Tree::empty();
    let specs: Vec<_> = super::open(&tree.base()).iter().map(|tool| tool.spec().clone()).collect();
    let listed = specs.iter().map(|spec| format!("{}: {}\n{}\n", spec.name, spec.description, spec.input_schema));
    assert_snapshot!(listed.collect::<String>(), @r#"
    read-file: Reads a text file. Of a file that is larger than 512 KB only the beginning is shown; find places in the rest with search-files.
    {"type":"object","properties":{"path":{"type":"string","description":"The file's path in the base directory, for example `guides/setup.md`."}},"required":["path"],"additionalProperties":false}
    list-files: Lists the files and directories in a directory, with name, path, type and size in bytes.
    {"type":"object","properties":{"path":{"type":"string","description":"A directory in the base directory, for example `guides`; without it the base directory itself."},"glob":{"type":"string","maxLength":500,"description":"A pattern for paths in that directory, for example `**/*.md` for those at any depth; `*` if omitted."}},"required":[],"additionalProperties":false}
    search-files: Finds text in files: line numbers and lines, each with the lines before and after. At most 200 matches; files larger than 1 MB are left out.
    {"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":500,"description":"The text to find, regardless of case. It is not a regular expression."},"glob":{"type":"string","maxLength":500,"description":"The files to search, for example `docs/**/*.md`; all files if omitted."}},"required":["query"],"additionalProperties":false}
    stat-file: Tells a file's or directory's size in bytes, its type, and when it was modified and created.
    {"type":"object","properties":{"path":{"type":"string","description":"A path in the base directory, for example `guides/setup.md`."}},"required":["path"],"additionalProperties":false}
    "#);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert!(names.iter().all(|name| crate::RESERVED_NAMES.contains(name)), "{names:?}");
}
