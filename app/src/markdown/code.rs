//! A block of code with its language and what can be done with it.

use super::Extras;
use crate::node::{Node, element};
use crate::texts::{Text, t};
use crate::visible::{Kind, nodes};

/// The markup of a code block. It has no state of its own, so that it can be changed in place while the code arrives; see
/// [`super::on_click`]. `open` says that more code may come.
pub(super) fn code_block(language: &str, code: String, open: bool, extras: &Extras) -> Node {
    let label = if language.is_empty() { t(Text::Code) } else { language };
    let wrap = element("button").with("type", "button").with("class", "cw-md-wrap").with("aria-pressed", "false");
    let copy =
        element("button").with("type", "button").with("class", "cw-md-copy").with("aria-label", t(Text::CopyCode));
    let mut head = vec![element("span").with("class", "cw-md-language").text(label)];
    let mut block = element("div").with("class", "cw-md-code");
    if extras.colours {
        call_for_colours();
        block = block.with("data-language", language);
    }
    // The diagram stands in the place of the code once it is drawn.
    if extras.diagrams && language.eq_ignore_ascii_case("mermaid") {
        call_for_colours();
        block = block.with("data-language", language).with("data-diagrams", "");
        let source =
            element("button").with("type", "button").with("class", "cw-md-source").with("aria-pressed", "false");
        head.push(source.text(t(Text::Source)));
    }
    if open {
        block = block.with("data-open", "");
    }
    head.extend([wrap.text(t(Text::Wrap)), copy.text(t(Text::Copy))]);
    let code = element("code").with("dir", "ltr").around(nodes(&code, Kind::Code));
    block.around(vec![
        element("div").with("class", "cw-md-code-head").around(head),
        element("pre").with("tabindex", "0").around(vec![code]),
    ])
}

/// Loads the script that colours code and draws diagrams. It looks after all blocks of the page, those that come later too.
#[cfg(not(feature = "ssr"))]
fn call_for_colours() {
    use leptos::prelude::document;
    use std::sync::atomic::{AtomicBool, Ordering};
    static CALLED: AtomicBool = AtomicBool::new(false);
    if CALLED.swap(true, Ordering::Relaxed) {
        return;
    }
    let script = document().create_element("script");
    if let (Ok(script), Ok(Some(head))) = (script, document().query_selector("head")) {
        // Attributes of an element that was just made; without the script the code is shown in one colour.
        let _ = script.set_attribute("type", "module");
        let _ = script.set_attribute("src", "/assets/lazy/code.js");
        let _ = head.append_child(&script);
    }
}

#[cfg(feature = "ssr")]
fn call_for_colours() {}
