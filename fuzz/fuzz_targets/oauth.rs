//! Challenges of services and answers of token endpoints: scopes are words of a bounded length, and a token can be sent in a
//! header.
#![no_main]

use http::HeaderValue;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (challenged, issued) = connected_accounts::read_answers(text);
    let check = |scopes: &[String]| {
        assert!(scopes.iter().all(|scope| !scope.is_empty() && !scope.contains([' ', ','])), "{scopes:?}");
        assert!(scopes.iter().map(|scope| scope.len() + 1).sum::<usize>() <= 4096, "{scopes:?}");
    };
    check(&challenged);
    if let Some((token, scopes)) = issued {
        check(&scopes);
        assert!(!token.is_empty() && HeaderValue::from_str(&format!("Bearer {token}")).is_ok(), "{token}");
    }
});
