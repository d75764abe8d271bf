//! Reads cron expressions, and explains errors.

use crate::ScheduleError;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};

/// The longest expression in bytes.
pub const MAX_EXPRESSION: usize = 200;

/// The fields of an expression.
const FIELDS: [Field; 5] = [
    Field { name: "minute", allowed: "0 to 59" },
    Field { name: "hour", allowed: "0 to 23" },
    Field {
        name: "day of the month",
        allowed: "1 to 31, `L` for the last day, or `15W` for the weekday nearest to the 15th",
    },
    Field { name: "month", allowed: "1 to 12, or JAN to DEC" },
    Field {
        name: "day of the week",
        allowed: "0 to 7 (0 and 7 are Sunday), SUN to SAT, `5#2` for the second Friday, or `5#L` for the last",
    },
];

/// Words that people write for the most frequent expressions.
const NICKNAMES: [(&str, &str); 7] = [
    ("hourly", "0 * * * *"),
    ("daily", "0 0 * * *"),
    ("midnight", "0 0 * * *"),
    ("weekly", "0 0 * * 0"),
    ("monthly", "0 0 1 * *"),
    ("yearly", "0 0 1 1 *"),
    ("annually", "0 0 1 1 *"),
];

struct Field {
    name: &'static str,
    allowed: &'static str,
}

/// Reads an expression.
///
/// # Errors
/// The problem, and a suggestion.
pub(crate) fn parse(text: &str) -> Result<Cron, ScheduleError> {
    if text.len() > MAX_EXPRESSION {
        let message = format!("a cron expression has at most {MAX_EXPRESSION} characters");
        return Err(ScheduleError::expression(message, "split it into several triggers"));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else { return Err(wrong_number(text, &fields)) };
    for (index, written) in [minute, hour, day, month, weekday].into_iter().enumerate() {
        let mut alone = ["*"; 5];
        alone[index] = written;
        if read(&alone.join(" ")).is_none() {
            return Err(wrong_field(&FIELDS[index], written));
        }
    }
    read(text).ok_or_else(|| ScheduleError::expression(format!("`{text}` is not a cron expression"), form()))
}

fn read(text: &str) -> Option<Cron> {
    // A nickname would have one field, which `parse` refuses; `@` within a field is refused here.
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(text).ok()
}

fn wrong_number(text: &str, fields: &[&str]) -> ScheduleError {
    let word = text.trim().trim_start_matches('@').to_lowercase();
    if let Some((_, expression)) = NICKNAMES.iter().find(|(name, _)| word == *name || word == format!("every {name}")) {
        let message = format!("`{}` is not a cron expression", text.trim());
        return ScheduleError::expression(message, format!("write `{expression}`"));
    }
    match fields {
        [] => ScheduleError::expression("the cron expression is empty", form()),
        [_, rest @ ..] if rest.len() == 5 && read(&rest.join(" ")).is_some() => {
            let help = format!("seconds are not supported; without them it is `{}`", rest.join(" "));
            ScheduleError::expression("a cron expression has 5 fields, this has 6", help)
        }
        _ => {
            let message = format!("a cron expression has 5 fields, this has {}", fields.len());
            ScheduleError::expression(message, form())
        }
    }
}

fn wrong_field(field: &Field, written: &str) -> ScheduleError {
    let message = format!("`{written}` cannot stand for the {}", field.name);
    let with_star = format!("*{written}");
    // `/5` and, of other schedulers, `0/5`.
    let step = written.split_once('/').filter(|(start, step)| start.parse::<u8>().is_ok() && !step.is_empty());
    let help = match step {
        _ if written.starts_with('/') && reads_in_any_field(&with_star) => format!("write `{with_star}`"),
        Some((start, step)) => format!("write a range before the step: `*/{step}`, or `{start}-59/{step}`"),
        None => format!("{}; `*` stands for all, and `,`, `-` and `/` for lists, ranges and steps", field.allowed),
    };
    ScheduleError::expression(message, help)
}

fn reads_in_any_field(written: &str) -> bool {
    read(&format!("{written} * * * *")).is_some()
}

fn form() -> String {
    let names = FIELDS.map(|field| field.name);
    format!("{} and {}, as in `30 9 * * MON-FRI`", names[..4].join(", "), names[4])
}
