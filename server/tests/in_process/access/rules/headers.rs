//! The headers of the answer when a handler panics. The test of `runs::policy` in `tests/serve` checks those of other answers.

use crate::access::*;

#[tokio::test(flavor = "multi_thread")]
async fn answers_after_a_panic_have_the_headers_of_the_server() {
    let routes = open(&config()).await.with_files(|_| panic!("the site cannot be read")).routes();
    let request = local_request(Method::GET, "/pkg/chatwright.js");
    let answer = routes.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(answer.status().as_u16(), 500);
    let expected = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("permissions-policy", "microphone=()"),
        ("x-frame-options", "DENY"),
    ];
    for (name, value) in expected {
        assert_eq!(answer.headers().get(name).map(|found| found.to_str().unwrap()), Some(value), "{name}");
    }
}
