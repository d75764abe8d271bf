//! Checks how figures are written, and that the page is up to date.

use super::*;
use crate::results::{Machine, figure};

fn repository_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn pages_match_the_results() {
    let root = repository_root();
    let all = load_all(&root.join(RESULTS)).unwrap();
    for name in PAGES {
        let stored = std::fs::read_to_string(root.join(name)).unwrap();
        let rendered = render(name, &stored, &all).unwrap();
        assert!(stored == rendered, "{name} is outdated: run `cargo xtask bench --page`");
    }
}

/// A file of another name would never be shown.
#[test]
fn each_file_of_results_is_of_a_subject() {
    for file in std::fs::read_dir(repository_root().join(RESULTS)).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_known = Subject::value_variants().iter().any(|subject| name == format!("{}.json", subject.name()));
        assert!(is_known, "bench/results/{name} belongs to no subject");
    }
}

#[test]
fn figures_have_three_digits_and_their_unit() {
    let text = |value, unit: &str| shown(&figure(value, unit).unwrap());
    assert_eq!(text(5.912, "µs"), "5.91 µs");
    assert_eq!(text(12.0, "ms"), "12 ms");
    assert_eq!(text(0.39712, ""), "0.397");
    assert_eq!(text(18_399.0, ""), "18,399");
    assert_eq!(text(1_234_567.0, "B"), "1,234,567 B");
    assert_eq!(text(-2.5, "%"), "-2.5 %");
    assert_eq!(text(0.0, "MB"), "0 MB");
    assert_eq!(text(100.0, "ms"), "100 ms");
}

fn measured(build: Build) -> Results {
    let mut table = Table::new("Jobs", &["p50", "p99"]);
    table.add("enqueue | store", [figure(1.5, "ms"), None]);
    table.add_with_goal("start", [figure(4.0, "ms"), figure(60.0, "ms")], Goal::AtMost(50.0));
    let machine = Machine { cores: 2, cpu: Some("A CPU".to_owned()), load: Some(0.26) };
    Results { measured: jiff::civil::date(2026, 11, 30), build, machine, tables: vec![table] }
}

#[test]
fn a_part_says_when_and_how_it_was_measured() {
    assert_eq!(
        part(Subject::Queue, Some(&measured(Build::Release))),
        "Measured on 2026-11-30 with `cargo xtask bench workflows`: a release build, 2 cores (A CPU), load average 0.3 at the end.\n\n\
         | Jobs | p50 | p99 | goal |\n|---|---|---|---|\n| enqueue \\| store | 1.5 ms |  |  |\n\
         | start | 4 ms | 60 ms | at most 50 ms |\n"
    );
    assert!(part(Subject::Queue, Some(&measured(Build::Debug))).contains("**debug build**"));
    assert_eq!(part(Subject::Queue, None), "Not measured yet (`cargo xtask bench workflows`).\n");
}

#[test]
fn missed_goals_are_said() {
    let table = |build| goals(&vec![(Subject::Queue, measured(build))]);
    assert!(table(Build::Release).contains("| queue: start, p50 | 4 ms | at most 50 ms | yes |"));
    assert!(table(Build::Release).contains("| queue: start, p99 | 60 ms | at most 50 ms | **no** |"));
    assert!(table(Build::Debug).contains("| not by a debug build |"));
}

#[test]
fn only_text_between_the_markers_is_replaced() {
    let page = "a\n<!-- bench:queue -->\nold\n<!-- bench:end -->\nb\n";
    let replaced = replace(page, "queue", "new\n").unwrap();
    assert_eq!(replaced, "a\n<!-- bench:queue -->\nnew\n<!-- bench:end -->\nb\n");
    assert_eq!(replace(&replaced, "queue", "new\n").unwrap(), replaced);
}

#[test]
fn a_page_without_a_marker_is_refused() {
    let error = |page: &str| replace(page, "queue", "new\n").unwrap_err().to_string();
    assert!(error("a\n").contains("bench:queue"));
    assert!(error("<!-- bench:queue -->\nold\n").contains("bench:end"));
    assert!(error("<!-- bench:queue -->\n<!-- bench:shell -->\n<!-- bench:end -->\n").contains("bench:end"));
    let twice = "<!-- bench:queue -->\n<!-- bench:end -->\n".repeat(2);
    assert!(error(&twice).contains("one line"));
}
