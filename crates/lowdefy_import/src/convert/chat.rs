//! Chats and lists of conversations.

use super::Notes;
use super::events::EventContext;
use crate::tree::{Tree, Value};

/// The actions on messages, with whether they are on where an app does not say.
const ACTIONS: [(&str, bool); 5] =
    [("copy", true), ("feedback", true), ("regenerate", false), ("delete", false), ("audio", false)];

/// Converts the properties of a chat that are elsewhere or have another form.
pub(super) fn convert(block: &mut Tree, context: &EventContext<'_>, notes: &mut Notes<'_>) {
    let Some(properties) = block.get_mut("properties") else { return };
    leave_out_icon_names(properties, notes);
    if let Some(display) = properties.get_mut("messageDisplay") {
        let (actions, roles) = (display.remove("actions"), display.remove("roles"));
        if let Some(actions) = actions {
            properties.set("actions", message_actions(actions.value));
        }
        if let Some(roles) = roles {
            properties.set("roles", roles.value);
        }
    }
    for key in ["renderMermaid", "codeHighlighter"] {
        if let Some(entry) = properties.remove(key)
            && let Some(display) = properties.map_of("messageDisplay")
        {
            display.set(key, entry.value);
        }
    }
    let Some(sender) = properties.get_mut("sender") else { return };
    let suggestions = sender.remove("suggestions");
    if let Some(attachments) = sender.get_mut("attachments") {
        attachments.rename("s3PostPolicyRequestId", "uploadPolicyRequestId");
        for key in ["uploadPolicyRequestId", "downloadPolicyRequestId"] {
            if let Some(value) = attachments.get_mut(key)
                && let Some(request) = value.text().and_then(|id| context.requests.get(id))
            {
                value.value = Value::Text(request.endpoint.clone());
            }
        }
    }
    if let Some(entry) = suggestions {
        properties.set("suggestions", entry.value);
    }
}

/// Converts the properties of a list of conversations that have another form.
pub(super) fn convert_list(block: &mut Tree, notes: &mut Notes<'_>) {
    let Some(properties) = block.get_mut("properties") else { return };
    leave_out_icon_names(properties, notes);
    if let Some(grouping) = properties.get_mut("groupable")
        && grouping.get("label").is_some_and(|label| label.text().is_some())
        && let Some(label) = grouping.remove("label")
    {
        let help = "each group has its own heading, by default its name: `label: { GROUP: heading }`";
        notes.left_out(label.key_at, "`groupable.label` as a text", help);
    }
}

/// Converts a list of actions, of which the others are off, or a mapping, which may leave some out.
fn message_actions(actions: Tree) -> Tree {
    let at = actions.at;
    if actions.operator().is_some() {
        return actions;
    }
    let is_on = |name: &str, default: bool| match &actions.value {
        Value::List(items) => Tree::new(at, Value::Bool(items.iter().any(|item| item.text() == Some(name)))),
        _ => actions.get(name).cloned().unwrap_or_else(|| Tree::new(at, Value::Bool(default))),
    };
    match actions.value {
        Value::List(_) => Tree::map_at(at, ACTIONS.map(|(name, default)| (name, is_on(name, default))).into()),
        Value::Map(_) => {
            let mut all = actions.clone();
            ACTIONS.iter().for_each(|(name, default)| all.set(name, is_on(name, *default)));
            all
        }
        _ => actions,
    }
}

/// Leaves out the names of icons of Lowdefy, such as `AiOutlineDelete`.
fn leave_out_icon_names(tree: &mut Tree, notes: &mut Notes<'_>) {
    tree.for_each_mut(&mut |tree| {
        if tree.get("icon").is_some_and(is_icon_name)
            && let Some(icon) = tree.remove("icon")
        {
            let help = "an icon is the address of a picture, or one or two characters such as 📦";
            notes.left_out(icon.key_at, "the name of an icon", help);
        }
    });
}

/// Whether an icon is a name, or a mapping with a name and colours.
fn is_icon_name(icon: &Tree) -> bool {
    match icon.text() {
        Some(name) => name.len() > 2 && name.chars().all(|sign| sign.is_ascii_alphanumeric()),
        None => icon.get("name").is_some(),
    }
}
