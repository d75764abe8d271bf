//! The demo model's texts.

use super::{form, question};
use contract::ToolSpec;
use std::fmt::Write;

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

> Text streams in word by word; only the last block is drawn again.";

/// What a long answer is about, a section each.
const SECTIONS: [(&str, &str); 8] = [
    (
        "The run",
        "Each answer is a task of the server. It belongs to the conversation, not to the browser tab that asked.",
    ),
    (
        "The journal",
        "What is written goes into a journal as it comes. A reader that joins late reads the journal first.",
    ),
    ("Reload", "Press reload now: the answer is still being written, and it goes on in front of you, once."),
    ("Two tabs", "Open this conversation in a second tab: both follow the same answer at the same pace."),
    ("Stop", "Stop is a command, not a lost connection. What was written until then stays in the conversation."),
    ("A crash", "End the server now: after a start, all that you had read is there, and one click goes on with it."),
    ("Tools", "A tool that had run is not run twice, and one that waits for your approval goes on waiting for it."),
    ("The end", "An answer that broke off is never shown as a whole one. You always know which of the two you read."),
];

/// What can be asked here.
pub(crate) fn overview(tools: &[ToolSpec]) -> String {
    let has = |name: &str| tools.iter().any(|tool| tool.name.contains(name));
    let lines = [
        (true, "*Show me a table and some code*: how answers look."),
        (
            has(form::TOOL),
            "*Fill in the form for Ada Lovelace at Analytical Engines*: I write the page's fields, and you can take each back.",
        ),
        (has("search"), "*What do you know about refunds?*: I search the knowledge base and answer from it."),
        (has(question::TOOL), "*Ask me something* or *ask me with a form*: I wait for your answer."),
        (has("delete"), "*Delete the article about refunds*: I ask for your approval first."),
        (true, "*Write a long answer* or *count to 100*: time to try stop, reload and a second tab."),
        (true, "*Simulate a failure*: what you see when a model is in trouble."),
    ];
    let offered = lines.iter().filter(|(is_offered, _)| *is_offered);
    let list: String = offered.map(|(_, line)| format!("- {line}\n")).collect();
    format!(
        "This is a demo model; it understands a handful of requests:\n\n{list}\nA real model is a few lines of config away."
    )
}

/// For everything else.
pub(crate) fn not_understood(asked: &str) -> String {
    let short: String = asked.chars().filter(|c| !matches!(c, '`' | '\n' | '\r')).take(80).collect();
    let asked = if short.trim().is_empty() { "that".to_owned() } else { format!("`{}`", short.trim()) };
    format!(
        "I am only a small demo model, and {asked} is beyond me. I answer a handful of requests, always in the same way; \
         ask me *what can you do?* to see them. With a real model in the config, this same chat answers anything."
    )
}

/// For a search without a hit.
pub(crate) fn nothing_found(topic: &str) -> String {
    format!("I found nothing about “{topic}” in the knowledge base, and I do not make things up. Try another word.")
}

/// The numbers up to one, ten in a paragraph.
pub(crate) fn counting(to: u32) -> String {
    let mut said = String::new();
    for number in 1..=to {
        let behind = match number {
            number if number == to => "\n\n",
            number if number % 10 == 0 => ",\n\n",
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(said, "{number}{behind}");
    }
    said + "That was all."
}

/// A text that takes a while to stream.
pub(crate) fn long() -> String {
    let mut said = String::from("# How an answer reaches you\n");
    for round in 1..=3 {
        for (at, (title, text)) in SECTIONS.iter().enumerate() {
            let number = (round - 1) * SECTIONS.len() + at + 1;
            let _ = write!(said, "\n## {number}. {title}\n\n{text} ");
            said.push_str("This sentence is only here to take its time, word after word, so that there is something to interrupt.\n");
        }
    }
    said.push_str("\nThat was all.");
    said
}
