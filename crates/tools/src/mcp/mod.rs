//! Tools of MCP servers (<https://modelcontextprotocol.io>), over stdio, streamable HTTP or the older SSE.
//!
//! A server is trusted to do what its tools are for, and with nothing else: it may be down, slow, silent or dying, send too much, or
//! change what it offers, and the conversation goes on. [`McpServer`] keeps the connections, [`McpSource`] is what one agent takes of
//! it.

mod child;
mod connection;
mod events;
mod http;
mod listing;
mod oauth;
mod result;
mod server;
mod settings;
mod source;
mod sse;
mod tool;

pub use server::McpServer;
pub use settings::{ClientCredentials, HttpTransport, McpSelection, McpSettings, McpTransport, StdioTransport};
pub use source::McpSource;

use std::time::Duration;

/// Until a server has answered the first message.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// Until it has listed its tools.
const LIST_TIME: Duration = Duration::from_secs(10);
/// Bytes of one message.
const MAX_MESSAGE: usize = 4 << 20;
/// Tools of one server; more are left out.
const MAX_TOOLS: usize = 256;
/// Bytes of a tool's schema; a tool with a larger one is left out.
const MAX_SCHEMA: usize = 64 << 10;
/// Characters of a tool's description.
const MAX_DESCRIPTION: usize = 1024;
/// Bytes of a result.
const MAX_RESULT: usize = 1 << 20;
/// Characters of an error that a server words.
const MAX_ERROR: usize = 2000;

/// Text of a server for a model or a user: without what cannot be seen, and not longer than `most` characters.
fn clean(text: &str, most: usize) -> String {
    let visible = text.chars().filter(|&letter| matches!(letter, '\n' | '\t') || !is_invisible(letter));
    let mut visible = visible.peekable();
    let mut kept: String = visible.by_ref().take(most).collect();
    if visible.peek().is_some() {
        kept.push('…');
    }
    kept
}

/// Characters that could hide words from a reader or turn them round: controls, bidirectional marks, tags, joiners of no width.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        let check = |text: &str, expected: &str| assert_eq!(clean(text, 12), expected, "{text:?}");
        check("plain\ntext", "plain\ntext");
        check("a\u{200b}b\u{202e}c\u{e0041}\u{7}d", "abcd");
        check("twelve chars", "twelve chars");
        check("twelve chars!", "twelve chars…");
        check("日本語の説明", "日本語の説明");
    }
}
