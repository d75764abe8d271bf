//! The audit log of whole conversations: one entry per call, however it ended.

pub(crate) mod house;

use crate::audit::house::{TestChat, ada, agent, answers, decide, message, output, tools};
use agent::{Agent, Policy, PolicyQuery, Ruling, SubAgent};
use contract::testing::{Cue, finish_cue, text_reply, tool_call_reply};
use contract::{FinishReason, Part, ToolSpec};
use futures::StreamExt;
use futures::future::BoxFuture;
use insta::assert_snapshot;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use wire::UiMessage;
use wire::api::{Answer, Submission};

#[tokio::test]
async fn calls_ending_in_their_run_are_logged() {
    let first = tool_call_reply(&[
        ("a", "look", r#"{"n":1,"token":"t0p"}"#),
        ("b", "fail", "{}"),
        ("c", "look", r#"{"n":"x","password":"t0p"}"#),
        ("d", "nowhere", r#"{"n":1}"#),
        ("e", "look", r#"{"apiKey":"t0p"#),
        ("f", "look", "7"),
    ]);
    let test = TestChat::open(vec![first, text_reply("done")]).await;
    test.say("m1").await;
    let mut lines: Vec<_> = test.log().await.lines().map(str::to_owned).collect();
    // Concurrent calls end in any order.
    lines.sort();
    assert_snapshot!(lines.join("\n"), @r#"
    a look {"n":1,"token":"[masked]"} ok ran []
    b fail {} error ran []
    c look {"n":"x","password":"[masked]"} refused [schema refused The arguments do not fit the tool.]
    d nowhere {"n":1} refused [schema refused There is no such tool.]
    e look "[masked]" refused [schema refused The arguments are not a JSON object.]
    f look 7 refused [schema refused The arguments are not a JSON object.]
    "#);
    let rows = test.rows().await;
    assert!(rows.iter().all(|row| row.run_id == rows[0].run_id && row.message_id == rows[0].message_id));
    let all = format!("{rows:?}");
    assert!(!all.contains("t0p"), "{all}");
}

#[tokio::test]
async fn turn_without_calls_logs_nothing() {
    let test = TestChat::open(vec![text_reply("hello")]).await;
    test.say("m1").await;
    assert_eq!(test.log().await, "");
}

#[tokio::test]
async fn decisions_of_the_user_are_logged() {
    let first = tool_call_reply(&[("a", "pay", r#"{"sum":1}"#), ("b", "pay", r#"{"sum":2}"#)]);
    let test = TestChat::open(vec![first, text_reply("done")]).await;
    test.say("m1").await;
    assert_eq!(test.log().await, "", "nothing has ended");
    test.ask(answers(vec![decide("b", false)])).await;
    assert_eq!(test.log().await, "", "a no takes effect with the other answers");
    test.ask(answers(vec![decide("a", true)])).await;
    assert_snapshot!(test.log().await, @r#"
    b pay {"sum":2} denied [approval asked, approval denied ada not now]
    a pay {"sum":1} ok ran [approval asked, approval approved ada]
    "#);
}

/// Whatever the user does instead of deciding is logged once.
#[tokio::test]
async fn undecided_requests_are_logged_once() {
    let asks = || tool_call_reply(&[("a", "pay", "{}")]);
    let check = async |instead: Submission| {
        let test = TestChat::open(vec![asks(), text_reply("done"), text_reply("done")]).await;
        test.say("m1").await;
        test.ask(instead).await;
        test.say("m3").await;
        test.log().await
    };
    let passed = "a pay {} denied [approval asked, approval denied ada The user did not answer and sent a new message instead.]\n";
    assert_eq!(check(message("m2")).await, passed);
    assert_eq!(check(Submission::Regenerate { message_id: None }).await, passed);
    let message = UiMessage::user("m2", "better");
    let edit = Submission::Message { message, replaces: Some("m1".to_owned()), history: Vec::new() };
    assert_eq!(check(edit).await, passed);

    // Sending the same message again joins the same turn; its approval request stays.
    let test = TestChat::open(vec![asks(), text_reply("done")]).await;
    test.say("m1").await;
    test.say("m1").await;
    assert_eq!(test.log().await, "");
    test.ask(answers(vec![decide("a", true)])).await;
    assert_eq!(test.log().await, "a pay {} ok ran [approval asked, approval approved ada]\n");
}

#[tokio::test]
async fn superseded_decisions_are_logged() {
    let asks = tool_call_reply(&[("a", "pay", "{}"), ("b", "pay", "{}"), ("c", "pay", "{}"), ("d", "page", "{}")]);
    let test = TestChat::open(vec![asks, text_reply("done")]).await;
    test.say("m1").await;
    test.ask(answers(vec![decide("a", true), decide("b", false)])).await;
    test.say("m2").await;
    assert_snapshot!(test.log().await, @r#"
    a pay {} denied [approval asked, approval approved ada, approval denied ada The user did not answer and sent a new message instead.]
    b pay {} denied [approval asked, approval denied ada not now]
    c pay {} denied [approval asked, approval denied ada The user did not answer and sent a new message instead.]
    d page {} interrupted []
    "#);
}

#[tokio::test]
async fn browser_calls_are_logged() {
    let asks = tool_call_reply(&[("a", "page", "{}"), ("b", "page", "{}"), ("c", "page", "{}")]);
    let test = TestChat::open(vec![asks, text_reply("done")]).await;
    test.say("m1").await;
    test.ask(answers(vec![output("a")])).await;
    assert_snapshot!(test.log().await, @r#"a page {} ok [execution delegated in the user's browser]"#);
    let run = test.rows().await[0].run_id.clone();
    let failed = Answer::Error { tool_call_id: "b".to_owned(), error_text: "no".to_owned() };
    test.ask(answers(vec![failed, output("c")])).await;
    assert_snapshot!(test.log().await, @r#"
    a page {} ok [execution delegated in the user's browser]
    b page {} error [execution delegated in the user's browser]
    c page {} ok [execution delegated in the user's browser]
    "#);
    let runs: Vec<_> = test.rows().await.into_iter().map(|row| row.run_id == run).collect();
    assert_eq!(runs, [true, false, false]);
}

#[tokio::test]
async fn calls_refused_by_a_limit_or_a_missing_tool_are_logged() {
    let many = tool_call_reply(&[1, 2, 3, 4, 5].map(|n| (["a", "b", "c", "d", "e"][n - 1], "look", r#"{"n":1}"#)));
    let test = TestChat::open(vec![many]).await;
    test.say("m1").await;
    assert_snapshot!(test.log().await.lines().find(|line| line.starts_with("e ")).unwrap(), @r#"e look {"n":1} refused [limit refused Not run: the limit of 4 tool calls in one turn is reached.]"#);

    let test = TestChat::open(vec![tool_call_reply(&[("a", "pay", "{}")])]).await;
    test.say("m1").await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")], Vec::new()).await;
    test.ask(answers(vec![decide("a", true)])).await;
    assert_snapshot!(test.log().await, @r#"a pay {} refused [approval asked, approval approved ada, schema refused The tool or its parameters changed before the user decided.]"#);
}

/// A task for a sub-agent is a call, logged with the last approval request in it; so is each call
/// within it.
#[tokio::test]
async fn sub_agent_task_and_its_calls_are_logged() {
    let check = async |then: Submission, expected: (&str, &str)| {
        let below = agent("payer", vec![tool_call_reply(&[("x", "pay", "{}")]), text_reply("paid")], tools());
        let spec = ToolSpec::new("payer", "", SubAgent::default_schema());
        let replies = vec![tool_call_reply(&[("a", "payer", r#"{"task":"Pay."}"#)]), text_reply("done")];
        let above =
            Agent { agents: vec![Arc::new(SubAgent::new(spec, below))], ..agent("helper", replies, Vec::new()) };
        let test = TestChat::serve(Arc::new(TempDir::new().unwrap()), above).await;
        test.say("m1").await;
        assert_eq!(test.log().await, "", "it waits");
        test.ask(then).await;
        let (within, itself) = expected;
        assert_eq!(test.log().await, format!("{within}a payer {{\"task\":\"Pay.\"}} {itself}\n"));
    };
    let yes = "ok ran [approval asked, approval approved ada]";
    check(answers(vec![decide("a", true)]), (&format!("payer: a/x pay {{}} {yes}\n"), yes)).await;
    let no = "[approval asked, approval denied ada not now]";
    let within = format!("payer: a/x pay {{}} denied {no}\n");
    check(answers(vec![decide("a", false)]), (&within, &format!("ok ran {no}"))).await;
    let passed = "The user did not answer and sent a new message instead.";
    let passed = format!("[approval asked, approval denied ada {passed}]");
    check(message("m2"), (&format!("payer: a/x pay {{}} denied {passed}\n"), &format!("interrupted {passed}"))).await;
}

/// A task whose tool does not stop in time has an entry for both, as when the run is stopped.
#[tokio::test]
async fn interrupted_sub_agent_task_is_logged() {
    let check = async |timeout: Duration, is_stopped: bool, expected: &str| {
        // The tool of the nested agent takes longer to stop than its caller waits.
        let lowest = agent("lowest", vec![tool_call_reply(&[("x", "hang", "{}")])], tools());
        let spec = ToolSpec { timeout, ..ToolSpec::new("lowest", "", SubAgent::default_schema()) };
        let task = |id, name| tool_call_reply(&[(id, name, r#"{"task":"Do."}"#)]);
        let mut middle = agent("middle", vec![task("l", "lowest"), text_reply("given up")], Vec::new());
        middle.agents.push(Arc::new(SubAgent::new(spec, lowest)));
        let spec = ToolSpec::new("middle", "", SubAgent::default_schema());
        let mut above = agent("helper", vec![task("a", "middle"), text_reply("done")], Vec::new());
        above.agents.push(Arc::new(SubAgent::new(spec, middle)));
        let test = TestChat::serve(Arc::new(TempDir::new().unwrap()), above).await;
        let sent = test.begin(message("m1")).await;
        if is_stopped {
            test.until_called("middle").await;
            // The calls of its sub-agents are not shown.
            tokio::time::sleep(Duration::from_millis(300)).await;
            test.chat.stop(&ada(), "c1").await.unwrap();
        }
        sent.frames.collect::<Vec<_>>().await;
        assert_eq!(test.log().await.replace(r#"{"task":"Do."} "#, ""), expected);
    };
    let minute = Duration::from_secs(60);
    let stopped = "lowest: a/l/x hang {} interrupted ran []\nmiddle: a/l lowest interrupted ran []\na middle interrupted ran []\n";
    check(minute, true, stopped).await;
    let late = "lowest: a/l/x hang {} interrupted ran []\nmiddle: a/l lowest error ran []\na middle ok ran []\n";
    check(Duration::from_millis(200), false, late).await;
}

/// A policy that denies `fail` and requires approval of `look`.
struct Strict;

impl Policy for Strict {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(match asked.call.name.as_str() {
            "fail" => Ruling::Deny("not today.".to_owned()),
            _ => Ruling::Ask,
        }))
    }
}

#[tokio::test]
async fn policy_decisions_are_logged() {
    let made = tool_call_reply(&[("a", "fail", "{}"), ("b", "look", r#"{"n":1}"#)]);
    let agent = Agent { policy: Some(Arc::new(Strict)), ..agent("helper", vec![made, text_reply("done")], tools()) };
    let test = TestChat::serve(Arc::new(TempDir::new().unwrap()), agent).await;
    test.say("m1").await;
    test.ask(answers(vec![decide("b", true)])).await;
    assert_snapshot!(test.log().await, @r#"
    a fail {} refused [policy refused not today.]
    b look {"n":1} ok ran [approval asked, approval approved ada]
    "#);
}

/// A provider's own tools, and calls of a reply that was interrupted.
#[tokio::test]
async fn provider_calls_and_interrupted_calls_are_logged() {
    let call = |id: &str| {
        let (id, name, input) = (id.to_owned(), "web_search".to_owned(), r#"{"q":1}"#.to_owned());
        Cue::Part(Part::ToolCall { id, name, input, provider_executed: true, metadata: None })
    };
    let result = |id: &str, is_error| {
        let (id, name) = (id.to_owned(), "web_search".to_owned());
        Cue::Part(Part::ToolResult { id, name, output: json!("found"), is_error, metadata: None })
    };
    let mut cut_off = tool_call_reply(&[("d", "look", r#"{"n":1}"#)]);
    cut_off.pop();
    let mut reply = vec![call("a"), result("a", false), call("b"), result("b", true), call("c")];
    reply.extend(cut_off);
    reply.push(finish_cue(FinishReason::Length));
    let test = TestChat::open(vec![reply]).await;
    test.say("m1").await;
    assert_snapshot!(test.log().await, @r#"
    a web_search {"q":1} ok []
    b web_search {"q":1} error []
    c web_search {"q":1} interrupted []
    d look {"n":1} interrupted []
    "#);
}

#[tokio::test]
async fn calls_interrupted_by_a_stop_are_logged() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "hang", "{}")])]).await;
    let sent = test.begin(message("m1")).await;
    test.until_called("hang").await;
    test.chat.stop(&ada(), "c1").await.unwrap();
    sent.frames.collect::<Vec<_>>().await;
    assert_eq!(test.log().await, "a hang {} interrupted ran []\n");
}

/// The server dies while a tool runs; another call has ended, and an approval request stays open.
#[tokio::test]
async fn calls_interrupted_by_a_crash_are_logged() {
    let first =
        tool_call_reply(&[("a", "pay", "{}"), ("b", "look", r#"{"n":1}"#), ("c", "hang", r#"{"cookie":"t0p"}"#)]);
    let test = TestChat::open(vec![first]).await;
    let _sent = test.begin(message("m1")).await;
    test.until_called("hang").await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")], tools()).await;
    assert_snapshot!(test.log().await, @r#"
    b look {"n":1} ok ran []
    c hang {"cookie":"[masked]"} interrupted []
    "#);
    let rows = test.rows().await;
    assert_eq!(rows[0].run_id, rows[1].run_id);
    // The entries of recovery stay the same after another restart.
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")], tools()).await;
    assert_eq!(test.rows().await, rows);
    test.ask(answers(vec![decide("a", true), decide("c", false)])).await;
    assert!(test.log().await.ends_with("a pay {} ok ran [approval asked, approval approved ada]\n"));
}

/// The server dies while an agent two levels down has one running and one ended call.
#[tokio::test]
async fn nested_calls_interrupted_by_a_crash_are_logged() {
    let tried = tool_call_reply(&[("x", "hang", r#"{"token":"t0p"}"#), ("y", "look", r#"{"n":1}"#)]);
    let lowest = agent("lowest", vec![tried], tools());
    let task = |id, name| tool_call_reply(&[(id, name, r#"{"task":"Do."}"#)]);
    let handing = |name: &str, below: Agent| {
        let spec = ToolSpec::new(name, "", SubAgent::default_schema());
        Arc::new(SubAgent::new(spec, below))
    };
    let mut middle = agent("middle", vec![task("l", "lowest")], Vec::new());
    middle.agents.push(handing("lowest", lowest));
    let mut above = agent("helper", vec![task("a", "middle")], Vec::new());
    above.agents.push(handing("middle", middle));
    let test = TestChat::serve(Arc::new(TempDir::new().unwrap()), above).await;
    let _sent = test.begin(message("m1")).await;
    test.until_called("middle").await;
    // The calls of its sub-agents are not shown.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")], tools()).await;
    assert_snapshot!(test.log().await.replace(r#"{"task":"Do."} "#, ""), @r#"
    lowest: a/l/y look {"n":1} ok ran []
    middle: a/l lowest interrupted []
    lowest: a/l/x hang {"token":"[masked]"} interrupted []
    a middle interrupted []
    "#);
    let rows = test.rows().await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")], tools()).await;
    assert_eq!(test.rows().await, rows, "once");

    // The decisions on the call stay in the log.
    let asking = agent("payer", vec![tool_call_reply(&[("x", "hang", "{}")])], tools());
    let asking = Agent { policy: Some(Arc::new(Strict)), ..asking };
    let mut above = agent("helper", vec![task("a", "payer")], Vec::new());
    above.agents.push(handing("payer", asking));
    let test = TestChat::serve(Arc::new(TempDir::new().unwrap()), above).await;
    test.say("m1").await;
    let _sent = test.begin(answers(vec![decide("a", true)])).await;
    test.until_called("payer").await;
    // The calls of its sub-agents are not shown.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")], tools()).await;
    assert_snapshot!(test.log().await.replace(r#"{"task":"Do."} "#, ""), @r#"
    payer: a/x hang {} interrupted [approval asked, approval approved ada]
    a payer interrupted [approval asked, approval approved ada]
    "#);
}

#[tokio::test]
async fn audit_entries_outlive_a_deleted_conversation() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "look", r#"{"n":1}"#), ("b", "pay", "{}")])]).await;
    test.say("m1").await;
    test.chat.delete(&ada(), "c1").await.unwrap();
    assert_eq!(test.log().await, "a look {\"n\":1} ok ran []\n", "it can be undone");
    test.delete_long_ago("c1").await;
    let test = TestChat::reopen(test.folder.clone(), Vec::new(), tools()).await;
    test.run_job_now("chat.delete_conversations").await;
    assert_snapshot!(test.log().await, @r#"
    a look {"n":1} ok ran []
    b pay {} denied [approval asked, approval denied ada The user deleted the conversation.]
    "#);

    // In the middle of a call.
    let test = TestChat::open(vec![tool_call_reply(&[("a", "hang", "{}")])]).await;
    let sent = test.begin(message("m1")).await;
    test.until_called("hang").await;
    test.chat.delete(&ada(), "c1").await.unwrap();
    sent.frames.collect::<Vec<_>>().await;
    assert_eq!(test.log().await, "a hang {} interrupted ran []\n");
}

/// Another process takes over an active run: what it keeps open is not logged as ended.
#[tokio::test]
async fn taken_over_run_logs_no_end_for_open_calls() {
    let first = tool_call_reply(&[("a", "pay", "{}"), ("b", "hang", "{}")]);
    let old = TestChat::open(vec![first]).await;
    let sent = old.begin(message("m1")).await;
    old.until_called("hang").await;
    let new = TestChat::reopen(old.folder.clone(), vec![text_reply("done")], tools()).await;
    old.chat.stop(&ada(), "c1").await.unwrap();
    sent.frames.collect::<Vec<_>>().await;
    assert_eq!(new.log().await, "b hang {} interrupted []\n");
    new.ask(answers(vec![decide("a", true), decide("b", false)])).await;
    assert!(new.log().await.ends_with("a pay {} ok ran [approval asked, approval approved ada]\n"));
}

/// Deleting the conversation interrupts a reply: its call has not started, and is logged
/// nevertheless.
#[tokio::test]
async fn unstarted_call_of_a_deleted_conversation_is_logged() {
    let mut reply = tool_call_reply(&[("a", "look", r#"{"n":1}"#)]);
    reply.pop();
    reply.push(Cue::Silence);
    let test = TestChat::open(vec![reply]).await;
    let sent = test.begin(message("m1")).await;
    test.until_called("look").await;
    test.chat.delete(&ada(), "c1").await.unwrap();
    sent.frames.collect::<Vec<_>>().await;
    assert_eq!(test.log().await, "a look {\"n\":1} interrupted []\n");
}
