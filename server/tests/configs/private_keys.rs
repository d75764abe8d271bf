//! Private keys in environment variables, which are checked by the code that signs with them.

use server::config_language;
use std::collections::HashMap;

/// A key of the curve P-256 that nothing but these tests uses.
pub(crate) const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3vaCBCvVhdL3D+/q
5IsTJao7ChJLS+Rkuy+F7/KO9JOhRANCAAQigaLqKdC7Q2oWBh8nHbJcvinwhAj5
8Dp3k+wQY2KNj64b6D18xuIde024qQNUOsei54Y6wnv5KCwCbKzlUcpE
-----END PRIVATE KEY-----";

/// A key of the curve Ed25519, with which the server does not sign.
const ED25519: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIGvRsXrWdYSR1a5dfMpoPXl7v6BU5iG/eYBEZ2+6gDoy
-----END PRIVATE KEY-----";

#[test]
fn private_keys_are_checked_when_the_config_is_read() {
    let oauth = "{ clientId: a, privateKey: { _secret: KEY } }";
    let text =
        format!("connections: [{{ id: a, type: Mcp, properties: {{ url: 'https://x.org', oauth: {oauth} }} }}]\n");
    let check = |key: &str, expected: &str| {
        let env = HashMap::from([("KEY".to_owned(), key.to_owned())]);
        let read = config_language().read_embedded(&[("chatwright.yaml", &text)], &env).outcome;
        let problems = match read {
            Ok((_, warnings)) => warnings,
            Err(problems) => problems,
        };
        let rendered = config::render(&problems);
        assert_eq!(rendered.lines().next().unwrap_or_default(), expected);
        let body = key.lines().nth(1).unwrap_or(key);
        assert!(!rendered.contains(body), "the key is shown: {rendered}");
    };
    check(PRIVATE_KEY, "");
    check(&PRIVATE_KEY.replace('\n', "\\n"), "");
    let no_pem = "the environment variable has no private key in PEM (PKCS #8)";
    check("sk-canary", &format!("chatwright.yaml:1:105: error: {no_pem}"));
    let unusable = "the private key in the environment variable is damaged or of a kind that is not supported";
    let unusable = format!("chatwright.yaml:1:105: error: {unusable}");
    check(ED25519, &unusable);
    check(&PRIVATE_KEY.replace("MIGHAgEA", "MIGHAgE"), &unusable);
    check(PRIVATE_KEY.trim_end_matches("-----END PRIVATE KEY-----"), &unusable);
}
