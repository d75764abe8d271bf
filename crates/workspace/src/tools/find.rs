//! `glob` and `grep`.

use super::{AgentWorkspace, READS, path, refused};
use crate::path::WorkspacePath;
use crate::tool_names::{GLOB, GREP};
use crate::tree::{Origin, Tree};
use crate::workspace::{Workspace, WorkspaceError};
use bytes::Bytes;
use contract::Tool;
use globset::{GlobBuilder, GlobMatcher};
use offload::{Abandoned, Busy, Pool};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

/// The longest pattern in characters.
const MAX_PATTERN: usize = 300;
/// The most files that are named.
const MAX_FILES: usize = 300;
/// The most lines that are found.
const MAX_FOUND: usize = 200;
/// The most bytes of a found line.
const MAX_LINE: usize = 300;
/// The largest compiled pattern in bytes.
const MAX_COMPILED: usize = 1 << 20;
/// The most bytes of all files that are searched.
const MAX_SEARCHED: u64 = 64 << 20;

/// The thread pool that matches patterns.
static SEARCHES: LazyLock<Pool> = LazyLock::new(|| Pool::new("workspace-search", 2 << 20, 16));

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GlobInput {
    /// For example `**/*.csv`, or `/outputs/*.md`. A pattern that does not begin with `/` is matched in `/workspace`.
    #[schemars(length(min = 1, max = MAX_PATTERN))]
    pattern: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepInput {
    /// A regular expression (RE2 syntax, without look-around and back references).
    #[schemars(length(min = 1, max = MAX_PATTERN))]
    pattern: String,
    /// A file or folder; everything without it.
    #[serde(default)]
    path: Option<String>,
    /// Only files that match this, for example `*.csv`.
    #[serde(default)]
    #[schemars(length(max = MAX_PATTERN))]
    glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
}

pub(super) fn glob_tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    let description = format!("Finds files by a pattern of their paths; at most {MAX_FILES}.");
    super::tool(of, GLOB, &description, READS, |workspace, input: GlobInput, _| async move {
        let pattern =
            if input.pattern.starts_with('/') { input.pattern } else { format!("/workspace/{}", input.pattern) };
        let (glob, tree) = (compile_glob(&pattern)?, workspace.tree().await?);
        Ok(matching(&tree, &glob).into())
    })
}

fn matching(tree: &Tree, glob: &GlobMatcher) -> String {
    let found: Vec<&str> = tree.paths().filter(|path| glob.is_match(path)).collect();
    let mut text = found.iter().take(MAX_FILES).map(|path| format!("{path}\n")).collect::<String>();
    match found.len() {
        0 => text.push_str("[No file matches.]"),
        count if count > MAX_FILES => text.push_str(&format!("[{} more are left out.]", count - MAX_FILES)),
        _ => {}
    }
    text
}

fn compile_glob(pattern: &str) -> Result<GlobMatcher, WorkspaceError> {
    if pattern.chars().count() > MAX_PATTERN {
        return refused(format!("a pattern has at most {MAX_PATTERN} characters"));
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .or_else(|error| refused(format!("the pattern cannot be used: {}", error.kind())))
}

pub(super) fn grep_tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    let description = format!("Finds lines in text files; at most {MAX_FOUND}.");
    super::tool(
        of,
        GREP,
        &description,
        READS,
        |workspace, input: GrepInput, _| async move { grep(&workspace, input).await },
    )
}

async fn grep(workspace: &Workspace, input: GrepInput) -> Result<Value, WorkspaceError> {
    let within = path(input.path.as_deref().unwrap_or("/"))?;
    let glob = input
        .glob
        .as_deref()
        .map(|glob| if glob.contains('/') { compile_glob(glob) } else { compile_glob(&format!("**/{glob}")) });
    let glob = glob.transpose()?;
    let regex = offloaded(move |_| compile_regex(&input.pattern, input.ignore_case)).await??;
    let tree = workspace.tree().await?;
    if tree.get(&within).is_none() && !tree.is_folder(&within) {
        return refused(format!("there is no file or folder `{within}`"));
    }
    let is_meant = |path: &WorkspacePath| {
        (*path == within || path.is_below(within.as_str()))
            && glob.as_ref().is_none_or(|glob| glob.is_match(path.as_str()))
    };
    let mut found = Found::default();
    let mut searched = 0;
    // Texts of documents are made when they are read, which takes long for many.
    for (path, entry) in
        tree.files().filter(|(path, entry)| is_meant(path) && (entry.origin != Origin::TextOf || **path == within))
    {
        searched += entry.size;
        if searched > MAX_SEARCHED {
            found.note = Some("[The search stopped: there is too much to search. Name a folder or a glob.]".to_owned());
            break;
        }
        let content = workspace.read(path, entry).await?;
        let (regex, path) = (regex.clone(), path.to_string());
        found = offloaded(move |abandoned| found.search(&regex, &path, &content, abandoned)).await?;
        if found.note.is_some() {
            break;
        }
    }
    Ok(found.text().into())
}

/// Runs what computes on a thread for it.
async fn offloaded<T: Send + 'static>(
    work: impl FnOnce(&Abandoned) -> T + Send + 'static,
) -> Result<T, WorkspaceError> {
    SEARCHES.run_waiting(work).await.or_else(|Busy| refused("the search failed"))
}

fn compile_regex(pattern: &str, ignore_case: bool) -> Result<Regex, WorkspaceError> {
    if pattern.is_empty() || pattern.chars().count() > MAX_PATTERN {
        return refused(format!("a pattern has 1 to {MAX_PATTERN} characters"));
    }
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder
        .case_insensitive(ignore_case)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .nest_limit(50)
        .build();
    regex.or_else(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        refused(format!("the regular expression cannot be used: {reason}"))
    })
}

/// The lines that were found.
#[derive(Default)]
struct Found {
    lines: Vec<String>,
    /// Why the search has stopped.
    note: Option<String>,
}

impl Found {
    /// Adds the lines of a file that match. Binary files have none.
    fn search(mut self, regex: &Regex, path: &str, content: &Bytes, abandoned: &Abandoned) -> Self {
        let Some(text) = super::read::as_text(content) else { return self };
        for (index, line) in text.lines().enumerate() {
            if abandoned.is_set() {
                return self;
            }
            if !regex.is_match(line) {
                continue;
            }
            if self.lines.len() == MAX_FOUND {
                self.note = Some(format!("[Only the first {MAX_FOUND} lines are shown.]"));
                return self;
            }
            let cut = &line[..line.floor_char_boundary(MAX_LINE)];
            let more = if cut.len() < line.len() { "…" } else { "" };
            self.lines.push(format!("{path}:{}: {cut}{more}", index + 1));
        }
        self
    }

    fn text(self) -> String {
        let mut lines = self.lines;
        if lines.is_empty() && self.note.is_none() {
            lines.push("[No line matches.]".to_owned());
        }
        lines.extend(self.note);
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_bounded() {
        let check = |pattern: &str, expected: &str| match compile_regex(pattern, false) {
            Ok(_) => assert_eq!(expected, "", "{pattern}"),
            Err(WorkspaceError::Refused(reason)) => assert_eq!(reason, expected),
            Err(other) => panic!("{other:?}"),
        };
        check("a|b", "");
        check("(", "the regular expression cannot be used: unclosed group");
        check(
            r"(\w{500}){500}",
            "the regular expression cannot be used: Compiled regex exceeds size limit of 1048576 bytes.",
        );
        check(&"a".repeat(MAX_PATTERN + 1), "a pattern has 1 to 300 characters");
    }

    proptest! {
        #[test]
        fn any_pattern_is_compiled_or_refused(pattern in r"([*?{}\[\]()|+.^$\\/a-c,!-]|\PC){0,60}", line in r"\PC{0,40}") {
            if let Ok(regex) = compile_regex(&pattern, true) {
                regex.is_match(&line);
            }
            if let Ok(glob) = compile_glob(&pattern) {
                glob.is_match(&line);
            }
        }
    }
}
