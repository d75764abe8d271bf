use super::*;
use insta::assert_snapshot;
use serde_json::json;

fn check(kind: &str, event: Value) -> String {
    let bot = BotAccount { id: "1".to_owned(), name: "helper".to_owned() };
    let Some(ReadEvent { update, response }) = read_event(kind, &event, &bot) else { return "not read".to_owned() };
    let scope = if update.is_private { "private" } else { "server" };
    let waits = response.map(|response| format!(" waits {}", response.id)).unwrap_or_default();
    let incoming = serde_json::to_string(&update.incoming).unwrap();
    format!("{} {} {} {scope}{waits} {incoming}", update.update_id, update.person_id, update.person_name)
}

fn message(more: Value) -> Value {
    let mut message = json!({
        "id": "9", "channel_id": "5", "type": 0, "content": "Hi",
        "author": { "id": "7", "username": "ada", "global_name": "Ada\u{202e}" },
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

#[test]
fn messages_for_the_bot_are_read() {
    let check = |more: Value| check("MESSAGE_CREATE", message(more));
    assert_snapshot!(check(json!({})), @r#"9 7 Ada private {"kind":"message","chat":"5","text":"Hi","repliesTo":null,"files":[]}"#);
    assert_snapshot!(check(json!({ "guild_id": "3" })), @"not read");
    let mentions = json!([{ "id": "1", "username": "helper" }, { "id": "8", "username": "eve" }]);
    assert_snapshot!(check(json!({ "guild_id": "3", "content": "<@1> ask <@!8> <@&4>", "mentions": mentions })), @r#"9 7 Ada server {"kind":"message","chat":"5","text":"ask @eve <@&4>","repliesTo":null,"files":[]}"#);
    assert_snapshot!(check(json!({ "guild_id": "3", "type": 19, "referenced_message": { "id": "4", "author": { "id": "1" } } })), @r#"9 7 Ada server {"kind":"message","chat":"5","text":"Hi","repliesTo":"4","files":[]}"#);
    assert_snapshot!(check(json!({ "guild_id": "3", "type": 19, "referenced_message": { "id": "4", "author": { "id": "8" } } })), @"not read");
    assert_snapshot!(check(json!({ "content": "!models fast" })), @r#"9 7 Ada private {"kind":"message","chat":"5","text":"/models fast","repliesTo":null,"files":[]}"#);
    assert_snapshot!(check(json!({ "content": "", "attachments": [{ "url": "https://cdn.discordapp.com/a.txt?ex=1", "filename": "a.txt" }] })), @r#"9 7 Ada private {"kind":"message","chat":"5","text":"","repliesTo":null,"files":[{"id":"https://cdn.discordapp.com/a.txt?ex=1","name":"a.txt"}]}"#);
    assert_snapshot!(check(json!({ "author": { "id": "7", "bot": true } })), @"not read");
    assert_snapshot!(check(json!({ "webhook_id": "6" })), @"not read");
    assert_snapshot!(check(json!({ "type": 7 })), @"not read");
    let forwarded = json!({ "content": "", "message_reference": { "type": 1 }, "message_snapshots": [{ "message": { "content": "I live in Oslo" } }] });
    assert_snapshot!(check(forwarded), @"not read");
    assert_snapshot!(check(json!({ "channel_id": "5/../6" })), @"not read");
    assert_snapshot!(check(json!({ "id": "99999999999999999999" })), @"not read");
}

#[test]
fn commands_and_pressed_buttons_are_read() {
    let check = |more: Value| {
        let mut event = json!({
            "id": "9", "application_id": "2", "type": 2, "token": "t-o_k", "channel_id": "5",
            "user": { "id": "7", "username": "ada" },
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        check("INTERACTION_CREATE", event)
    };
    assert_snapshot!(check(json!({ "data": { "name": "models", "options": [{ "name": "name", "type": 3, "value": "fast" }] } })), @r#"9 7 ada private waits 9 {"kind":"message","chat":"5","text":"/models fast","repliesTo":null,"files":[]}"#);
    let pressed = |id: String| json!({ "type": 3, "guild_id": "3", "member": { "user": { "id": "7" } }, "message": { "id": "4" }, "data": { "custom_id": id } });
    assert_snapshot!(check(pressed("a:y".to_owned())), @r#"9 7  server waits 9 {"kind":"press","chat":"5","pressId":"2/t-o_k","messageId":"4","data":"a:y"}"#);
    assert_snapshot!(check(pressed("a".repeat(65))), @"not read");
    assert_snapshot!(check(json!({ "token": "../x", "data": { "name": "new" } })), @"not read");
    assert_snapshot!(check(json!({ "type": 4, "data": { "name": "new" } })), @"not read");
}
