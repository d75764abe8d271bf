//! Starts the page in the browser.

use crate::actions::ACTIONS;
use crate::agent_chat::chunk_tables::{
    BELOW, CHOICES, CONVERSATION, EXTRAS, FRAMES, MODELS, PLAN, PRESENTED, SESSION, TOOLS,
};
use crate::agent_conversations::ORGANIZING;
use crate::blocks::chunk_tables::{BLOCKS, INPUTS};
use crate::chunks::{ChunkState, load_all};
use crate::libraries::LIBRARIES;
use crate::markdown::{MARKDOWN, MATH};
use crate::palette::PALETTE;
use crate::prelude::*;
use crate::scope::{EXPRESSIONS, OPERATORS};
use crate::workflows::WORKFLOWS;

/// Hydrates the page once the chunks that it was rendered with are loaded.
pub fn when_loaded(start: fn()) {
    load_all(all_chunks(), start);
}

/// Tells the page's scripts that the app handles the events from here on: `public/assets/early.js`
/// repeats the clicks that came too early.
pub fn mark_alive() {
    if let Some(root) = document().document_element() {
        // The attribute of an existing element can be set.
        let _ = root.set_attribute("data-alive", "");
    }
}

/// Returns the state of every chunk.
fn all_chunks() -> [&'static ChunkState; 21] {
    [
        BELOW.state(),
        CHOICES.state(),
        CONVERSATION.state(),
        EXTRAS.state(),
        FRAMES.state(),
        MODELS.state(),
        PLAN.state(),
        PRESENTED.state(),
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
        WORKFLOWS.state(),
        LIBRARIES.state(),
        PALETTE.state(),
    ]
}
