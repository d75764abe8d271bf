//! Numbers with a fraction, in words. The standard library would do it, with tables of 24 KB that every page would load.

use crate::texts::{Text, fill, t};
use wire::file::Size;

/// A length in CSS, from pixels; nothing below 0, three digits of a fraction.
pub(crate) fn pixels(pixels: f64) -> String {
    let parts = (pixels * 1_000.0) as u64;
    format!("{}.{:03}px", parts / 1_000, parts % 1_000)
}

/// US dollars; small amounts with four digits, so that they are not nothing.
pub(crate) fn dollars(usd: f64) -> String {
    let parts = (usd * 10_000.0).round() as u64;
    match parts {
        1..1_000 => money("0", &format!("{parts:04}")),
        _ => {
            let cents = (usd * 100.0).round() as u64;
            money(&grouped(cents / 100), &format!("{:02}", cents % 100))
        }
    }
}

fn money(whole: &str, fraction: &str) -> String {
    fill(Text::Dollars, &[&[whole, t(Text::DecimalMark), fraction].concat()])
}

/// A whole number as the locale writes it: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push_str(t(Text::GroupMark));
        }
        grouped.push(digit);
    }
    grouped
}

/// A time, from milliseconds.
pub(crate) fn time(milliseconds: u64) -> String {
    let (seconds, tenths) = (milliseconds / 1000, milliseconds % 1000 / 100);
    match seconds {
        0 if milliseconds < 100 => fill(Text::Milliseconds, &[&milliseconds.to_string()]),
        0..10 if tenths > 0 => fill(Text::Seconds, &[&format!("{seconds}{}{tenths}", t(Text::DecimalMark))]),
        0..60 => fill(Text::Seconds, &[&seconds.to_string()]),
        _ => fill(Text::MinutesSeconds, &[&(seconds / 60).to_string(), &(seconds % 60).to_string()]),
    }
}

/// A number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    let (unit, number) = match Size::of(bytes) {
        Size::Bytes(number) => (Text::Bytes, number.to_string()),
        Size::Kilobytes(number) => (Text::Kilobytes, number.to_string()),
        Size::Megabytes(number) => (Text::Megabytes, number.to_string()),
        Size::TenthsOfMegabytes(whole, tenths) => {
            (Text::Megabytes, [&whole.to_string(), t(Text::DecimalMark), &tenths.to_string()].concat())
        }
    };
    fill(unit, &[&number])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_numbers() {
        let check = |written: String, expected: &str| assert_eq!(written, expected);
        check(pixels(44.5), "44.500px");
        check(pixels(-3.0), "0.000px");
        check(dollars(0.0), "$0.00");
        check(dollars(0.01234), "$0.0123");
        check(dollars(1.239), "$1.24");
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            check(grouped(number), expected);
        }
        check(time(50), "50 ms");
        check(time(1_234), "1.2 s");
        check(time(2_000), "2 s");
        check(time(61_000), "1 min 1 s");
        check(size(12), "12 bytes");
        check(size(4_000), "4 KB");
        check(size(1_600_000), "1.6 MB");
    }
}
