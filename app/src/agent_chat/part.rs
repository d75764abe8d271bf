//! A part of a message.

use super::TOOLS;
use super::attachment::fixed_part;
use super::message_state::{PartKind, PartState};
use super::reasoning::Reasoning;
use super::session::Session;
use crate::erase::{Erase, Erased, dynamic, text};
use crate::markdown::{DocumentView, Extras, Marks, without_marks};
use crate::prelude::*;
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
pub(super) fn part_view(part: PartState, role: Role, marks: Marks) -> Erased {
    let session = expect_context::<Session>();
    let number = part.number;
    match part.kind {
        PartKind::Text(document) if role == Role::User => {
            view! { <p class="cw-plain" dir="auto">{document.text()}</p> }.erase()
        }
        PartKind::Text(document) if !session.display(|display| display.markdown_rendering) => {
            view! { <p class="cw-plain" dir="auto">{text(move || without_marks(&document.read()).into_owned())}</p> }
                .erase()
        }
        PartKind::Text(document) => view! { <DocumentView document extras=extras(marks) /> }.erase(),
        PartKind::Reasoning { .. } if !session.display(|display| display.show_reasoning) => ().erase(),
        PartKind::Reasoning { document, open } => view! { <Reasoning document open /> }.erase(),
        PartKind::Tool(tool) => TOOLS.view(move |code| (code.card)(tool.clone())),
        PartKind::Fixed(part) => {
            let separates = number > 0 && session.display(|display| display.show_step_separators);
            dynamic(move || {
                part.with(|part| match part {
                    UiPart::StepStart if separates => view! { <hr class="cw-step" /> }.erase(),
                    part => fixed_part(part),
                })
            })
        }
    }
}
