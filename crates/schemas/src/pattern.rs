//! Regular expressions in schemas: the cost of compiling and running them, and which are rejected.
//!
//! Both costs are derived from the pattern before it is compiled, since compiling itself is what
//! must be bounded: a pattern of 20 bytes can become a program of megabytes.

use crate::cost::PatternCost;
use jsonschema::PatternOptions;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use serde_json::json;

/// The maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 4096;
/// The maximum work of compiling a pattern, in microseconds.
const MAX_WORK: u64 = 20_000;
/// The maximum size of a compiled pattern in bytes; [`MAX_WORK`] is reached before, except for odd
/// patterns.
const MAX_COMPILED: usize = 256 << 10;
/// The maximum memory of a match in bytes.
const MAX_MATCHER: usize = 1 << 20;

/// The length of what `\s` is replaced with, in bytes.
const SPACE_CLASS: u64 = 150;
/// Bytes of a pattern that are parsed in a microsecond, including that it is parsed twice.
const PARSED: u64 = 25;
/// Work to look up a Unicode class such as `\p{L}`, in microseconds.
const UNICODE_CLASS: u64 = 50;
/// Work to add the other case of all letters to a set of characters, in microseconds.
const FOLDED_SET: u64 = 5_000;
/// Work for any pattern, in microseconds.
const BASE_WORK: u64 = 30;

/// Ranges of characters beyond which a class is wide: `\p{L}` has more than 600, `\S` has 11.
const WIDE: usize = 16;
/// How many times as long a step into a wide class takes.
const WIDE_STEPS: u64 = 3;
/// The maximum number of positions of a pattern whose automaton is always small.
const MAX_SIMPLE: u64 = 8;
/// Units of work for 64 bytes of text with a pattern whose automaton is small.
const SIMPLE_WEIGHT: u64 = 4;
/// Units of work for 64 bytes of text and each state. In the worst case every state is
/// visited at every byte, which takes about 12 ns.
const STEP_WEIGHT: u64 = 16;

/// Limits of a compiled pattern, for the linear engine.
pub(crate) fn engine() -> PatternOptions<jsonschema::Regex> {
    PatternOptions::regex().size_limit(MAX_COMPILED).dfa_size_limit(MAX_MATCHER)
}

/// The cost of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Analysis {
    /// The work of compiling it, in microseconds.
    pub(crate) work: u64,
    /// The cost of a match.
    pub(crate) cost: PatternCost,
}

/// Returns the work of parsing a pattern in microseconds, from its text alone.
pub(crate) fn parsing_work(pattern: &str) -> u64 {
    let (mut perl, mut control, mut unicode, mut is_wide) = (0, 0, 0, !pattern.is_ascii());
    let mut bytes = pattern.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            continue;
        }
        let escaped = bytes.next();
        match escaped {
            Some(b'd' | b'D' | b'w' | b'W' | b's' | b'S') => perl += 1,
            Some(b'c') => control += 1,
            Some(b'p' | b'P') => unicode += 1,
            _ => {}
        }
        is_wide |= matches!(escaped, Some(b'D' | b'W' | b'S' | b'p' | b'P' | b'u' | b'U' | b'x'));
    }
    // The translation from ECMAScript's syntax replaces one of these at a time, and parses again.
    let passes = 1 + perl + control;
    let parsing = passes * (pattern.len() as u64 + perl * SPACE_CLASS) / PARSED;
    let sets = unicode + pattern.bytes().filter(|&byte| byte == b'[').count() as u64;
    let folding = if is_wide && ignores_case(pattern) { sets * FOLDED_SET } else { 0 };
    BASE_WORK + parsing + unicode * UNICODE_CLASS + folding
}

/// Returns whether a group sets the flag `i`.
fn ignores_case(pattern: &str) -> bool {
    let flags = |group: &str| {
        group.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').any(|flag| flag == b'i')
    };
    pattern.split("(?").skip(1).any(flags)
}

/// Returns whether a pattern is compiled in a fraction of a millisecond, from its text alone.
pub(crate) fn is_cheap(pattern: &str) -> bool {
    let repeats = pattern.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u64>().ok());
    let copies = repeats.fold(1_u64, |copies, count| copies.saturating_mul(count.max(1)));
    pattern.len() <= 64
        && pattern.is_ascii()
        && !["\\p", "\\P", "(?"].iter().any(|mark| pattern.contains(mark))
        && copies <= 200
        && parsing_work(pattern) <= 150
}

/// Analyzes a pattern for the linear engine, or returns why it is refused. Takes the time of
/// [`parsing_work`].
pub(crate) fn analyze(pattern: &str) -> Result<Analysis, String> {
    let quoted: String = pattern.chars().take(80).collect();
    if pattern.len() > MAX_PATTERN {
        return Err(format!("the pattern `{quoted}…` is longer than {MAX_PATTERN} bytes"));
    }
    let too_large = || format!("the pattern `{quoted}` is too large when compiled");
    let parsing = parsing_work(pattern);
    if parsing > MAX_WORK {
        return Err(too_large());
    }
    let parsed = jsonschema_regex::to_rust_regex(pattern).ok().and_then(|text| regex_syntax::parse(&text).ok());
    let Some(parsed) = parsed else {
        return Err(if needs_backtracking(pattern) {
            format!("the pattern `{quoted}` needs look-around or a back-reference, which can take unbounded time")
        } else {
            format!("the pattern `{quoted}` is not a regular expression")
        });
    };
    let program = Program::measure(&parsed);
    let work = parsing.saturating_add(program.work);
    if work > MAX_WORK {
        return Err(too_large());
    }
    let per_text = if program.is_simple() { SIMPLE_WEIGHT } else { program.steps * STEP_WEIGHT };
    let is_anchored = parsed.properties().look_set_prefix().contains(Look::Start);
    let longest = parsed.properties().maximum_len().filter(|_| is_anchored);
    let most_read = longest.map_or(u64::MAX, |longest| longest as u64 + 1);
    Ok(Analysis { work, cost: PatternCost { per_text, most_read } })
}

/// The size of a compiled pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Program {
    /// The positions in the pattern that read a byte or a character, with repeats.
    positions: u64,
    /// All states, weighted with the time to leave them.
    steps: u64,
    /// The work of compiling it, in microseconds.
    work: u64,
    /// Whether its automaton may be large although it has few positions.
    is_wide: bool,
}

impl Program {
    fn measure(part: &Hir) -> Self {
        match part.kind() {
            HirKind::Empty => Self::default(),
            HirKind::Literal(literal) => {
                let bytes = literal.0.len() as u64;
                Self { positions: bytes, ..Self::steps(bytes) }
            }
            HirKind::Class(class) => Self::class(class),
            HirKind::Look(look) => Self { is_wide: is_unicode_boundary(*look), ..Self::steps(1) },
            HirKind::Capture(capture) => Self::measure(&capture.sub).plus(Self::steps(1)),
            HirKind::Repetition(repetition) => {
                let copies = repetition.max.unwrap_or(repetition.min).max(1);
                let choices = repetition.max.map_or(1, |max| max.saturating_sub(repetition.min));
                Self::measure(&repetition.sub).times(copies.into()).plus(Self::steps(choices.into()))
            }
            HirKind::Concat(parts) => parts.iter().fold(Self::default(), |sum, part| sum.plus(Self::measure(part))),
            HirKind::Alternation(parts) => {
                let branches = Self { work: parts.len() as u64, ..Self::default() };
                parts.iter().fold(branches, |sum, part| sum.plus(Self::measure(part)))
            }
        }
    }

    /// States that read nothing.
    fn steps(count: u64) -> Self {
        Self { positions: 0, steps: count, work: count, is_wide: false }
    }

    fn class(class: &Class) -> Self {
        let ranges = match class {
            Class::Unicode(class) => class.ranges().len(),
            Class::Bytes(class) => class.ranges().len(),
        };
        let is_wide = ranges > WIDE;
        let steps = if is_wide { WIDE_STEPS } else { 1 };
        Self { positions: 1, steps, work: 1 + ranges as u64 / 10, is_wide }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            positions: self.positions.saturating_add(other.positions),
            steps: self.steps.saturating_add(other.steps),
            work: self.work.saturating_add(other.work),
            is_wide: self.is_wide || other.is_wide,
        }
    }

    fn times(self, copies: u64) -> Self {
        Self {
            positions: self.positions.saturating_mul(copies),
            steps: self.steps.saturating_mul(copies),
            work: self.work.saturating_mul(copies),
            is_wide: self.is_wide,
        }
    }

    fn is_simple(&self) -> bool {
        !self.is_wide && self.positions <= MAX_SIMPLE
    }
}

/// Returns whether the automaton cannot decide this for all texts.
fn is_unicode_boundary(look: Look) -> bool {
    use Look::{
        WordEndHalfUnicode, WordEndUnicode, WordStartHalfUnicode, WordStartUnicode, WordUnicode, WordUnicodeNegate,
    };
    matches!(
        look,
        WordUnicode | WordUnicodeNegate | WordStartUnicode | WordEndUnicode | WordStartHalfUnicode | WordEndHalfUnicode
    )
}

/// Returns whether a text is a regular expression as in browsers, including look-around and
/// back-references; for patterns that a browser evaluates.
#[expect(clippy::disallowed_methods, reason = "the one place that may")]
pub fn is_regular_expression(pattern: &str) -> bool {
    let engine = PatternOptions::fancy_regex().size_limit(MAX_COMPILED).dfa_size_limit(MAX_MATCHER);
    pattern.len() <= MAX_PATTERN
        && jsonschema::options().with_pattern_options(engine).build(&json!({ "pattern": pattern })).is_ok()
}

/// Returns whether a pattern uses a feature that only a backtracking engine has.
fn needs_backtracking(pattern: &str) -> bool {
    let has_reference = pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && (b'1'..=b'9').contains(&pair[1]));
    has_reference || ["(?=", "(?!", "(?<=", "(?<!", "\\k<"].iter().any(|mark| pattern.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_weighed_or_refused() {
        let check = |pattern: &str, expected: Result<(u64, u64), &str>| {
            let seen = analyze(pattern).map(|analysis| (analysis.cost.per_text, analysis.cost.most_read));
            match (&seen, expected) {
                (Ok(seen), Ok(expected)) => assert_eq!(*seen, expected, "{pattern}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{pattern}: {error}"),
                _ => panic!("{pattern}: {seen:?}"),
            }
        };
        check("^[a-z]+$", Ok((SIMPLE_WEIGHT, u64::MAX)));
        check(r"^\S+@\S+$", Ok((SIMPLE_WEIGHT, u64::MAX)));
        check(r"\p{L}", Ok((3 * STEP_WEIGHT, u64::MAX)));
        // Each copy of a repeat is a position.
        check(r"^\d{4}-\d{2}-\d{2}$", Ok((12 * STEP_WEIGHT, 11)));
        check("^[a-z]{500}$", Ok((502 * STEP_WEIGHT, 501)));
        check("[ab]*a[ab]{2000}[cd]", Ok((2004 * STEP_WEIGHT, u64::MAX)));
        check("(?=a)b", Err("look-around"));
        check(r"(a)\1", Err("back-reference"));
        check("(", Err("not a regular expression"));
        check("((a{100}){100}){100}", Err("too large"));
        check(r"\p{L}{1000}", Err("too large"));
        check(&r"\S".repeat(2_000), Err("too large"));
        check(&r"\cA".repeat(1_300), Err("too large"));
        check(&format!("(?i){}", r"[\x00-\u{10FFFF}]".repeat(200)), Err("too large"));
        check(&"a".repeat(5000), Err("longer than 4096 bytes"));
    }

    #[test]
    fn cheap_patterns_are_recognized() {
        let check = |pattern: &str, expected: bool| assert_eq!(is_cheap(pattern), expected, "{pattern}");
        check("^[a-z0-9_-]+$", true);
        check(r"^\d{4}-\d{2}-\d{2}$", true);
        check(r"\p{L}", false);
        check("[ab]{2000}", false);
        check("(a{20}){20}", false);
        check(r"\s\s\s\s\s\s\s\s", false);
        check(&"a".repeat(65), false);
    }

    #[test]
    fn look_around_is_allowed_for_browsers() {
        let check = |pattern: &str, expected: bool| assert_eq!(is_regular_expression(pattern), expected, "{pattern}");
        check("^(?!x)a", true);
        check(r"(a)\1", true);
        check("(", false);
        check("((a{100}){100}){100}", false);
    }
}
