//! The text of a mail as HTML. What a model writes loads nothing from elsewhere: pictures are links, and HTML is text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html as write};
use url::Url;

/// Returns Markdown as HTML.
pub(super) fn html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut shown = String::from("<!doctype html><meta charset=\"utf-8\">\n");
    write::push_html(&mut shown, Parser::new_ext(markdown, options).map(harmless));
    shown
}

fn harmless(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Image { link_type, dest_url, title, id } | Tag::Link { link_type, dest_url, title, id }) => {
            let is_open = Url::parse(&dest_url).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
            let dest_url = if is_open { dest_url } else { "".into() };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        event => event,
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
        assert_snapshot!(check("```json\n{\"a\": \"<b>\"}\n```"), @r#"
        <pre><code class="language-json">{"a": "&lt;b&gt;"}
        </code></pre>
        "#);
    }
}
