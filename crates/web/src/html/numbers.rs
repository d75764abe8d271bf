//! Formats numbers for people.

/// Formats a whole number with thousands separators.
pub fn number(value: f64) -> String {
    grouped(&format!("{:.0}", value.abs()))
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats an amount in US dollars, with thousands separators.
pub fn dollars(value: f64) -> String {
    if value != 0.0 && value < 0.01 {
        return "<$0.01".to_owned();
    }
    let amount = format!("{value:.2}");
    let (whole, cents) = amount.split_once('.').unwrap_or((amount.as_str(), "00"));
    format!("${}.{cents}", grouped(whole))
}

/// Formats milliseconds as seconds.
pub fn seconds(ms: f64) -> String {
    format!("{:.1} s", ms / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_amounts_and_times_are_formatted() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(0.0, "0");
        check(999.0, "999");
        check(1_000.0, "1,000");
        check(1_234_567.4, "1,234,567");
        assert_eq!([0.0, 0.004, 0.01, 12.345].map(dollars), ["$0.00", "<$0.01", "$0.01", "$12.35"]);
        assert_eq!([999.996, 5_128.98, 1_234_567.0].map(dollars), ["$1,000.00", "$5,128.98", "$1,234,567.00"]);
        assert_eq!(seconds(1_540.0), "1.5 s");
    }
}
