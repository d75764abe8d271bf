//! The signature of a request that Slack sends: HMAC-SHA256 of its time and body with the signing secret of the app.

use http::HeaderMap;
use ring::hmac;

/// The maximum difference between the time of a request and the current time, in seconds.
const MAX_AGE: u64 = 5 * 60;

/// Returns whether Slack has signed a request just now. `now` is the Unix time in seconds.
pub(crate) fn is_signed(headers: &HeaderMap, body: &[u8], secret: &str, now: i64) -> bool {
    let single = |name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    };
    let (Some(time), Some(signature)) = (single("x-slack-request-timestamp"), single("x-slack-signature")) else {
        return false;
    };
    let is_recent = time.parse::<i64>().is_ok_and(|time| now.abs_diff(time) <= MAX_AGE);
    let Some(tag) = signature.strip_prefix("v0=").and_then(|hex| hex::decode(hex).ok()) else { return false };
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [b"v0:", time.as_bytes(), b":", body].concat();
    hmac::verify(&key, &signed, &tag).is_ok() && is_recent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Slack's documentation.
    const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
    const TIME: &str = "1531420618";
    const SIGNATURE: &str = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
    const BODY: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

    #[test]
    fn only_requests_with_a_recent_valid_signature_are_accepted() {
        let check = |signature: &str, time: &str, body: &str, now: i64, expected: bool| {
            let mut headers = HeaderMap::new();
            headers.insert("x-slack-signature", signature.parse().unwrap());
            headers.insert("x-slack-request-timestamp", time.parse().unwrap());
            assert_eq!(is_signed(&headers, body.as_bytes(), SECRET, now), expected, "{signature} {time} {now}");
            headers.append("x-slack-signature", signature.parse().unwrap());
            assert!(!is_signed(&headers, body.as_bytes(), SECRET, now), "two signatures");
        };
        let now: i64 = TIME.parse().unwrap();
        check(SIGNATURE, TIME, BODY, now, true);
        check(SIGNATURE, TIME, BODY, now + 300, true);
        check(SIGNATURE, TIME, BODY, now + 301, false);
        check(SIGNATURE, TIME, BODY, now - 301, false);
        check(SIGNATURE, TIME, "token=other", now, false);
        check(SIGNATURE, "1531420619", BODY, now, false);
        check(&SIGNATURE.replace("v0=", ""), TIME, BODY, now, false);
        check("v0=", TIME, BODY, now, false);
        check("v0=zz", TIME, BODY, now, false);
        assert!(!is_signed(&HeaderMap::new(), BODY.as_bytes(), SECRET, now));
    }
}
