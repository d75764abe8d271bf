//! The screens that `bench measure screens` opens are all of the server.

use super::inventory::inventory;
use axum::http::Method;
use std::collections::BTreeSet;

const SCREENS: &str = include_str!("../../../../bench/src/screens/screens.txt");

/// Where the pages for people are, beside those of the config.
const PLACES: [&str; 5] = ["/account/", "/admin", "/auth/", "/docs", "/shared/"];

/// Returns a route without the names of its parameters.
fn unnamed(route: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "{}".to_owned() } else { part.to_owned() };
    route.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_screen_is_measured_or_left_out_for_a_reason() {
    let lines: Vec<_> = SCREENS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let is_whole = |line: &&str| line.split_whitespace().count() > 2;
    assert!(lines.iter().all(is_whole), "a line needs a route, who opens it, and addresses or a reason");
    let is_of_config = |route: &str| matches!(route, "/" | "/{}");
    let known: BTreeSet<_> = lines.iter().filter_map(|line| line.split_whitespace().next()).map(unnamed).collect();
    let known: BTreeSet<_> = known.into_iter().filter(|route| !is_of_config(route)).collect();
    let is_screen =
        |path: &str, method: &Method| *method == Method::GET && PLACES.iter().any(|place| path.starts_with(place));
    let routes = inventory().await.into_iter().filter(|(path, method)| is_screen(path, method));
    let there: BTreeSet<_> = routes.map(|(path, _)| unnamed(&path)).collect();
    assert!(there.len() > 80, "too few routes were found: {there:?}");
    let missing: Vec<_> = there.difference(&known).collect();
    let gone: Vec<_> = known.difference(&there).collect();
    assert_eq!((missing, gone), (Vec::<&String>::new(), Vec::<&String>::new()), "see bench/src/screens/screens.txt");
}
