//! The demo model's texts.

use super::graph;
use contract::ToolSpec;
use std::fmt::Write;
use wire::page::UPDATE_PAGE_STATE;
use wire::question::ASK_USER;

pub(crate) const GREETING: &str =
    "Hello! I am the demo model: no key, no network, always the same answers. Ask me *what can you do?*";

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

> Text streams in word by word; only the last block is rendered again.";

/// The sections of a long answer: title and text.
const SECTIONS: [(&str, &str); 8] = [
    (
        "The run",
        "Each answer is a task on the server. It belongs to the conversation, not to the browser tab that asked for it.",
    ),
    (
        "The journal",
        "Everything that is written goes into a journal immediately. A reader that joins late reads the journal first.",
    ),
    (
        "Reload",
        "Reload the page now: the answer is still being written, and it continues here, without repeating anything.",
    ),
    ("Two tabs", "Open this conversation in a second tab: both follow the same answer at the same pace."),
    ("Stop", "Stop is a command, not a lost connection. Everything written so far stays in the conversation."),
    (
        "A crash",
        "Kill the server now: after a restart, everything you have read is still there, and one click continues the answer.",
    ),
    ("Tools", "A tool that has run does not run again, and one that waits for your approval keeps waiting."),
    (
        "The end",
        "An incomplete answer is never shown as a complete one. You always know which of the two you are reading.",
    ),
];

/// Lists the requests that the demo model understands here.
pub(crate) fn overview(tools: &[ToolSpec]) -> String {
    let has = |name: &str| tools.iter().any(|tool| tool.name.contains(name));
    let lines = [
        (true, "*Show me a table and some code*: how answers look."),
        (
            has(UPDATE_PAGE_STATE),
            "*Fill in the form for Ada Lovelace at Analytical Engines*: I write to the page's fields, and you can undo each change.",
        ),
        (
            tools.iter().any(|tool| tool.name.contains("search") && tool.name != "document_search"),
            "*What do you know about refunds?*: I search the knowledge base and answer from it.",
        ),
        (
            has("document_search"),
            "*Who is on call at night?*: I search the documents, and each number in my answer opens the passage that it rests on.",
        ),
        (
            has(graph::EXPLORE),
            "*What is connected with the people team?*: I follow relations between the people and things of the documents.",
        ),
        (has(ASK_USER), "*Ask me something* or *ask me with a form*: I wait for your answer."),
        (has("delete"), "*Delete the article about refunds*: I ask for your approval first."),
        (true, "*Draw a diagram*: it is drawn from its text."),
        (has("write_file"), "*Make a refund calculator*: I write a page, which opens beside the chat."),
        (true, "*Write a long answer* or *count to 100*: enough time to try stop, reload and a second tab."),
        (true, "*Simulate a failure*: what you see when a model fails."),
    ];
    let offered = lines.iter().filter(|(is_offered, _)| *is_offered);
    let list: String = offered.map(|(_, line)| format!("- {line}\n")).collect();
    format!(
        "This is a demo model; it understands a handful of requests:\n\n{list}\nA real model is a few lines of config away."
    )
}

/// Answers a request that is not understood.
pub(crate) fn not_understood(asked: &str) -> String {
    let short: String = asked.chars().filter(|c| !matches!(c, '`' | '\n' | '\r')).take(80).collect();
    let asked = if short.trim().is_empty() { "that".to_owned() } else { format!("`{}`", short.trim()) };
    format!(
        "I am only a small demo model, and {asked} is beyond me. I answer a handful of requests, always in the same way; \
         ask me *what can you do?* to see them. With a real model in the config, this same chat answers anything."
    )
}

/// Answers a search without results.
pub(crate) fn nothing_found(topic: &str) -> String {
    format!("I found nothing about “{topic}” in the knowledge base, and I do not make things up. Try another word.")
}

/// Counts up to a number, ten numbers per paragraph.
pub(crate) fn counting(to: u32) -> String {
    let mut answer = String::new();
    for number in 1..=to {
        let behind = match number {
            number if number == to => "\n\n",
            number if number % 10 == 0 => ",\n\n",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(answer, "{number}{behind}");
    }
    answer + "That was all."
}

/// Returns a text that takes a while to stream.
pub(crate) fn long() -> String {
    let mut answer = String::from("# How an answer reaches you\n");
    for round in 1..=3 {
        for (at, (title, text)) in SECTIONS.iter().enumerate() {
            let number = (round - 1) * SECTIONS.len() + at + 1;
            let _ = write!(answer, "\n## {number}. {title}\n\n{text} ");
            answer
                .push_str("This sentence only takes time, word after word, so that there is something to interrupt.\n");
        }
    }
    answer.push_str("\nThat was all.");
    answer
}
