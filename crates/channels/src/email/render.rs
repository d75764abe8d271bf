//! The text of a mail as HTML. The text of a model loads no external content: pictures are links, and HTML is shown as
//! text.

use markdown_stream::link_text;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html as write};
use url::Url;

/// Returns Markdown as HTML.
pub(super) fn html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut shown = String::from("<!doctype html><meta charset=\"utf-8\">\n");
    let mut open = OpenLink::default();
    let events = Parser::new_ext(markdown, options).map(harmless).flat_map(|event| {
        let host = open.read(&event).map(|host| Event::Text(format!(" ({host})").into()));
        host.into_iter().chain([event])
    });
    write::push_html(&mut shown, events);
    shown
}

fn harmless(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Image { link_type, dest_url, title, id } | Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if is_harmless(&dest_url) { dest_url } else { "".into() };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        event => event,
    }
}

/// Returns whether a link leads to a page or an address of mail, without a user name that makes one host look like
/// another.
fn is_harmless(target: &str) -> bool {
    let is_open = |url: Url| match url.scheme() {
        "http" | "https" => url.username().is_empty() && url.password().is_none(),
        scheme => scheme == "mailto",
    };
    Url::parse(target).is_ok_and(is_open)
}

/// The link that is being read.
#[derive(Default)]
struct OpenLink {
    url: String,
    text: String,
}

impl OpenLink {
    /// Reads the next event. At the end of a link whose text names another host, the result is the one that it opens.
    fn read(&mut self, event: &Event<'_>) -> Option<String> {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                *self = Self { url: dest_url.to_string(), text: String::new() };
            }
            Event::Text(text) | Event::Code(text) => self.text.push_str(text),
            Event::End(TagEnd::Link) => {
                let Self { url, text } = std::mem::take(self);
                let has_target = !url.is_empty();
                return link_text::undisclosed_host(&text, &url).filter(|_| has_target).map(str::to_owned);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    #[test]
    fn markdown_becomes_html_that_loads_nothing() {
        let check = |markdown: &str| html(markdown).split_once('\n').unwrap().1.to_owned();
        assert_snapshot!(check("**Hi** <img src=x onerror=y>, ![see](https://a.test/p.png) and [x](javascript:y)"), @r#"<p><strong>Hi</strong> &lt;img src=x onerror=y&gt;, <a href="https://a.test/p.png">see</a> and <a href="">x</a></p>"#);
        assert_snapshot!(check("[bank](https://bank.example@evil.test), [bank.example](https://evil.test/x) and <https://a.test>"), @r#"<p><a href="">bank</a>, <a href="https://evil.test/x">bank.example (evil.test)</a> and <a href="https://a.test">https://a.test</a></p>"#);
        assert_snapshot!(check("```json\n{\"a\": \"<b>\"}\n```"), @r#"
        <pre><code class="language-json">{"a": "&lt;b&gt;"}
        </code></pre>
        "#);
    }
}
