use super::*;
use contract::{FinishReason, Message, ToolOutput, ToolResult, Usage};
use serde_json::json;

fn history() -> KnownSources {
    let item = json!({ "id": "S1", "file": "pumps.md", "place": "section 2", "heading": "Pumps", "text": "The pump runs from 22:00 to 6:00.",
        "chunkId": "v.0", "documentId": "d", "mediaType": "text/markdown", "score": 0.9 });
    let result = ToolResult {
        call_id: "c".to_owned(),
        name: SEARCH.to_owned(),
        output: ToolOutput::Json(json!({ "results": [item] })),
        metadata: None,
    };
    KnownSources::from_history(&[Arc::new(Message::Tool(vec![result]))])
}

/// Returns the text that reaches the reader, and the citations.
fn run(is_strict: bool, deltas: &[&str], calls: bool) -> (String, Vec<Citation>) {
    let mut check = Check::new(history(), is_strict);
    let id = || "t".to_owned();
    let mut parts = check.part(Part::TextStart { id: id() });
    for delta in deltas {
        parts.extend(check.part(Part::TextDelta { id: id(), delta: (*delta).to_owned() }));
    }
    parts.extend(check.part(Part::TextEnd { id: id(), metadata: None, citations: Vec::new() }));
    if calls {
        let call = Part::ToolCall {
            id: id(),
            name: "x".to_owned(),
            input: String::new(),
            provider_executed: false,
            metadata: None,
        };
        parts.extend(check.part(call));
    }
    let finish = Part::Finish { reason: FinishReason::Stop, raw_reason: None, usage: Usage::default(), metadata: None };
    parts.extend(check.part(finish));
    let (mut text, mut cited) = (String::new(), Vec::new());
    for part in parts {
        match part {
            Part::TextDelta { delta, .. } => text += &delta,
            Part::TextEnd { citations, .. } => cited.extend(citations),
            _ => {}
        }
    }
    (text, cited)
}

#[test]
fn known_markers_become_citations_and_others_are_left_out() {
    let (text, cited) = run(false, &["It runs at ni", "ght [S", "1]. It is blue [S7]. [S1 \"from 22:00\"]"], false);
    assert_eq!(text, "It runs at night. It is blue.");
    let cited: Vec<_> = cited.into_iter().map(|one| (one.end_index, one.cited_text.unwrap())).collect();
    let whole = "The pump runs from 22:00 to 6:00.".to_owned();
    assert_eq!(cited, [(Some(16), whole), (Some(29), "from 22:00".to_owned())]);
}

#[test]
fn invented_quotes_are_replaced_by_the_passage() {
    let (_, cited) = run(false, &["Blue [S1 \"is blue\"]."], false);
    assert_eq!(cited[0].cited_text.as_deref(), Some("The pump runs from 22:00 to 6:00."));
    let contract::Source::Document { title, metadata, .. } = &cited[0].source else { panic!() };
    assert_eq!(title, "pumps.md, section 2");
    assert_eq!(metadata.as_ref().unwrap()["knowledge"]["chunkId"], "v.0");
}

#[test]
fn forms_that_models_write_are_citations() {
    let check = |delta: &str, expected: &str, count: usize| {
        let (text, cited) = run(false, &[delta], false);
        assert_eq!((text.as_str(), cited.len()), (expected, count), "{delta}");
    };
    check("At night [S1 p. 2] [S77–S80].", "At night.", 1);
    check("At night ([S1] or (S1)), in S3 (S3).", "At night ( or), in S3 (S3).", 2);
    check("See [S1](https://a.example) and [S77](b).", "See and.", 1);
}

#[test]
fn strict_agent_says_nothing_without_a_citation() {
    let check =
        |deltas: &[&str], calls: bool, expected: &str| assert_eq!(run(true, deltas, calls).0, expected, "{deltas:?}");
    check(&["It is blue."], false, NOTHING_FOUND);
    check(&["It is blue [S7]."], false, NOTHING_FOUND);
    check(&["It runs ", "at night [S1]", " and is blue."], false, "It runs at night and is blue.");
    check(&["It runs at night [S1, page 1]."], false, "It runs at night.");
    check(&["It runs at night (S1)."], false, "It runs at night.");
    check(&["It runs at night (S7)."], false, NOTHING_FOUND);
    check(&["I will search."], true, "");
    check(&[""], false, "");
}
