use super::*;
use insta::assert_snapshot;
use proptest::prelude::*;

fn show(body: &str) -> String {
    serde_json::to_string(&decode("c1", "m1", "user", body.as_bytes())).unwrap()
}

#[test]
fn readable_parts_of_damaged_bodies_are_shown() {
    let whole = r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"}]}"#;
    assert_eq!(show(whole), whole);
    assert_snapshot!(show("{\"id\":\"m1\",\"ro"), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
    assert_snapshot!(show(""), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
    assert_snapshot!(show("[1]"), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
    let part =
        r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"},{"type":"text"},{"type":"later","x":1}]}"#;
    assert_snapshot!(show(part), @r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"},{"type":"unreadable"},{"type":"later","x":1}]}"#);
    let role = r#"{"id":"m1","role":"robot","metadata":{"createdAt":5},"parts":[{"type":"step-start"}]}"#;
    assert_snapshot!(show(role), @r#"{"id":"m1","role":"user","metadata":{"createdAt":5},"parts":[{"type":"step-start"}]}"#);
    let other = r#"{"id":"m2","role":"assistant","parts":[]}"#;
    assert_snapshot!(show(other), @r#"{"id":"m1","role":"user","parts":[]}"#);
    let deep = format!(r#"{{"id":"m1","role":"user","parts":[{}{}]}}"#, "[".repeat(9999), "]".repeat(9999));
    assert_snapshot!(show(&deep), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
}

proptest! {
    /// For any bytes, the result is a message with the row's id that a browser can read.
    #[test]
    fn any_bytes_decode_to_a_message(bytes in proptest::collection::vec(any::<u8>(), 0..64), cut in 0_usize..90) {
        let whole = br#"{"id":"m1","role":"user","metadata":{"a":1},"parts":[{"type":"text","text":"hi"},{"type":"file"}]}"#;
        let cut = cut.min(whole.len());
        let body = [&whole[..cut], &bytes[..], &whole[cut..]].concat();
        let message = decode("c1", "m1", "user", &body);
        prop_assert_eq!(&message.id, "m1");
        let json = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(serde_json::from_str::<UiMessage>(&json).unwrap(), message);
    }
}
