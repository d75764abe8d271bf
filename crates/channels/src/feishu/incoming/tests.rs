use super::*;
use serde_json::json;

fn check(event: &Value) -> Option<String> {
    let bot = BotAccount { id: "ou_bot".to_owned(), name: "helper".to_owned() };
    let read = read_event(event, &bot, "cli_1")?;
    let scope = if read.is_private { "private" } else { "group" };
    let addressed = if read.is_addressed { "" } else { " perhaps" };
    Some(format!("{} {scope}{addressed} {}", read.person_id, serde_json::to_string(&read.incoming).unwrap()))
}

/// A message with this content, and further fields.
fn message(chat_type: &str, kind: &str, content: &Value, more: Value) -> Value {
    let mut message = json!({
        "message_id": "om_1", "create_time": "1700000000001", "chat_id": "oc_1", "chat_type": chat_type,
        "message_type": kind, "content": content.to_string(),
        "mentions": [
            { "key": "@_user_1", "id": { "open_id": "ou_bot" }, "name": "Helper" },
            { "key": "@_user_10", "id": { "open_id": "ou_8" }, "name": "Eve" },
        ],
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let header = json!({
        "event_id": "e1", "event_type": "im.message.receive_v1", "app_id": "cli_1", "create_time": "1700000000002",
    });
    let sender = json!({ "sender_id": { "open_id": "ou_7" }, "sender_type": "user" });
    json!({ "schema": "2.0", "header": header, "event": { "sender": sender, "message": message } })
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[test]
fn messages_for_the_bot_are_read() {
    let none = || json!({});
    insta::assert_snapshot!(check(&message("p2p", "text", &text("Hi @_user_10 @all"), none())).unwrap(), @r#"ou_7 private {"kind":"message","chat":"ou_7","text":"Hi @Eve @all","repliesTo":null,"files":[]}"#);
    assert_eq!(check(&message("group", "text", &text("Hi @_user_10"), none())), None);
    insta::assert_snapshot!(check(&message("group", "text", &text("@_user_1 Hi"), none())).unwrap(), @r#"ou_7 group {"kind":"message","chat":"oc_1","text":"Hi","repliesTo":null,"files":[]}"#);
    let thread = json!({ "thread_id": "omt_1", "root_id": "om_0", "parent_id": "om_0" });
    insta::assert_snapshot!(check(&message("group", "text", &text("And?"), thread)).unwrap(), @r#"ou_7 group perhaps {"kind":"message","chat":"oc_1/om_0","text":"And?","repliesTo":"om_0","files":[]}"#);
    // A message that begins a thread, and one that replies to another without a thread.
    insta::assert_snapshot!(check(&message("group", "text", &text("@_user_1 Hi"), json!({ "thread_id": "omt_1" }))).unwrap(), @r#"ou_7 group {"kind":"message","chat":"oc_1/om_1","text":"Hi","repliesTo":null,"files":[]}"#);
    let reply = json!({ "root_id": "om_0", "parent_id": "om_0" });
    insta::assert_snapshot!(check(&message("p2p", "text", &text("This"), reply)).unwrap(), @r#"ou_7 private {"kind":"message","chat":"ou_7","text":"This","repliesTo":"om_0","files":[]}"#);
}

#[test]
fn formatted_texts_and_files_are_read() {
    let check = |kind: &str, content: &Value| check(&message("p2p", kind, content, json!({})));
    let post = json!({ "title": "Report", "content": [
        [{ "tag": "text", "text": "See " }, { "tag": "a", "text": "here", "href": "https://a.test" }, { "tag": "at", "user_id": "@_user_10" }],
        [{ "tag": "img", "image_key": "img_1" }, { "tag": "code_block", "language": "RUST", "text": "fn f() {}\n" }],
    ] });
    insta::assert_snapshot!(check("post", &post).unwrap(), @r#"ou_7 private {"kind":"message","chat":"ou_7","text":"Report\nSee here (https://a.test)@Eve\n```rust\nfn f() {}\n```","repliesTo":null,"files":[{"id":"om_1/image/img_1","name":"photo.jpg"}]}"#);
    insta::assert_snapshot!(check("file", &json!({ "file_key": "file_1", "file_name": "a.pdf" })).unwrap(), @r#"ou_7 private {"kind":"message","chat":"ou_7","text":"","repliesTo":null,"files":[{"id":"om_1/file/file_1","name":"a.pdf"}]}"#);
    insta::assert_snapshot!(check("image", &json!({ "image_key": "img_1" })).unwrap(), @r#"ou_7 private {"kind":"message","chat":"ou_7","text":"","repliesTo":null,"files":[{"id":"om_1/image/img_1","name":"photo.jpg"}]}"#);
    assert!(check("audio", &json!({ "file_key": "file_1", "duration": 2000 })).is_some());
    assert!(check("media", &json!({ "file_key": "file_1", "image_key": "img_1", "file_name": "a.mp4" })).is_some());
    assert_eq!(check("file", &json!({ "file_key": "../x", "file_name": "a.pdf" })), None);
    assert_eq!(check("sticker", &json!({ "file_key": "file_1" })), None);
    assert_eq!(check("text", &text("")), None);
}

#[test]
fn messages_that_are_not_for_the_bot_are_ignored() {
    let check = |path: &str, value: Value| {
        let mut event = message("p2p", "text", &text("Hi"), json!({}));
        *event.pointer_mut(path).unwrap() = value;
        assert_eq!(check(&event), None, "{path}");
    };
    check("/header/app_id", "cli_2".into());
    check("/header/event_type", "im.message.recalled_v1".into());
    check("/event/sender/sender_type", "app".into());
    check("/event/sender/sender_id/open_id", "ou_bot".into());
    check("/event/sender/sender_id/open_id", "ou/7".into());
    check("/event/message/message_id", "om_1/../2".into());
    check("/event/message/create_time", "soon".into());
    check("/event/message/create_time", "99999999999999".into());
    check("/event/message/content", "no JSON".into());
    check("/event/message/content", "{\"text\":\"\\u0000\"}".into());
    check("/event", json!(1));
}

#[test]
fn pressed_buttons_are_read() {
    let press = |operator: &str, chat: &str, value: Value| {
        json!({
            "schema": "2.0",
            "header": { "event_id": "e1", "event_type": "card.action.trigger", "app_id": "cli_1", "create_time": "1700000000001000" },
            "event": {
                "operator": { "open_id": operator }, "action": { "tag": "button", "value": value },
                "context": { "open_message_id": "om_2", "open_chat_id": chat },
            },
        })
    };
    let value = |place: &str| json!({ "data": "a:y", "place": place });
    insta::assert_snapshot!(check(&press("ou_7", "oc_1", value("ou_7"))).unwrap(), @r#"ou_7 private {"kind":"press","chat":"ou_7","pressId":"ou_7","messageId":"om_2","data":"a:y"}"#);
    insta::assert_snapshot!(check(&press("ou_7", "oc_1", value("oc_1/om_0"))).unwrap(), @r#"ou_7 group {"kind":"press","chat":"oc_1/om_0","pressId":"ou_7","messageId":"om_2","data":"a:y"}"#);
    // Of a card that was forwarded: by the person to a group, and from another group.
    assert_eq!(check(&press("ou_8", "oc_2", value("ou_7"))), None);
    assert_eq!(check(&press("ou_7", "oc_2", value("oc_1"))), None);
    assert_eq!(check(&press("ou_7", "oc_1", value("oc_1/../x"))), None);
    assert_eq!(check(&press("ou_7", "oc_1", json!({ "data": "a".repeat(65), "place": "oc_1" }))), None);
    assert_eq!(check(&press("ou_7", "oc_1", json!("a:y"))), None);
}

#[test]
fn a_message_has_one_number_and_later_ones_are_larger() {
    let bot = BotAccount { id: "ou_bot".to_owned(), name: String::new() };
    let number = |id: &str, time: &str| {
        let event = message("p2p", "text", &text("Hi"), json!({ "message_id": id, "create_time": time }));
        read_event(&event, &bot, "cli_1").unwrap().update_id
    };
    assert_eq!(number("om_1", "1700000000001"), number("om_1", "1700000000001"));
    assert_ne!(number("om_1", "1700000000001"), number("om_2", "1700000000001"));
    assert!(number("om_1", "1700000000001") < number("om_2", "1700000000002"));
}
