//! The report as JUnit XML: a test suite for each run, a test case for each step.

use super::{Comparison, Finding, Kind};
use std::fmt::Write;

/// Returns the report. Differences of the kinds that fail are failures; all others are written to
/// the output of their test case.
pub fn junit(runs: &[Comparison], fails: &dyn Fn(&Finding) -> bool) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for run in runs {
        let cases = run.steps.len() + 1;
        let failures = run.steps.iter().map(|step| &step.findings).chain([&run.run]);
        let failures = failures.filter(|findings| findings.iter().any(fails)).count();
        let name = escaped(&run.run_id);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" tests=\"{cases}\" failures=\"{failures}\">");
        for step in &run.steps {
            let name = format!("{} step {}", step.agent, step.number);
            case(&mut out, (&run.run_id, &name), step.after.ms, &step.findings, fails);
        }
        case(&mut out, (&run.run_id, "the run"), run.after.ms, &run.run, fails);
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, (run, name): (&str, &str), ms: u64, findings: &[Finding], fails: &dyn Fn(&Finding) -> bool) {
    let time = format!("{}.{:03}", ms / 1000, ms % 1000);
    let _ = writeln!(out, "    <testcase classname=\"{}\" name=\"{}\" time=\"{time}\">", escaped(run), escaped(name));
    for finding in findings.iter().filter(|finding| fails(finding)) {
        let (kind, text) = (kind_name(finding.kind), escaped(&text(finding)));
        let what = escaped(&finding.what);
        let _ = writeln!(out, "      <failure type=\"{kind}\" message=\"{what}\">{text}</failure>");
    }
    let others: Vec<_> = findings.iter().filter(|finding| !fails(finding)).map(text).collect();
    if !others.is_empty() {
        let _ = writeln!(out, "      <system-out>{}</system-out>", escaped(&others.join("\n")));
    }
    out.push_str("    </testcase>\n");
}

fn kind_name(kind: Kind) -> String {
    serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default()
}

fn text(finding: &Finding) -> String {
    let unstable = if finding.unstable { " (unstable)" } else { "" };
    format!("{}{unstable}\nrecorded: {}\nreplayed: {}", finding.what, finding.before, finding.after)
}

/// Escapes a text for XML, which has no control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
