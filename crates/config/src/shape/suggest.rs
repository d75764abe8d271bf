//! The name that was probably meant.

/// The nearest of the names, if one is near enough.
pub(crate) fn nearest<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    // Names are short; a long text is no misspelt name, and comparing it would be slow.
    if wrong.len() > 100 {
        return None;
    }
    let folded = fold(wrong);
    names
        .into_iter()
        .filter(|name| *name != wrong)
        .filter_map(|name| {
            let distance = strsim::damerau_levenshtein(&folded, &fold(name));
            // One slip in three letters; two names that only share their length are not near.
            (distance * 3 <= folded.chars().count().max(2)).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// `max_steps`, `MaxSteps` and `maxSteps` are the same slip of the pen: distance 0.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The help line for a size with a unit, where a number of bytes is expected: `20MB`, `512 KiB`, `1.5g`.
pub(crate) fn bytes(text: &str) -> Option<String> {
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

/// The help line for it.
pub(crate) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

/// The help line for a name out of a list: the nearest, or all of a short list.
pub(crate) fn help<'n>(wrong: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    match nearest(wrong, names.iter().copied()) {
        Some(name) => Some(did_you_mean(name)),
        None => one_of(&names),
    }
}

/// "one of `a`, `b` and `c`", for a list that can be read at a glance.
pub(crate) fn one_of(names: &[&str]) -> Option<String> {
    match names {
        [only] => Some(format!("the only one is `{only}`")),
        _ => list(names).map(|list| format!("one of {list}")),
    }
}

/// "`a`, `b` and `c`", for a list that can be read at a glance.
pub(crate) fn list(names: &[&str]) -> Option<String> {
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
    fn sizes() {
        let check = |text: &str, expected: Option<&str>| {
            let help = expected.map(|bytes| format!("write the number of bytes: `{bytes}`"));
            assert_eq!(bytes(text), help, "{text}");
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
