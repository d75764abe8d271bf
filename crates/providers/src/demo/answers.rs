//! The demo model's texts.

use contract::ToolSpec;
use serde_json::Value;
use std::fmt::Write;

pub(crate) const GREETING: &str =
    "Hello! I am the demo model: no key, no network, always the same answers. Ask me *what can you do?*";

pub(crate) const GOES_ON: &str = "… and that is where I was. The server had ended in the middle of my answer; everything that you had seen \
was still there, and this goes on in the same message.";

pub(crate) const TABLE_AND_CODE: &str = "Here is a table:

| Part | What it does | Where it lives |
|:-----|:-------------|:---------------|
| Connection | holds the credentials | `connections:` |
| Agent | model, instructions, tools | `agents:` |
| Endpoint | a routine, also a tool | `api:` |
| Page | what people see | `pages:` |

And a piece of code:

```rust
/// Adds one to every number.
fn plus_one(numbers: &[i32]) -> Vec<i32> {
    numbers.iter().map(|number| number + 1).collect()
}
```

> Text streams in word by word; only the last block is drawn again.";

/// What can be asked here.
pub(crate) fn overview(tools: &[ToolSpec]) -> String {
    let has = |name: &str| tools.iter().any(|tool| tool.name.contains(name));
    let mut said = String::from("This is a demo model; it understands a handful of requests:\n\n");
    let mut offer = |line: &str| said.push_str(&format!("- {line}\n"));
    offer("*Show me a table and some code*: how answers look.");
    if has("update-page-state") {
        offer(
            "*Fill in the form for Ada Lovelace at Analytical Engines*: I write the fields of the page, and each can be taken back.",
        );
    }
    if has("search") {
        offer("*What do you know about refunds?*: I search a small knowledge base and answer from it.");
    }
    if has("delete") {
        offer("*Delete the article about refunds*: I ask for your approval first.");
    }
    offer("*Count to 100*: a long answer, to try stop, reload and a second tab.");
    said.push_str("\nReal models are a few lines of config away.");
    said
}

/// For everything else.
pub(crate) fn not_understood(asked: &str) -> String {
    let asked: String = asked.chars().take(80).collect();
    let asked = asked.replace(['`', '\n'], " ");
    format!(
        "I am only a small demo model, and `{}` is beyond me. I answer a handful of requests, always in the same way; ask me *what can you \
         do?* to see them. With a real model in the config, this same chat answers anything.",
        asked.trim()
    )
}

/// A long text, one line for each number.
pub(crate) fn counting(to: u32) -> String {
    let mut said = String::new();
    for number in 1..=to {
        let _ = writeln!(said, "{number}{}", if number % 10 == 0 { "\n" } else { "," });
    }
    said.push_str("\nThat was all.");
    said
}

/// What a search brought.
pub(crate) fn found(value: &Value) -> String {
    let rows = first_list(value);
    let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
        return "I found nothing about that in the knowledge base.".to_owned();
    };
    let mut said = String::from("Here is what the knowledge base says:\n\n");
    for row in rows.iter().take(3) {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let _ = writeln!(said, "**{}**\n\n{}\n", text("title"), text("body"));
    }
    let titles: Vec<_> =
        rows.iter().take(3).filter_map(|row| row["title"].as_str()).map(|title| format!("*{title}*")).collect();
    let _ = write!(said, "Source: {}", titles.join(", "));
    said
}

/// What came of a deletion.
pub(crate) fn deleted(value: &Value) -> String {
    let count = first_number(value).unwrap_or(0);
    match count {
        0 => "There was no such article, so nothing was deleted.".to_owned(),
        1 => "Done: the article is deleted. (The demo's knowledge base is whole again after a restart.)".to_owned(),
        count => {
            format!("Done: {count} articles are deleted. (The demo's knowledge base is whole again after a restart.)")
        }
    }
}

/// The title of the first row that a search brought.
pub(crate) fn first_title(value: &Value) -> Option<String> {
    Some(first_list(value)?.first()?["title"].as_str()?.to_owned())
}

fn first_list(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(rows) => Some(rows),
        Value::Object(object) => object.values().find_map(first_list),
        _ => None,
    }
}

fn first_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::Object(object) => object.values().find_map(first_number),
        _ => None,
    }
}
