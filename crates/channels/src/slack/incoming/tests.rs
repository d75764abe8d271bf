use super::*;
use serde_json::json;

fn check_in(payload: Value, team_id: Option<&str>) -> Option<String> {
    let bot = BotAccount { id: "UBOT".to_owned(), name: "helper".to_owned() };
    let read = read_payload(&payload, &bot, team_id)?;
    let scope = if read.is_private { "private" } else { "channel" };
    let addressed = if read.is_addressed { "" } else { " perhaps" };
    Some(format!("{} {scope}{addressed} {}", read.person_id, serde_json::to_string(&read.incoming).unwrap()))
}

fn check(payload: Value) -> Option<String> {
    check_in(payload, None)
}

/// A message with further fields.
fn message(channel: &str, text: &str, more: Value) -> Value {
    let kind = if channel.starts_with('D') { "im" } else { "channel" };
    let mut event = json!({
        "type": "message", "channel": channel, "channel_type": kind, "user": "U7", "text": text,
        "ts": "1700000000.000100",
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "type": "event_callback", "team_id": "T1", "event_id": "Ev1", "event": event })
}

#[test]
fn messages_for_the_bot_are_read() {
    insta::assert_snapshot!(check(message("D1", "Hi &amp; bye", json!({}))).unwrap(), @r#"U7 private {"kind":"message","chat":"D1","text":"Hi & bye","repliesTo":null,"files":[]}"#);
    assert_eq!(check(message("C1", "Hi", json!({}))), None);
    insta::assert_snapshot!(check(message("C1", "<@UBOT> Hi", json!({}))).unwrap(), @r#"U7 channel {"kind":"message","chat":"C1/1700000000.000100","text":"Hi","repliesTo":null,"files":[]}"#);
    let mention = json!({ "type": "app_mention", "channel_type": null });
    assert_eq!(check(message("C1", "<@UBOT> Hi", mention)), check(message("C1", "<@UBOT> Hi", json!({}))));
    let thread = json!({ "thread_ts": "1690000000.000001" });
    insta::assert_snapshot!(check(message("C1", "And?", thread.clone())).unwrap(), @r#"U7 channel perhaps {"kind":"message","chat":"C1/1690000000.000001","text":"And?","repliesTo":null,"files":[]}"#);
    insta::assert_snapshot!(check(message("D1", "And?", thread)).unwrap(), @r#"U7 private {"kind":"message","chat":"D1/1690000000.000001","text":"And?","repliesTo":null,"files":[]}"#);
    let file = json!({ "subtype": "file_share", "files": [{ "id": "F1", "name": "a.pdf" }, { "id": "F/2" }] });
    insta::assert_snapshot!(check(message("D1", "", file)).unwrap(), @r#"U7 private {"kind":"message","chat":"D1","text":"","repliesTo":null,"files":[{"id":"F1","name":"a.pdf"}]}"#);
}

#[test]
fn messages_that_are_not_for_the_bot_are_ignored() {
    let check =
        |channel: &str, more: Value| assert_eq!(check(message(channel, "<@UBOT> Hi", more.clone())), None, "{more}");
    check("D1", json!({ "user": "UBOT" }));
    check("D1", json!({ "user": "USLACKBOT" }));
    check("D1", json!({ "user": null }));
    check("D1", json!({ "bot_id": "B2" }));
    check("D1", json!({ "subtype": "message_changed" }));
    check("D1", json!({ "subtype": "message_deleted" }));
    check("C1", json!({ "subtype": "channel_join" }));
    check("D1", json!({ "ts": "1700000000" }));
    check("D1", json!({ "ts": "99999999999.000000" }));
    check("C1", json!({ "thread_ts": "a/b" }));
    check("D1", json!({ "type": "reaction_added" }));
    check("D/1", json!({}));
    check("D1", json!({ "text": "" }));
    assert_eq!(check_in(message("D1", "Hi", json!({})), Some("T2")), None);
    assert!(check_in(message("D1", "Hi", json!({})), Some("T1")).is_some());
    assert_eq!(self::check(json!({ "type": "url_verification", "challenge": "x" })), None);
}

#[test]
fn pressed_buttons_are_read() {
    let press = |channel: &str, message: Value, value: &str| {
        json!({
            "type": "block_actions", "team": { "id": "T1" }, "user": { "id": "U7", "name": "ada" },
            "channel": { "id": channel }, "message": message,
            "actions": [{ "action_id": "a", "value": value, "action_ts": "1700000001.000000" }],
        })
    };
    let card = json!({ "ts": "1700000000.000200", "thread_ts": "1700000000.000100" });
    insta::assert_snapshot!(check(press("C1", card.clone(), "a:y")).unwrap(), @r#"U7 channel {"kind":"press","chat":"C1/1700000000.000100","pressId":"U7","messageId":"1700000000.000200","data":"a:y"}"#);
    let root = json!({ "ts": "1700000000.000200", "thread_ts": "1700000000.000200" });
    insta::assert_snapshot!(check(press("D1", root, "a:y")).unwrap(), @r#"U7 private {"kind":"press","chat":"D1","pressId":"U7","messageId":"1700000000.000200","data":"a:y"}"#);
    assert_eq!(check(press("C1", card.clone(), "a\0")), None);
    assert_eq!(check(press("C1", card.clone(), &"a".repeat(65))), None);
    assert_eq!(check_in(press("C1", card, "a:y"), Some("T2")), None);
}

#[test]
fn commands_are_written_with_an_exclamation_mark() {
    let check = |text: &str, expected: &str| assert_eq!(bang_command(text.to_owned()), expected, "{text:?}");
    check("!new", "/new");
    check("!models fast", "/models fast");
    check("!link 00", "/link 00");
    check("!important", "!important");
    check("! new", "! new");
    check("new", "new");
}

#[test]
fn a_message_has_one_number_and_later_ones_are_larger() {
    let number = |ts: &str, place: &str| update_id(ts, place).unwrap();
    assert_eq!(number("1700000000.000100", "C1"), number("1700000000.000100", "C1"));
    assert_ne!(number("1700000000.000100", "C1"), number("1700000000.000100", "C2"));
    assert!(number("1700000000.000100", "C1") < number("1700000000.000101", "C2"));
    assert!(update_id("9999999999.999999", "C1").is_none(), "beyond the numbers of the database");
    assert_eq!(read_form(b"payload=%7B%22a%22%3A1%7D"), Some(json!({ "a": 1 })));
    assert_eq!(read_form(b"command=%2Fnew"), None);
}
