//! Frontends that bring their own tools.

use super::*;
use chat::Frontend;

fn frontend(names: &[&str]) -> Frontend {
    let tool = |name: &&str| ToolSpec::new(*name, "", json!({ "type": "object" }));
    Frontend { tools: names.iter().map(tool).collect(), ..Frontend::default() }
}

fn result(text: &str) -> Answer {
    Answer::Output { tool_call_id: "a".to_owned(), output: text.into() }
}

impl TestChat {
    async fn send_from(&self, submission: Submission, frontend: Frontend) -> Result<SendResponse, UserError> {
        self.chat.send_from(&ada(), request("c1", submission), frontend).await
    }

    /// Returns the names of the tools, and the last message, of a request to the model.
    fn asked(&self, at: usize) -> (Vec<String>, String) {
        let request = &self.model.requests()[at];
        let names = request.tools.iter().map(|tool| tool.name.clone()).collect();
        (names, serde_json::to_string(request.messages.last().unwrap()).unwrap())
    }
}

#[tokio::test]
async fn tools_of_the_frontend_replace_those_of_the_page() {
    let call = tool_call_reply(&[("a", "weather", "{}")]);
    let test = TestChat::open(vec![call, text_reply("It rains.")]).await;
    let added = Frontend {
        instructions: Some("Be brief.".to_owned()),
        context: Some("The map is open.".to_owned()),
        ..frontend(&["weather"])
    };
    read(test.send_from(message("m1", "rain?"), added).await.unwrap().frames).await;
    let (names, asked) = test.asked(0);
    assert_eq!(names, ["act", "hang", "weather"]);
    assert!(asked.contains("The map is open."), "{asked}");
    assert_eq!(test.model.requests()[0].system.as_deref(), Some("Be brief."));
    let answers = Submission::Answers { answers: vec![result("rain")] };
    read(test.send_from(answers, frontend(&["weather"])).await.unwrap().frames).await;
    assert!(test.asked(1).1.contains("rain"));
    assert_eq!(test.view().await.messages[1].text(), "It rains.");
}

#[tokio::test]
async fn result_may_come_with_a_message() {
    let calls = tool_call_reply(&[("a", "weather", "{}"), ("b", "weather", "{}")]);
    let test = TestChat::open(vec![calls, text_reply("I see.")]).await;
    read(test.send_from(message("m1", "rain?"), frontend(&["weather"])).await.unwrap().frames).await;
    let with = |results: Vec<Answer>| Frontend { results, ..frontend(&["weather"]) };
    let unknown = Answer::Output { tool_call_id: "x".to_owned(), output: json!(1) };
    for (results, code) in
        [(vec![unknown], ErrorCode::Invalid), (vec![result(&"x".repeat(300 << 10))], ErrorCode::TooLarge)]
    {
        let refused = test.send_from(message("m2", "and?"), with(results)).await.err().unwrap();
        assert_eq!(refused.code, code);
    }
    for _ in 0..2 {
        let sent = test.send_from(message("m2", "and?"), with(vec![result("rain")])).await.unwrap();
        read(sent.frames).await;
    }
    let messages = test.view().await.messages;
    let calls: Vec<_> = messages[1].tools().map(|tool| (tool.state, tool.output.clone())).collect();
    assert_eq!(calls, [(ToolState::OutputAvailable, Some(json!("rain"))), (ToolState::OutputError, None)]);
    assert_eq!((messages.len(), messages[3].text()), (4, "I see.".to_owned()));
}

#[tokio::test]
async fn taken_names_are_refused() {
    let test = TestChat::open(vec![]).await;
    for (names, path) in
        [(["act", "b"], "/tools/0/name"), (["b", "b"], "/tools/1/name"), (["b", "a b"], "/tools/1/name")]
    {
        let refused = test.send_from(message("m1", "Hi"), frontend(&names)).await.err().unwrap();
        assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some(path)), "{names:?}");
    }
}
