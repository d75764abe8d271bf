//! Numbers as text. The standard library's formatting of floating-point numbers would add tables of
//! 24 KB to the download of every page.

use crate::texts::{Text, fill, group_digits, t};
use wire::file::FileSize;

/// Formats a CSS length in pixels with three decimal places; negative values become 0.
pub(crate) fn css_pixels(pixels: f64) -> String {
    let parts = (pixels * 1_000.0) as u64;
    format!("{}.{:03}px", parts / 1_000, parts % 1_000)
}

/// Formats US dollars: with two decimal places, and amounts below 0.10 with four, so that they do
/// not become 0.
pub(crate) fn dollars(usd: f64) -> String {
    let parts = (usd * 10_000.0).round() as u64;
    match parts {
        1..1_000 => dollar_text("0", &format!("{parts:04}")),
        _ => {
            let cents = (usd * 100.0).round() as u64;
            dollar_text(&group_digits(cents / 100), &format!("{:02}", cents % 100))
        }
    }
}

fn dollar_text(whole: &str, fraction: &str) -> String {
    fill(Text::Dollars, &[&[whole, t(Text::DecimalMark), fraction].concat()])
}

/// Formats a duration in milliseconds.
pub(crate) fn duration(milliseconds: u64) -> String {
    let (seconds, tenths) = (milliseconds / 1000, milliseconds % 1000 / 100);
    match seconds {
        0 if milliseconds < 100 => fill(Text::Milliseconds, &[&milliseconds.to_string()]),
        0..10 if tenths > 0 => fill(Text::Seconds, &[&format!("{seconds}{}{tenths}", t(Text::DecimalMark))]),
        0..60 => fill(Text::Seconds, &[&seconds.to_string()]),
        _ => fill(Text::MinutesSeconds, &[&(seconds / 60).to_string(), &(seconds % 60).to_string()]),
    }
}

/// Formats a number of bytes.
pub(crate) fn byte_size(bytes: u64) -> String {
    let (unit, number) = match FileSize::from_bytes(bytes) {
        FileSize::Bytes(number) => (Text::Bytes, number.to_string()),
        FileSize::Kilobytes(number) => (Text::Kilobytes, number.to_string()),
        FileSize::Megabytes(number) => (Text::Megabytes, number.to_string()),
        FileSize::TenthsOfMegabytes(whole, tenths) => {
            (Text::Megabytes, [&whole.to_string(), t(Text::DecimalMark), &tenths.to_string()].concat())
        }
    };
    fill(unit, &[&number])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_the_locale() {
        let check = |written: String, expected: &str| assert_eq!(written, expected);
        check(css_pixels(44.5), "44.500px");
        check(css_pixels(-3.0), "0.000px");
        check(dollars(0.0), "$0.00");
        check(dollars(0.01234), "$0.0123");
        check(dollars(1.239), "$1.24");
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            check(group_digits(number), expected);
        }
        check(duration(50), "50 ms");
        check(duration(1_234), "1.2 s");
        check(duration(2_000), "2 s");
        check(duration(61_000), "1 min 1 s");
        check(byte_size(12), "12 bytes");
        check(byte_size(4_000), "4 KB");
        check(byte_size(1_600_000), "1.6 MB");
    }
}
