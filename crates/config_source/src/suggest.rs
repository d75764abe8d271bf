//! Help lines that suggest a name.

/// Returns the most similar of the names, if one is similar enough.
pub fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Names are short. A long text is not a misspelt name, and comparing it would be slow.
    if wrong.len() > 100 {
        return None;
    }
    let folded = fold(wrong);
    names
        .into_iter()
        .filter(|name| *name != wrong)
        .filter_map(|name| {
            let distance = strsim::damerau_levenshtein(&folded, &fold(name));
            // One edit per three letters; names that only have the same length are not similar.
            (distance * 3 <= folded.chars().count().max(2)).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Normalizes a name, so that `max_steps`, `MaxSteps` and `maxSteps` are equal.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Returns the help line for a size with a unit (`20MB`, `512 KiB`, `1.5g`) in the place of a
/// number of bytes.
pub fn byte_count_help(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '.').len();
    let (amount, unit) = text.split_at(digits);
    let amount: f64 = amount.parse().ok()?;
    let factor: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "b" | "bytes" => 1.0,
        "k" | "kb" => 1e3,
        "kib" => 1024.0,
        "m" | "mb" => 1e6,
        "mib" => 1_048_576.0,
        "g" | "gb" => 1e9,
        "gib" => 1_073_741_824.0,
        _ => return None,
    };
    Some(format!("write the number of bytes: `{:.0}`", amount * factor))
}

/// Returns the help line that suggests a name.
pub fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// Returns the help line for an unknown name: the most similar one, or all names if they are few.
pub fn help<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    match nearest(wrong, names.iter().copied()) {
        Some(name) => Some(did_you_mean(name)),
        None => one_of(&names),
    }
}

/// Formats "one of `a`, `b` and `c`" if there are not too many names.
pub fn one_of(names: &[&str]) -> Option<String> {
    match names {
        [only] => Some(format!("the only one is `{only}`")),
        _ => list(names).map(|list| format!("one of {list}")),
    }
}

/// Formats "`a`, `b` and `c`" if there are not too many names.
pub fn list(names: &[&str]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        [first @ .., last] if names.len() <= 24 => Some(format!("{} and {last}", first.join(", "))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_converted_to_bytes() {
        let check = |text: &str, expected: Option<&str>| {
            let help = expected.map(|bytes| format!("write the number of bytes: `{bytes}`"));
            assert_eq!(byte_count_help(text), help, "{text}");
        };
        check("20MB", Some("20000000"));
        check("20 mib", Some("20971520"));
        check("1.5k", Some("1500"));
        check("2 GiB", Some("2147483648"));
        check("7 bytes", Some("7"));
        check("20 metres", None);
        check("MB", None);
        check("1.2.3MB", None);
        check("", None);
    }
}
