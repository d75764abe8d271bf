//! `read_file` and `view_image`.

use super::{AgentWorkspace, READS, file_path, missing, refused};
use crate::tool_names::{READ_FILE, VIEW_IMAGE};
use crate::workspace::{Workspace, WorkspaceError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use contract::Tool;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum size of a read, in bytes. It is less than agents read of a result by default.
const MAX_READ: usize = 48 * 1024;
/// The longest line that is shown whole, in bytes.
const MAX_LINE: usize = 4_000;
/// The largest image in bytes. It is stored with the conversation.
const MAX_IMAGE: u64 = 3 << 20;

const READ: &str =
    "Reads a text file, or some of its lines. Documents that the user attached have their text in a file beside them.";
const VIEW: &str = "Shows you an image (PNG, JPEG, GIF or WebP) of the files.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    /// The file, for example `/uploads/sales.csv`.
    path: String,
    /// The first line, counted from 1.
    #[serde(default)]
    #[schemars(range(min = 1))]
    start_line: Option<usize>,
    /// The last line.
    #[serde(default)]
    #[schemars(range(min = 1))]
    end_line: Option<usize>,
}

pub(super) fn tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    super::tool(of, READ_FILE, READ, READS, |workspace, input: ReadInput, _| async move {
        let content = text(&workspace, &input.path).await?;
        Ok(lines(&content, input.start_line.unwrap_or(1), input.end_line.unwrap_or(usize::MAX)).into())
    })
}

/// Reads a file as text.
pub(super) async fn text(workspace: &Workspace, written: &str) -> Result<String, WorkspaceError> {
    let path = file_path(written)?;
    let tree = workspace.tree().await?;
    let Some(entry) = tree.get(&path) else { return missing(&tree, &path) };
    let content = workspace.read(&path, entry).await?;
    match as_text(&content) {
        Some(text) => Ok(text.to_owned()),
        None => {
            refused(format!("`{path}` is not a text file: it is {} with {} bytes", entry.media_type, content.len()))
        }
    }
}

/// Returns the content as text, if it is UTF-8 without null characters.
pub(crate) fn as_text(content: &Bytes) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}

/// Returns lines, and says how to read on if there are more than are shown.
fn lines(text: &str, first: usize, last: usize) -> String {
    let (mut shown, mut next) = (String::new(), first.max(1));
    let all = text.lines().count();
    if all == 0 {
        return "[The file is empty.]".to_owned();
    }
    if first > all {
        return format!("[The file has {all} lines.]");
    }
    for line in text.lines().skip(next - 1).take(last.saturating_sub(next - 1)) {
        let cut = &line[..line.floor_char_boundary(MAX_LINE)];
        if shown.len() + cut.len() > MAX_READ {
            break;
        }
        shown.push_str(cut);
        if cut.len() < line.len() {
            shown.push_str(&format!(" [{} more bytes of the line are left out]", line.len() - cut.len()));
        }
        shown.push('\n');
        next += 1;
    }
    if next <= all && next <= last {
        shown.push_str(&format!("[The file has {all} lines: read on with start_line {next}.]\n"));
    }
    shown
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ViewInput {
    /// The image, for example `/uploads/photo.png`.
    path: String,
}

pub(super) fn image_tool(of: &AgentWorkspace) -> Arc<dyn Tool> {
    super::tool(of, VIEW_IMAGE, VIEW, READS, |workspace, input: ViewInput, _| async move {
        view(&workspace, &input.path).await
    })
}

async fn view(workspace: &Workspace, written: &str) -> Result<Value, WorkspaceError> {
    let path = file_path(written)?;
    let tree = workspace.tree().await?;
    let Some(entry) = tree.get(&path) else { return missing(&tree, &path) };
    if !wire::file::is_shown_inline(&entry.media_type) {
        return refused(format!("`{path}` is {}, and only PNG, JPEG, GIF and WebP can be viewed", entry.media_type));
    }
    if entry.size > MAX_IMAGE {
        return refused(format!("`{path}` has {} bytes, and at most {MAX_IMAGE} can be viewed", entry.size));
    }
    let content = workspace.read(&path, entry).await?;
    let image = json!({ "type": "image", "data": STANDARD.encode(&content), "mimeType": entry.media_type });
    let about = json!({ "type": "text", "text": format!("{path}, {} bytes", content.len()) });
    Ok(json!({ "content": [about, image] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_shown_in_pieces() {
        let check = |text: &str, first, last, expected: &str| assert_eq!(lines(text, first, last), expected);
        check("a\nb\nc", 1, usize::MAX, "a\nb\nc\n");
        check("a\nb\nc", 2, 2, "b\n");
        check("a\nb\nc", 3, 1, "");
        check("a\nb\nc", 4, 9, "[The file has 3 lines.]");
        check("", 1, 9, "[The file is empty.]");
        let long = "x".repeat(MAX_LINE + 5);
        check(&long, 1, 1, &format!("{} [5 more bytes of the line are left out]\n", &long[5..]));
        let many = "0123456789\n".repeat(10_000);
        let (mut first, mut read) = (1, 0);
        loop {
            let piece = lines(&many, first, usize::MAX);
            read += piece.lines().filter(|line| *line == "0123456789").count();
            let Some((_, more)) = piece.split_once("start_line ") else { break };
            first = more.split_once('.').unwrap().0.parse().unwrap();
        }
        assert_eq!(read, 10_000);
    }
}
