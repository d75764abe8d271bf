//! The crate `client` with a running server.

use crate::process::Server;
use client::{Answer, Client, Error};
use wire::api::Outcome;
use wire::{Chunk, ErrorCode, UiMessage, UiPart};

fn chat(server: &Server) -> (Client, client::Chat) {
    let client = Client::new(&server.origin).unwrap();
    let chat = client.chat("demo", "demo");
    (client, chat)
}

fn text(message: &UiMessage) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        UiPart::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn client_sends_a_message_and_streams_the_reply() {
    let server = Server::start();
    let (client, chat) = chat(&server);
    let mut reply = chat.ask("What do you know about refunds?").await.unwrap();
    let id = reply.conversation_id().to_owned();
    let mut streamed = String::new();
    while let Some(chunk) = reply.next().await.unwrap() {
        if let Chunk::TextDelta { delta, .. } = chunk {
            streamed.push_str(&delta);
        }
    }
    assert!(streamed.contains("Refunds"), "{streamed}");
    assert_eq!(text(reply.message()), streamed);
    let stored = client.conversation(&id).await.unwrap();
    assert_eq!(text(&stored.messages[1]), streamed);
    assert_eq!(stored.messages[1].id, reply.message().id);
    chat.ask("hello").await.unwrap().finish().await.unwrap();
    let first = client.conversations(1, None).await.unwrap();
    let second = client.conversations(1, first.next.as_deref()).await.unwrap();
    assert_eq!((first.items[0].title.as_str(), second.items[0].id.as_str()), ("hello", id.as_str()));
    client.delete(&id).await.unwrap();
    assert_eq!(client.conversation(&id).await.unwrap_err().code(), Some(ErrorCode::NotFound));
}

#[tokio::test]
async fn client_joins_resumes_and_stops_a_reply() {
    let server = Server::start();
    let (client, chat) = chat(&server);
    let mut first = chat.ask_in("c", "count to 1500").await.unwrap();
    while first.message().parts.len() < 3 {
        first.next().await.unwrap().unwrap();
    }
    let cursor = first.cursor().unwrap().to_owned();
    let seen = text(first.message());
    let mut rest = chat.watch("c", Some(&cursor)).await.unwrap().unwrap();
    let mut whole = chat.watch("c", None).await.unwrap().unwrap();
    assert_eq!(chat.ask_in("c", "and now?").await.unwrap_err().code(), Some(ErrorCode::Busy));
    chat.stop("c").await.unwrap();
    while whole.next().await.unwrap().is_some() {}
    let mut later = String::new();
    while let Some(chunk) = rest.next().await.unwrap() {
        if let Chunk::TextDelta { delta, .. } = chunk {
            later.push_str(&delta);
        }
    }
    assert_eq!(text(whole.message()), format!("{seen}{later}"));
    assert!(chat.watch("c", None).await.unwrap().is_none());
    let stored = client.conversation("c").await.unwrap();
    let outcome = stored.messages[1].metadata.clone().unwrap_or_default()["outcome"].clone();
    assert_eq!(outcome, serde_json::to_value(Outcome::Stopped).unwrap());
}

#[tokio::test]
async fn client_decides_pending_approvals() {
    let server = Server::start();
    let (_, chat) = chat(&server);
    let asked = chat.ask_in("c", "Delete the article about refunds").await.unwrap().finish().await.unwrap();
    let call = asked.tools().last().unwrap().tool_call_id.clone();
    let decide = |tool_call_id: &str, approved: bool| Answer::Approval {
        tool_call_id: tool_call_id.to_owned(),
        approval_id: None,
        approved,
        input_hash: None,
        reason: Some("Not today".to_owned()),
        input: None,
        remember: None,
    };
    let wrong = chat.answer("c", &[decide("another", true)]).await.unwrap_err();
    assert!(matches!(&wrong, Error::NotWaiting(id) if id == "another"), "{wrong}");
    let denied = chat.answer("c", &[decide(&call, false)]).await.unwrap().finish().await.unwrap();
    assert!(text(&denied).contains("Nothing was deleted"), "{denied:?}");
    let again = chat.answer("c", &[decide(&call, true)]).await.unwrap_err();
    assert!(matches!(again, Error::NotWaiting(_)), "{again}");
}

#[tokio::test]
async fn client_errors_have_codes() {
    let server = Server::start();
    let (client, _) = chat(&server);
    let refused = client.chat("demo", "nobody").ask("Hi").await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string().contains("you do not have access")),
        (Some(ErrorCode::NotFound), true)
    );
    assert!(matches!(Client::new("chat.example.com"), Err(Error::Address(_))));
    let nowhere = Client::new("http://127.0.0.1:9").unwrap().conversations(1, None).await.unwrap_err();
    assert!(matches!(nowhere, Error::Connection(_)), "{nowhere}");
}
