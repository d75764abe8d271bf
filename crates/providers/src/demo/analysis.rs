//! Analyses a CSV file with a shell, for agents with a workspace.

use super::turn::{DemoAction, DemoTurn, say, say_and_call};
use contract::{ToolOutput, ToolResult};
use serde_json::json;

const SHELL: &str = "bash";
const PRESENT: &str = "present_files";
const CHART: &str = "/outputs/chart.svg";
const REPORT: &str = "/outputs/report.md";
const PAGE: &str = "/outputs/totals.html";

/// Adds up the last column by the first one, and writes the sums, a chart, a report, and a page that sorts them. `FILE` stands for the file.
const SCRIPT: &str = r##"set -e
awk -F, 'NR > 1 { if (!($1 in sum)) order[++n] = $1; sum[$1] += $NF } END { for (i = 1; i <= n; i++) print order[i] "," sum[order[i]] }' "FILE" > sums.csv
awk -F, '{ name[NR] = $1; sum[NR] = $2; if ($2 > max) max = $2 }
  END {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d 220\" font-family=\"sans-serif\" font-size=\"12\">\n", NR * 80 + 20
    for (i = 1; i <= NR; i++) {
      height = max > 0 ? int(sum[i] * 160 / max) : 0
      printf "<rect x=\"%d\" y=\"%d\" width=\"60\" height=\"%d\" fill=\"#4a7dbd\"/>", i * 80 - 60, 190 - height, height
      printf "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", i * 80 - 30, 183 - height, sum[i]
      printf "<text x=\"%d\" y=\"208\" text-anchor=\"middle\">%s</text>\n", i * 80 - 30, name[i]
    }
    print "</svg>"
  }' sums.csv > /outputs/chart.svg
awk -F, 'BEGIN { print "# Report\n\n| | Total |\n|---|---:|" } { print "| " $1 " | " $2 " |"; all += $2 } END { print "\nAll together: " all }' sums.csv > /outputs/report.md
awk -F, 'BEGIN {
    print "<!doctype html><meta charset=\"utf-8\"><title>Totals</title><style>"
    print "body { margin: 2rem; font-family: sans-serif; color: #222 } .row { display: grid; grid-template-columns: 6rem 1fr 5rem; gap: 1rem; align-items: center; margin-top: 0.5rem }"
    print "meter { width: 100%; height: 1.5rem } output { text-align: end } button { padding: 0.5rem 1rem; font: inherit }"
    print "</style><h1>Totals</h1><button>Sort by total</button><div id=\"rows\">"
  }
  { gsub(/[<>&]/, " ", $1); name[NR] = $1; sum[NR] = $2; if ($2 > max) max = $2 }
  END {
    for (i = 1; i <= NR; i++) printf "<div class=\"row\"><span>%s</span><meter aria-label=\"%s\" max=\"%s\" value=\"%s\"></meter><output>%s</output></div>\n", name[i], name[i], max, sum[i], sum[i]
    print "</div><script>const total = (row) => Number(row.querySelector(\"output\").textContent);"
    print "document.querySelector(\"button\").addEventListener(\"click\", () => { const rows = document.querySelector(\"#rows\"); rows.append(...[...rows.children].sort((a, b) => total(b) - total(a))); });</script>"
  }' sums.csv > /outputs/totals.html
cat sums.csv"##;

/// Returns the file that the user wants to have analysed: `analyse NAME.csv`.
pub(crate) fn file(asked: &str) -> Option<String> {
    let (verb, rest) = asked.trim().split_once(' ')?;
    let is_verb = ["analyse", "analyze"].iter().any(|known| verb.eq_ignore_ascii_case(known));
    let name = rest.split_whitespace().next()?.trim_end_matches(['.', '!', '?']);
    let is_plain = name.chars().all(|char| char.is_ascii_alphanumeric() || "._-".contains(char));
    (is_verb && is_plain && name.ends_with(".csv")).then(|| name.to_owned())
}

/// Runs the script.
pub(crate) fn begin(turn: &DemoTurn<'_>, file: &str) -> Vec<DemoAction> {
    let Some(tool) = turn.tool(SHELL) else {
        return say("I was not given a shell.", "I have no shell to compute with here.");
    };
    let script = SCRIPT.replace("FILE", &format!("/uploads/{file}"));
    say_and_call(
        "I add up the last column by the first one.",
        "Let me compute that.",
        tool,
        json!({ "command": script }),
    )
}

/// Presents what the script has written, and then says so.
pub(crate) fn go_on(turn: &DemoTurn<'_>) -> Option<Vec<DemoAction>> {
    let new = |name: &str| turn.new_results.iter().find(|result: &&ToolResult| result.name == name);
    if new(PRESENT).is_some() {
        return Some(say("The files are shown.", "I have written a chart, a report and a page with the sums."));
    }
    let ran = new(SHELL)?;
    let is_done = match &ran.output {
        ToolOutput::Text(text) => text.contains("[Exit code 0]"),
        ToolOutput::Json(value) => value.as_str().is_some_and(|text| text.contains("[Exit code 0]")),
        _ => false,
    };
    let tool = turn.tool(PRESENT).filter(|_| is_done)?;
    Some(say_and_call(
        "The files are written.",
        "Here are the results.",
        tool,
        json!({ "paths": [CHART, REPORT, PAGE] }),
    ))
}
