//! Tool calls: sources, reports, order, errors and time limits.

use super::*;
use contract::NoteQuery;
use std::sync::atomic::AtomicU64;

#[tokio::test(start_paused = true)]
async fn tools_of_sources_are_added_to_a_turn() {
    let mut case =
        Case::of(vec![tool_call_reply(&[("a", "far", "{}"), ("b", "slow", r#"{"n":1}"#)]), text_reply("ok")]);
    case.sources = vec![
        Arc::new(Elsewhere("one", Ok(vec!["far", "slow"]))),
        Arc::new(Elsewhere("down", Err("it is down"))),
        Arc::new(Elsewhere("two", Ok(vec!["far", "more"]))),
    ];
    let (notes, requests) = case.run().await;
    // The agent's own tool and that of the first source keep their names.
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["far", "more"]);
    assert_eq!(names.iter().filter(|name| **name == "slow").count(), 1);
    assert_eq!(requests[0].system.as_deref(), Some("About one.\n\nAbout two."));
    assert_snapshot!(notes, @r#"
    without down: it is down
    step 1
      tool-input-start
      input a {}
      call a far {}
      tool-input-start
      input b {"n":1}
      call b slow {"n":1}
      started a
      started b
      finished a "one for u"
      finished b {"n":1}
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_tool_can_add_to_the_message_and_change_the_tools_of_the_next_step() {
    let replies = vec![
        tool_call_reply(&[("a", "install", "{}")]),
        tool_call_reply(&[("b", "installed", "{}")]),
        text_reply("ok"),
    ];
    let mut case = Case::of(replies);
    case.sources = vec![Arc::new(Installer::default())];
    let (notes, requests) = case.run().await;
    let offers = |request: &contract::Request| request.tools.iter().any(|tool| tool.name == "installed");
    assert_eq!(requests.iter().map(offers).collect::<Vec<_>>(), [false, true, true]);
    assert_snapshot!(notes, @r#"
    step 1
      tool-input-start
      input a {}
      call a install {}
      started a
      source
      data install {"tool":"installed"}
      finished a "p"
    step 1 ends: ToolCalls
    step 2
      tool-input-start
      input b {}
      call b installed {}
      started b
      finished b "it works"
    step 2 ends: ToolCalls
    step 3
      text-start
      text "ok"
      text-end
    step 3 ends: Stop
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_tool_can_pass_the_cancellation_on() {
    let told = Arc::new(AtomicBool::new(false));
    let tells = told.clone();
    let spec = ToolSpec { timeout: Duration::from_secs(1), ..ToolSpec::new("far", "", json!({ "type": "object" })) };
    let far = RecordingTool::new(spec, move |_, context: ToolContext| {
        let told = tells.clone();
        async move {
            context.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            told.store(true, Ordering::SeqCst);
            Err(ToolError::new("given up"))
        }
    });
    let mut case = Case::of(vec![tool_call_reply(&[("a", "far", "{}")]), text_reply("ok")]);
    case.more.push(Arc::new(far));
    let notes = check(case).await;
    assert!(notes.contains("failed a The tool did not finish within 1 s and was stopped."), "{notes}");
    assert!(told.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_tool_reports_its_progress() {
    assert_snapshot!(check(Case::of(vec![tool_call_reply(&[("a", "reports", r#"{"n":1}"#)]), text_reply("ok")])).await, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a reports {"n":1}
      started a
      progress a {"part":1}
      progress a {"part":2}
      progress a {"part":3}
      finished a "whole"
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn parallel_tools_finish_out_of_order_and_are_sent_in_order() {
    let case =
        Case::of(vec![tool_call_reply(&[("a", "slow", r#"{"n":1}"#), ("b", "slow", r#"{"n":9}"#)]), text_reply("ok")]);
    let (notes, requests) = case.run().await;
    assert_snapshot!(notes, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a slow {"n":1}
      tool-input-start
      input b {"n":9}
      call b slow {"n":9}
      started a
      started b
      finished b {"n":9}
      finished a {"n":1}
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
    assert_snapshot!(serde_json::to_string(&requests[1].messages[2..].iter().map(|m| &**m).collect::<Vec<_>>()).unwrap(), @r#"[{"role":"tool","content":[{"callId":"a","name":"slow","output":{"type":"json","value":{"n":1}}},{"callId":"b","name":"slow","output":{"type":"json","value":{"n":9}}}]}]"#);
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_the_errors_of_failed_calls_and_continues() {
    let wrong = tool_call_reply(&[
        ("a", "nowhere", "{}"),
        ("b", "slow", "{n:"),
        ("c", "slow", r#"{"n":"one"}"#),
        ("d", "fails", r#"{"n":1}"#),
        ("e", "panics", r#"{"n":1}"#),
        ("f", "hangs", r#"{"n":1}"#),
        ("g", "slow", "[]"),
    ]);
    let notes = check(Case::of(vec![wrong, text_reply("ok")])).await;
    let told: Vec<_> = notes
        .lines()
        .filter(|line| line.contains("invalid") || line.contains("failed") || line.ends_with("Done"))
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
      invalid a {} dynamic=true There is no tool `nowhere`. Available: asks, browser, fails, hangs, panics, reports, slow.
      invalid b "{n:" dynamic=false The arguments are not valid JSON: key must be a string at line 1 column 2.
      invalid c {"n":"one"} dynamic=false The arguments do not fit: /n: "one" is not of type "integer"
      invalid g [] dynamic=false The arguments must be a JSON object.
      failed a There is no tool `nowhere`. Available: asks, browser, fails, hangs, panics, reports, slow.
      failed b The arguments are not valid JSON: key must be a string at line 1 column 2.
      failed c The arguments do not fit: /n: "one" is not of type "integer"
      failed g The arguments must be a JSON object.
      failed d out of paper
      failed e The tool failed unexpectedly.
      failed f The tool did not finish within 5 s and was stopped.
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_truncated_reply_do_not_run() {
    let mut cut = tool_call_reply(&[("a", "slow", r#"{"n":1}"#)]);
    cut.pop();
    cut.push(finish_cue(FinishReason::Length));
    let notes = check(Case::of(vec![cut])).await;
    assert!(!notes.contains("started") && notes.ends_with("step 1 ends: Length\nLimit(OutputTokens)"), "{notes}");
}

#[tokio::test(start_paused = true)]
async fn call_ids_are_unique_in_the_conversation() {
    let case = Case::of(vec![
        tool_call_reply(&[("call_0", "slow", r#"{"n":1}"#)]),
        tool_call_reply(&[("call_0", "slow", r#"{"n":2}"#), ("", "slow", r#"{"n":3}"#)]),
        text_reply("ok"),
    ]);
    let notes = check(case).await;
    let seen: Vec<_> = notes.lines().filter_map(|line| line.strip_prefix("  call ")).collect();
    assert_eq!(seen, [r#"call_0 slow {"n":1}"#, r#"call_0-2 slow {"n":2}"#, r#"call-2 slow {"n":3}"#]);
}

/// A source whose tool `more` is there after a call of `grow`, which does not report it.
#[derive(Default)]
struct Growing(Arc<AtomicU64>);

impl ToolSource for Growing {
    fn name(&self) -> &str {
        "growing"
    }

    fn revision(&self, _: &RunScope) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let revision = self.0.clone();
        let grow = move |_, _| {
            revision.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Ok(json!("grown")))
        };
        let spec = |name: &str| ToolSpec::new(name, "", json!({ "type": "object" }));
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(RecordingTool::new(spec("grow"), grow))];
        if self.0.load(Ordering::SeqCst) > 0 {
            tools.push(Arc::new(RecordingTool::new(spec("more"), |_, _| std::future::ready(Ok(json!("more"))))));
        }
        Box::pin(std::future::ready(Ok(SourceTools { tools, ..SourceTools::default() })))
    }
}

#[tokio::test(start_paused = true)]
async fn tools_that_change_on_their_own_are_there_in_the_next_step() {
    let replies =
        vec![tool_call_reply(&[("a", "grow", "{}")]), tool_call_reply(&[("b", "more", "{}")]), text_reply("ok")];
    let mut case = Case::of(replies);
    case.sources = vec![Arc::new(Growing::default())];
    let (_, requests) = case.run().await;
    let offers = |request: &contract::Request| request.tools.iter().any(|tool| tool.name == "more");
    assert_eq!(requests.iter().map(offers).collect::<Vec<_>>(), [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_asks_the_user_has_its_own_time_afterwards() {
    let spec =
        || ToolSpec { timeout: Duration::from_secs(5), ..ToolSpec::new("form", "", json!({ "type": "object" })) };
    let check_after = async |wait: u64, work: u64, expected: &str| {
        let form = RecordingTool::new(spec(), move |_, context: ToolContext| async move {
            context.reports.question("q", json!({ "outcome": null })).await;
            // A tool of others must not add a part that looks like a question.
            context.reports.add_data("tool-question", None, json!({ "server": "bank" })).await;
            let waiting = context.reports.wait_for_user();
            tokio::time::sleep(Duration::from_secs(wait)).await;
            drop(waiting);
            tokio::time::sleep(Duration::from_secs(work)).await;
            Ok(json!("done"))
        });
        let mut case = Case::of(vec![tool_call_reply(&[("a", "form", "{}")]), text_reply("ok")]);
        case.more.push(Arc::new(form));
        let notes = check(case).await;
        let data: Vec<_> = notes.lines().filter(|line| line.contains("  data ")).collect();
        assert_eq!(data, [r#"  data tool-question {"outcome":null}"#], "{notes}");
        assert!(notes.contains(expected), "{wait} {work}: {notes}");
    };
    check_after(300, 4, r#"finished a "done""#).await;
    check_after(300, 6, "failed a The tool did not finish within 5 s and was stopped.").await;
    check_after(3600, 0, "failed a The tool did not finish within 5 s and was stopped.").await;
}

/// A source that tells the model once that the door is open, after it has called the tool.
struct Door;

impl ToolSource for Door {
    fn name(&self) -> &str {
        "door"
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        Box::pin(std::future::ready(Ok(SourceTools::default())))
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        let NoteQuery { scope, messages, .. } = asked;
        let has_called = messages.iter().any(|message| matches!(&**message, Message::Tool(_)));
        let text = format!("The door of {} is open.", scope.user_id);
        let part = UserPart::Text { text: text.clone() };
        let is_told = messages.iter().any(|message| **message == Message::User(vec![part.clone()]));
        Box::pin(std::future::ready((has_called && !is_told).then_some(text)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_tells_the_model_something_between_two_steps() {
    let replies = ["1", "2"].map(|id| tool_call_reply(&[(id, "slow", r#"{"n":1}"#)]));
    let mut case = Case::of(replies.into_iter().chain([text_reply("Well.")]).collect());
    case.sources = vec![Arc::new(Door)];
    let (events, requests) = case.run().await;
    let notes: Vec<_> = events.lines().filter(|line| line.contains("note") || line.starts_with("step")).collect();
    assert_snapshot!(notes.join("\n"), @r#"
    step 1
    step 1 ends: ToolCalls
      note "The door of u is open."
    step 2
    step 2 ends: ToolCalls
    step 3
    step 3 ends: Stop
    "#);
    let told = Message::User(vec![UserPart::Text { text: "The door of u is open.".to_owned() }]);
    assert_eq!(*requests[1].messages[3], told);
    // Later requests begin with the earlier ones.
    assert!(requests.windows(2).all(|pair| pair[1].messages.starts_with(&pair[0].messages)));
}
