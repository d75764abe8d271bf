//! The view of a part of a message.

use super::attachment::fixed_part;
use super::state::{PartKind, PartState};
use super::user_text::user_text;
use crate::agent_chat::chunk_tables::TOOLS;
use crate::agent_chat::session::Session;
use crate::markdown::{CitationStyle, DocumentView, MarkdownOptions, strip_citations};
use crate::prelude::*;
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::TextKind;
use crate::ui::node::reactive_nodes;
use wire::{Role, UiPart};

/// The Markdown extensions that this chat enables.
pub(in crate::agent_chat) fn markdown_extras(sources: CitationStyle) -> MarkdownOptions {
    expect_context::<Session>().display(|display| MarkdownOptions {
        highlighting: display.code_highlighter,
        diagrams: display.render_mermaid,
        math: display.render_latex,
        citations: sources,
    })
}

/// The view of a part. The user's text is shown as typed, the agent's text is Markdown, with
/// `marks` for its sources.
pub(in crate::agent_chat) fn part_view(part: PartState, role: Role, marks: CitationStyle) -> AnyView {
    let session = expect_context::<Session>();
    let number = part.number;
    match part.kind {
        PartKind::Text(document) if role == Role::User => user_text(&document.text()),
        PartKind::Text(document) if !session.display(|display| display.markdown_rendering) => {
            let shown = reactive_nodes(move || {
                hidden_characters::visible_nodes(&strip_citations(&document.read()), TextKind::Prose)
            });
            view! { <p class="cw-plain" dir="auto">{shown}</p> }.into_any()
        }
        PartKind::Text(document) => view! { <DocumentView document extras=markdown_extras(marks) /> }.into_any(),
        // Shown in a group with the parts that follow it, see `view.rs`.
        PartKind::Reasoning { .. } => ().into_any(),
        PartKind::Tool(tool) => TOOLS.view(move |code| (code.card)(tool.clone())),
        PartKind::Fixed(part) => {
            let separates = number > 0 && session.display(|display| display.show_step_separators);
            (move || {
                part.with(|part| match part {
                    UiPart::StepStart if separates => view! { <hr class="cw-step" /> }.into_any(),
                    part => fixed_part(part),
                })
            })
            .into_any()
        }
    }
}
