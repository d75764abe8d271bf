//! Evaluation files and datasets, and the positions of mistakes in them.

use crate::support::Files;
use evaluation::{Case, Selection};
use serde_json::json;
use std::fs;

const EVALUATION: &str = "name: test\nagentId: helper\ndataset: cases.jsonl\n";

#[test]
fn mistakes_in_the_evaluation_have_their_positions() {
    let check = |more: &str, expected: &str| {
        let files = Files::new(&format!("{EVALUATION}{more}"), r#"{"id":"1","input":"x","expected":{"a":1}}"#);
        assert_eq!(files.problems(), format!("evaluation.yaml:{expected}"), "{more}");
    };
    check("parallel: 0", "4:11: error: 1 to 64 cases are evaluated at the same time");
    check("repeat: often", "4:9: error: invalid type: string \"often\", expected u32");
    check(
        "scorers:\n  - { id: a, exact: {} , regex: { pattern: x } }",
        "5:5: error: a scorer has exactly one of `exact`, `contains`, `regex`, `schema`, `jsonPath`, `tools`, `cost`, `time`, `citations`, `judge` or `endpoint`",
    );
    check(
        "scorers:\n  - id: a\n    regex: { pattern: '(' }",
        "6:23: error: the pattern cannot be read: error: unclosed group",
    );
    check("scorers:\n  - { id: a, exact: {} }\n  - { id: a, exact: {} }", "6:11: error: there is another scorer `a`");
    check(
        "scorers:\n  - { id: a, contains: { all: { _case: expected.b } } }",
        "5:31: error: no case of the dataset has `expected.b`",
    );
    check(
        "scorers:\n  - { id: a, judge: { agentId: j, rubric: r, passMark: 9 } }",
        "5:21: error: `passMark` is not on the scale from 1 to 5",
    );
    check(
        "scorers:\n  - { id: a, schema: { type: 7 } }",
        "5:22: error: 7 is not valid under any of the schemas listed in the 'anyOf' keyword",
    );
    let unknown =
        Files::new(&format!("{EVALUATION}scorers:\n  - {{ id: a, exakt: {{}} }}"), r#"{"id":"1","input":"x"}"#);
    let problem = unknown.problems();
    assert!(
        problem.starts_with("evaluation.yaml:5:") && problem.contains("unknown field `exakt`, expected one of"),
        "{problem}"
    );
    let broken = Files::new("name: [", "");
    assert!(broken.problems().starts_with("evaluation.yaml:"), "{}", broken.problems());
    let missing = Files::new(&EVALUATION.replace("cases.jsonl", "other.jsonl"), "");
    assert!(missing.problems().starts_with("other.jsonl: error: the file cannot be read"), "{}", missing.problems());
}

#[test]
fn mistakes_in_a_dataset_have_their_lines() {
    let check = |name: &str, text: &str, expected: &str| {
        let files = Files::new(&EVALUATION.replace("cases.jsonl", name), "");
        fs::write(files.path(name), text).unwrap();
        assert_eq!(files.problems(), expected, "{text}");
    };
    check("c.jsonl", "\n{\"id\":\"1\"}\n", "c.jsonl:2:10: error: missing field `input`");
    check(
        "c.jsonl",
        "{\"id\":\"1\",\"input\":\"\"}",
        "c.jsonl:1:1: error: `input`: the input needs 1 to 50 texts, none of them empty",
    );
    check(
        "c.jsonl",
        "{\"id\":\"1\",\"input\":\"x\"}\n{\"id\":\"1\",\"input\":\"y\"}",
        "c.jsonl:2: error: the case `1` is in c.jsonl:1 already",
    );
    check(
        "c.jsonl",
        "{\"id\":\"1\",\"inputs\":\"x\"}",
        "c.jsonl:1:18: error: unknown field `inputs`, expected one of `id`, `input`, `expected`, `tags`, `split`, `must`, `metadata`, `scorers`, `rated`",
    );
    check(
        "c.csv",
        "id,input,title\n1,x,y",
        "c.csv:1:1: error: unknown column `title`; columns are `id`, `input`, `expected`, `expected.NAME`, `expected.NAME[]`, `tags`, `split`, `must`, `rated.answer`, `rated.liked` and `metadata.NAME`",
    );
    check("c.csv", "id,input,input\n1,x,y", "c.csv:1:1: error: there are two columns `input`");
    check(
        "c.csv",
        "id;input\n1;x",
        "c.csv:1:1: error: the columns are separated by semicolons; separate them by commas (`id,input,expected`)",
    );
    check(
        "c.csv",
        "id,input,rated.answer,rated.liked\n1,x,y,maybe",
        "c.csv:2:1: error: `rated.liked` is `true` or `false`, not `maybe`",
    );
    check("c.csv", "id,input,rated.answer\n1,x,y", "c.csv:2:1: error: missing field `liked`");
    check(
        "c.yaml",
        "- { id: a, input: x, rated: { answer: ' ', liked: true } }\n",
        "c.yaml:1:39: error: the rated answer is empty",
    );
    check("c.csv", "id,input,must\n1,x,true\n2,y,maybe", "c.csv:3:1: error: `must` is `true` or `false`, not `maybe`");
    check(
        "c.yaml",
        "- { id: a, input: x }\n- { id: b, input: [] }\n",
        "c.yaml:2:19: error: the input needs 1 to 50 texts, none of them empty",
    );
    check("c.txt", "", "c.txt: error: a dataset is a .jsonl, .csv or .yaml file");
}

/// The same cases in each format.
#[test]
fn formats_have_the_same_cases() {
    let json = concat!(
        r#"{"id":"1","input":"Hello, you","expected":{"a":"x"},"tags":["t","u"],"split":"test","must":true,"metadata":{"m":"1"},"rated":{"answer":"Hi.","liked":true}}"#,
        "\n\n",
        r#"{"id":"2","input":"Bye"}"#
    );
    let csv = "id,input,expected.a,tags,split,must,metadata.m,rated.answer,rated.liked\n\
               1,\"Hello, you\",x,t|u,test,yes,1,Hi.,yes\n2,Bye,,,,,,,\n";
    let yaml = "- { id: '1', input: 'Hello, you', expected: { a: x }, tags: [t, u], split: test, must: true, metadata: { m: '1' }, rated: { answer: Hi., liked: true } }\n\
                - { id: '2', input: Bye }\n";
    let read = |name: &str, text: &str| {
        let files = Files::new(&EVALUATION.replace("cases.jsonl", name), "");
        fs::write(files.path(name), text).unwrap();
        let cases = files.read().1;
        cases.iter().map(|case| (case.to_value(), case.must, case.rated.clone())).collect::<Vec<_>>()
    };
    let expected = read("c.jsonl", json);
    assert_eq!(expected[0].0["input"], json!(["Hello, you"]));
    assert_eq!(expected[0].2.as_ref().map(|rated| (rated.answer.as_str(), rated.liked)), Some(("Hi.", true)));
    assert_eq!(read("c.csv", csv), expected);
    assert_eq!(read("c.yaml", yaml), expected);
}

/// A cell is a text, or with `[]` a list of texts.
#[test]
fn csv_has_lists_of_expected_values() {
    let files = Files::new(&EVALUATION.replace("cases.jsonl", "c.csv"), "");
    fs::write(files.path("c.csv"), "id,input,expected.tools[],expected.says\n1,x,look | post,yes\n2,x,,a|b\n").unwrap();
    let cases: Vec<_> = files.read().1.iter().map(|case| case.to_value()["expected"].clone()).collect();
    assert_eq!(cases, [json!({ "tools": ["look", "post"], "says": "yes" }), json!({ "says": "a|b" })]);
}

#[test]
fn cases_are_selected() {
    let cases: Vec<Case> = serde_json::from_value(json!([
        { "id": "1", "input": "x", "split": "test", "tags": ["a"] },
        { "id": "2", "input": "x", "split": "train", "tags": ["a", "b"] },
        { "id": "3", "input": "x", "tags": ["b"] },
    ]))
    .unwrap();
    let check = |selection: Selection, expected: &str| {
        let selected = selection.apply(cases.clone());
        let ids = selected.map(|cases| cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>().join(" "));
        assert_eq!(ids.unwrap_or_else(|problem| problem), expected);
    };
    check(Selection::default(), "1 2 3");
    check(Selection { split: Some("test".to_owned()), ..Selection::default() }, "1");
    check(Selection { tags: vec!["b".to_owned()], ..Selection::default() }, "2 3");
    check(Selection { ids: vec!["3".to_owned(), "1".to_owned()], ..Selection::default() }, "1 3");
    check(Selection { ids: vec!["9".to_owned()], ..Selection::default() }, "there is no case `9` in the dataset");
    check(Selection { split: Some("other".to_owned()), ..Selection::default() }, "no case is selected");
}

/// A case that no scorer checks would always pass.
#[test]
fn unscored_cases_are_refused() {
    let check = |more: &str, case: &str, configs: usize, expected: Result<(), &str>| {
        let files = Files::new(
            &format!("{EVALUATION}{more}"),
            &format!("{{\"id\":\"1\",\"input\":\"x\",\"expected\":{{\"a\":\"x\"}}}}\n{case}"),
        );
        let (evaluation, cases) = files.read();
        assert_eq!(evaluation.check_scored(&cases, configs), expected.map_err(str::to_owned), "{more} {case}");
    };
    let refused = Err("no scorer applies to the case `2`, so nothing would be checked");
    let contains = "scorers: [{ id: s, contains: { all: { _case: expected.a } } }]";
    let case = |more: &str| format!("{{\"id\":\"2\",\"input\":\"x\"{more}}}");
    check(contains, "", 1, Ok(()));
    check(contains, &case(""), 1, refused);
    check(contains, &case(",\"expected\":{\"a\":null}"), 1, refused);
    check(contains, &case(",\"expected\":{\"a\":\"x\"}"), 1, Ok(()));
    check(contains, &case(",\"scorers\":[{\"id\":\"t\",\"time\":{\"maxSeconds\":1}}]"), 1, Ok(()));
    check(
        "scorers: [{ id: s, tags: [t], exact: { value: x } }, { id: t, jsonPath: { path: $, equals: { _case: expected.a } } }]",
        &case(",\"tags\":[\"t\"]"),
        1,
        Ok(()),
    );
    check("scorers: [{ id: s, tools: { called: { _case: expected.a } } }]", &case(""), 1, refused);
    check("compare: { agentId: judge, rubric: Short. }", &case(""), 2, Ok(()));
    check(
        "compare: { agentId: judge, rubric: Short. }",
        "",
        1,
        Err("no scorer applies to the case `1`, so nothing would be checked"),
    );
}
