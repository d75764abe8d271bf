//! The instructions of a skill on its page.

use leptos::prelude::*;
use web::admin::folded_text;
use web::html::account_part;

/// How much of the instructions a page shows, in bytes.
const MAX_SHOWN: usize = 256 * 1024;

/// Renders the section with the instructions of a skill.
pub(super) fn instructions_view(instructions: &[u8]) -> AnyView {
    let mut instructions = String::from_utf8_lossy(instructions).into_owned();
    instructions.truncate(instructions.floor_char_boundary(MAX_SHOWN));
    account_part("instructions", "Instructions", folded_text("SKILL.md", instructions))
}
