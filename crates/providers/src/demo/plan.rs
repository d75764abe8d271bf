//! Plans what the model does for a request: think, speak, call tools. Pure, without I/O.

use super::intent::{self, Intent, parse_intent};
use super::turn::{
    DOCUMENTS, DemoAction, DemoTurn, is_note, message_text, newest_request, say, say_and_call, text_arguments,
};
use super::{analysis, answers, extract, follow_ups, form, graph, memory, question, results, showcase};
use contract::{Message, ModelError, ModelErrorKind, Request, ToolChoice, ToolSpec, UserPart};
use serde_json::{Value, json};
use std::sync::Arc;
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;

/// Returns the model's actions in order.
///
/// # Errors
/// If the user asks, in exactly these words, to simulate a failure. The error is one that the loop
/// does not retry, so that it is visible immediately.
pub(crate) fn plan(request: &Request) -> Result<Vec<DemoAction>, ModelError> {
    let offered: &[ToolSpec] = if request.tool_choice == ToolChoice::None { &[] } else { &request.tools };
    if let Some(title) = title(request) {
        return Ok(vec![DemoAction::Say(title)]);
    }
    if let Some(format) = &request.response_format {
        let asked = newest_request(&request.messages).map(|at| message_text(&request.messages[at])).unwrap_or_default();
        if format.name == memory::FORM {
            return Ok(vec![DemoAction::Say(memory::facts(&asked).to_string())]);
        }
        if format.name == graph::FORM {
            return Ok(vec![DemoAction::Say(graph::found(&asked).to_string())]);
        }
        if format.name == follow_ups::FORM {
            return Ok(vec![DemoAction::Say(follow_ups::suggestions(&asked).to_string())]);
        }
        return Ok(vec![DemoAction::Say(extract::object(&asked, &format.schema).to_string())]);
    }
    let actions = match interrupted_answer(&request.messages) {
        Some((before, written)) => continue_plan(respond(&DemoTurn::from_messages(before, offered))?, &written),
        None => respond(&DemoTurn::from_messages(&request.messages, offered))?,
    };
    Ok(match request.provider_options.get("demo").and_then(|own| own.get("thinking")?.as_bool()) {
        Some(true) => actions.into_iter().map(think_longer).collect(),
        Some(false) => actions.into_iter().filter(|action| !matches!(action, DemoAction::Think(_))).collect(),
        None => actions,
    })
}

/// Adds to a thought what a model that reasons step by step would think.
fn think_longer(action: DemoAction) -> DemoAction {
    match action {
        DemoAction::Think(text) => DemoAction::Think(format!(
            "{text}\n\nLet me go through it step by step. First, what is asked? Second, what do I have for it: the \
             conversation so far, and the tools that I was given. Third, is my answer complete, and does it say only \
             what I know? Then I can write it."
        )),
        action => action,
    }
}

/// Returns a title for the user's message, if the instructions ask for one.
fn title(request: &Request) -> Option<String> {
    let asked_for = request.system.as_ref()?.to_ascii_lowercase().starts_with("write a title");
    let newest = request.messages.iter().rev().find_map(|message| match &**message {
        Message::User(parts) => Some(parts.iter().find_map(|part| match part {
            UserPart::Text { text } if !is_note(text) => Some(text.as_str()),
            _ => None,
        })?),
        _ => None,
    });
    asked_for.then(|| intent::title(newest.unwrap_or_default()))
}

fn respond(turn: &DemoTurn<'_>) -> Result<Vec<DemoAction>, ModelError> {
    let wish = parse_intent(&turn.asked);
    if wish == Intent::Failure {
        return Err(ModelError::new(ModelErrorKind::Refused, "the demo model was asked to fail"));
    }
    Ok(if turn.new_results.is_empty() { answer(turn, wish) } else { results::answer(turn, &wish) })
}

fn answer(turn: &DemoTurn<'_>, wish: Intent) -> Vec<DemoAction> {
    match wish {
        Intent::Overview => say("The user wants an overview.", answers::overview(turn.tools)),
        Intent::Greeting => say("A greeting.", answers::GREETING),
        Intent::Table => say("A table and a piece of code show what answers can contain.", answers::TABLE_AND_CODE),
        Intent::Formula => say("A formula says it shortest.", showcase::FORMULA),
        Intent::Diagram => say("A diagram shows the paths at a glance.", showcase::DIAGRAM),
        Intent::Page => showcase::begin_page(turn),
        Intent::AttachedFile => showcase::read_file(turn),
        Intent::FillForm => fill_form(turn),
        Intent::Connections(topic) => graph::explore(turn, &topic)
            .unwrap_or_else(|| say("I cannot follow relations here.", answers::not_understood(&turn.asked))),
        Intent::Search(topic) => search(turn, &topic),
        Intent::Delete(topic) => delete(turn, &topic),
        Intent::Unknown if turn.may_ask_documents() => search_with(turn, DOCUMENTS, &turn.asked),
        Intent::Question { form } => ask_back(turn, form),
        Intent::Start { tool, text } => start(turn, &tool, &text),
        Intent::Analyse(file) => analysis::begin(turn, &file),
        Intent::Count(to) => {
            say("Counting takes a while, which is good for trying stop and reload.", answers::counting(to))
        }
        Intent::LongAnswer => say("The user wants a long answer.", answers::long()),
        Intent::Failure | Intent::Unknown => {
            say("I do not know this request, so I say what I can do.", answers::not_understood(&turn.asked))
        }
    }
}

fn fill_form(turn: &DemoTurn<'_>) -> Vec<DemoAction> {
    let Some(tool) = turn.tools.iter().find(|tool| tool.name == UPDATE_PAGE_STATE) else {
        return say("I was not given a form.", "I see no form on this page that I can fill in.");
    };
    match form::updates(&turn.asked, &tool.input_schema) {
        Some(updates) if updates.is_empty() => {
            say("No field matches.", "This page's form has no field that I know how to fill in.")
        }
        Some(updates) => say_and_call(
            "The page shares its form with me. I take the name and the company from the sentence and choose the rest.",
            "I am filling in the form.",
            tool,
            json!({ "updates": updates }),
        ),
        None => say(
            "A name is missing.",
            "For whom? Say, for example: *fill in the form for Ada Lovelace at Analytical Engines*.",
        ),
    }
}

fn ask_back(turn: &DemoTurn<'_>, form: bool) -> Vec<DemoAction> {
    match turn.tools.iter().find(|tool| tool.name == ASK_USER) {
        Some(tool) => {
            say_and_call("The user wants to be asked.", "I have a question for you.", tool, question::input(form))
        }
        None => {
            say("I was not given a tool for that.", "I have no way to ask you a question with options or a form here.")
        }
    }
}

fn start(turn: &DemoTurn<'_>, name: &str, text: &str) -> Vec<DemoAction> {
    let Some(tool) = turn.tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(name)) else {
        return say("I was not given a tool for that.", "I have nothing with this name that I can start here.");
    };
    let has_fields = tool.input_schema["properties"].as_object().is_some_and(|fields| !fields.is_empty());
    let input = match list_argument(tool) {
        Some(key) => json!({ key: text.split_whitespace().collect::<Vec<_>>() }),
        None if has_fields => text_arguments(tool, text),
        None => json!({}),
    };
    say_and_call("The user names one of my tools.", "I am starting it.", tool, input)
}

fn search(turn: &DemoTurn<'_>, topic: &str) -> Vec<DemoAction> {
    search_with(turn, "search", topic)
}

/// Searches with a tool, given by a part of its name.
fn search_with(turn: &DemoTurn<'_>, tool: &str, topic: &str) -> Vec<DemoAction> {
    let Some(tool) = turn.tool(tool) else {
        return say("I have nothing to search in.", "I have no knowledge base that I can search here.");
    };
    let thinks = format!("I have a knowledge base. I search it for “{topic}” and answer only from what it says.");
    say_and_call(&thinks, "Let me look that up.", tool, text_arguments(tool, topic))
}

/// Deletes an article. Its exact title is required, so it is searched first if possible.
fn delete(turn: &DemoTurn<'_>, topic: &str) -> Vec<DemoAction> {
    match (turn.tool("delete"), turn.tool("search")) {
        (None, _) => say("I was not given a tool for that.", "I have no tool to delete anything here."),
        (Some(delete), None) => results::delete_article(delete, topic),
        (Some(_), Some(search)) => {
            let thinks = format!("To delete an article I need its exact title, so I look for “{topic}” first.");
            say_and_call(&thinks, "Let me find that article.", search, text_arguments(search, topic))
        }
    }
}

/// Returns the required property that takes several texts, if a tool requires nothing else.
fn list_argument(tool: &ToolSpec) -> Option<&str> {
    let [Value::String(key)] = tool.input_schema["required"].as_array()?.as_slice() else { return None };
    let property = &tool.input_schema["properties"][key];
    (property["type"] == "array" && property["items"]["type"] == "string").then_some(key)
}

/// If the request asks to continue an interrupted answer: returns the messages before that answer,
/// and its text so far.
fn interrupted_answer(messages: &[Arc<Message>]) -> Option<(&[Arc<Message>], String)> {
    let (last, before) = messages.split_last()?;
    let asks = matches!(**last, Message::User(_)) && message_text(last).contains("Go on from where it stopped");
    if !asks {
        return None;
    }
    let end = before.iter().rposition(|message| !matches!(**message, Message::Assistant(_)))? + 1;
    Some((&before[..end], before[end..].iter().map(|message| message_text(message)).collect()))
}

/// Returns the rest of a plan after the text so far. A text that does not begin like it is written
/// in full.
fn continue_plan(actions: Vec<DemoAction>, written: &str) -> Vec<DemoAction> {
    let rest = |action: DemoAction| match action {
        DemoAction::Say(text) => match text.strip_prefix(written) {
            Some("") => DemoAction::Say("There is nothing more to say.".to_owned()),
            Some(rest) => DemoAction::Say(rest.to_owned()),
            None => DemoAction::Say(text),
        },
        DemoAction::Think(_) => {
            DemoAction::Think("My answer was cut off. I continue in the same message, where it stopped.".to_owned())
        }
        call @ DemoAction::Call { .. } => call,
    };
    actions.into_iter().map(rest).collect()
}
