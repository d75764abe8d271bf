//! Reads which parts of a request's context Anthropic cleared or summarized. Source: Anthropic's
//! pages on context editing and compaction.

use super::PROVIDER;
use super::api::{AppliedEdit, ContextManagement};
use crate::json::parse_owned;
use crate::lenient::TokenCount;
use contract::{ContextEdit, Part};

/// The maximum number of edits that are kept of one reply. The API has three strategies, and a
/// request names each of them once.
const MAX_EDITS: usize = 16;

/// Converts the applied edits to a part; `None` if there were none.
pub(super) fn part(management: ContextManagement) -> Option<Part> {
    let applied = management.applied_edits.unwrap_or_default();
    let edits: Vec<_> = applied
        .iter()
        .filter_map(|edit| parse_owned::<AppliedEdit>(&edit.to_string()).ok())
        .filter_map(edit)
        .take(MAX_EDITS)
        .collect();
    (!edits.is_empty()).then(|| Part::ContextEdits { provider: PROVIDER.to_owned(), edits })
}

fn edit(edit: AppliedEdit) -> Option<ContextEdit> {
    let number = |count: Option<TokenCount>| count.map(|TokenCount(number)| number);
    Some(ContextEdit {
        kind: edit.kind?,
        cleared_tool_uses: number(edit.cleared_tool_uses),
        cleared_thinking_turns: number(edit.cleared_thinking_turns),
        cleared_input_tokens: number(edit.cleared_input_tokens),
    })
}
