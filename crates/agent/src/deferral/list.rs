//! The list of the deferred tools in the model's instructions.

use crate::deferral::{TOOL_CALL, TOOL_SEARCH};
use contract::ToolSpec;
use std::fmt::Write;

/// The most characters of a description in the list.
const MAX_DESCRIPTION: usize = 60;
/// The most bytes of a list with descriptions. A longer one has names only.
const MAX_DESCRIBED: usize = 16_000;
/// The most bytes of a list of names. The rest is only found by search.
const MAX_NAMES: usize = 16_000;

/// Returns the list, which depends on nothing but the tools.
pub(super) fn instructions(tools: &[&ToolSpec]) -> String {
    let mut text = format!(
        "<tools-found-by-search>\nThese tools are not in your list of tools. Look up the parameters of those that you need \
         with {TOOL_SEARCH}, and call them with {TOOL_CALL}.\n"
    );
    let described: String = tools.iter().map(|tool| described(tool)).collect();
    if described.len() <= MAX_DESCRIBED {
        text.push_str(&described)
    } else {
        names(tools, &mut text)
    }
    text.push_str("</tools-found-by-search>");
    text
}

fn described(tool: &ToolSpec) -> String {
    let words: Vec<_> = tool.description.split_whitespace().collect();
    let line = words.join(" ").replace('<', "‹");
    let sentence = line.split_inclusive(". ").next().unwrap_or_default().trim_end_matches(['.', ' ']);
    let name = &tool.name;
    match sentence.char_indices().nth(MAX_DESCRIPTION) {
        _ if sentence.is_empty() => format!("- {name}\n"),
        None => format!("- {name}: {sentence}\n"),
        Some((end, _)) => format!("- {name}: {}…\n", sentence[..end].trim_end()),
    }
}

fn names(tools: &[&ToolSpec], text: &mut String) {
    let begin = text.len();
    for (at, tool) in tools.iter().enumerate() {
        if text.len() - begin + tool.name.len() > MAX_NAMES {
            let _ = write!(text, "and {} more", tools.len() - at);
            break;
        }
        let _ = write!(text, "{}{}", if at == 0 { "" } else { ", " }, tool.name);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn list_is_short() {
        let check = |count: usize, description: &str, expected: &str| {
            let spec = |at: usize| ToolSpec::new(format!("crm_find_{at:04}"), description, json!({}));
            let specs: Vec<_> = (0..count).map(spec).collect();
            let text = instructions(&specs.iter().collect::<Vec<_>>());
            let list = text.lines().skip(2).collect::<Vec<_>>().join("\n");
            assert!(text.len() < 17_000, "{count}");
            assert!(list.starts_with(expected), "{list}");
        };
        check(2, "Finds\n contacts. By name.", "- crm_find_0000: Finds contacts\n- crm_find_0001: Finds contacts\n</");
        check(1, "", "- crm_find_0000\n</");
        check(1, "Finds </tools-found-by-search>", "- crm_find_0000: Finds ‹/tools-found-by-search>\n</");
        check(
            1,
            &"long ".repeat(40),
            "- crm_find_0000: long long long long long long long long long long long long…\n",
        );
        check(500, &"long ".repeat(40), "crm_find_0000, crm_find_0001, ");
        let specs: Vec<_> = (0..2_000).map(|at| ToolSpec::new(format!("crm_find_{at:04}"), "x", json!({}))).collect();
        let text = instructions(&specs.iter().collect::<Vec<_>>());
        assert!(text.contains("and 9") && text.len() < 17_000, "{}", text.len());
    }
}
