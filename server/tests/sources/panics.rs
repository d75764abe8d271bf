//! Holds the rule that the product does not end where an error could be returned. Clippy's lints
//! `unwrap_used` and `expect_used` would also report the helper functions of all integration tests.

use super::imports::{module_path, product_code};
use super::{SourceFile, source_files};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The calls that end a task or the process, in code without texts.
const CALLS: [&str; 4] = [".unwrap()", ".expect()", ".unwrap_err()", ".expect_err()"];

/// The folders with the product; the others have tools and tests.
const PRODUCT: [&str; 4] = ["crates", "app", "server", "frontend"];

/// Files for tests only.
const FOR_TESTS: [&str; 4] =
    ["crates/test_postgres/src", "crates/test_process/src", "crates/test_store/src", "app/src/texts/lint.rs"];

/// The calls that stay, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[("crates/auth/src/token_parts.rs", "without randomness there are no secrets")];

/// Returns the paths, without their extensions, of modules that a file declares for tests only.
fn test_modules(file: &SourceFile) -> Vec<PathBuf> {
    let is_root = ["mod.rs", "lib.rs", "main.rs"].iter().any(|name| file.path.ends_with(name));
    let folder = if is_root { file.path.with_file_name("") } else { file.path.with_extension("") };
    let declared = file.text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| {
        let line = rest.lines().next()?.strip_suffix(';')?;
        line.split_once("mod ").map(|(_, name)| folder.join(name))
    });
    declared.collect()
}

#[test]
fn product_code_does_not_unwrap() {
    let (mut found, mut needed) = (Vec::new(), Vec::new());
    let files = source_files();
    let test_modules: BTreeSet<_> = files.iter().flat_map(test_modules).collect();
    for file in &files {
        let is_product = PRODUCT.iter().any(|folder| file.path.starts_with(folder));
        let is_for_tests = FOR_TESTS.iter().any(|path| file.path.starts_with(path))
            || file.path.with_extension("").ancestors().any(|path| test_modules.contains(path));
        let src = file.path.ancestors().filter(|folder| folder.ends_with("src")).last();
        let in_src = src.and_then(|src| file.path.strip_prefix(src).ok());
        if !is_product || is_for_tests || in_src.and_then(module_path).is_none() {
            continue;
        }
        let code = product_code(&file.text);
        let calls = code.lines().filter(|line| CALLS.iter().any(|call| line.contains(call))).count();
        let exception = EXCEPTIONS.iter().find(|(path, _)| file.path == Path::new(path));
        match exception {
            Some((path, _)) if calls > 0 => needed.push(*path),
            None if calls > 0 => found.push(format!("{}: {calls}", file.path.display())),
            _ => {}
        }
    }
    assert!(found.is_empty(), "return an error, or add an exception with its reason: {found:#?}");
    let needless: Vec<_> = EXCEPTIONS.iter().filter(|(path, _)| !needed.contains(path)).collect();
    assert!(needless.is_empty(), "these exceptions are not needed any more: {needless:?}");
}

#[test]
fn texts_comments_and_tests_are_no_calls() {
    let text = "fn a() -> u8 { 'x'; '\"'; \".unwrap()\"; b'\\''; 1 } // .unwrap()\n/// a.unwrap()\n#[cfg(test)]\nmod tests { .unwrap() }";
    assert!(!CALLS.iter().any(|call| product_code(text).contains(call)), "{}", product_code(text));
    assert!(product_code("fn a() { \"\\\\\"; b.unwrap() }").contains(CALLS[0]));
    assert!(product_code("fn a() {\n    b.expect(\"c\");\n}").contains(CALLS[1]));
    let declared = "#[cfg(test)]\nmod a;\n#[cfg(test)]\nfn b() {\n    c.unwrap();\n}\nfn d() { e.unwrap() }";
    assert_eq!(product_code(declared).matches(CALLS[0]).count(), 1);
}
