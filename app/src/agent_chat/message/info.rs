//! The time, token usage and cost of a message, shown at the end of its row of actions.

use super::state::MessageState;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::group_digits;
use crate::texts::{Text, fill};
use crate::ui::dates::local_time;
use crate::ui::numbers::dollars;
use wire::api::MessageMetadata;

/// Shows a short form, with the details in the tooltip. Empty until the page is hydrated, because
/// the server does not know the user's time zone.
pub(in crate::agent_chat) fn message_info(session: Session, message: &MessageState) -> AnyView {
    let (shows_time, shows_usage) = session.display(|display| (display.show_timestamps, display.show_usage));
    let (metadata, detailed) = (message.metadata.clone(), message.metadata.clone());
    let words = move || {
        if !session.is_hydrated.get() {
            return String::new();
        }
        metadata.with(|metadata| {
            let time = metadata.created_at.filter(|_| shows_time).map(local_time);
            let took = if shows_usage { usage_texts(metadata) } else { Vec::new() };
            time.into_iter().chain(took).collect::<Vec<_>>().join(" · ")
        })
    };
    let details = move || Some(detailed.with(details)).filter(|details| shows_usage && !details.is_empty());
    view! { <span class="cw-message-about" title=details>{words}</span> }.into_any()
}

/// The token usage and the cost, as texts.
fn usage_texts(metadata: &MessageMetadata) -> Vec<String> {
    let tokens = metadata.usage.map(|usage| usage.input_tokens + usage.output_tokens).filter(|tokens| *tokens > 0);
    let tokens = tokens.map(|tokens| fill(Text::Tokens, &[&group_digits(tokens)]));
    tokens.into_iter().chain(metadata.cost_usd.map(dollars)).collect()
}

fn details(metadata: &MessageMetadata) -> String {
    let mut details: Vec<String> = metadata.model.iter().cloned().collect();
    if let Some(usage) = metadata.usage.filter(|usage| usage.input_tokens + usage.output_tokens > 0) {
        let part =
            |tokens: u64, what: Text| if tokens > 0 { fill(what, &[&group_digits(tokens)]) } else { String::new() };
        let whole = |tokens: u64, what: Text, of: String| fill(what, &[&group_digits(tokens)]) + &of;
        let cached = part(usage.cache_read_tokens, Text::TokensFromCache);
        details.push(whole(usage.input_tokens, Text::TokensIn, cached));
        details.push(whole(
            usage.output_tokens,
            Text::TokensOut,
            part(usage.reasoning_tokens, Text::TokensForThinking),
        ));
    }
    details.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn usage_and_cost_are_formatted() {
        let check = |metadata: serde_json::Value, expected: [&str; 2]| {
            let metadata: MessageMetadata = serde_json::from_value(metadata).unwrap();
            assert_eq!([usage_texts(&metadata).join(" · "), details(&metadata)], expected);
        };
        check(json!({}), ["", ""]);
        check(json!({ "usage": { "inputTokens": 0, "outputTokens": 0 } }), ["", ""]);
        check(
            json!({ "model": "m-1", "costUsd": 0.0031, "usage": {
                "inputTokens": 1_200, "outputTokens": 45, "cacheReadTokens": 1_000, "reasoningTokens": 7 } }),
            ["1,245 tokens · $0.0031", "m-1, in 1,200 (1,000 from the cache), out 45 (7 for thinking)"],
        );
        check(json!({ "costUsd": 1.5 }), ["$1.50", ""]);
        check(json!({ "costUsd": 0.0 }), ["$0.00", ""]);
    }
}
