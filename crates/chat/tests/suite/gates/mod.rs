//! Approvals with a real store: standing approvals, expiry, hidden arguments, and crashes.

mod cut_off;
mod ends;
mod exposure;
mod house;
mod memory;
mod page_calls;
mod trials;

use agent::{Agent, SubAgent};
use contract::testing::{Cue, text_reply, tool_call_reply};
use contract::{ApprovalTerms, ToolSpec};
use house::{Effects, TestChat, ada, agent, bob, described, helper, message, tool, yes};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use wire::ErrorCode;
use wire::api::{Answer, ApprovalScope, Submission};

const PAY: (&str, &str, &str) = ("a", "pay", r#"{"n":1}"#);

fn paid(effects: &Effects) -> Vec<Value> {
    effects.lock().unwrap().clone()
}

fn remember(call: &str, remember: ApprovalScope) -> Submission {
    yes(call, None, Some(remember))
}

#[tokio::test]
async fn standing_approval_covers_its_scope() {
    let replies = (0..5).flat_map(|_| [tool_call_reply(&[PAY]), text_reply("done")]);
    let (agent, effects) = helper(replies.collect(), ApprovalTerms::default());
    let test = TestChat::open(agent).await;
    let check = async |conversation: &str, id: &str, expected: &str| {
        test.ask(conversation, message(id)).await;
        assert_eq!(test.last(conversation).await, expected, "{conversation} {id}");
    };
    check("c1", "m1", "waiting: pay ApprovalRequested").await;
    test.ask("c1", remember("a", ApprovalScope::Conversation)).await;
    let grant = test.grants().await.remove(0);
    assert_eq!((grant.tool_name.as_str(), grant.conversation_title.as_deref()), ("pay", Some("go")));
    let here = format!("done: pay OutputAvailable, conversation {} pay", grant.id);
    assert_eq!(test.last("c1").await, here);
    check("c1", "m2", &here).await;
    // In another conversation it needs approval, now with a standing approval for all.
    check("c2", "m3", "waiting: pay ApprovalRequested").await;
    test.ask("c2", remember("a", ApprovalScope::Always)).await;
    let all = test.grants().await.remove(0);
    assert_eq!(all.conversation_id, None);
    check("c3", "m4", &format!("done: pay OutputAvailable, always {} pay", all.id)).await;
    assert_eq!(paid(&effects).len(), 4);
    let rows = test.log().await.replace(&grant.id, "HERE").replace(&all.id, "ALL");
    assert_snapshot!(rows, @"
    c1 helper a ok [approval asked, approval approved ada, approval approved ada standing approval HERE]
    c1 helper a-2 ok [approval approved ada standing approval HERE]
    c2 helper a ok [approval asked, approval approved ada, approval approved ada standing approval ALL]
    c3 helper a ok [approval approved ada standing approval ALL]
    ");
    // Only its owner can see and revoke it.
    assert_eq!(test.chat.standing_approvals(&bob()).await.unwrap().items, []);
    for (caller, id) in [(bob(), all.id.as_str()), (ada(), "nothing")] {
        assert_eq!(test.chat.revoke(&caller, id).await.unwrap_err().code, ErrorCode::NotFound);
    }
    test.chat.revoke(&ada(), &all.id).await.unwrap();
    check("c3", "m5", "waiting: pay ApprovalRequested").await;
}

/// The usage of a turn that waited for the user keeps counting, also in another process; the next
/// turn starts from zero.
#[tokio::test]
async fn limits_accumulate_over_an_approval() {
    let limited = |replies| {
        let (mut agent, effects) = helper(replies, ApprovalTerms::default());
        agent.settings.limits.requests = Some(2);
        (agent, effects)
    };
    let again = ("b", "pay", r#"{"n":2}"#);
    let (agent, effects) = limited(vec![tool_call_reply(&[PAY]), tool_call_reply(&[again]), text_reply("too late")]);
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", yes("a", None, None)).await;
    assert_eq!(test.last("c1").await, "waiting: pay OutputAvailable, pay ApprovalRequested");
    test.ask("c1", yes("b", None, None)).await;
    assert_eq!(test.last("c1").await, "limit: pay OutputAvailable, pay OutputAvailable");
    assert_eq!(paid(&effects).len(), 2);

    let (agent, _) = limited(vec![tool_call_reply(&[("c", "pay", "{}")])]);
    let test = test.reopen(agent).await;
    test.ask("c1", message("m2")).await;
    assert_eq!(test.last("c1").await, "waiting: pay ApprovalRequested");
    let (agent, _) = limited(vec![tool_call_reply(&[("d", "pay", "{}")])]);
    let test = test.reopen(agent).await;
    test.ask("c1", yes("c", None, None)).await;
    let (agent, _) = limited(vec![text_reply("too late")]);
    let test = test.reopen(agent).await;
    test.ask("c1", yes("d", None, None)).await;
    assert_eq!(test.last("c1").await, "limit: pay OutputAvailable, pay OutputAvailable");
}

#[tokio::test]
async fn standing_approval_decides_other_open_requests_of_the_tool() {
    let both = tool_call_reply(&[PAY, ("b", "pay", r#"{"n":2}"#), ("c", "send", "{}")]);
    let (mut agent, effects) = helper(vec![both, text_reply("done")], ApprovalTerms::default());
    agent.tools.push(tool("send", ApprovalTerms::default()).0);
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", remember("a", ApprovalScope::Always)).await;
    let waiting = "waiting: pay ApprovalResponded, pay ApprovalResponded, send ApprovalRequested";
    assert_eq!(test.last("c1").await, waiting);
    test.ask("c1", yes("c", None, None)).await;
    let id = &test.grants().await[0].id;
    let expected = "done: pay OutputAvailable, pay OutputAvailable, send OutputAvailable, always ID pay, always ID pay";
    assert_eq!(test.last("c1").await.replace(id, "ID"), expected);
    assert_eq!(paid(&effects), [json!({ "n": 1 }), json!({ "n": 2 })]);
}

#[tokio::test]
async fn standing_approval_is_refused_where_not_allowed() {
    let terms = ApprovalTerms { may_remember: false, ..ApprovalTerms::default() };
    let (agent, effects) = helper(vec![tool_call_reply(&[PAY]), text_reply("done")], terms);
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    let refused = test.send("c1", remember("a", ApprovalScope::Always)).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/answers/0/remember")));
    assert_eq!((test.grants().await.len(), paid(&effects).len()), (0, 0));
    // A denial creates no standing approval.
    let no = Answer::Approval {
        tool_call_id: "a".to_owned(),
        approval_id: None,
        approved: false,
        input_hash: None,
        reason: None,
        input: None,
        remember: Some(ApprovalScope::Always),
    };
    test.ask("c1", Submission::Answers { answers: vec![no] }).await;
    assert_eq!((test.grants().await.len(), paid(&effects).len()), (0, 0));
}

#[tokio::test]
async fn changed_tool_asks_again() {
    let test =
        TestChat::open(helper(vec![tool_call_reply(&[PAY]), text_reply("done")], ApprovalTerms::default()).0).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", remember("a", ApprovalScope::Always)).await;
    let tools = vec![described("pay", "Pays, and tells everybody.", ApprovalTerms::default()).0];
    let changed = agent("helper", vec![tool_call_reply(&[PAY]), text_reply("done")], tools).0;
    let test = test.reopen(changed).await;
    test.ask("c1", message("m2")).await;
    assert_eq!(test.last("c1").await, "waiting: pay ApprovalRequested");
    // A standing approval of the changed tool replaces the old one.
    test.ask("c1", remember("a-2", ApprovalScope::Always)).await;
    assert_eq!(test.grants().await.len(), 1);
}

/// Returns an agent that gives this many tasks to `payer`, and the payments of `payer`.
fn above(tasks: usize, replies: Vec<Vec<Cue>>) -> (Agent, Effects) {
    let (pay, effects) = tool("pay", ApprovalTerms::default());
    let spec = ToolSpec::new("payer", "", SubAgent::default_schema());
    let agents = vec![Arc::new(SubAgent::new(spec, agent("payer", replies, vec![pay]).0))];
    let task = (0..tasks).flat_map(|_| [tool_call_reply(&[("a", "payer", r#"{"task":"Pay."}"#)]), text_reply("done")]);
    (Agent { agents, ..agent("helper", task.collect(), Vec::new()).0 }, effects)
}

#[tokio::test]
async fn standing_approval_within_a_task_belongs_to_the_sub_agent() {
    let twice = || [tool_call_reply(&[("x", "pay", "{}"), ("y", "pay", "{}")]), text_reply("paid")];
    let test = TestChat::open(above(2, [twice(), twice()].into_iter().flatten().collect()).0).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", remember("a", ApprovalScope::Always)).await;
    let grant = test.grants().await.remove(0);
    assert_eq!((grant.agent_id.as_str(), grant.tool_name.as_str()), ("payer", "pay"));
    let told = format!("done: payer OutputAvailable, always {id} pay, always {id} pay", id = grant.id);
    assert_eq!(test.last("c1").await, told);
    test.ask("c2", message("m2")).await;
    assert_eq!(test.last("c2").await, told);
    assert_snapshot!(test.log().await.replace(&grant.id, "ID"), @"
    c1 payer a/x ok [approval asked, approval approved ada, approval approved ada standing approval ID]
    c1 payer a/y ok [approval asked, approval approved ada, approval approved ada standing approval ID]
    c1 helper a ok [approval asked, approval approved ada]
    c2 payer a/x ok [approval approved ada standing approval ID]
    c2 payer a/y ok [approval approved ada standing approval ID]
    c2 helper a ok []
    ");
}

fn for_a_minute() -> ApprovalTerms {
    ApprovalTerms { expires_after: Some(Duration::from_secs(60)), ..ApprovalTerms::default() }
}

#[tokio::test]
async fn expired_request_is_closed_by_any_access() {
    let asked = async || {
        let (agent, model) =
            agent("helper", vec![tool_call_reply(&[PAY]), text_reply("on")], vec![tool("pay", for_a_minute()).0]);
        let test = TestChat::open(agent).await;
        test.ask("c1", message("m1")).await;
        test.pass(59_999);
        assert_eq!(test.last("c1").await, "waiting: pay ApprovalRequested");
        test.pass(1);
        (test, model)
    };
    let gone = "interrupted: pay OutputDenied";
    let reason = "The user did not decide in time, so it was not done.";
    let row = format!("c1 helper a denied [approval asked, approval denied {reason}]\n");

    // A late answer.
    let (test, _) = asked().await;
    let refused = test.send("c1", yes("a", None, Some(ApprovalScope::Always))).await.err().unwrap();
    assert!(refused.message.starts_with("The time to decide ran out"), "{}", refused.message);
    assert_eq!((test.last("c1").await, test.log().await), (gone.to_owned(), row.clone()));
    assert_eq!(test.grants().await.len(), 0);

    // Opening the conversation; the agent can continue, and reads the reason.
    let (test, model) = asked().await;
    assert_eq!(test.last("c1").await, gone);
    assert_eq!(test.log().await, row);
    test.ask("c1", Submission::Continue).await;
    assert_eq!(test.last("c1").await, "done: pay OutputDenied");
    let told = serde_json::to_string(&model.requests()[1].messages).unwrap();
    let expected =
        "expired before there was a decision, so this was not done. Say so. Do it only if the user asks for it again";
    assert!(told.contains(expected), "{told}");

    // A new message.
    let (test, _) = asked().await;
    test.ask("c1", message("m2")).await;
    assert_eq!(test.log().await, row);

    // After a restart.
    let (test, _) = asked().await;
    let (agent, effects) = helper(vec![text_reply("on")], for_a_minute());
    let test = test.reopen(agent).await;
    assert_eq!(test.last("c1").await, gone);
    test.ask("c1", message("m2")).await;
    assert_eq!((paid(&effects).len(), test.log().await), (0, row));
}

#[tokio::test]
async fn one_of_two_requests_expires() {
    let both = tool_call_reply(&[PAY, ("b", "send", "{}")]);
    let (mut agent, _) = helper(vec![both, text_reply("done")], for_a_minute());
    agent.tools.push(tool("send", ApprovalTerms::default()).0);
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    test.pass(60_000);
    assert_eq!(test.last("c1").await, "waiting: pay OutputDenied, send ApprovalRequested");
    test.ask("c1", yes("b", None, None)).await;
    assert_eq!(test.last("c1").await, "done: pay OutputDenied, send OutputAvailable");
}

#[tokio::test]
async fn only_visible_arguments_can_be_edited() {
    let terms =
        ApprovalTerms { visible_parameters: Some(vec!["n".to_owned(), "m".to_owned()]), ..ApprovalTerms::default() };
    let made = ("a", "pay", r#"{"n":1,"m":2,"account":"x"}"#);
    let (agent, effects) = helper(vec![tool_call_reply(&[made]), text_reply("done")], terms);
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    let refused = test.send("c1", yes("a", Some(json!({ "n": 7, "account": "y" })), None)).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/answers/0/input")));
    test.ask("c1", yes("a", Some(json!({ "n": 7 })), None)).await;
    assert_eq!(paid(&effects), [json!({ "n": 7, "account": "x" })]);
}

/// The second approval request within a task looks like the first, and the server dies before the
/// requesting run has ended. The call that the first approval let run must not run again.
#[tokio::test]
async fn crash_after_a_second_request_within_a_task_repeats_nothing() {
    let pays = |id| tool_call_reply(&[(id, "pay", "{}")]);
    let script = || above(1, vec![pays("x"), pays("y"), text_reply("paid")]);
    let (agent, effects) = script();
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    test.ask_and_die("c1", yes("a", None, None)).await;
    assert_eq!(paid(&effects).len(), 1);
    let (agent, effects) = script();
    let test = test.reopen(agent).await;
    assert_eq!(test.last("c1").await, "interrupted: payer OutputError");
    let refused = test.send("c1", yes("a", None, None)).await.err().unwrap();
    assert_eq!(refused.code, ErrorCode::Invalid);
    assert_eq!(paid(&effects).len(), 0);
    test.ask("c1", message("m2")).await;
    assert_eq!(test.last("c1").await, "waiting: payer ApprovalRequested");
}

/// The first approval request within a task is only half stored: the task ends with a result, and
/// the conversation continues.
#[tokio::test]
async fn crash_after_a_request_within_a_task_ends_the_task() {
    let script = || above(1, vec![tool_call_reply(&[("x", "pay", "{}")]), text_reply("paid")]).0;
    let test = TestChat::open(script()).await;
    test.ask_and_die("c1", message("m1")).await;
    let test = test.reopen(script()).await;
    assert_eq!(test.last("c1").await, "interrupted: payer OutputError");
    test.ask("c1", message("m2")).await;
    assert_eq!(test.last("c1").await, "waiting: payer ApprovalRequested");
    test.ask("c1", yes("a-2", None, None)).await;
    assert_eq!(test.last("c1").await, "done: payer OutputAvailable");
}

/// The server dies after it sent an approval request and before the run ended: the request stays
/// open, for the tool as it was.
#[tokio::test]
async fn crash_after_a_request_keeps_it_open() {
    let test = TestChat::open(helper(vec![tool_call_reply(&[PAY])], ApprovalTerms::default()).0).await;
    test.ask_and_die("c1", message("m1")).await;
    let (pay, effects) = described("pay", "Pays twice.", ApprovalTerms::default());
    let test = test.reopen(agent("helper", vec![text_reply("done")], vec![pay]).0).await;
    assert_eq!(test.last("c1").await, "waiting: pay ApprovalRequested");
    test.ask("c1", yes("a", None, None)).await;
    assert_eq!(test.last("c1").await, "waiting: pay ApprovalRequested", "it is another tool, so it asks again");
    assert_eq!(paid(&effects).len(), 0);
}
