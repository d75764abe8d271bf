//! Reacts to the results of tools.

use super::intent::Intent;
use super::turn::{DemoAction, DemoTurn, say, say_and_call, text_arguments};
use super::{analysis, answers, form, graph, question, showcase};
use contract::{ToolOutput, ToolResult, ToolSpec};
use serde_json::Value;
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;

/// Returns the next actions: another call, or the answer.
pub(crate) fn answer(turn: &DemoTurn<'_>, wish: &Intent) -> Vec<DemoAction> {
    if let Some(result) = turn.new_results.iter().find(|result| result.name == graph::EXPLORE) {
        return graph::answer(result);
    }
    if let Some(found) = turn.new_results.iter().find(|result| result.name.contains("search")) {
        match (&found.output, wish) {
            (ToolOutput::Json(value), Intent::Search(topic)) if rows(value).is_some_and(<[Value]>::is_empty) => {
                return search_again(turn, topic)
                    .unwrap_or_else(|| say("The search found nothing.", answers::nothing_found(topic)));
            }
            (ToolOutput::Json(value), Intent::Unknown) if rows(value).is_some_and(<[Value]>::is_empty) => {
                return say("The search found nothing.", answers::nothing_found(&turn.asked));
            }
            (ToolOutput::Json(value), Intent::Delete(topic)) => return delete_found(turn, topic, value),
            _ => {}
        }
    }
    if let Intent::Analyse(_) = wish
        && let Some(actions) = analysis::go_on(turn)
    {
        return actions;
    }
    if *wish == Intent::Page
        && let Some(actions) = showcase::go_on(turn)
    {
        return actions;
    }
    let said: Vec<_> = turn.new_results.iter().map(report).collect();
    say("I have the tool's result and answer from it.", said.join("\n\n"))
}

/// Searches again for the singular, which an article may use.
fn search_again(turn: &DemoTurn<'_>, topic: &str) -> Option<Vec<DemoAction>> {
    let singular = topic.strip_suffix('s').filter(|word| word.len() > 2)?;
    let tool = turn.tool("search").filter(|_| turn.results.len() == 1)?;
    let thinks = format!("Nothing about “{topic}”. I try “{singular}” next.");
    Some(say_and_call(&thinks, "Nothing under that word; let me try another.", tool, text_arguments(tool, singular)))
}

fn delete_found(turn: &DemoTurn<'_>, topic: &str, found: &Value) -> Vec<DemoAction> {
    let titles: Vec<_> = rows(found).into_iter().flatten().filter_map(title).collect();
    let topic = topic.to_lowercase();
    let named = titles.iter().find(|title| title.to_lowercase().contains(&topic));
    match (named.or(titles.first()), turn.tool("delete")) {
        (Some(title), Some(tool)) => delete_article(tool, title),
        _ => say("Nothing was found.", "I found no such article, so there is nothing to delete."),
    }
}

/// Describes a result.
fn report(result: &ToolResult) -> String {
    let deletes = result.name.contains("delete");
    let nothing = if deletes { "Nothing was deleted" } else { "Nothing was changed" };
    match &result.output {
        ToolOutput::Denied(Some(reason)) => format!("{nothing}: you said no. Your reason: “{reason}”"),
        ToolOutput::Denied(None) => format!("{nothing}: you said no."),
        ToolOutput::ErrorText(error) => format!("That did not work. The tool `{}` says: {error}", result.name),
        ToolOutput::Json(value) if result.name == UPDATE_PAGE_STATE => form::report(value),
        ToolOutput::Json(value) if result.name == ASK_USER => question::report(value),
        ToolOutput::Json(value) if deletes => deleted(value),
        ToolOutput::Json(value) if value["runId"].is_string() => {
            "I have started it. The card shows how far it is, and the result comes into this conversation.".to_owned()
        }
        ToolOutput::Json(value) => found(value),
        other => other.to_text(),
    }
}

/// Answers from the first search result and names its source.
fn found(value: &Value) -> String {
    let Some((first, more)) = rows(value).and_then(<[Value]>::split_first) else {
        return format!("The tool answered:\n\n```json\n{value:#}\n```");
    };
    if let Some(id) = citable_id(first) {
        return cited(first, id, more);
    }
    let source = title(first).unwrap_or_else(|| "without a title".to_owned());
    let mut said = format!("{}\n\nSource: the article *{source}*.", body(first));
    let related: Vec<_> = more.iter().filter_map(title).map(|title| format!("*{title}*")).collect();
    if !related.is_empty() {
        said.push_str(&format!(" Also found: {}.", related.join(", ")));
    }
    said
}

/// Returns the id of a passage of a document, which answers cite.
fn citable_id(row: &Value) -> Option<&str> {
    row["chunkId"].as_str().and(row["id"].as_str())
}

/// Answers with the beginning of a passage and cites it, and the next one of another document.
fn cited(first: &Value, id: &str, more: &[Value]) -> String {
    let passage = body(first).lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let passage: Vec<_> = passage.take(3).collect();
    let mut said = format!("{} [{id}]", passage.join("\n"));
    let other = more.iter().find(|row| row["documentId"] != first["documentId"]);
    if let Some((id, file)) = other.and_then(|row| citable_id(row).zip(row["file"].as_str())) {
        said.push_str(&format!("\n\nSee also *{file}* [{id}]."));
    }
    said
}

fn deleted(value: &Value) -> String {
    match first_number(value) {
        Some(0) => "There was no such article, so nothing was deleted.".to_owned(),
        Some(count) if count > 1 => format!("Done: {count} articles are deleted."),
        _ => "Done: the article is deleted.".to_owned(),
    }
}

/// Returns the first array of objects in a result.
fn rows(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(rows) if rows.iter().all(Value::is_object) => Some(rows),
        Value::Object(object) => object.values().find_map(rows),
        _ => None,
    }
}

fn title(row: &Value) -> Option<String> {
    ["title", "name", "subject"].iter().find_map(|key| row[key].as_str()).map(str::to_owned)
}

fn body(row: &Value) -> &str {
    let texts = row.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let known = ["body", "text", "content", "description"].iter().find_map(|key| row[key].as_str());
    known.or_else(|| texts.max_by_key(|text| text.len())).unwrap_or_default()
}

fn first_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::Object(object) => object.values().find_map(first_number),
        _ => None,
    }
}

/// Calls the tool that deletes an article.
pub(crate) fn delete_article(tool: &ToolSpec, title: &str) -> Vec<DemoAction> {
    let (thinks, says) = if tool.needs_approval {
        ("Deleting cannot be undone, so the user is asked first.", format!("I need your approval to delete *{title}*."))
    } else {
        ("I have the title.", format!("I am deleting *{title}*."))
    };
    say_and_call(thinks, &says, tool, text_arguments(tool, title))
}
