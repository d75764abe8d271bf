//! Shows how full the model's context is, once it is at least half full, and what takes room.

use crate::agent_chat::chunk_tables::{ContextUsage, EXTRAS};
use crate::agent_chat::message::state::MessageState;
use crate::agent_chat::session::Session;
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::group_digits;
use crate::texts::{Text, fill, t};
use leptos::ev::KeyboardEvent;
use wire::api::ContextParts;

/// The meter is shown from this percentage on.
const WORTH_SHOWING: u64 = 50;

/// A small meter next to the send button, which opens what takes room.
pub(in crate::agent_chat) fn context_meter(session: Session) -> AnyView {
    // Taken from the newest answer that has the numbers; an answer that is being written has none
    // yet.
    let taken = Memo::new(move |_| {
        session.messages.with(|all| {
            all.iter().rev().find_map(|message| {
                message.metadata.with(|metadata| Some((metadata.context_used?, metadata.context_size?)))
            })
        })
    });
    let is_shown = Memo::new(move |_| taken.get().is_some_and(|taken| percent(taken) >= WORTH_SHOWING));
    (move || is_shown.get().then(|| EXTRAS.view(move |code| (code.context_meter)(session, taken)))).into_any()
}

/// The percentage of the context that is used, from the tokens used and the size of the context.
fn percent((used, size): (u64, u64)) -> u64 {
    (used.saturating_mul(100) / size.max(1)).min(100)
}

/// The meter, and the panel that it opens. Part of the chunk `extras`.
pub(in crate::agent_chat) fn meter(session: Session, taken: ContextUsage) -> AnyView {
    let is_open = RwSignal::new(false);
    let block = session.block_id();
    let (panel_id, button_id) = (format!("{block}-context"), format!("{block}-context-open"));
    let (controlled, focused) = (panel_id.clone(), button_id.clone());
    let part = move || taken.get().map(percent).unwrap_or_default().to_string();
    let panel = move || is_open.get().then(|| panel(session, taken, panel_id.clone()));
    let close = move |event: KeyboardEvent| {
        // Otherwise Escape could also close a surrounding element, such as a drawer.
        if event.key() == "Escape" && is_open.get_untracked() {
            event.stop_propagation();
            is_open.set(false);
            focus(&focused);
        }
    };
    view! {
        <div class="cw-context-parts" on:keydown=close>
            <div class="cw-context-box">
                <meter
                    class="cw-context"
                    min="0"
                    max="100"
                    low="50"
                    high="85"
                    optimum="0"
                    value=move || Some(part())
                    aria-label=move || Some(fill(Text::ContextFull, &[&part()]))
                    title=move || sum(taken)
                ></meter>
                <button
                    type="button"
                    id=button_id
                    class="cw-context-open"
                    aria-label=t(Text::ContextOpen)
                    aria-expanded=move || Some(is_open.get().to_string())
                    aria-controls=controlled
                    title=move || sum(taken)
                    on:click=move |_| is_open.update(|open| *open = !*open)
                ></button>
            </div>
            {panel}
        </div>
    }
    .into_any()
}

/// The sum in words. Tracked.
fn sum(taken: ContextUsage) -> Option<String> {
    let (used, size) = taken.get()?;
    Some(fill(Text::ContextDetails, &[&group_digits(used), &group_digits(size)]))
}

/// The parts of the used context, as the newest answer with such figures states them.
fn panel(session: Session, taken: ContextUsage, id: String) -> AnyView {
    let parts = Memo::new(move |_| {
        session.messages.with(|all| {
            let read = |message: &MessageState| message.metadata.with(|metadata| metadata.context_parts.clone());
            all.iter().rev().find_map(read).and_then(|parts| serde_json::from_value::<ContextParts>(parts).ok())
        })
    });
    let rows = move || parts.get().map(|parts| rows(&parts));
    let note = move || {
        let parts = parts.get()?;
        Some(t(if parts.measured { Text::ContextCounted } else { Text::ContextEstimated }))
    };
    view! {
        <div id=id class="cw-context-panel" role="group" aria-label=t(Text::ContextOpen)>
            <p>{move || sum(taken)}</p>
            {rows}
            <p>{note}</p>
        </div>
    }
    .into_any()
}

fn rows(parts: &ContextParts) -> AnyView {
    let ContextParts { instructions, tools, summary, messages, results, files, reply: _, measured: _ } = *parts;
    let named = [
        (Text::ContextInstructions, instructions),
        (Text::ContextTools, tools),
        (Text::ContextSummary, summary),
        (Text::ContextMessages, messages),
        (Text::ContextResults, results),
        (Text::ContextFiles, files),
    ];
    let row = |(name, tokens): (Text, u64)| {
        view! {
            <div>
                <dt>{t(name)}</dt>
                <dd>{fill(Text::ContextAbout, &[&group_digits(tokens)])}</dd>
            </div>
        }
        .into_any()
    };
    let rows = named.into_iter().filter(|(_, tokens)| *tokens > 0).map(row).collect_view().into_any();
    view! { <dl>{rows}</dl> }.into_any()
}
