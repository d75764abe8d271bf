//! Makes hidden characters visible: what is shown must be what will run. In a message there are no boxes as on the web
//! page, so hidden characters are their code points in brackets.

use wire::ToolPart;
use wire::hidden_characters::{TextKind, text_with_code_points};
use wire::question::Question;

/// Returns a value, such as an argument or a name, with all hidden characters as `[U+202E]`.
pub(crate) fn visible(text: &str) -> String {
    text_with_code_points(text, TextKind::Value).into_owned()
}

/// Returns the question of a call as it is shown: with what no writing system needs as `[U+202E]`.
pub(crate) fn visible_question(tool: &ToolPart) -> Question {
    let shown = |text: &mut String| *text = text_with_code_points(text, TextKind::Prose).into_owned();
    let mut question = Question::read(tool.input.as_ref().unwrap_or(&serde_json::Value::Null));
    shown(&mut question.text);
    shown(&mut question.context);
    question.options.iter_mut().for_each(shown);
    question
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hidden_characters_are_shown() {
        let check = |text: &str, expected: &str| assert_eq!(visible(text), expected, "{text:?}");
        check("rm -rf /\n", "rm -rf /\n");
        check("ünïcode 东京 שלום 👋", "ünïcode 东京 שלום 👋");
        check("a\u{202e}b\u{200b}", "a[U+202E]b[U+200B]");
        check("\u{3164}\u{2800}\u{e0041}\u{fe0f}", "[U+3164 U+2800 U+E0041 U+FE0F]");
        check("c\r\u{0}", "c[U+000D U+0000]");
        check("e\u{301}", "e\u{301}");
    }

    #[test]
    fn questions_show_hidden_characters() {
        let input = json!({
            "question": "Pay \u{202e}001\u{202c}?", "context": "a\u{e0041}", "options": ["❤\u{fe0f}", "no\u{1b}"],
        });
        let mut tool = ToolPart::new("t", wire::question::ASK_USER);
        tool.input = Some(input);
        let question = visible_question(&tool);
        assert_eq!(question.text, "Pay [U+202E]001[U+202C]?");
        assert_eq!(
            (question.context.as_str(), question.options),
            ("a[U+E0041]", vec!["❤\u{fe0f}".to_owned(), "no[U+001B]".to_owned()])
        );
    }
}
