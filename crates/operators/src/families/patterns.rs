//! Regular expressions, of `regex-lite`: the same engine on the server and in the browser, whose
//! time is proportional to the text. The browser's own has no such bound and another syntax.

use super::text::position_of;
use crate::evaluation::Evaluation;
use crate::meter::{self, MAX_BYTES};
use crate::parameters::Kind::{Any, Key, Pattern as PatternKind, Text};
use crate::parameters::Parameters::Named;
use crate::parameters::{Parameter, optional, required};
use crate::pattern::Pattern;
use crate::registry::Run::{Calling, Plain};
use crate::registry::{Definition, operator};
use crate::{Arguments, OperatorError};
use regex_lite::Captures;
use serde_json::Value;

const ON: Parameter = required("on", Text);
const REGEX: Parameter = required("regex", PatternKind);
const FLAGS: Parameter = optional("regexFlags", Text);

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_regex", Named(&[required("pattern", PatternKind), optional("on", Any), optional("key", Key), optional("flags", Text)]),
        Calling(test), "Whether the pattern matches a text, or the text at a key of the state. Default flags: `gm`.",
        [r#"{"pattern": "^[a-z0-9_-]{3,16}$", "on": "ada_1"}"# => "true", r#"{"pattern": "^a", "key": "name", "flags": "i"}"# => "true",
         r#"{"pattern": "^\\d+$", "on": "12a"}"# => "false", r#"{"pattern": "x", "on": null}"# => "false"]),
    operator!("_string.match", Named(&[ON, REGEX, FLAGS]), Plain(find), "The first match with its groups, or all matches with the flag `g`; `null` if there is none.",
        [r#"{"on": "order 12-34", "regex": "(\\d+)-(\\d+)"}"# => r#"["12-34","12","34"]"#,
         r#"{"on": "a1b22", "regex": "\\d+", "regexFlags": "g"}"# => r#"["1","22"]"#, r#"["abc", "\\d"]"# => "null"]),
    operator!("_string.replace", Named(&[ON, REGEX, required("newSubstr", Text), FLAGS]), Plain(replace),
        "The text with the first match replaced, or with all with the flag `g`. `$1` and `$<name>` in `newSubstr` are groups, `$&` is the match, `$$` a dollar sign.",
        [r#"{"on": "a-b-c", "regex": "-", "newSubstr": "+"}"# => r#""a+b-c""#,
         r#"{"on": "Ada Lovelace", "regex": "(\\w+) (\\w+)", "newSubstr": "$2, $1"}"# => r#""Lovelace, Ada""#,
         r#"{"on": "x1y2", "regex": "\\d", "newSubstr": "[$&]", "regexFlags": "g"}"# => r#""x[1]y[2]""#,
         r#"["aa", "a*", "b", "g"]"# => r#""bb""#]),
    operator!("_string.search", Named(&[ON, REGEX, FLAGS]), Plain(search), "The position of the first match, otherwise `-1`.",
        [r#"["order 12", "\\d"]"# => "6", r#"["abc", "\\d"]"# => "-1"]),
];

fn test(evaluation: &mut Evaluation<'_>, mut arguments: Arguments) -> Result<Value, OperatorError> {
    let on = match arguments.get(2) {
        Some(key) => {
            let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            evaluation.look_up(evaluation.scope.state, &key)?
        }
        None => arguments.value(1),
    };
    let flags = if arguments.get(3).is_some() { arguments.text(3) } else { "gm".to_owned() };
    let Value::String(text) = on else { return Ok(false.into()) };
    let found = Pattern::new(&arguments.text(0), &flags)
        .and_then(|pattern| pattern.captures_at(&text, 0).map(|found| found.is_some()));
    found.map(Value::Bool).map_err(|message| evaluation.error(message))
}

fn find(mut arguments: Arguments) -> Result<Value, String> {
    let text = arguments.text(0);
    let pattern = Pattern::new(&arguments.text(1), &arguments.text(2))?;
    let mut found = Vec::new();
    pattern.for_each_match(&text, |captures| {
        let groups = if pattern.is_global { 1 } else { captures.len() };
        for group in (0..groups).map(|group| captures.get(group)) {
            meter::charge_text(group.map_or(0, |group| group.len()))?;
            found.push(group.map_or(Value::Null, |group| group.as_str().into()));
        }
        Ok(())
    })?;
    Ok(if found.is_empty() { Value::Null } else { found.into() })
}

fn replace(mut arguments: Arguments) -> Result<Value, String> {
    let (text, replacement) = (arguments.text(0), arguments.text(2));
    let pattern = Pattern::new(&arguments.text(1), &arguments.text(3))?;
    let (mut replaced, mut copied) = (String::new(), 0);
    pattern.for_each_match(&text, |captures| {
        let Some(whole) = captures.get(0) else { return Ok(()) };
        replaced.push_str(text.get(copied..whole.start()).unwrap_or_default());
        expand(&replacement, captures, &mut replaced);
        copied = whole.end();
        meter::charge(1 + meter::text_units(&replacement))?;
        if replaced.len() > MAX_BYTES { Err(format!("the text is longer than {MAX_BYTES} bytes")) } else { Ok(()) }
    })?;
    replaced.push_str(text.get(copied..).unwrap_or_default());
    meter::charge_text(replaced.len())?;
    Ok(replaced.into())
}

/// Adds a replacement with the groups of a match.
fn expand(replacement: &str, captures: &Captures<'_>, into: &mut String) {
    let mut rest = replacement;
    while let Some((before, after)) = rest.split_once('$') {
        into.push_str(before);
        let digits = after.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let number = (1..=digits).rev().find_map(|length| {
            let number: usize = after.get(..length)?.parse().ok()?;
            (number > 0 && number < captures.len()).then_some((number, length))
        });
        let name = after.strip_prefix('<').and_then(|name| name.split_once('>'));
        let group =
            |group: Option<regex_lite::Match<'_>>| group.map_or_else(String::new, |group| group.as_str().to_owned());
        rest = if let Some((number, length)) = number {
            into.push_str(&group(captures.get(number)));
            after.get(length..).unwrap_or_default()
        } else if let Some((name, after)) = name {
            into.push_str(&group(captures.name(name)));
            after
        } else if let Some(after) = after.strip_prefix('&') {
            into.push_str(&group(captures.get(0)));
            after
        } else {
            into.push('$');
            after.strip_prefix('$').unwrap_or(after)
        };
    }
    into.push_str(rest);
}

fn search(mut arguments: Arguments) -> Result<Value, String> {
    let text = arguments.text(0);
    let found = Pattern::new(&arguments.text(1), &arguments.text(2))?.captures_at(&text, 0)?;
    let start = found.and_then(|captures| captures.get(0).map(|whole| whole.start()));
    Ok(start.map_or(Value::from(-1), |start| position_of(&text, start)))
}
