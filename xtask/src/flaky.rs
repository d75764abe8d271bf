//! Tests and journeys that passed only when they were tried again, read from the reports of their runners.

use anyhow::{Context, Result};
use serde_json::Value;
use xshell::Shell;

/// The report of nextest with the profile `ci`, see `.config/nextest.toml`.
pub(crate) const NEXTEST_REPORT: &str = "target/nextest/ci/junit.xml";

/// The report of the journeys where `CI` is set, see `end2end/playwright.config.ts`.
pub(crate) const JOURNEYS_REPORT: &str = "end2end/test-results/report.json";

/// The same of the main journeys in other browsers, see `end2end/browsers.config.ts`.
pub(crate) const MAIN_JOURNEYS_REPORT: &str = "end2end/test-results-browsers/report.json";

/// Returns the names of the flaky tests of a report; none without a report, as where nothing is tried again.
pub(crate) fn read(shell: &Shell, report: &str) -> Result<Vec<String>> {
    if !shell.path_exists(report) {
        return Ok(Vec::new());
    }
    let text = shell.read_file(report)?;
    if report.ends_with(".json") {
        let report = serde_json::from_str(&text).with_context(|| format!("{report} is not JSON"))?;
        return Ok(of_journeys(&report, ""));
    }
    Ok(of_tests(&text))
}

/// Reads a JUnit report. Only tests that passed in the end have `flakyFailure` or `flakyError`, and the names of tests and
/// packages have no characters that XML escapes.
fn of_tests(junit: &str) -> Vec<String> {
    let cases = junit.split("<testcase ").skip(1).filter(|case| case.contains("<flaky"));
    let attribute = |case: &str, name: &str| {
        let (_, rest) = case.split_once(&format!("{name}=\""))?;
        rest.split('"').next().map(str::to_owned)
    };
    let name = |case| Some(format!("{} {}", attribute(case, "classname")?, attribute(case, "name")?));
    cases.filter_map(name).collect()
}

/// Reads a suite of Playwright's report, whose name is added to what it is in.
fn of_journeys(suite: &Value, outer: &str) -> Vec<String> {
    let title = |value: &Value| value["title"].as_str().unwrap_or_default().to_owned();
    let list = |name: &str| suite[name].as_array().into_iter().flatten();
    let place = [outer, &title(suite)].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" › ");
    let is_flaky = |spec: &&Value| spec["tests"].as_array().into_iter().flatten().any(|test| test["status"] == "flaky");
    let own = list("specs").filter(is_flaky).map(|spec| format!("{place} › {}", title(spec)));
    own.chain(list("suites").flat_map(|inner| of_journeys(inner, &place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn flaky_tests_are_found() {
        let check = |cases: &str, expected: &[&str]| {
            let report = format!("<testsuites><testsuite name=\"mcp::mcp\">{cases}</testsuite></testsuites>");
            assert_eq!(of_tests(&report), expected, "{cases}");
        };
        let passed = r#"<testcase name="a::passes" classname="mcp::mcp" time="0.1"></testcase>"#;
        let failed = r#"<testcase name="a::fails" classname="mcp::mcp" time="0.1"><failure>out</failure></testcase>"#;
        let flaky = r#"<testcase name="a::waits" classname="mcp::mcp" time="0.1"><flakyFailure time="0.2">out</flakyFailure></testcase>"#;
        check("", &[]);
        check(&[passed, failed].concat(), &[]);
        check(&[passed, flaky, failed, flaky, passed].concat(), &["mcp::mcp a::waits", "mcp::mcp a::waits"]);
    }

    #[test]
    fn flaky_journeys_are_found() {
        let spec = |title: &str, status: &str| json!({ "title": title, "tests": [{ "status": status }] });
        let group = json!({ "title": "sharing", "specs": [spec("with a link", "flaky"), spec("without", "skipped")] });
        let file = json!({
            "title": "ask.spec.ts",
            "specs": [spec("asks", "expected"), spec("fails", "unexpected"), spec("streams", "flaky")],
            "suites": [group],
        });
        let found = of_journeys(&json!({ "suites": [file], "stats": { "flaky": 2 } }), "");
        assert_eq!(found, ["ask.spec.ts › streams", "ask.spec.ts › sharing › with a link"]);
        assert!(of_journeys(&json!({ "suites": [] }), "").is_empty());
    }
}
