//! Changes that a user makes to a conversation without the agent: branches, deletions, copies,
//! feedback.

use crate::audit::house::{self, TestChat, ada, answers, decide, message};
use chat::{Caller, HandOver};
use contract::testing::{Cue, text_reply, tool_call_reply};
use futures::StreamExt;
use insta::assert_snapshot;
use std::fmt::Write;
use wire::api::{SendRequest, Submission};
use wire::change::{ChangeResult, Feedback, MessageChange, Rating};
use wire::organize::ListFilter;
use wire::{ErrorCode, Role, UiMessage, UserError};

const AGAIN: Submission = Submission::Regenerate { message_id: None };

impl TestChat {
    async fn change(&self, change: MessageChange) -> Result<ChangeResult, UserError> {
        self.chat.revise(&ada(), "c1", change).await
    }

    /// Returns one line per message of the active branch, with its position among its siblings.
    async fn shown(&self, id: &str) -> String {
        let view = self.chat.conversation(&ada(), id).await.unwrap();
        view.messages.iter().fold(String::new(), |mut lines, message| {
            let place = view.forks.get(&message.id).map_or_else(String::new, |all| {
                let at = all.iter().position(|id| *id == message.id).unwrap();
                format!(" {}/{}", at + 1, all.len())
            });
            let calls: String = message.tools().map(|tool| format!("{:?}", tool.state)).collect();
            let _ = writeln!(lines, "{:?} {}{calls}{place}", message.role, message.text());
            lines
        })
    }

    /// Returns the siblings of the newest message with this role.
    async fn others(&self, role: Role) -> Vec<String> {
        let view = self.chat.conversation(&ada(), "c1").await.unwrap();
        let newest = view.messages.iter().rfind(|message| message.role == role).unwrap();
        let all = view.forks.get(&newest.id).cloned().unwrap_or_default();
        all.into_iter().filter(|id| *id != newest.id).collect()
    }

    async fn newest(&self) -> String {
        self.chat.conversation(&ada(), "c1").await.unwrap().messages.pop().unwrap().id
    }
}

fn edit(id: &str, text: &str, replaces: &str) -> Submission {
    let replaces = Some(replaces.to_owned());
    Submission::Message { message: UiMessage::user(id, text), replaces, history: Vec::new() }
}

fn switch(message_id: &str) -> MessageChange {
    MessageChange::Switch { message_id: message_id.to_owned() }
}

fn delete(message_id: &str) -> MessageChange {
    MessageChange::Delete { message_id: message_id.to_owned() }
}

fn restore(message_id: &str) -> MessageChange {
    MessageChange::Restore { message_id: message_id.to_owned() }
}

fn copy(message_id: &str) -> MessageChange {
    MessageChange::Copy { message_id: message_id.to_owned() }
}

fn rate(message_id: &str, feedback: Option<(Rating, &str)>) -> MessageChange {
    let feedback = feedback.map(|(rating, reason)| Feedback { rating, reason: Some(reason.to_owned()) });
    MessageChange::Rate { message_id: message_id.to_owned(), feedback }
}

#[tokio::test]
async fn switching_branches_continues_the_chosen_one() {
    let test = TestChat::open(["one", "two", "three", "four"].map(text_reply).into()).await;
    test.say("m1").await;
    test.ask(AGAIN).await;
    test.ask(edit("m2", "better", "m1")).await;
    assert_eq!(test.shown("c1").await, "User better 2/2\nAssistant three\n");
    // Switches back to the first message and its most recent branch.
    test.change(switch("m1")).await.unwrap();
    assert_eq!(test.shown("c1").await, "User go 1/2\nAssistant two 2/2\n");
    let [first] = &test.others(Role::Assistant).await[..] else { panic!("one other answer") };
    test.change(switch(first)).await.unwrap();
    test.say("m3").await;
    assert_snapshot!(test.shown("c1").await, @"
    User go 1/2
    Assistant one 1/2
    User go
    Assistant four
    ");
    // The edited message is unchanged.
    test.change(switch("m2")).await.unwrap();
    assert_eq!(test.shown("c1").await, "User better 2/2\nAssistant three\n");
    assert_eq!(test.change(switch("nothing")).await, Err(UserError::not_found()));
}

#[tokio::test]
async fn deleted_message_and_its_descendants_can_be_restored() {
    let test = TestChat::open(["one", "two", "three", "four"].map(text_reply).into()).await;
    test.say("m1").await;
    test.say("m2").await;
    let whole = test.shown("c1").await;
    test.change(delete("m2")).await.unwrap();
    assert_eq!(test.shown("c1").await, "User go\nAssistant one\n");
    for change in [switch("m2"), delete("m2"), copy("m2")] {
        assert_eq!(test.change(change).await, Err(UserError::not_found()), "it is not there any more");
    }
    test.change(restore("m2")).await.unwrap();
    assert_eq!(test.shown("c1").await, whole);
    assert_eq!(test.change(restore("m2")).await, Err(UserError::not_found()));
    // The other one of two answers is shown.
    test.ask(AGAIN).await;
    test.change(delete(&test.newest().await)).await.unwrap();
    assert_eq!(test.shown("c1").await, whole);
    // Deleting the first message empties the conversation, which can still be continued.
    test.change(delete("m1")).await.unwrap();
    assert_eq!(test.shown("c1").await, "");
    test.say("m4").await;
    assert_eq!(test.shown("c1").await, "User go\nAssistant four\n");
    let gone = test.chat.send(&ada(), house::request(edit("m5", "x", "m2"))).await.err().unwrap();
    assert_eq!(gone.code, ErrorCode::NotFound, "what was deleted cannot be edited");
}

#[tokio::test]
async fn copy_is_an_independent_conversation() {
    let test =
        TestChat::open(vec![text_reply("one"), text_reply("two"), text_reply("three"), text_reply("four")]).await;
    test.say("m1").await;
    let first = test.newest().await;
    test.ask(AGAIN).await;
    test.say("m2").await;
    let whole = test.shown("c1").await;
    let to = test.change(copy(&first)).await.unwrap().conversation_id;
    assert_eq!(test.shown(&to).await, "User go\nAssistant one\n");
    assert_eq!(test.chat.conversation(&ada(), &to).await.unwrap().summary.title, "Copy of go");
    let request = SendRequest { conversation_id: to.clone(), ..house::request(message("m2")) };
    test.chat.send(&ada(), request).await.unwrap().frames.collect::<Vec<_>>().await;
    assert_eq!(test.shown(&to).await, "User go\nAssistant one\nUser go\nAssistant four\n");
    assert_eq!(test.shown("c1").await, whole);
    test.chat.delete(&ada(), "c1").await.unwrap();
    assert_eq!(test.shown(&to).await, "User go\nAssistant one\nUser go\nAssistant four\n");
}

/// A pending call on a branch that the user leaves is closed once; in a copy it does not wait.
#[tokio::test]
async fn leaving_a_branch_closes_its_pending_calls_once() {
    let asks = || tool_call_reply(&[("a", "pay", "{}")]);
    let check = async |leave: Submission| {
        let test = TestChat::open(vec![asks(), text_reply("two")]).await;
        test.say("m1").await;
        let asking = test.newest().await;
        let copied = test.change(copy(&asking)).await.unwrap().conversation_id;
        assert_eq!(test.shown(&copied).await, "User go\nAssistant OutputDenied\n");
        assert_eq!(test.log().await, "");
        test.ask(leave).await;
        assert_eq!(test.log().await.lines().count(), 1, "{}", test.log().await);
        test.change(switch(&asking)).await.unwrap();
        assert!(test.shown("c1").await.contains("OutputDenied"));
        let late = test.chat.send(&ada(), house::request(answers(vec![decide("a", true)]))).await.err().unwrap();
        assert_eq!(late.code, ErrorCode::Invalid);
    };
    check(AGAIN).await;
    check(edit("m2", "else", "m1")).await;

    let test = TestChat::open(vec![asks(), text_reply("two")]).await;
    test.say("m1").await;
    test.change(delete("m1")).await.unwrap();
    assert_snapshot!(test.log().await, @"a pay {} denied [approval asked, approval denied ada The user deleted the message.]");
    test.change(restore("m1")).await.unwrap();
    assert_eq!(test.shown("c1").await, "User go\nAssistant OutputDenied\n");
}

#[tokio::test]
async fn branches_cannot_change_during_a_run() {
    let mut endless = text_reply("begun ");
    endless.truncate(2);
    endless.push(Cue::Silence);
    let test = TestChat::open(vec![text_reply("one"), endless]).await;
    test.say("m1").await;
    let first = test.newest().await;
    let sent = test.begin(AGAIN).await;
    for change in [switch(&first), delete(&first), delete(&sent.message_id), restore(&first), copy(&sent.message_id)] {
        assert_eq!(
            test.change(change.clone()).await.err().map(|error| error.code),
            Some(ErrorCode::Busy),
            "{change:?}"
        );
    }
    test.change(rate(&first, Some((Rating::Up, "")))).await.unwrap();
    let copied = test.change(copy(&first)).await.unwrap().conversation_id;
    assert_eq!(test.shown(&copied).await, "User go\nAssistant one\n");
}

#[tokio::test]
async fn feedback_is_stored_and_validated() {
    let test = TestChat::open(vec![text_reply("one")]).await;
    test.say("m1").await;
    let answer = test.newest().await;
    let check = async |feedback: Option<(Rating, &str)>, expected: &str| {
        test.change(rate(&answer, feedback)).await.unwrap();
        let view = test.chat.conversation(&ada(), "c1").await.unwrap();
        let feedback = serde_json::to_value(&view).unwrap()["feedback"].to_string();
        assert_eq!(feedback.replace(&answer, "m"), expected);
    };
    check(Some((Rating::Down, "  Wrong year. ")), r#"{"m":{"rating":"down","reason":"Wrong year."}}"#).await;
    check(Some((Rating::Up, " ")), r#"{"m":{"rating":"up"}}"#).await;
    check(None, "null").await;
    check(None, "null").await;
    let refused = test.change(rate(&answer, Some((Rating::Up, &"x".repeat(2001))))).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/feedback/reason")));
    for other in ["m1", "nothing"] {
        for feedback in [None, Some((Rating::Up, ""))] {
            assert_eq!(test.change(rate(other, feedback)).await, Err(UserError::not_found()), "{other}");
        }
    }
}

#[tokio::test]
async fn changes_by_other_users_are_rejected() {
    let test = TestChat::open(vec![text_reply("secret")]).await;
    test.say("m1").await;
    let answer = test.newest().await;
    test.change(rate(&answer, Some((Rating::Down, "mine")))).await.unwrap();
    let eve = Caller::signed_in("eve");
    let before = test.shown("c1").await;
    for id in ["m1", &answer, "nothing"] {
        for change in [switch(id), delete(id), restore(id), copy(id), rate(id, None), rate(id, Some((Rating::Up, "")))]
        {
            let seen = test.chat.revise(&eve, "c1", change.clone()).await;
            assert_eq!(seen, Err(UserError::not_found()), "{change:?}");
        }
    }
    assert_eq!(test.shown("c1").await, before);
    assert_eq!(test.chat.conversation(&ada(), "c1").await.unwrap().feedback.len(), 1);
    assert!(test.chat.conversations(&eve, ListFilter::default(), 10, None).await.unwrap().items.is_empty());
}

/// Neither what waits in another branch nor an interrupted call goes on with the tools of the new agent.
#[tokio::test]
async fn hand_over_closes_what_waits_in_other_branches() {
    let test = TestChat::open(vec![text_reply("one"), tool_call_reply(&[("a", "pay", "{}")])]).await;
    test.say("m1").await;
    let first = test.newest().await;
    test.ask(AGAIN).await;
    let second = test.newest().await;
    test.change(switch(&first)).await.unwrap();
    let to = HandOver { agent_id: "other".to_owned(), page_id: "p".to_owned() };
    test.chat.hand_over(&ada(), "c1", to, |_| "Handed over".to_owned()).await.unwrap();
    test.change(switch(&second)).await.unwrap();
    let decision = house::request(answers(vec![decide("a", true)]));
    let refused = test.chat.send(&ada(), SendRequest { agent_id: "other".to_owned(), ..decision }).await;
    assert_eq!(refused.err().unwrap().code, ErrorCode::Invalid);
    let rows = test.rows().await;
    let logged: Vec<_> = rows.iter().map(|row| (row.tool.as_str(), row.outcome.as_str())).collect();
    assert_eq!(logged, [("pay", "denied"), ("conversation:hand_over", "ok")]);
    assert!(rows[1].arguments.contains(r#""from":"helper""#) && rows[1].arguments.contains(r#""to":"other""#));
}
