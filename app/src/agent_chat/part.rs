//! A part of a message.

use super::TOOLS;
use super::attachment::fixed_part;
use super::message_state::{PartKind, PartState};
use super::own_text::own_text;
use super::session::Session;
use crate::markdown::{DocumentView, Extras, Marks, without_marks};
use crate::node::drawn;
use crate::prelude::*;
use crate::visible::{self, Kind};
use wire::{Role, UiPart};

/// What is done for the texts of this chat beyond Markdown.
pub(super) fn extras(sources: Marks) -> Extras {
    expect_context::<Session>().display(|display| Extras {
        colours: display.code_highlighter,
        diagrams: display.render_mermaid,
        math: display.render_latex,
        sources,
    })
}

/// The part's view. What the user wrote is shown as it was typed, what the agent wrote is Markdown, in which
/// `marks` stand for its sources.
pub(super) fn part_view(part: PartState, role: Role, marks: Marks) -> AnyView {
    let session = expect_context::<Session>();
    let number = part.number;
    match part.kind {
        PartKind::Text(document) if role == Role::User => own_text(&document.text()),
        PartKind::Text(document) if !session.display(|display| display.markdown_rendering) => {
            let shown = drawn(move || visible::nodes(&without_marks(&document.read()), Kind::Prose));
            view! { <p class="cw-plain" dir="auto">{shown}</p> }.into_any()
        }
        PartKind::Text(document) => view! { <DocumentView document extras=extras(marks) /> }.into_any(),
        // Stands with those that follow it, see `message.rs`.
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
