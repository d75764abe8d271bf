//! Starts the page in the browser.

use crate::actions::ACTIONS;
use crate::agent_chat::chunk_tables::{CONVERSATION, EXTRAS, FRAMES, SESSION, TOOLS};
use crate::agent_conversations::ORGANIZING;
use crate::blocks::chunk_tables::{BLOCKS, INPUTS};
use crate::chunks::{ChunkState, load_all};
use crate::markdown::{MARKDOWN, MATH};
use crate::scope::{EXPRESSIONS, OPERATORS};

/// Hydrates the page once the chunks that it was rendered with are loaded.
pub fn when_loaded(start: fn()) {
    load_all(all_chunks(), start);
}

/// Returns the state of every chunk.
fn all_chunks() -> [&'static ChunkState; 13] {
    [
        CONVERSATION.state(),
        EXTRAS.state(),
        FRAMES.state(),
        SESSION.state(),
        TOOLS.state(),
        ORGANIZING.state(),
        MARKDOWN.state(),
        MATH.state(),
        INPUTS.state(),
        BLOCKS.state(),
        ACTIONS.state(),
        EXPRESSIONS.state(),
        OPERATORS.state(),
    ]
}
