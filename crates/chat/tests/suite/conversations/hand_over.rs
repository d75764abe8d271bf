//! Conversations that their owner hands over to another agent.

use super::*;
use chat::{HandOver, HandOverOutcome};
use wire::HANDED_OVER;

impl TestChat {
    async fn hand_over(&self, caller: &Caller, id: &str, to: &str) -> Result<HandOverOutcome, UserError> {
        let agent = HandOver { agent_id: to.to_owned(), page_id: "q".to_owned() };
        self.chat.hand_over(caller, id, agent, |from| format!("Handed over from {from} to {to}")).await
    }
}

#[tokio::test]
async fn other_agent_goes_on_from_the_whole_conversation() {
    let call = tool_call_reply(&[("x", "nowhere", "{}")]);
    let test = TestChat::open(vec![call, text_reply("looked"), text_reply("I go on")]).await;
    test.ask(message("m1", "look")).await;
    assert_eq!(test.hand_over(&ada(), "c1", "second").await, Ok(HandOverOutcome::HandedOver));
    // A repeated request changes nothing.
    assert_eq!(test.hand_over(&ada(), "c1", "second").await, Ok(HandOverOutcome::Unchanged));
    let view = test.view().await;
    assert_eq!((view.summary.agent_id.as_str(), view.summary.page_id.as_str()), ("second", "q"));
    let [UiPart::Data(shown)] = view.messages[2].parts.as_slice() else { panic!("{:?}", view.messages[2]) };
    assert_eq!(shown.kind, HANDED_OVER);
    assert_eq!(shown.data, json!({ "from": "helper", "to": "second", "text": "Handed over from helper to second" }));
    assert_eq!(test.send(message("m2", "and you?")).await.err().unwrap().code, ErrorCode::OtherAgent);
    let to_second = SendRequest { agent_id: "second".to_owned(), ..request("c1", message("m2", "and you?")) };
    read(test.chat.send(&ada(), to_second).await.unwrap().frames).await;
    assert_eq!(test.view().await.messages.len(), 5);
    let asked = serde_json::to_string(&test.model.requests()[2].messages).unwrap();
    let places = ["nowhere", "looked", "handed this conversation over to you", "and you?"];
    let places = places.map(|part| asked.find(part).unwrap_or_else(|| panic!("{part}: {asked}")));
    assert!(places.is_sorted(), "{asked}");
}

#[tokio::test]
async fn hand_over_is_refused_while_something_is_open_and_for_others() {
    let mut half = text_reply("half an answer");
    half.truncate(3);
    half.push(Cue::Silence);
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", "{}")]), half]).await;
    test.ask(message("m1", "act")).await;
    let running = test.chat.send(&ada(), request("c2", message("m2", "hi"))).await.unwrap();
    let check = async |caller: Caller, id: &str, expected: ErrorCode| {
        let error = test.hand_over(&caller, id, "second").await.err().unwrap();
        assert_eq!(error.code, expected, "{id}");
    };
    check(ada(), "c1", ErrorCode::Busy).await;
    check(ada(), "c2", ErrorCode::Busy).await;
    check(caller("eve"), "c1", ErrorCode::NotFound).await;
    check(ada(), "nothing", ErrorCode::NotFound).await;
    check(ada(), "no id", ErrorCode::NotFound).await;
    let view = test.view().await;
    assert_eq!((view.summary.agent_id.as_str(), view.messages.len()), ("helper", 2));
    drop(running);
}
