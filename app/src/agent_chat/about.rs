//! When a message was written and what it took, behind its actions.

use super::message_state::MessageState;
use super::session::Session;
use crate::agent_conversations::when::moment;
use crate::numbers::{dollars, grouped};
use crate::prelude::*;
use crate::texts::{Text, fill};
use wire::api::MessageMetadata;

/// In a few words; the rest when the pointer rests on them. Empty until the page is alive: the server does not know the reader's clock.
pub(super) fn about(session: Session, message: &MessageState) -> AnyView {
    let (shows_time, shows_usage) = session.display(|display| (display.show_timestamps, display.show_usage));
    let (metadata, detailed) = (message.metadata.clone(), message.metadata.clone());
    let words = move || {
        if !session.alive.get() {
            return String::new();
        }
        metadata.with(|metadata| {
            let time = metadata.created_at.filter(|_| shows_time).map(moment);
            let took = if shows_usage { took(metadata) } else { Vec::new() };
            time.into_iter().chain(took).collect::<Vec<_>>().join(" · ")
        })
    };
    let details = move || Some(detailed.with(details)).filter(|details| shows_usage && !details.is_empty());
    view! { <span class="cw-message-about" title=details>{words}</span> }.into_any()
}

/// Tokens and money.
fn took(metadata: &MessageMetadata) -> Vec<String> {
    let tokens = metadata.usage.map(|usage| usage.input_tokens + usage.output_tokens).filter(|tokens| *tokens > 0);
    let tokens = tokens.map(|tokens| fill(Text::Tokens, &[&grouped(tokens)]));
    tokens.into_iter().chain(metadata.cost_usd.map(dollars)).collect()
}

fn details(metadata: &MessageMetadata) -> String {
    let mut details: Vec<String> = metadata.model.iter().cloned().collect();
    if let Some(usage) = metadata.usage.filter(|usage| usage.input_tokens + usage.output_tokens > 0) {
        let part = |tokens: u64, what: Text| if tokens > 0 { fill(what, &[&grouped(tokens)]) } else { String::new() };
        let whole = |tokens: u64, what: Text, of: String| fill(what, &[&grouped(tokens)]) + &of;
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
    fn what_an_answer_took() {
        let check = |metadata: serde_json::Value, expected: [&str; 2]| {
            let metadata: MessageMetadata = serde_json::from_value(metadata).unwrap();
            assert_eq!([took(&metadata).join(" · "), details(&metadata)], expected);
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
