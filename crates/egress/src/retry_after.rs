//! How long a service asks to wait.

use reqwest::header::HeaderMap;
use std::time::{Duration, SystemTime};

/// Reads how long a service asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
/// Invalid values are ignored, so that the caller's default applies.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    if let Some(seconds) = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after")) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text("retry-after")?).ok()?;
    let date = SystemTime::from(date.timestamp());
    // A date in the past means now.
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_headers_are_parsed() {
        // Fri, 20 Nov 2026 00:00:00 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800);
        let check = |headers: &[(&'static str, &'static str)], expected: Option<u64>| {
            let map = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(retry_after(&map, now), expected.map(Duration::from_millis), "{headers:?}");
        };
        check(&[], None);
        check(&[("retry-after", "2")], Some(2000));
        check(&[("retry-after-ms", "150"), ("retry-after", "2")], Some(150));
        check(&[("retry-after-ms", "soon"), ("retry-after", "2")], Some(2000));
        check(&[("retry-after", "9999")], Some(9_999_000));
        check(&[("retry-after", "-1")], None);
        check(&[("retry-after", "abc")], None);
        check(&[("retry-after", "1e400")], None);
        check(&[("retry-after", "Fri, 20 Nov 2026 00:00:07 GMT")], Some(7000));
        check(&[("retry-after", "Thu, 19 Nov 2026 00:00:00 GMT")], Some(0));
    }
}
