//! What an answer refers to, numbered, in a list below it. The numbers in the text lead there.

use super::EXTRAS;
use super::attachment::is_web;
use super::cited::Cited;
use super::message_state::MessageState;
use crate::erase::{Erased, optional};
use crate::icons::{Shape, icon};
use crate::markdown::host;
use crate::node::{Node, drawn, element};
use crate::reactive::{ArcRwSignal, Memo};
use crate::texts::{self, Text, t};

/// The list; nothing while there are no sources.
pub(super) fn sources(message: &MessageState) -> Erased {
    let (cited, shown) = (message.cited.clone(), message.cited.clone());
    let is_there = Memo::new(move |_| cited.with(|all| !all.is_empty()));
    optional(move || {
        let cited = shown.clone();
        is_there.get().then(|| EXTRAS.view(move |code| (code.sources)(cited.clone())))
    })
}

/// The list of those.
pub(super) fn panels(cited: ArcRwSignal<Vec<Cited>>) -> Erased {
    drawn(move || cited.with(|all| if all.is_empty() { Vec::new() } else { vec![panel(all)] }))
}

fn panel(all: &[Cited]) -> Node {
    let count = if all.len() == 1 { t(Text::OneSource).to_owned() } else { texts::count(Text::Sources, all.len()) };
    let chevron = element("span").with("class", "cw-chevron").around(vec![icon(Shape::Chevron)]);
    element("details").with("class", "cw-sources").around(vec![
        element("summary").around(vec![element("span").text(count), chevron]),
        element("ol").around(all.iter().map(item).collect()),
    ])
}

/// Takes the focus of whoever comes from its number.
fn item(cited: &Cited) -> Node {
    let title = element("span").with("dir", "auto").text(cited.title.as_str());
    let mut content = vec![match cited.url.as_deref().filter(|url| is_web(url)) {
        Some(url) => link(url, title),
        None => title,
    }];
    content.extend(
        cited
            .words
            .as_ref()
            .map(|words| element("p").with("class", "cw-source-words").with("dir", "auto").text(words.as_str())),
    );
    element("li").with("tabindex", "-1").around(content)
}

fn link(url: &str, title: Node) -> Node {
    let link = element("a").with("href", url).with("target", "_blank").with("rel", "noopener noreferrer nofollow");
    link.around(vec![title, element("span").with("class", "cw-source-host").text(host(url))])
}
