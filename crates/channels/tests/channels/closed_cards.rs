//! Cards in Telegram whose calls are decided without one of their buttons.

use crate::conversations::{ada, conversations, on_each_database};
use crate::server::TestServer;
use crate::telegram::FakeTelegram;
use contract::testing::{text_reply, tool_call_reply};
use serde_json::{Map, json};
use wire::ToolPart;
use wire::api::{Answer, RunOptions, SendRequest, Submission};

const QUESTION: &str = r#"{"kind":"approach_choice","question":"Which?","options":["Red","Blue"]}"#;

/// Writes to the agent, and returns the number of the card that it answers with.
async fn ask(telegram: &FakeTelegram) -> i64 {
    telegram.write(7, 7, "Paint it");
    telegram.until("buttons", |fake| fake.button(7).is_some()).await;
    telegram.button(7).unwrap().0
}

/// Waits until a card has no buttons and shows this outcome.
async fn until_closed(telegram: &FakeTelegram, card: i64, outcome: &str) {
    let is_closed = |fake: &FakeTelegram| {
        let messages = fake.messages();
        let (_, shown) = messages.iter().find(|(id, _)| *id == card).unwrap();
        shown.buttons.is_empty() && shown.text.contains(outcome)
    };
    telegram.until(outcome, is_closed).await;
}

/// Submits the answer to the call that waits, as the website does.
async fn answer_on_website(server: &TestServer, answer: impl Fn(&ToolPart) -> Answer) {
    let (conversation_id, page_id) = conversations(server).await.remove(0);
    let view = server.chat.conversation(&ada(), &conversation_id).await.unwrap();
    let tool = view.messages.last().unwrap().tools().find(|tool| tool.waits_for_user(0)).unwrap();
    let request = SendRequest {
        page_id,
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id,
        submission: Submission::Answers { answers: vec![answer(tool)] },
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: RunOptions::default(),
    };
    let _sent = server.chat.send(&ada(), request).await.unwrap();
}

#[tokio::test]
async fn a_card_is_closed_by_a_reply_and_by_another_message() {
    let replies = || {
        vec![
            tool_call_reply(&[("q1", "ask-user", QUESTION)]),
            text_reply("Green it is."),
            tool_call_reply(&[("q2", "ask-user", QUESTION)]),
            text_reply("As you like."),
            tool_call_reply(&[("a", "act", "{}")]),
            text_reply("Not done."),
        ]
    };
    on_each_database(replies, async |server, telegram, _| {
        let card = ask(telegram).await;
        let reply = json!({ "reply_to_message": { "message_id": card, "from": { "id": 123, "is_bot": true } } });
        telegram.write_with(7, 7, "Green", reply);
        until_closed(telegram, card, "➡️ Green").await;
        telegram.until_text(7, "Green it is.").await;
        for (text, answer) in [("Never mind", "As you like."), ("Leave it", "Not done.")] {
            let card = ask(telegram).await;
            telegram.write(7, 7, text);
            until_closed(telegram, card, "➡️ Not answered: another message was written instead.").await;
            telegram.until_text(7, answer).await;
        }
        assert!(server.effects.lock().unwrap().is_empty());
    })
    .await;
}

/// The answer itself stays on the website, because others may read the chat.
#[tokio::test]
async fn a_card_is_closed_by_a_decision_on_the_website() {
    let replies = || {
        vec![
            tool_call_reply(&[("q", "ask-user", QUESTION)]),
            text_reply("Green it is."),
            tool_call_reply(&[("a", "act", "{}")]),
            text_reply("Done it."),
        ]
    };
    on_each_database(replies, async |server, telegram, _| {
        let card = ask(telegram).await;
        let green = |tool: &ToolPart| Answer::Output {
            tool_call_id: tool.tool_call_id.clone(),
            output: json!({ "text": "Green" }),
        };
        answer_on_website(server, green).await;
        until_closed(telegram, card, "➡️ Answered").await;
        assert!(!telegram.texts(7).iter().any(|text| text.contains("Green")), "{:?}", telegram.texts(7));
        let card = ask(telegram).await;
        let approve = |tool: &ToolPart| Answer::Approval {
            tool_call_id: tool.tool_call_id.clone(),
            approval_id: tool.approval.as_ref().map(|approval| approval.id.clone()),
            approved: true,
            input_hash: tool.asked_arguments().map(wire::arguments_hash),
            reason: None,
            input: None,
            remember: None,
        };
        // A card that cannot be changed for a moment is changed later.
        let wait = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": { "retry_after": 1 } });
        telegram.fail("editMessageText", 429, wait);
        answer_on_website(server, approve).await;
        until_closed(telegram, card, "✅ Approved").await;
        assert_eq!(server.effects.lock().unwrap().len(), 1);
    })
    .await;
}
