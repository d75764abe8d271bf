//! A request → what the model does: think, say, call. Pure.

use super::{answers, form};
use contract::{
    AssistantPart, Message, ModelError, ModelErrorKind, Request, ToolOutput, ToolResult, ToolSpec, UserPart,
};
use serde_json::{Value, json};

/// What one reply holds, in this order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) thinks: String,
    pub(crate) says: String,
    pub(crate) calls: Option<(String, Value)>,
}

impl Plan {
    fn say(thinks: &str, says: impl Into<String>) -> Self {
        Self { thinks: thinks.to_owned(), says: says.into(), calls: None }
    }

    fn call(thinks: &str, says: &str, tool: &ToolSpec, input: Value) -> Self {
        Self { thinks: thinks.to_owned(), says: says.to_owned(), calls: Some((tool.name.clone(), input)) }
    }
}

/// What the model does with this request.
///
/// # Errors
/// When it is asked, in exactly these words, to simulate a failure.
pub(crate) fn plan(request: &Request) -> Result<Plan, ModelError> {
    let asked = last_words(request);
    let words = asked.to_lowercase();
    if words.trim() == "simulate a failure" {
        return Err(ModelError::new(ModelErrorKind::Refused, "the demo model was asked to fail"));
    }
    if let Some(results) = last_results(request) {
        let found = results.iter().find(|result| result.name.contains("search"));
        return Ok(match found {
            Some(found) if words.contains("delete") => delete_found(request, &found.output),
            _ => after_tools(results),
        });
    }
    Ok(answer(request, &asked, &words))
}

fn answer(request: &Request, asked: &str, words: &str) -> Plan {
    let has = |needle: &str| words.contains(needle);
    if has("go on from where it stopped") {
        return Plan::say("My answer was cut off, so I go on.", answers::GOES_ON);
    }
    if has("what can you do") || words.trim() == "help" {
        return Plan::say("The visitor wants an overview.", answers::overview(&request.tools));
    }
    if has("fill") && (has("form") || has(" for ")) {
        return fill_form(request, asked);
    }
    if has("delete") {
        return delete(request, asked);
    }
    if let Some(count) = count_to(words) {
        return Plan::say(
            "Counting takes a while, so this is good for trying stop and reload.",
            answers::counting(count),
        );
    }
    if has("long answer") {
        return Plan::say("A long answer, then.", answers::counting(200));
    }
    if has("table") || has("code") {
        return Plan::say("A table and a piece of code show what Markdown can do here.", answers::TABLE_AND_CODE);
    }
    if has("know about") || has("search") || has("look up") {
        return search(request, asked);
    }
    if matches!(
        words.trim().trim_end_matches(['!', '.', '?']),
        "hello" | "hi" | "good morning" | "good evening" | "hey"
    ) {
        return Plan::say("A greeting.", answers::GREETING);
    }
    Plan::say("This is nothing that I was taught, so I say what I can do.", answers::not_understood(asked))
}

fn fill_form(request: &Request, asked: &str) -> Plan {
    let Some(tool) = request.tools.iter().find(|tool| tool.name == "update-page-state") else {
        return Plan::say("There is no form.", "I see no form on this page that I may fill in.");
    };
    match form::updates(asked, tool) {
        updates if updates.is_empty() => Plan::say(
            "A name is missing.",
            "For whom? Say, for example: *fill in the form for Ada Lovelace at Analytical Engines*.",
        ),
        updates => {
            let thinks = "The page shares its form with me. I take the name and the company from the sentence and choose the rest.";
            Plan::call(thinks, "I fill in the form.", tool, json!({ "updates": updates }))
        }
    }
}

fn search(request: &Request, asked: &str) -> Plan {
    let Some(tool) = tool_named(request, "search") else {
        return Plan::say("There is nothing to search in.", "I have no knowledge base to look into here.");
    };
    let topic = topic(asked, &["know about", "search for", "look up", "search"]);
    let thinks = format!("I have a knowledge base. I search it for “{topic}” and answer only from what it says.");
    Plan::call(&thinks, "Let me look that up.", tool, with_first_text(tool, &topic))
}

/// An article is deleted by its exact title, so it is looked up first.
fn delete(request: &Request, asked: &str) -> Plan {
    let (Some(search), Some(_)) = (tool_named(request, "search"), tool_named(request, "delete")) else {
        return Plan::say("I cannot delete anything.", "I have no tool to delete anything here.");
    };
    let topic = topic(asked, &["the article about", "article about", "the article on", "delete"]);
    let thinks = format!("To delete an article I need its exact title, so I look for “{topic}” first.");
    Plan::call(&thinks, "Let me find that article.", search, with_first_text(search, &topic))
}

fn delete_found(request: &Request, found: &ToolOutput) -> Plan {
    let title = match found {
        ToolOutput::Json(value) => answers::first_title(value),
        _ => None,
    };
    let (Some(title), Some(tool)) = (title, tool_named(request, "delete")) else {
        return Plan::say("Nothing was found.", "I found no such article, so there is nothing to delete.");
    };
    let thinks = "I have the title. Deleting cannot be undone, so the server will ask for approval.";
    Plan::call(thinks, "I need your approval to delete it.", tool, with_first_text(tool, &title))
}

fn tool_named<'a>(request: &'a Request, part: &str) -> Option<&'a ToolSpec> {
    request.tools.iter().find(|tool| tool.name.contains(part))
}

/// The text behind the last of these words that occurs.
fn topic(asked: &str, leads: &[&str]) -> String {
    let lower = asked.to_lowercase();
    let behind = leads.iter().find_map(|lead| Some(lower.find(lead)? + lead.len()));
    let text = behind.and_then(|at| asked.get(at..)).unwrap_or(asked);
    text.trim().trim_end_matches(['?', '.', '!']).trim_matches(['"', '“', '”', '*']).to_owned()
}

/// Arguments with this text in the first required text property of the tool's schema.
fn with_first_text(tool: &ToolSpec, text: &str) -> Value {
    let required = tool.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let properties = tool.input_schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let key = required.chain(properties).next().unwrap_or("query");
    json!({ key: text })
}

fn count_to(words: &str) -> Option<u32> {
    let number: String = words.split("count to ").nth(1)?.chars().take_while(char::is_ascii_digit).collect();
    number.parse().ok().map(|count: u32| count.clamp(1, 2_000))
}

/// The user's newest words.
fn last_words(request: &Request) -> String {
    let users = request.messages.iter().rev().filter_map(|message| match &**message {
        Message::User(parts) => Some(parts),
        _ => None,
    });
    let texts = users.take(1).flatten().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        UserPart::File { .. } => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// The results that this request brings, if it brings any.
fn last_results(request: &Request) -> Option<&[ToolResult]> {
    match request.messages.last().map(|last| &**last) {
        Some(Message::Tool(results)) => Some(results),
        _ => None,
    }
}

fn after_tools(results: &[ToolResult]) -> Plan {
    let thinks = "I have the tool's result and answer from it.";
    let said: Vec<_> = results.iter().map(after_tool).collect();
    Plan::say(thinks, said.join("\n\n"))
}

fn after_tool(result: &ToolResult) -> String {
    match &result.output {
        ToolOutput::Denied(Some(reason)) => format!("Nothing was deleted or changed. You said no: “{reason}”"),
        ToolOutput::Denied(None) => "Nothing was deleted or changed, since you said no.".to_owned(),
        ToolOutput::ErrorText(error) => format!("That did not work. The tool says: {error}"),
        ToolOutput::Json(value) if result.name == "update-page-state" => form::report(value),
        ToolOutput::Json(value) if result.name.contains("delete") => answers::deleted(value),
        ToolOutput::Json(value) => answers::found(value),
        ToolOutput::Text(text) => text.clone(),
    }
}

/// What the assistant has said so far in a history; only its length counts, for the usage.
pub(crate) fn spoken(request: &Request) -> usize {
    let parts = request.messages.iter().map(|message| match &**message {
        Message::System(text) => text.len(),
        Message::User(parts) => {
            parts.iter().map(|part| if let UserPart::Text { text } = part { text.len() } else { 0 }).sum()
        }
        Message::Assistant(parts) => {
            parts.iter().map(|part| if let AssistantPart::Text { text, .. } = part { text.len() } else { 20 }).sum()
        }
        Message::Tool(results) => results.iter().map(|result| result.output.to_text().len()).sum(),
    });
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn tools() -> Vec<ToolSpec> {
        let text =
            |key: &str| json!({ "type": "object", "properties": { key: { "type": "string" } }, "required": [key] });
        let field = |hint: Value| hint;
        let updates = json!({ "legal_name": field(json!({})), "company": {}, "email": {}, "priority": { "examples": ["low", "high"] }, "date": { "description": "date as YYYY-MM-DD" } });
        let page = json!({ "type": "object", "properties": { "updates": { "type": "object", "properties": updates } }, "required": ["updates"] });
        vec![
            ToolSpec::new("search_knowledge_base", "", text("query")),
            ToolSpec::new("delete_article", "", text("title")),
            ToolSpec::new("update-page-state", "", page),
        ]
    }

    fn check(words: &str, expected: &str) {
        let user = Message::User(vec![UserPart::Text { text: words.to_owned() }]);
        let request = Request { messages: vec![Arc::new(user)], tools: tools(), ..Request::default() };
        let plan = plan(&request).unwrap();
        let seen = plan.calls.map_or_else(
            || plan.says.lines().next().unwrap_or_default().to_owned(),
            |(name, input)| format!("{name} {input}"),
        );
        assert!(seen.starts_with(expected), "{words}: {seen}");
    }

    #[test]
    fn plain_words() {
        check("What do you know about refunds?", r#"search_knowledge_base {"query":"refunds"}"#);
        check("Delete the article about refunds", r#"search_knowledge_base {"query":"refunds"}"#);
        check(
            "Fill in the form for Ada Lovelace at Analytical Engines",
            r#"update-page-state {"updates":{"legal_name":"Ada Lovelace","company":"Analytical Engines","email":"ada.lovelace@analytical-engines.example","priority":"high","date":"#,
        );
        check("What can you do?", "This is a demo");
        check("count to 3", "1");
        check("Show me a table and some code", "Here is");
        check("hello!", "Hello");
        check("Sing me a song", "I am only");
    }

    #[test]
    fn without_tools_it_says_so() {
        let user = Message::User(vec![UserPart::Text { text: "Delete the article about refunds".to_owned() }]);
        let request = Request { messages: vec![Arc::new(user)], ..Request::default() };
        assert_eq!(plan(&request).unwrap().says, "I have no tool to delete anything here.");
    }
}
