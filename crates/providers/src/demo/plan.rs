//! A request → what the model does: think, say, call. Pure.

use super::words::{self, Wish, wish};
use super::{answers, form, question, results};
use contract::{
    AssistantPart, Message, ModelError, ModelErrorKind, Request, ToolChoice, ToolResult, ToolSpec, UserPart,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// What the server adds to a user's message begins like this; it is not what they ask for.
const NOTE: &str = "[Note: ";

/// One thing that the model does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Think(String),
    Say(String),
    Call { tool: String, input: Value },
}

/// A turn as far as the model cares.
pub(crate) struct Turn<'a> {
    /// The user's newest words.
    pub(crate) asked: String,
    tools: &'a [ToolSpec],
    /// What the tools brought since then, oldest first.
    pub(crate) results: Vec<&'a ToolResult>,
    /// Of these, those that are new.
    pub(crate) news: &'a [ToolResult],
}

/// What the model does, in this order.
///
/// # Errors
/// When it is asked, in exactly these words, to simulate a failure: one that the loop does not ask again after, so that it is
/// seen at once.
pub(crate) fn plan(request: &Request) -> Result<Vec<Action>, ModelError> {
    let offered: &[ToolSpec] = if request.tool_choice == ToolChoice::None { &[] } else { &request.tools };
    if let Some(title) = title(request) {
        return Ok(vec![Action::Say(title)]);
    }
    match cut_off(&request.messages) {
        Some((before, said)) => Ok(go_on(act(&Turn::of(before, offered))?, &said)),
        None => act(&Turn::of(&request.messages, offered)),
    }
}

/// The title of what the user wrote, when that is what the instructions ask for.
fn title(request: &Request) -> Option<String> {
    let asked_for = request.system.as_ref()?.to_ascii_lowercase().starts_with("write a title");
    let newest = request.messages.iter().rev().find_map(|message| match &**message {
        Message::User(parts) => Some(parts.iter().find_map(|part| match part {
            UserPart::Text { text } if !text.starts_with(NOTE) => Some(text.as_str()),
            _ => None,
        })?),
        _ => None,
    });
    asked_for.then(|| words::title(newest.unwrap_or_default()))
}

fn act(turn: &Turn<'_>) -> Result<Vec<Action>, ModelError> {
    let wish = wish(&turn.asked);
    if wish == Wish::Failure {
        return Err(ModelError::new(ModelErrorKind::Refused, "the demo model was asked to fail"));
    }
    Ok(if turn.news.is_empty() { answer(turn, wish) } else { results::answer(turn, &wish) })
}

fn answer(turn: &Turn<'_>, wish: Wish) -> Vec<Action> {
    match wish {
        Wish::Overview => say("The visitor wants an overview.", answers::overview(turn.tools)),
        Wish::Greeting => say("A greeting.", answers::GREETING),
        Wish::Table => say("A table and a piece of code show what answers can hold.", answers::TABLE_AND_CODE),
        Wish::FillForm => fill_form(turn),
        Wish::Search(topic) => search(turn, &topic),
        Wish::Delete(topic) => delete(turn, &topic),
        Wish::Question { form } => ask_back(turn, form),
        Wish::Count(to) => say("Counting takes a while: good for trying stop and reload.", answers::counting(to)),
        Wish::LongAnswer => say("A long answer, then.", answers::long()),
        Wish::Failure | Wish::Unknown => {
            say("This is nothing that I was taught, so I say what I can do.", answers::not_understood(&turn.asked))
        }
    }
}

fn fill_form(turn: &Turn<'_>) -> Vec<Action> {
    let Some(tool) = turn.tools.iter().find(|tool| tool.name == form::TOOL) else {
        return say("I was not given a form.", "I see no form on this page that I may fill in.");
    };
    match form::updates(&turn.asked, &tool.input_schema) {
        Some(updates) if updates.is_empty() => {
            say("None of the fields fits.", "This page's form has no field that I know how to fill in.")
        }
        Some(updates) => call(
            "The page shares its form with me. I take the name and the company from the sentence and choose the rest.",
            "I fill in the form.",
            tool,
            json!({ "updates": updates }),
        ),
        None => say(
            "A name is missing.",
            "For whom? Say, for example: *fill in the form for Ada Lovelace at Analytical Engines*.",
        ),
    }
}

fn ask_back(turn: &Turn<'_>, form: bool) -> Vec<Action> {
    match turn.tools.iter().find(|tool| tool.name == question::TOOL) {
        Some(tool) => call("The user wants to be asked.", "One question, then.", tool, question::input(form)),
        None => say("I was not given a tool for that.", "I have no way to ask you anything here but in words."),
    }
}

fn search(turn: &Turn<'_>, topic: &str) -> Vec<Action> {
    let Some(tool) = turn.tool("search") else {
        return say("I have nothing to search in.", "I have no knowledge base to look into here.");
    };
    let thinks = format!("I have a knowledge base. I search it for “{topic}” and answer only from what it says.");
    call(&thinks, "Let me look that up.", tool, with_text(tool, topic))
}

/// An article is deleted by its exact title, so it is looked up first where that is possible.
fn delete(turn: &Turn<'_>, topic: &str) -> Vec<Action> {
    match (turn.tool("delete"), turn.tool("search")) {
        (None, _) => say("I was not given a tool for that.", "I have no tool to delete anything here."),
        (Some(delete), None) => delete_article(delete, topic),
        (Some(_), Some(search)) => {
            let thinks = format!("To delete an article I need its exact title, so I look for “{topic}” first.");
            call(&thinks, "Let me find that article.", search, with_text(search, topic))
        }
    }
}

/// Asks for an article to be deleted.
pub(crate) fn delete_article(tool: &ToolSpec, title: &str) -> Vec<Action> {
    let (thinks, says) = if tool.needs_approval {
        ("Deleting cannot be undone, so the user is asked first.", format!("I need your approval to delete *{title}*."))
    } else {
        ("I have the title.", format!("I delete *{title}*."))
    };
    call(thinks, &says, tool, with_text(tool, title))
}

/// Thinks and says.
pub(crate) fn say(thinks: &str, says: impl Into<String>) -> Vec<Action> {
    vec![Action::Think(thinks.to_owned()), Action::Say(says.into())]
}

/// Thinks, says and calls a tool.
pub(crate) fn call(thinks: &str, says: &str, tool: &ToolSpec, input: Value) -> Vec<Action> {
    let mut actions = say(thinks, says);
    actions.push(Action::Call { tool: tool.name.clone(), input });
    actions
}

/// Arguments with this text in the first required property that takes text, or else in the first one.
pub(crate) fn with_text(tool: &ToolSpec, text: &str) -> Value {
    let properties = &tool.input_schema["properties"];
    let takes_text = |key: &&str| properties[*key]["type"].as_str().is_none_or(|kind| kind == "string");
    let required = tool.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let all = properties.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let key = required.chain(all).find(takes_text).unwrap_or("query");
    json!({ key: text })
}

impl<'a> Turn<'a> {
    fn of(messages: &'a [Arc<Message>], tools: &'a [ToolSpec]) -> Self {
        let user = messages.iter().rposition(|message| matches!(**message, Message::User(_)));
        let asked = user.map_or(String::new(), |at| text(&messages[at]));
        let since = &messages[user.map_or(0, |at| at + 1)..];
        let of_tools = |message: &'a Arc<Message>| match &**message {
            Message::Tool(results) => results.as_slice(),
            _ => &[],
        };
        let results = since.iter().flat_map(of_tools).collect();
        Self { asked, tools, results, news: since.last().map_or(&[], of_tools) }
    }

    /// The first tool with this in its name.
    pub(crate) fn tool(&self, part: &str) -> Option<&'a ToolSpec> {
        self.tools.iter().find(|tool| tool.name.contains(part))
    }
}

/// What was said before an answer was cut off, and of the answer what had been said, if this request asks to go on with it.
fn cut_off(messages: &[Arc<Message>]) -> Option<(&[Arc<Message>], String)> {
    let (last, before) = messages.split_last()?;
    let asks = matches!(**last, Message::User(_)) && text(last).contains("Go on from where it stopped");
    if !asks {
        return None;
    }
    let end = before.iter().rposition(|message| !matches!(**message, Message::Assistant(_)))? + 1;
    Some((&before[..end], before[end..].iter().map(|message| text(message)).collect()))
}

/// The rest of a plan of which the beginning was said. A plan that begins otherwise is followed from its start.
fn go_on(actions: Vec<Action>, said: &str) -> Vec<Action> {
    let rest = |action: Action| match action {
        Action::Say(text) => match text.strip_prefix(said) {
            Some("") => Action::Say("There is nothing more to say.".to_owned()),
            Some(rest) => Action::Say(rest.to_owned()),
            None => Action::Say(text),
        },
        Action::Think(_) => {
            Action::Think("My answer was cut off; it goes on in the same message, where it stopped.".to_owned())
        }
        call @ Action::Call { .. } => call,
    };
    actions.into_iter().map(rest).collect()
}

fn text(message: &Message) -> String {
    match message {
        Message::System(text) => text.clone(),
        Message::User(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                UserPart::Text { text } if text.starts_with(NOTE) => None,
                UserPart::Text { text } => Some(text.as_str()),
                UserPart::File { .. } => None,
            });
            texts.collect::<Vec<_>>().join(" ")
        }
        Message::Assistant(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                AssistantPart::Text { text, .. } => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        }
        Message::Tool(_) => String::new(),
    }
}
