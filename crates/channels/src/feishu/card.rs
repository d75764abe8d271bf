//! Messages as cards (JSON 2.0): only cards can be changed as often as an answer grows.

use super::markup::markup;
use crate::markdown::Rendered;
use crate::messenger::{Button, ChatPlace};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest label of a button, in characters.
const MAX_LABEL: usize = 60;
/// The longest text for notifications and the list of chats, in characters.
const MAX_SUMMARY: usize = 100;

/// The value of a button: its data, and the place to which its card was sent, which neither the event nor a
/// forwarded card contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ButtonValue {
    pub(super) data: String,
    pub(super) place: String,
}

/// Returns the card of a message with its buttons.
pub(super) fn card(place: &ChatPlace, message: &Rendered, buttons: &[Vec<Button>]) -> Value {
    let mut elements = vec![json!({ "tag": "markdown", "content": markup(message) })];
    for row in buttons {
        let mut row: Vec<Value> = row.iter().map(|shown| button(place, shown)).collect();
        match row.len() {
            0 => {}
            1 => elements.append(&mut row),
            _ => {
                let column = |button| json!({ "tag": "column", "width": "auto", "elements": [button] });
                let columns: Vec<Value> = row.into_iter().map(column).collect();
                elements.push(json!({ "tag": "column_set", "columns": columns }));
            }
        }
    }
    let summary: String = message.text.chars().take(MAX_SUMMARY).collect();
    json!({
        "schema": "2.0",
        "config": {
            // The same for all who see it. Otherwise it could not be changed.
            "update_multi": true,
            // The buttons are for the chat to which they were sent.
            "enable_forward": buttons.is_empty(),
            "summary": { "content": summary },
        },
        "body": { "elements": elements },
    })
}

/// Returns the card of a message that only one person sees. Feishu documents the older form for it, whose plain texts
/// have no marks.
pub(super) fn whispered_card(message: &Rendered) -> Value {
    json!({ "elements": [{ "tag": "div", "text": { "tag": "plain_text", "content": message.text } }] })
}

fn button(place: &ChatPlace, button: &Button) -> Value {
    let label: String = button.label.chars().take(MAX_LABEL).collect();
    let value = ButtonValue { data: button.data.clone(), place: place.to_string() };
    json!({
        "tag": "button", "text": { "tag": "plain_text", "content": label },
        "behaviors": [{ "type": "callback", "value": value }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::messages;
    use crate::messenger::Messenger;

    #[test]
    fn card_has_text_and_rows_of_buttons() {
        let button = |label: &str| Button { label: label.to_owned(), data: "a:y".to_owned() };
        let place = ChatPlace::new("oc_1", Some("om_1".to_owned()));
        let shown = card(&place, &Rendered::plain("Go?"), &[vec![button("Yes"), button("No")], vec![button("x")]]);
        insta::assert_snapshot!(shown, @r#"{"schema":"2.0","config":{"update_multi":true,"enable_forward":false,"summary":{"content":"Go?"}},"body":{"elements":[{"tag":"markdown","content":"Go?"},{"tag":"column_set","columns":[{"tag":"column","width":"auto","elements":[{"tag":"button","text":{"tag":"plain_text","content":"Yes"},"behaviors":[{"type":"callback","value":{"data":"a:y","place":"oc_1/om_1"}}]}]},{"tag":"column","width":"auto","elements":[{"tag":"button","text":{"tag":"plain_text","content":"No"},"behaviors":[{"type":"callback","value":{"data":"a:y","place":"oc_1/om_1"}}]}]}]},{"tag":"button","text":{"tag":"plain_text","content":"x"},"behaviors":[{"type":"callback","value":{"data":"a:y","place":"oc_1/om_1"}}]}]}}"#);
        let without = card(&place, &Rendered::plain("Go?"), &[]);
        assert_eq!(without["config"]["enable_forward"], true);
        assert_eq!(without["body"]["elements"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn largest_card_is_below_the_limit_of_feishu() {
        const LIMIT: usize = 30 << 10;
        let place = ChatPlace::new(format!("oc_{}", "a".repeat(32)), Some(format!("om_{}", "b".repeat(32))));
        let button = Button { label: "字".repeat(MAX_LABEL), data: "x".repeat(64) };
        for text in ["字", "\\\"", "word ", "\\*"] {
            let message = messages(&text.repeat(30_000), Messenger::Feishu.limits()).remove(0);
            let content = card(&place, &message, &vec![vec![button.clone()]; 8]).to_string();
            let request = json!({ "receive_id": place.chat, "msg_type": "interactive", "content": content });
            let length = request.to_string().len();
            assert!((LIMIT / 2..LIMIT).contains(&length), "{text} {length}");
        }
    }
}
