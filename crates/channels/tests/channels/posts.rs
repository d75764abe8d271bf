//! Messages that other capabilities send to chats.

use crate::server::language;
use crate::telegram::FakeTelegram;
use capability::{ChatPost, ChatPosts, Host, PostError};
use channels::DEFINITION;
use jobs::Jobs;
use serde_json::json;
use store::Store;

#[tokio::test]
async fn others_send_messages_to_chats() {
    let store = Store::open("sqlite::memory:").await.unwrap();
    let chat_posts = ChatPosts::default();
    let host = Host {
        jobs: Jobs::new(store.clone()),
        store,
        databases: Default::default(),
        quotes: Default::default(),
        libraries: Default::default(),
        memories: Default::default(),
        tokens: Default::default(),
        waiting: Default::default(),
        chat_posts: chat_posts.clone(),
    };
    let (telegram, url) = FakeTelegram::start().await;
    let bot = FakeTelegram::connection(&url);
    let text = format!("connections:\n- {{ id: demo, type: Demo }}\n- {{ id: bot, {bot} }}\n");
    let config = language().read_text(&text).map_err(|problems| config::render(&problems)).unwrap().0;
    let post = |connection_id: &'static str, text: &'static str| {
        let post = ChatPost { connection_id, chat: "5", text, key: "1" };
        chat_posts.post(&config, post)
    };
    let refused = |message: &str| Err(PostError::Refused(message.to_owned()));
    assert_eq!(post("bot", "*late*").await, refused("This server has no messengers."));
    let _capability = (DEFINITION.start.unwrap())(&host).unwrap();
    assert_eq!(post("bot", "*late* <b>").await, Ok(()));
    let sent: Vec<_> = telegram.messages().into_iter().map(|(_, message)| (message.chat, message.text)).collect();
    assert_eq!(sent, [(5, "*late* <b>".to_owned())]);

    assert_eq!(post("demo", "late").await, refused("the messenger refuses it: there is no connection to this bot"));
    let gone = json!({ "ok": false, "error_code": 400, "description": "Bad Request: chat not found" });
    telegram.fail("sendMessage", 400, gone);
    let error = post("bot", "late").await.unwrap_err();
    assert!(matches!(&error, PostError::Refused(cause) if cause.contains("chat not found")), "{error:?}");
    telegram.fail("sendMessage", 500, json!({ "ok": false, "error_code": 500, "description": "Internal" }));
    let error = post("bot", "late").await.unwrap_err();
    assert!(matches!(&error, PostError::Failed(_)), "{error:?}");
}
