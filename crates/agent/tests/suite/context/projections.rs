//! Whatever the history is, what a model reads of it is valid and fits.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Piece {
    Turn(usize),
    Call(usize),
    Calls(usize, usize),
}

fn any_piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        (0..3_000_usize).prop_map(Piece::Turn),
        (0..6_000_usize).prop_map(Piece::Call),
        (0..2_000_usize, 0..2_000_usize).prop_map(|(a, b)| Piece::Calls(a, b)),
    ]
}

fn history(pieces: &[Piece]) -> Vec<Message> {
    let mut messages = vec![user("first")];
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Turn(length) => {
                messages.extend([says(&"a".repeat(*length)), user(&format!("u{at} {}", "q".repeat(*length)))]);
            }
            Piece::Call(length) => messages.extend(look(&format!("c{at}"), *length)),
            Piece::Calls(one, two) => {
                let [Message::Assistant(mut calls), Message::Tool(mut results)] = look(&format!("c{at}a"), *one) else {
                    unreachable!()
                };
                let [Message::Assistant(more_calls), Message::Tool(more)] = look(&format!("c{at}b"), *two) else {
                    unreachable!()
                };
                calls.extend(more_calls);
                results.extend(more);
                messages.extend([Message::Assistant(calls), Message::Tool(results)]);
            }
        }
    }
    messages.extend([says("."), user("the newest question")]);
    messages
}

proptest! {
    /// Whatever the history: calls keep their results, the newest message of the user is sent
    /// verbatim, and the budget holds, because the newest turn alone fits into it.
    #[test]
    fn every_projection_is_valid(pieces in prop::collection::vec(any_piece(), 0..40), keep in 1..40_usize, results in 0..8_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let context = ContextSettings { keep_messages: keep, keep_tool_results: results, ..ContextSettings::default() };
        let replies = std::iter::repeat_with(|| text_reply("A summary of facts.")).take(60).collect();
        let (agent, model) = agent(replies, settings(2_000, context));
        let messages = shared(history(&pieces));
        let (_, events) = runtime.block_on(turn(&agent, messages.clone(), Projection::default()));
        let failed = |event: &Event| matches!(event, Event::SummaryFailed { .. });
        prop_assert!(!events.iter().any(failed), "no summary failed");
        let requests = model.requests();
        let sent = requests.last().unwrap();
        prop_assert_eq!(history_error(&sent.messages), None);
        let Some(Message::User(parts)) = sent.messages.last().map(|last| &**last) else { panic!("no user message") };
        let newest = UserPart::Text { text: "the newest question".to_owned() };
        prop_assert_eq!(parts.last(), Some(&newest));
        prop_assert!(tokens(sent) <= 2_000, "{} tokens", tokens(sent));
        for request in &requests {
            prop_assert!(tokens(request) <= 2_000 * 2, "a summary's request of {} tokens", tokens(request));
        }
    }

    /// A summary or a cleared call of another history changes nothing.
    #[test]
    fn projection_that_does_not_fit_is_not_used(pieces in prop::collection::vec(any_piece(), 0..10), covers in 0..60_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (agent, model) = agent(vec![text_reply("ok")], settings(1_000_000, ContextSettings::default()));
        let messages = shared(history(&pieces));
        let summary = Some(ContextSummary { text: "s".to_owned(), covers });
        let of_another = Some("of another".to_owned());
        let fits = covers > 0 && matches!(messages.get(covers).map(|message| &**message), Some(Message::User(_)));
        let (cleared_through, shortened_through) = (of_another.clone(), of_another);
        let projection = Projection { summary, cleared_through, shortened_through, ..Projection::default() };
        runtime.block_on(turn(&agent, messages.clone(), projection));
        let sent = &model.requests()[0].messages;
        prop_assert_eq!(sent.len(), if fits { messages.len() - covers } else { messages.len() });
        prop_assert_eq!(fits, text(&model.requests()[0]).contains("<summary-of-earlier-messages>"));
        prop_assert_eq!(history_error(sent), None);
    }

    /// Within a turn, too, the budget holds, whatever the tools return: results that the model has not read
    /// are never cleared, but shortened if they must be.
    #[test]
    fn every_step_of_a_turn_fits(
        pieces in prop::collection::vec(any_piece(), 0..20),
        steps in prop::collection::vec(0..60_000_usize, 0..6),
        parallel in prop::collection::vec(0..60_000_usize, 1..5),
        keep in 0..8_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let context = ContextSettings { keep_tool_results: keep, ..ContextSettings::default() };
        let replies = std::iter::repeat_with(|| text_reply("A summary of facts.")).take(60).collect();
        let (agent, model) = agent(replies, settings(4_000, context));
        let mut messages = history(&pieces);
        let turn_start = messages.len();
        for (at, length) in steps.iter().enumerate() {
            messages.extend(look(&format!("s{at}"), *length));
        }
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for (at, length) in parallel.iter().enumerate() {
            let [Message::Assistant(call), Message::Tool(result)] = look(&format!("p{at}"), *length) else {
                unreachable!()
            };
            calls.extend(call);
            results.extend(result);
        }
        messages.extend([Message::Assistant(calls), Message::Tool(results)]);
        let messages = shared(messages);
        let input = ContextInput { boundaries: boundaries(&messages), ..ContextInput::default() };
        let (_, events) = runtime.block_on(turn_from(&agent, messages, turn_start, input));
        let failed = |event: &Event| matches!(event, Event::SummaryFailed { .. });
        prop_assert!(!events.iter().any(failed), "no summary failed");
        let requests = model.requests();
        let sent = requests.last().unwrap();
        prop_assert_eq!(history_error(&sent.messages), None);
        prop_assert!(tokens(sent) <= 4_000, "{} tokens", tokens(sent));
        let Some(Message::Tool(results)) = sent.messages.last().map(|last| &**last) else { panic!("no results") };
        for (result, length) in results.iter().zip(&parallel) {
            let text = result.output.to_text();
            prop_assert!(!text.contains("was cleared"), "{text}");
            prop_assert!(text.len() >= *(length.min(&800)), "{} of {length} bytes", text.len());
        }
    }
}
