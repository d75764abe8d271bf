//! Numbers: arithmetic, tests, and conversions from and to texts.

use super::text::{MAX_SAFE_INTEGER, number};
use crate::Arguments;
use crate::parameters::Kind::{Any, Integer, Number, Text};
use crate::parameters::Parameters::{Named, Nothing, One, Pair, Values};
use crate::parameters::{Parameter, optional, required};
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use serde_json::Value;

const ON: Parameter = required("on", Number);
const RADIX: Parameter = optional("radix", Integer);
/// The most digits of a formatted number.
const MAX_DIGITS: f64 = 100.0;

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_sum", Values(Any), Plain(sum), "The sum of the numbers in a list; other values are skipped.",
        ["[3, 4]" => "7", r#"[1, null, 3, "four", 0.5]"# => "4.5", "[]" => "0"]),
    operator!("_product", Values(Any), Plain(product), "The product of the numbers in a list; other values are skipped.",
        ["[3, 4]" => "12", r#"[1, null, 3, "four", 5]"# => "15"]),
    operator!("_subtract", Pair(Number), Plain(subtract), "The first number less the second.", ["[7, 3]" => "4"]),
    operator!("_divide", Pair(Number), Plain(divide), "The first number divided by the second, which must not be 0.",
        ["[12, 4]" => "3", "[1, 8]" => "0.125"]),
    operator!(
        "_number.EPSILON",
        Nothing,
        Plain(|_| Ok(number(f64::EPSILON))),
        "The difference between 1 and the next larger number.",
        []
    ),
    operator!("_number.MAX_SAFE_INTEGER", Nothing, Plain(|_| Ok(number(MAX_SAFE_INTEGER))), "The largest whole number up to which all are exact.",
        ["null" => "9007199254740991"]),
    operator!("_number.MIN_SAFE_INTEGER", Nothing, Plain(|_| Ok(number(-MAX_SAFE_INTEGER))), "The least whole number down to which all are exact.",
        ["null" => "-9007199254740991"]),
    operator!("_number.isFinite", One(Any), Plain(is_number), "Whether a value is a number.", ["5" => "true", r#""5""# => "false"]),
    operator!("_number.isInteger", One(Any), Plain(is_integer), "Whether a value is a whole number.", ["5" => "true", "5.0" => "true", "5.5" => "false"]),
    operator!("_number.isSafeInteger", One(Any), Plain(is_safe_integer), "Whether a value is a whole number that is exact.",
        ["5" => "true", "9007199254740993" => "false"]),
    operator!("_number.parseFloat", One(Text), Plain(parse_float), "The number at the start of a text, otherwise `null`.",
        [r#""3.14 m""# => "3.14", r#"" -2e3""# => "-2000", r#""x""# => "null"]),
    operator!("_number.parseInt", Named(&[required("on", Text), RADIX]), Plain(parse_int), "The whole number at the start of a text, otherwise `null`. Default of `radix`: 10.",
        [r#"{"on": "42 pieces"}"# => "42", r#"{"on": "ff", "radix": 16}"# => "255", r#"["x"]"# => "null"]),
    operator!("_number.toExponential", Named(&[ON, optional("fractionDigits", Integer)]), Plain(to_exponential), "A text with an exponent.",
        [r#"{"on": 77.1234, "fractionDigits": 2}"# => r#""7.71e+1""#, "[0.00015]" => r#""1.5e-4""#]),
    operator!("_number.toFixed", Named(&[ON, optional("digits", Integer)]), Plain(to_fixed), "A text with this number of digits after the point. Default: 0.",
        [r#"{"on": 12.345678, "digits": 2}"# => r#""12.35""#, "[2.5]" => r#""3""#, "[1.005, 2]" => r#""1.00""#, "[-2.5]" => r#""-3""#]),
    operator!("_number.toPrecision", Named(&[ON, optional("precision", Integer)]), Plain(to_precision), "A text with this number of significant digits.",
        ["[123.456, 4]" => r#""123.5""#, "[0.000123, 2]" => r#""0.00012""#, "[1234.5, 2]" => r#""1.2e+3""#]),
    operator!("_number.toString", Named(&[ON, RADIX]), Plain(to_string), "The number as a text, with a base from 2 to 36 for whole numbers.",
        ["[1.5]" => r#""1.5""#, r#"{"on": 255, "radix": 16}"# => r#""ff""#]),
];

/// Returns the numbers among the arguments.
fn numbers(arguments: &Arguments) -> Vec<f64> {
    (0..).map_while(|index| arguments.get(index)).filter_map(Value::as_f64).collect()
}

fn sum(arguments: Arguments) -> Result<Value, String> {
    Ok(number(numbers(&arguments).iter().sum()))
}

fn product(arguments: Arguments) -> Result<Value, String> {
    Ok(number(numbers(&arguments).iter().product()))
}

fn subtract(arguments: Arguments) -> Result<Value, String> {
    Ok(number(arguments.number(0).unwrap_or_default() - arguments.number(1).unwrap_or_default()))
}

fn divide(arguments: Arguments) -> Result<Value, String> {
    match (arguments.number(0), arguments.number(1)) {
        (Some(_), Some(0.0)) => Err("a number cannot be divided by 0".to_owned()),
        (numerator, denominator) => Ok(number(numerator.unwrap_or_default() / denominator.unwrap_or_default())),
    }
}

fn is_number(arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.number(0).is_some().into())
}

fn is_integer(arguments: Arguments) -> Result<Value, String> {
    Ok(arguments.number(0).is_some_and(|number| number.fract() == 0.0).into())
}

fn is_safe_integer(arguments: Arguments) -> Result<Value, String> {
    let is_safe = |number: f64| number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER;
    Ok(arguments.number(0).is_some_and(is_safe).into())
}

fn parse_float(mut arguments: Arguments) -> Result<Value, String> {
    let text = arguments.text(0);
    let text = text.trim_start();
    let sign = text.len() - text.trim_start_matches(['+', '-']).len();
    let digits = |from: usize| text.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let whole = sign.min(1) + digits(sign.min(1));
    let fraction = if text.as_bytes().get(whole) == Some(&b'.') { whole + 1 + digits(whole + 1) } else { whole };
    let exponent = match text.get(fraction..).and_then(|rest| rest.strip_prefix(['e', 'E'])) {
        Some(rest) => {
            let start = fraction + 1 + usize::from(rest.starts_with(['+', '-']));
            if digits(start) > 0 { start + digits(start) } else { fraction }
        }
        None => fraction,
    };
    Ok(text.get(..exponent).and_then(|text| text.parse().ok()).map_or(Value::Null, number))
}

fn radix(arguments: &Arguments) -> Result<u32, String> {
    match arguments.number(1).unwrap_or(10.0) {
        radix if (2.0..=36.0).contains(&radix) => Ok(radix as u32),
        _ => Err("`radix` is from 2 to 36".to_owned()),
    }
}

fn parse_int(mut arguments: Arguments) -> Result<Value, String> {
    let radix = radix(&arguments)?;
    let text = arguments.text(0);
    let text = text.trim_start();
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = if radix == 16 { text.strip_prefix("0x").unwrap_or(text) } else { text };
    let mut digits = text.chars().map_while(|digit| digit.to_digit(radix)).peekable();
    if digits.peek().is_none() {
        return Ok(Value::Null);
    }
    let parsed = digits.fold(0.0, |number, digit| f64::from(radix).mul_add(number, f64::from(digit)));
    Ok(number(if is_negative { -parsed } else { parsed }))
}

/// Returns the number of digits, within the bounds of JavaScript.
fn digits(arguments: &Arguments, least: f64) -> Result<Option<usize>, String> {
    match arguments.number(1) {
        Some(digits) if !(least..=MAX_DIGITS).contains(&digits) => {
            Err(format!("the number of digits is from {least} to {MAX_DIGITS}"))
        }
        digits => Ok(digits.map(|digits| digits as usize)),
    }
}

fn to_fixed(arguments: Arguments) -> Result<Value, String> {
    let (on, digits) = (arguments.number(0).unwrap_or_default(), digits(&arguments, 0.0)?.unwrap_or(0));
    Ok(fixed(on, digits).into())
}

/// Formats a number. A number that is exactly in the middle of two texts is rounded away from 0,
/// other than Rust does.
fn fixed(on: f64, digits: usize) -> String {
    let on_middle = |exact: &str| {
        let rest = exact.split_once('.').and_then(|(_, fraction)| fraction.get(digits..));
        rest.and_then(|rest| rest.strip_prefix('5')).is_some_and(|rest| rest.bytes().all(|digit| digit == b'0'))
    };
    // No number has more digits.
    let is_middle = on_middle(&format!("{:.1074}", on.abs()));
    let rounded = if is_middle { on.abs().next_up() } else { on.abs() };
    let sign = if on < 0.0 { "-" } else { "" };
    format!("{sign}{rounded:.digits$}")
}

fn to_exponential(arguments: Arguments) -> Result<Value, String> {
    Ok(exponential(arguments.number(0).unwrap_or_default(), digits(&arguments, 0.0)?).into())
}

fn exponential(on: f64, digits: Option<usize>) -> String {
    let text = digits.map_or_else(|| format!("{on:e}"), |digits| format!("{on:.digits$e}"));
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

fn to_precision(arguments: Arguments) -> Result<Value, String> {
    let on = arguments.number(0).unwrap_or_default();
    let Some(precision) = digits(&arguments, 1.0)? else { return Ok(number(on).to_string().into()) };
    let text = exponential(on, Some(precision - 1));
    let exponent: i32 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < -6 || usize::try_from(exponent).is_ok_and(|exponent| exponent >= precision) {
        return Ok(text.into());
    }
    let fraction = usize::try_from(i32::try_from(precision).unwrap_or(0) - 1 - exponent).unwrap_or(0);
    Ok(fixed(on, fraction).into())
}

fn to_string(arguments: Arguments) -> Result<Value, String> {
    let (on, radix) = (arguments.number(0).unwrap_or_default(), radix(&arguments)?);
    if radix == 10 {
        return Ok(number(on).to_string().into());
    }
    if on.fract() != 0.0 || on.abs() > MAX_SAFE_INTEGER {
        return Err("with another base than 10, the number must be whole".to_owned());
    }
    let (mut rest, mut text) = (on.abs() as u64, Vec::new());
    loop {
        text.push(char::from_digit((rest % u64::from(radix)) as u32, radix).unwrap_or('0'));
        rest /= u64::from(radix);
        if rest == 0 {
            break;
        }
    }
    text.extend((on < 0.0).then_some('-'));
    Ok(text.into_iter().rev().collect::<String>().into())
}
