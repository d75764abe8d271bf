//! Requests to the model: retries, fallbacks, time limits, and what a request consists of.

use super::*;

#[tokio::test(start_paused = true)]
async fn failures_are_retried_before_the_first_part_only() {
    let fail = |kind| vec![Cue::Fail(model_error(kind))];
    let notes =
        check(Case::of(vec![fail(ModelErrorKind::Unavailable), fail(ModelErrorKind::RateLimited), text_reply("ok")]))
            .await;
    assert!(notes.starts_with("retry 1\nretry 2\nstep 1\n") && notes.ends_with("Done"), "{notes}");
    let notes = check(Case::of(vec![fail(ModelErrorKind::Unauthorized), text_reply("ok")])).await;
    assert!(notes.starts_with("Failed(ModelError { kind: Unauthorized"), "{notes}");
    let mut half = text_reply("half of it");
    half.truncate(2);
    half.push(Cue::Fail(model_error(ModelErrorKind::BrokenStream)));
    let notes = check(Case::of(vec![half, text_reply("ok")])).await;
    assert!(
        notes.contains("text \"half \"")
            && notes.lines().last().unwrap().starts_with("Failed(ModelError { kind: BrokenStream"),
        "{notes}"
    );
    let silent = vec![Cue::Part(Part::TextStart { id: "t".to_owned() }), Cue::Silence];
    let notes = check(Case::of(vec![silent])).await;
    assert!(notes.contains("kind: Timeout, cause: \"no data for 60s (chunk)\""), "{notes}");
    let notes = check(Case::of(vec![vec![Cue::Silence], vec![Cue::Silence], vec![Cue::Silence]])).await;
    assert!(notes.starts_with("retry 1\nretry 2\nFailed") && notes.contains("(first byte)"), "{notes}");
}

/// A model that reasons silently sends only keep-alives. It is waited for and not asked twice, and
/// keep-alives do not count as an answer.
#[tokio::test(start_paused = true)]
async fn keep_alives_reset_the_timeout() {
    let alive = || [Cue::Pause(Duration::from_secs(50)), Cue::Part(Part::Alive)];
    let thinks = |end: Vec<Cue>| alive().into_iter().chain(alive()).chain(alive()).chain(end).collect::<Vec<_>>();
    let (notes, requests) = Case::of(vec![thinks(text_reply("ok"))]).run().await;
    assert!(notes.starts_with("step 1\n  text-start\n") && notes.ends_with("Done"), "{notes}");
    assert_eq!(requests.len(), 1);
    let mut words = text_reply("one two");
    let rest = words.split_off(2);
    let slow = words.into_iter().chain(alive()).chain(alive()).chain(rest).collect();
    let (notes, requests) = Case::of(vec![slow]).run().await;
    assert!(notes.ends_with("Done") && !notes.to_lowercase().contains("alive"), "{notes}");
    assert_eq!(requests.len(), 1);
    // Nothing was emitted yet, so a failure after keep-alives is retried, and so is silence.
    let fails = thinks(vec![Cue::Fail(model_error(ModelErrorKind::BrokenStream))]);
    let notes = check(Case::of(vec![fails, thinks(vec![Cue::Silence]), text_reply("ok")])).await;
    assert!(notes.starts_with("retry 1\nretry 2\nstep 1\n") && notes.ends_with("Done"), "{notes}");
}

#[tokio::test(start_paused = true)]
async fn the_first_byte_timeout_is_configurable() {
    let late = || std::iter::once(Cue::Pause(Duration::from_secs(90))).chain(text_reply("ok")).collect::<Vec<_>>();
    let mut case = Case::of(vec![late()]);
    case.settings.timeouts = Timeouts { first_byte: Some(Duration::from_secs(120)), ..Timeouts::default() };
    assert!(check(case).await.ends_with("Done"));
    let mut case = Case::of(vec![late(), text_reply("ok")]);
    case.settings.timeouts = Timeouts { first_byte: Some(Duration::from_secs(5)), ..Timeouts::default() };
    assert!(check(case).await.starts_with("retry 1\nstep 1\n"));
}

#[tokio::test(start_paused = true)]
async fn no_think_is_added_to_the_instructions() {
    for (no_think, expected) in [(true, Some("/no_think".to_owned())), (false, None)] {
        let mut case = Case::of(vec![text_reply("ok")]);
        case.settings.no_think = Some(no_think);
        let (_, requests) = case.run().await;
        assert_eq!(requests[0].system, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_is_asked_when_a_model_fails_before_its_reply() {
    let falls_back = |replies, others| Case { fallback: Some(others), ..Case::of(replies) };
    let fails = |kind| vec![Cue::Fail(model_error(kind))];
    // The run stays with the model that answered.
    let case = falls_back(
        vec![fails(ModelErrorKind::Unauthorized)],
        vec![tool_call_reply(&[("a", "slow", r#"{"n":9}"#)]), text_reply("ok")],
    );
    assert_snapshot!(check(case).await, @r#"
    falls back to test
    step 1
      tool-input-start
      input a {"n":9}
      call a slow {"n":9}
      started a
      finished a {"n":9}
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
    // If all fail, the request is sent again, starting with the first model.
    let case = falls_back(
        vec![fails(ModelErrorKind::Unavailable), text_reply("back")],
        vec![fails(ModelErrorKind::RateLimited)],
    );
    assert_snapshot!(check(case).await, @r#"
    falls back to test
    retry 1
    step 1
      text-start
      text "back"
      text-end
    step 1 ends: Stop
    Done
    "#);
    // After its first part a reply is not retried.
    let broken =
        text_reply("half").into_iter().take(2).chain([Cue::Fail(model_error(ModelErrorKind::BrokenStream))]).collect();
    assert_snapshot!(check(falls_back(vec![broken], vec![text_reply("never")])).await, @r#"
    step 1
      text-start
      text "half"
    Failed(ModelError { kind: BrokenStream, cause: "scripted", retry_after: None })
    "#);
}

/// A rule changes only the settings that it names, for the steps that it selects.
#[tokio::test(start_paused = true)]
async fn step_rules_change_the_settings_of_their_steps() {
    let one = || tool_call_reply(&[("", "slow", r#"{"n":1}"#)]);
    let first = StepRule {
        steps: Some(vec![1]),
        active_tools: Some(vec!["slow".to_owned()]),
        tool_choice: Some(ToolChoice::Required),
        max_output_tokens: Some(9),
        ..StepRule::default()
    };
    let later = StepRule { from: Some(3), temperature: Some(0.0), ..StepRule::default() };
    let sampling = Sampling { temperature: Some(1.0), ..Sampling::default() };
    let settings = RunSettings { prepare_step: vec![first, later], sampling, ..RunSettings::default() };
    let (_, requests) = Case { settings, ..Case::of(vec![one(), one(), text_reply("done")]) }.run().await;
    let shown = requests.iter().map(|request| {
        let Sampling { temperature, max_output_tokens, .. } = &request.sampling;
        (request.tools.len(), request.tool_choice.clone(), *max_output_tokens, *temperature)
    });
    let expected = [
        (1, ToolChoice::Required, Some(9), Some(1.0)),
        (7, ToolChoice::Auto, None, Some(1.0)),
        (7, ToolChoice::Auto, None, Some(0.0)),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// Messages from before the turn are pruned, and no empty message is sent; messages of the turn
/// stay.
#[tokio::test(start_paused = true)]
async fn the_history_is_pruned() {
    let call = ToolCall {
        id: "old".to_owned(),
        name: "slow".to_owned(),
        input: json!({ "n": 1 }),
        provider_executed: false,
        metadata: None,
    };
    let result = ToolResult {
        call_id: "old".to_owned(),
        name: "slow".to_owned(),
        output: ToolOutput::from_url(json!(1)),
        metadata: None,
    };
    let user = || Message::User(vec![UserPart::Text { text: "hi".to_owned() }]);
    let messages =
        vec![user(), Message::Assistant(vec![AssistantPart::ToolCall(call)]), Message::Tool(vec![result]), user()];
    let tool_calls = vec![PruneToolCalls { which: PrunedCalls::BeforeLast(0), tools: None }];
    let settings = RunSettings { prune: Prune { tool_calls, ..Prune::default() }, ..RunSettings::default() };
    let replies = vec![tool_call_reply(&[("new", "slow", r#"{"n":1}"#)]), text_reply("done")];
    let (_, requests) = Case { settings, messages, ..Case::of(replies) }.run().await;
    let roles = |request: &contract::Request| {
        let role = |message: &Arc<Message>| serde_json::to_value(&**message).unwrap()["role"].clone();
        request.messages.iter().map(role).collect::<Vec<_>>()
    };
    assert_eq!(roles(&requests[0]), ["user", "user"]);
    assert_eq!(roles(&requests[1]), ["user", "user", "assistant", "tool"]);
}

/// A provider that pauses continues after it has read its reply so far, as often as the agent has
/// steps.
#[tokio::test(start_paused = true)]
async fn a_paused_reply_continues_without_the_user() {
    let pauses = || {
        let item = Part::ProviderItem { provider: "p".to_owned(), item: json!({ "search": 1 }), shown_as: None };
        let (reason, usage) = (FinishReason::Pause, Usage::default());
        let finish = Part::Finish { reason, raw_reason: None, usage, metadata: None };
        vec![Cue::Part(item), Cue::Part(finish)]
    };
    let (notes, requests) = Case::of(vec![pauses(), pauses(), text_reply("found")]).run().await;
    assert!(notes.ends_with("Done"), "{notes}");
    assert_eq!(requests.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [1, 2, 3]);
    let mut case = Case::of(vec![pauses(), pauses()]);
    case.settings.max_steps = 2;
    assert!(check(case).await.ends_with("Limit(MaxSteps)"));
}
