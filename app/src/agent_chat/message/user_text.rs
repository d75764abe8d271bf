//! The text of a user's message, as it was typed. Long texts are folded.

use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::TextKind;

/// Texts with more than this number of characters, or more than [`MAX_LINES`] lines, are folded.
const MAX_LENGTH: usize = 1_500;
/// See [`MAX_LENGTH`].
const MAX_LINES: usize = 16;

/// Whether a text is folded until the user opens it.
fn is_long(text: &str) -> bool {
    text.chars().nth(MAX_LENGTH).is_some() || text.lines().nth(MAX_LINES).is_some()
}

/// The view of the text.
pub(in crate::agent_chat) fn user_text(words: &str) -> AnyView {
    let shown = hidden_characters::visible_nodes(words, TextKind::Prose);
    if !is_long(words) {
        return view! { <p class="cw-plain" dir="auto">{shown}</p> }.into_any();
    }
    let is_open = RwSignal::new(false);
    let label = move || if is_open.get() { t(Text::ShowLess) } else { t(Text::ShowMore) }.to_owned();
    view! {
        <p class="cw-plain cw-own-long" class:cw-folded=move || !is_open.get() dir="auto">{shown}</p>
        <button
            type="button"
            class="cw-link cw-unfold"
            aria-expanded=move || Some(is_open.get().to_string())
            on:click=move |_| is_open.update(|open| *open = !*open)
        >
            {label}
        </button>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_folded() {
        let check = |text: &str, expected: bool| assert_eq!(is_long(text), expected);
        check("", false);
        check(&"x".repeat(1_500), false);
        check(&"x".repeat(1_501), true);
        check(&"line\n".repeat(16), false);
        check(&"line\n".repeat(17), true);
    }
}
