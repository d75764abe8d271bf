//! Code blocks with their language and buttons.

use super::options::MarkdownOptions;
use crate::texts::{Text, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{Node, element};
use crate::ui::script::load_script;

/// Returns the markup of a code block. It has no state, so that it can be updated in place while
/// the code arrives; clicks are handled by [`super::on_click`]. `open` means that more code may
/// follow.
pub(super) fn code_block(language: &str, code: String, open: bool, extras: &MarkdownOptions) -> Node {
    let label = if language.is_empty() { t(Text::Code) } else { language };
    let wrap = element("button").attr("type", "button").attr("class", "cw-md-wrap").attr("aria-pressed", "false");
    let copy =
        element("button").attr("type", "button").attr("class", "cw-md-copy").attr("aria-label", t(Text::CopyCode));
    let mut head = vec![element("span").attr("class", "cw-md-language").text(label)];
    let mut block = element("div").attr("class", "cw-md-code");
    if extras.highlighting {
        load_highlighter();
        block = block.attr("data-language", language);
    }
    // The diagram replaces the code once it is drawn.
    if extras.diagrams && language.eq_ignore_ascii_case("mermaid") {
        load_highlighter();
        block = block.attr("data-language", language).attr("data-diagrams", "");
        let source =
            element("button").attr("type", "button").attr("class", "cw-md-source").attr("aria-pressed", "false");
        head.push(source.text(t(Text::Source)));
    }
    if open {
        block = block.attr("data-open", "");
    }
    head.extend([wrap.text(t(Text::Wrap)), copy.text(t(Text::Copy))]);
    let code = element("code").attr("dir", "ltr").children(visible_nodes(&code, TextKind::Code));
    block.children(vec![
        element("div").attr("class", "cw-md-code-head").children(head),
        element("pre").attr("tabindex", "0").children(vec![code]),
    ])
}

/// Returns a whole text as highlighted code, without a head. `language` may be the extension of a file's name.
pub(crate) fn source_block(language: &str, text: &str) -> Node {
    load_highlighter();
    let code = element("code").attr("dir", "ltr").children(visible_nodes(text, TextKind::Code));
    let pre = element("pre").attr("tabindex", "0").children(vec![code]);
    element("div").attr("class", "cw-md-code").attr("data-language", language).children(vec![pre])
}

/// Loads the script that highlights code and draws diagrams. It handles all blocks of the page, including those that
/// are added later.
fn load_highlighter() {
    load_script("/assets/lazy/code.js");
}
