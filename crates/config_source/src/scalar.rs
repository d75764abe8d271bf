//! Converts YAML scalars to values, by the core schema of YAML 1.2: `yes`, `no`, `on` and `off` are
//! text.

use crate::NodeKind;
use serde_json::Number;

/// Converts an unquoted scalar.
pub(crate) fn plain(text: &str) -> Result<NodeKind, &'static str> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeKind::Null,
        "true" | "True" | "TRUE" => NodeKind::Bool(true),
        "false" | "False" | "FALSE" => NodeKind::Bool(false),
        _ => match number(text)? {
            Some(number) => NodeKind::Number(number),
            None => NodeKind::Text(text.to_owned()),
        },
    })
}

/// Whether an unquoted scalar is text, not a number, `true` or the like.
pub(crate) fn is_plain_text(text: &str) -> bool {
    matches!(plain(text), Ok(NodeKind::Text(_)))
}

/// Converts a scalar with one of YAML's own tags (`!!str`, `!!int`, …).
pub(crate) fn tagged(text: &str, suffix: &str) -> Result<NodeKind, &'static str> {
    match suffix {
        "str" => Ok(NodeKind::Text(text.to_owned())),
        "int" | "float" => number(text)?.map(NodeKind::Number).ok_or("this is not a number"),
        "bool" | "null" => match plain(text)? {
            kind @ (NodeKind::Bool(_) | NodeKind::Null) => Ok(kind),
            _ => Err("this value does not fit its tag"),
        },
        _ => Err("this tag is not supported"),
    }
}

fn number(text: &str) -> Result<Option<Number>, &'static str> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err("JSON has no such number; quote it if it is meant as text");
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Ok(None);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return Ok(u64::from_str_radix(digits, radix).ok().map(Number::from));
        }
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = text.strip_prefix('+').unwrap_or(text);
        if let Ok(number) = digits.parse::<i64>() {
            return Ok(Some(number.into()));
        }
        if let Ok(number) = digits.parse::<u64>() {
            return Ok(Some(number.into()));
        }
    }
    let float = unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    match text.parse::<f64>() {
        Ok(value) if float => Number::from_f64(value).map(Some).ok_or("this number is too large"),
        _ => Ok(None),
    }
}
