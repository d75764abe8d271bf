//! Limits of a turn: steps, calls, tokens, time, and loops.

use super::*;

#[tokio::test(start_paused = true)]
async fn max_steps_stop_tools_and_the_timeout_end_a_turn() {
    let again = || tool_call_reply(&[("a", "slow", r#"{"n":1}"#)]);
    let ending = |notes: String| notes.lines().last().unwrap().to_owned();
    let mut case = Case::of(vec![again(), again(), again()]);
    case.settings.max_steps = 2;
    assert_eq!(ending(check(case).await), "Limit(MaxSteps)");
    let mut case = Case::of(vec![again(), again()]);
    case.settings.stop_on_tool_call = vec!["slow".to_owned()];
    assert_eq!(ending(check(case).await), "Limit(StopOnToolCall)");
    let mut case = Case::of(vec![vec![Cue::Part(Part::TextStart { id: "t".to_owned() }), Cue::Silence]]);
    case.settings.timeouts = Timeouts { total: Some(Duration::from_secs(3)), ..Timeouts::default() };
    assert_eq!(ending(check(case).await), "Limit(Time)");
}

#[tokio::test(start_paused = true)]
async fn limits_end_a_turn() {
    let n = |n: u32| tool_call_reply(&[("a", "slow", &format!(r#"{{"n":{n}}}"#))]);
    let three = || vec![n(1), n(2), n(3)];
    let with = |limits: TurnLimits| {
        let mut case = Case::of(three());
        case.settings.limits = limits;
        case
    };
    let check = async |limits: TurnLimits, requests: usize, expected: &str| {
        let (notes, asked) = with(limits.clone()).run().await;
        assert_eq!((notes.lines().last().unwrap(), asked.len()), (expected, requests), "{limits:?}");
    };
    // A scripted reply takes 10 input and 5 output tokens.
    check(TurnLimits { requests: Some(2), ..TurnLimits::default() }, 2, "Limit(Requests)").await;
    check(TurnLimits { total_tokens: Some(16), ..TurnLimits::default() }, 2, "Limit(TotalTokens)").await;
    check(TurnLimits { tool_calls: Some(1), ..TurnLimits::default() }, 2, "Limit(ToolCalls)").await;
    let mut case = with(TurnLimits { cost_usd: Some(0.000_3), ..TurnLimits::default() });
    let price = Price { input: 10.0, output: 20.0, cache_read: Some(1.0), cache_write: Some(12.5) };
    case.settings.prices.insert("test".to_owned(), price);
    assert!(case.run().await.0.ends_with("Limit(Cost)"));
    // A provider that reports no usage: it is estimated.
    let mut silent = n(1);
    silent.pop();
    let (reason, usage) = (FinishReason::ToolCalls, Usage::default());
    silent.push(Cue::Part(Part::Finish { reason, raw_reason: None, usage, metadata: None }));
    let mut case = Case::of(vec![silent, n(2)]);
    case.settings.limits.total_tokens = Some(1);
    assert!(case.run().await.0.ends_with("Limit(TotalTokens)"));
    // One of two concurrent calls runs; the model reads in the next turn why the other did not.
    let mut case = Case::of(vec![tool_call_reply(&[("a", "slow", r#"{"n":1}"#), ("b", "slow", r#"{"n":2}"#)])]);
    case.settings.limits.tool_calls = Some(1);
    assert_snapshot!(self::check(case).await, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a slow {"n":1}
      tool-input-start
      input b {"n":2}
      call b slow {"n":2}
      failed b Not run: the limit of 1 tool calls in one turn is reached.
      started a
      finished a {"n":1}
    step 1 ends: ToolCalls
    Limit(ToolCalls)
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_warned_about_and_ended() {
    let again = || tool_call_reply(&[("a", "slow", r#"{"n":9}"#)]);
    let (notes, asked) = Case::of((0..7).map(|_| again()).collect()).run().await;
    assert_eq!((notes.lines().last().unwrap(), asked.len()), ("Limit(Loop)", 5));
    let told = |request: &contract::Request| {
        let last = request.messages.last().map(|last| &**last);
        matches!(last, Some(Message::User(parts)) if format!("{parts:?}").contains("the same calls"))
    };
    assert_eq!(asked.iter().map(told).collect::<Vec<_>>(), [false, false, false, true, false]);
    assert!(notes.contains("failed a4 Not run") || notes.contains("Not run: the same calls"), "{notes}");
}
