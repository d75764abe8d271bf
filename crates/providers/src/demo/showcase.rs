//! Answers that show parts of the product: a formula, a diagram, a page in the conversation's files, and the
//! beginning of an attached file.

use super::turn::{DemoAction, DemoTurn, say, say_and_call};
use contract::{ToolOutput, ToolResult};
use serde_json::json;

const WRITE: &str = "write_file";
const PRESENT: &str = "present_files";
const PAGE: &str = "/outputs/refund-calculator.html";
/// The lines of an attached file that are repeated.
const SHOWN_LINES: usize = 5;

pub(crate) const FORMULA: &str = r"With $\lambda$ requests per hour and a team that answers $\mu$ per hour, a request waits on average

$$W = \frac{\lambda}{\mu (\mu - \lambda)}$$

With 8 requests per hour and 10 answers per hour, that is $\frac{8}{10 \cdot 2} = 0.4$ hours, or 24 minutes. With 9 requests
per hour it is already 54 minutes.";

pub(crate) const DIAGRAM: &str = "This is the way of a request at night:

```mermaid
flowchart TD
    A[A request arrives] --> B{Is it urgent?}
    B -- yes --> C[The person on call answers within one hour]
    B -- no --> D[It waits for the next working day]
    C --> E{Is it solved?}
    E -- yes --> F[The customer is told]
    E -- no --> G[The team leader decides]
```

I wrote the text, and the page draws it.";

/// A page without anything from elsewhere, as artifacts must be.
const PAGE_SOURCE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Refund calculator</title>
<style>
  body { margin: 2rem; font-family: sans-serif; color: #222; background: #fff }
  label { display: block; margin-top: 1rem }
  input { width: 100%; max-width: 20rem; font: inherit }
  output { display: block; margin-top: 1.5rem; font-size: 1.5rem }
</style>
<h1>Refund calculator</h1>
<label>Price <input id="price" type="number" min="0" value="120"></label>
<label>Days since the purchase <input id="days" type="range" min="0" max="60" value="10"></label>
<output id="refund" for="price days"></output>
<script>
  const field = (id) => document.getElementById(id);
  const show = () => {
    const days = Number(field("days").value);
    const share = days <= 30 ? 1 : 0;
    field("refund").textContent = `After ${days} days: ${(Number(field("price").value) * share).toFixed(2)}`;
  };
  addEventListener("input", show);
  show();
</script>
</html>
"#;

/// Writes the page.
pub(crate) fn begin_page(turn: &DemoTurn<'_>) -> Vec<DemoAction> {
    let Some(tool) = turn.tool(WRITE) else {
        return say("I was not given files.", "I have no files here that I could write a page to.");
    };
    say_and_call(
        "A page of its own can compute. I write it to the conversation's files.",
        "I am writing the page.",
        tool,
        json!({ "path": PAGE, "content": PAGE_SOURCE }),
    )
}

/// Presents the page that was written, and then says so. Returns `None` if it was not written.
pub(crate) fn go_on(turn: &DemoTurn<'_>) -> Option<Vec<DemoAction>> {
    let is_done = |result: &ToolResult| !matches!(result.output, ToolOutput::ErrorText(_) | ToolOutput::Denied(_));
    let new = |name: &str| turn.new_results.iter().any(|result| result.name == name && is_done(result));
    if new(PRESENT) {
        return Some(say(
            "The page is shown.",
            "Here it is. A click opens it beside the chat; it runs in a frame that reaches nothing else.",
        ));
    }
    let tool = turn.tool(PRESENT).filter(|_| new(WRITE))?;
    Some(say_and_call("The page is written.", "Let me show it.", tool, json!({ "paths": [PAGE] })))
}

/// Says how an attached file begins.
pub(crate) fn read_file(turn: &DemoTurn<'_>) -> Vec<DemoAction> {
    let Some(file) = turn.file else {
        return say(
            "I see no text of a file.",
            "I see no file with a text. Attach one, for example a table as CSV, and ask again.",
        );
    };
    let (name, text) = file.split_once('\n').unwrap_or((file, ""));
    let name = name.trim_start_matches("<file name=").trim_end_matches('>').trim_matches('"');
    let text = text.trim_end().trim_end_matches("</file>").trim_end();
    let shown: Vec<_> = text.lines().take(SHOWN_LINES).map(|line| format!("    {line}")).collect();
    say(
        "The text of the file is part of the message.",
        format!("*{name}* has {} lines. It begins like this:\n\n{}", text.lines().count(), shown.join("\n")),
    )
}

#[cfg(test)]
mod tests {
    use crate::demo::plan::plan;
    use crate::demo::turn::DemoAction;
    use contract::{Message, Request, ToolOutput, ToolResult, ToolSpec, UserPart};
    use serde_json::json;
    use std::sync::Arc;

    fn last_action(messages: Vec<Message>, tools: Vec<ToolSpec>) -> String {
        let request = Request { messages: messages.into_iter().map(Arc::new).collect(), tools, ..Request::default() };
        match plan(&request).unwrap().pop() {
            Some(DemoAction::Call { tool, input }) => format!("→ {tool} {input}"),
            Some(DemoAction::Say(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    fn asked(texts: &[&str]) -> Message {
        Message::User(texts.iter().map(|text| UserPart::Text { text: (*text).to_owned() }).collect())
    }

    #[test]
    fn formulas_diagrams_and_files_are_shown() {
        let check = |texts: &[&str], expected: &str| {
            let said = last_action(vec![asked(texts)], Vec::new());
            assert!(said.contains(expected), "{said}");
        };
        check(&["Show me a formula"], "$$W = ");
        check(&["Draw a diagram"], "```mermaid\nflowchart TD");
        check(&["Make a refund calculator"], "I have no files here");
        let ask = "What is in the attached file?";
        check(&[ask], "I see no file with a text.");
        let file = "<file name=\"a.csv\">\nday,sum\n1,2\n2,3\n3,4\n4,5\n5,6\n</file>";
        check(
            &[ask, file],
            "*a.csv* has 6 lines. It begins like this:\n\n    day,sum\n    1,2\n    2,3\n    3,4\n    4,5",
        );
    }

    #[test]
    fn a_page_is_written_and_presented() {
        let tools = || vec![ToolSpec::new("write_file", "", json!({})), ToolSpec::new("present_files", "", json!({}))];
        let check = |results: &[(&str, ToolOutput)], expected: &str| {
            let mut messages = vec![asked(&["Make a refund calculator"])];
            messages.extend(results.iter().map(|(name, output)| {
                let name = (*name).to_owned();
                Message::Tool(vec![ToolResult { call_id: name.clone(), name, output: output.clone(), metadata: None }])
            }));
            let done = last_action(messages, tools());
            assert!(done.starts_with(expected), "{done}");
        };
        let written = || ("write_file", ToolOutput::Text("Written.".to_owned()));
        check(&[], "→ write_file {\"");
        check(&[written()], r#"→ present_files {"paths":["/outputs/refund-calculator.html"]}"#);
        check(&[written(), ("present_files", ToolOutput::Text("Shown.".to_owned()))], "Here it is.");
        check(&[("write_file", ToolOutput::ErrorText("full".to_owned()))], "That did not work.");
    }
}
