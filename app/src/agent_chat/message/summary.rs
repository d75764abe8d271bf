//! The line about a summary of earlier messages. It opens the summary, which the model reads instead of
//! them, and what it stands for.

use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, fill, fill_count, group_digits, t};
use crate::ui::hidden_characters::{TextKind, text_with_code_points};
use crate::ui::icons::{Icon, Shape};
use serde_json::Value;
use wire::{Role, SummaryData};

/// How much of a message is quoted, in characters.
const QUOTED: usize = 120;

/// The line. `data` is that of the part, see [`SummaryData`].
pub(in crate::agent_chat) fn summary_line(session: Session, data: &Value) -> AnyView {
    let Ok(summary) = serde_json::from_value::<SummaryData>(data.clone()) else { return ().into_any() };
    let is_open = RwSignal::new(false);
    // Messages have unique ids, and a conversation has one summary through each of them at a time.
    let id = format!("{}-summary-{}-{}", session.block_id(), summary.through_message_id, summary.at);
    let controlled = id.clone();
    let panel =
        move || is_open.get().then(|| opened(&summary, &covered(session, &summary.through_message_id), id.clone()));
    view! {
        <div class="cw-notice cw-notice-quiet cw-summary">
            <button
                type="button"
                class="cw-summary-toggle"
                aria-expanded=move || Some(is_open.get().to_string())
                aria-controls=controlled
                on:click=move |_| is_open.update(|open| *open = !*open)
            >
                <Icon of=Shape::CHEVRON />
                {t(Text::EarlierSummarized)}
            </button>
            {panel}
        </div>
    }
    .into_any()
}

/// The summary with the messages that it replaces.
fn opened(summary: &SummaryData, covered: &[(Role, String)], id: String) -> AnyView {
    let (before, after) = (group_digits(summary.tokens_before), group_digits(summary.tokens_after));
    let details = fill(Text::EarlierSummarizedDetails, &[&summary.model, &after, &before]);
    let text = text_with_code_points(&summary.text, TextKind::Prose).into_owned();
    let heading = fill_count(Text::SummaryCovers, covered.len());
    let label = heading.clone();
    let messages = covered.iter().map(entry).collect_view().into_any();
    view! {
        <div id=id class="cw-summary-opened">
            <p>{details}</p>
            <p dir="auto" class="cw-summary-text">{text}</p>
            <p>{heading}</p>
            // Scrolls by keyboard, too.
            <ol class="cw-summary-covered" tabindex="0" aria-label=label>{messages}</ol>
        </div>
    }
    .into_any()
}

/// The messages with text up to this one, oldest first. Not tracked.
fn covered(session: Session, through: &str) -> Vec<(Role, String)> {
    session.messages.with_untracked(|messages| {
        let end = messages.iter().position(|message| message.id == through).map_or(0, |at| at + 1);
        let texts = messages[..end].iter().map(|message| (message.role, message.text()));
        texts.filter(|(_, text)| !text.trim().is_empty()).collect()
    })
}

fn entry((role, text): &(Role, String)) -> AnyView {
    let who = if *role == Role::User { t(Text::You) } else { t(Text::Agent) };
    let mut quoted: String = text.chars().take(QUOTED).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    let quoted = text_with_code_points(&quoted, TextKind::Prose).into_owned();
    view! {
        <li>
            <b>{who}</b>
            " "
            <span dir="auto">{quoted}</span>
        </li>
    }
    .into_any()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn opened_summary_shows_the_messages_that_it_replaces() {
        let data = json!({
            "text": "They like <b>herons</b>.", "throughMessageId": "m", "model": "demo/small",
            "tokensBefore": 24_000, "tokensAfter": 3_000, "at": 1,
        });
        let summary: SummaryData = serde_json::from_value(data).unwrap();
        let covered = [(Role::User, "I <i>saw</i> one.".to_owned()), (Role::Assistant, "x".repeat(QUOTED + 1))];
        let shown = Owner::new().with(|| opened(&summary, &covered, "s".to_owned()).to_html());
        assert!(shown.contains("written by demo/small") && shown.contains("3,000 instead of 24,000 tokens"), "{shown}");
        assert!(shown.contains("They like &lt;b&gt;herons&lt;/b&gt;."), "{shown}");
        assert!(shown.contains("I &lt;i&gt;saw&lt;/i&gt; one."), "{shown}");
        assert!(shown.contains(&format!("{}…<", "x".repeat(QUOTED))), "{shown}");
    }
}
