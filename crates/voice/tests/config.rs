//! The section `voice` of a config, and the messages about mistakes in it.

use config::Language;
use insta::assert_snapshot;
use std::collections::HashMap;

const TRANSCRIPTION: &str = "transcription: { connectionId: speech, model: m }";
const SPEECH: &str = "speech: { connectionId: speech, model: m, voice: v }";

/// Reads a config with this section; returns its problems.
fn check(voice: &str) -> String {
    let language: Language = capability::language(&[voice::DEFINITION]);
    let text = format!(
        "connections:\n  - {{ id: demo, type: Demo }}\n  - {{ id: speech, type: OpenAICompatible, properties: {{ baseURL: 'http://127.0.0.1:1/v1' }} }}\nvoice: {voice}\n"
    );
    let problems =
        match language.read_embedded(&[("chatwright.yaml", &text)], &HashMap::<String, String>::new()).outcome {
            Ok((_, warnings)) => warnings,
            Err(problems) => problems,
        };
    let text = config::render(&problems);
    text.lines().filter(|line| line.contains("error") || line.contains("help")).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_forms_are_accepted() {
    for voice in [
        format!("{{ {TRANSCRIPTION} }}"),
        format!("{{ {SPEECH} }}"),
        format!("{{ {TRANSCRIPTION}, {SPEECH} }}"),
        "{ transcription: { connectionId: speech, model: m, language: en, maxSeconds: 600, costUsdPerMinute: 0.006 } }".to_owned(),
        "{ speech: { connectionId: speech, model: m, voice: v, format: opus, maxCharacters: 500, costUsdPerMillionCharacters: 15 } }".to_owned(),
    ] {
        assert_eq!(check(&voice), "", "{voice}");
    }
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check("{}"), @"
    chatwright.yaml:4:8: error: nothing is configured here
       = help: set `transcription`, `speech`, or both
    ");
    assert_snapshot!(check("{ transcription: { connectionId: speach, model: m } }"), @"
    chatwright.yaml:4:41: error: there is no connection `speach`
       = help: did you mean `speech`?
    ");
    assert_snapshot!(check("{ speech: { connectionId: demo, model: m, voice: v } }"), @"
    chatwright.yaml:4:34: error: `demo` is a connection of the type Demo, which cannot be used here
       = help: name one of the type OpenAI or OpenAICompatible
    ");
    assert_snapshot!(check("{ transcription: { connectionId: speech, model: m, language: English } }"), @"
    chatwright.yaml:4:69: error: `English` is not the code of a language
       = help: write two or three letters, such as `en`
    ");
    let has = |problems: String, expected: &str| assert!(problems.contains(expected), "{expected}: {problems}");
    has(
        check("{ transcription: { connectionId: speech, model: m, maxSeconds: 1 } }"),
        "expected a number between 5 and 600",
    );
    has(check("{ speech: { connectionId: speech, model: m, voice: v, format: flac } }"), "there is no value `flac`");
    has(check("{ speech: { connectionId: speech, model: m } }"), "voice");
}
