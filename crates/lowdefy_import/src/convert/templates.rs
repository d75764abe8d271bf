//! Templates: texts with operators in them, and those in the language of Nunjucks.

use super::operators::expression;
use crate::tree::{Tree, Value};
use std::collections::BTreeSet;

/// Words of the language that are no names.
const KEYWORDS: [&str; 17] = [
    "and", "or", "not", "in", "is", "if", "elif", "else", "endif", "for", "endfor", "set", "true", "false", "none",
    "null", "loop",
];
/// Tags whose names are found.
const TAGS: [&str; 8] = ["if", "elif", "elseif", "else", "endif", "for", "endfor", "set"];

/// Converts `[text, operator, …]` to a template, if all operators only read a value.
pub(super) fn from_pieces(pieces: &Tree) -> Option<String> {
    let mut text = String::new();
    for piece in pieces.items() {
        match (&piece.value, piece.operator()) {
            (Value::Text(literal), _)
                if !literal.contains("{{") && !literal.contains("{%") && !literal.contains("{#") =>
            {
                text.push_str(literal);
            }
            (Value::Number(number), _) => text.push_str(&number.to_string()),
            _ => text.push_str(&format!("{{{{ {} }}}}", expression(piece)?)),
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Converts the argument of `_nunjucks`, whose templates have the same form. `{ template, on }` reads
/// what `on` names, a text the keys of `scope`.
pub(super) fn from_nunjucks(argument: &Tree, scope: &str) -> Option<String> {
    let mut text = String::new();
    let template = match argument.text() {
        Some(template) => {
            for name in free_names(template)? {
                text.push_str(&format!("{{% set {name} = {scope}.{name} %}}"));
            }
            template
        }
        None => {
            for entry in argument.get("on")?.entries() {
                let name = Some(entry.key.as_str()).filter(|name| is_name(name))?;
                text.push_str(&format!("{{% set {name} = {} %}}", expression(&entry.value)?));
            }
            argument.text_of("template")?
        }
    };
    text.push_str(template);
    Some(text)
}

/// Whether an expression can read a key with a dot before it.
pub(super) fn is_name(step: &str) -> bool {
    step.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && step.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the names that a template reads and does not set itself. `None` if it has tags or calls
/// whose names are not known.
fn free_names(template: &str) -> Option<BTreeSet<String>> {
    let (mut read, mut own) = (BTreeSet::new(), BTreeSet::new());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let after = &rest[at + 1..];
        let end = match after.as_bytes().first() {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => "#}",
            _ => {
                rest = after;
                continue;
            }
        };
        let (inside, following) = after[1..].split_once(end)?;
        if end != "#}" {
            let tokens = tokens(inside.trim_matches('-'))?;
            names(&tokens, end == "%}", &mut read, &mut own)?;
        }
        rest = following;
    }
    read.retain(|name| !own.contains(name));
    Some(read)
}

/// Adds the names that an expression or a tag reads, and those that it sets.
fn names<'t>(tokens: &[&'t str], is_tag: bool, read: &mut BTreeSet<String>, own: &mut BTreeSet<String>) -> Option<()> {
    let tag: Option<&'t str> = tokens.first().copied().filter(|_| is_tag);
    if is_tag && !TAGS.contains(&tag?) {
        return None;
    }
    // The names before `in` of a loop, and before `=` of an assignment.
    let sets_until = match tag {
        Some("for") => tokens.iter().position(|token| *token == "in")?,
        Some("set") => tokens.iter().position(|token| *token == "=")?,
        _ => 0,
    };
    for (index, token) in tokens.iter().enumerate() {
        if !is_name(token) || KEYWORDS.contains(token) || is_tag && index == 0 {
            continue;
        }
        let before = index.checked_sub(1).map_or("", |before| tokens[before]);
        let after = tokens.get(index + 1).copied().unwrap_or_default();
        if index < sets_until {
            own.insert((*token).to_owned());
        } else if ["|", ".", "is"].contains(&before) || before == "not" && index > 1 && tokens[index - 2] == "is" {
            // A filter, a key or a test.
        } else if after == "(" || after == "=" {
            return None;
        } else {
            read.insert((*token).to_owned());
        }
    }
    Some(())
}

/// Splits an expression into names, numbers, texts with their quotes, and signs.
fn tokens(expression: &str) -> Option<Vec<&str>> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => 2 + rest[1..].find(first)?,
            _ if first.is_ascii_alphanumeric() || first == '_' => {
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        // `==` is no assignment.
        let length = if rest.starts_with("==") { 2 } else { length };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_template_reads_are_found() {
        let check = |template: &str, expected: Option<&[&str]>| {
            let found = free_names(template);
            let found = found.as_ref().map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), expected, "{template}");
        };
        check("Hello", Some(&[]));
        check("Dear {{ name }}, {{ order.id }} { {{name}}", Some(&["name", "order"]));
        check("{{ total | round(2) }} {{ items[first].name }}", Some(&["first", "items", "total"]));
        check(
            "{% if plan == 'gold' and not is_new %}x{% elif a is not defined %}{% endif %}",
            Some(&["a", "is_new", "plan"]),
        );
        check("{% for item in items %}{{ loop.index }}{{ item.name }}{% endfor %}", Some(&["items"]));
        check("{% set sum = a + b %}{{ sum }}{# sums up c #}{{- d -}}", Some(&["a", "b", "d"]));
        check("{{ now() }}", None);
        check("{{ x | join(sep=', ') }}", None);
        check("{% macro row(a) %}{% endmacro %}", None);
        check("{{ name", None);
    }
}
