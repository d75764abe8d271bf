//! What a tool brought: content of MCP, what a remote tool shows, or a value.

use super::attachment::is_web;
use super::value::{value_nodes, word};
use crate::icons::{Shape, icon};
use crate::markdown::host;
use crate::node::{Node, element};
use crate::pictures::may_show;
use crate::texts::{Text, fill, t};
use serde_json::{Map, Value};

/// The pictures that are shown; another kind could be a document with scripts.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Stands before HTML of someone else: what it adds to the page's own policy cannot be taken back behind it.
const NOTHING_FROM_ELSEWHERE: &str = r#"<meta http-equiv="Content-Security-Policy" content="img-src data:">"#;

/// A result as a part of a tree; `name` is what brought it.
pub(super) fn result_nodes(output: &Value, name: &str) -> Vec<Node> {
    if let Some(content) = mcp(output) {
        return content.iter().flat_map(|block| mcp_block(block, name)).collect();
    }
    match remote(output) {
        Some(remote) => remote_nodes(remote, name),
        None => value_nodes(output),
    }
}

/// Whether a result was made to be looked at or listened to.
pub(super) fn is_for_eyes(output: &Value) -> bool {
    match (mcp(output), remote(output)) {
        (Some(content), _) => content.iter().any(|block| text(block, "type") != "text"),
        // A picture of another host is asked for when the card is unfolded, not before.
        (None, Some(remote)) => {
            let media = remote.get("media").and_then(Value::as_array);
            (remote.contains_key("html") || media.is_some()) && !media.into_iter().flatten().any(is_picture)
        }
        (None, None) => false,
    }
}

/// The content of a result of an MCP server, which has nothing beside it.
fn mcp(output: &Value) -> Option<&Vec<Value>> {
    let output = output.as_object().filter(|output| output.len() == 1)?;
    let content = output.get("content")?.as_array()?;
    let is_block = |block: &Value| matches!(text(block, "type"), "text" | "image" | "audio");
    (!content.is_empty() && content.iter().all(is_block)).then_some(content)
}

fn mcp_block(block: &Value, name: &str) -> Vec<Node> {
    let kind = text(block, "mimeType");
    let url = || format!("data:{kind};base64,{}", text(block, "data"));
    match text(block, "type") {
        "text" => value_nodes(block.get("text").unwrap_or_default()),
        "image" if PICTURES.contains(&kind) => {
            let picture = element("img").with("src", url()).with("alt", fill(Text::PictureFrom, &[name]));
            vec![frame(t(Text::Picture), picture)]
        }
        "audio" if kind.starts_with("audio/") => {
            let label = fill(Text::SoundFrom, &[name]);
            vec![element("audio").with("controls", "").with("aria-label", label).with("src", url())]
        }
        _ => vec![word(fill(Text::FileNotShown, &[kind]))],
    }
}

/// What a remote tool shows; see `RemoteTool` for the shapes.
fn remote(output: &Value) -> Option<&Map<String, Value>> {
    let output = output.as_object()?;
    let known: &[&str] = match output.get("type")?.as_str()? {
        "html" => &["type", "html"],
        "media" => &["type", "media", "omitted"],
        "mixed" => &["type", "text", "html", "media", "omitted", "data"],
        _ => return None,
    };
    (output.len() > 1 && output.keys().all(|key| known.contains(&key.as_str()))).then_some(output)
}

fn remote_nodes(output: &Map<String, Value>, name: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    if let Some(text) = output.get("text") {
        nodes.extend(value_nodes(text));
    }
    if let Some(Value::String(html)) = output.get("html") {
        nodes.push(frame("HTML", html_frame(html, name)));
    }
    let media = output.get("media").and_then(Value::as_array);
    nodes.extend(media.into_iter().flatten().map(medium));
    if let Some(omitted) = output.get("omitted") {
        nodes.push(word(fill(Text::MoreLeftOut, &[&omitted.to_string()])));
    }
    if let Some(data) = output.get("data") {
        nodes.extend(value_nodes(data));
    }
    nodes
}

/// HTML of someone else: no scripts, no forms, no files of other hosts, and nothing of ours. Bound before it is filled.
fn html_frame(html: &str, name: &str) -> Node {
    let html = format!("{NOTHING_FROM_ELSEWHERE}{html}");
    let frame = element("iframe").with("sandbox", "").with("referrerpolicy", "no-referrer");
    frame.with("title", fill(Text::HtmlFrom, &[name])).with("srcdoc", html)
}

fn is_picture(medium: &Value) -> bool {
    let is_image = text(medium, "type") == "image" || text(medium, "mimeType").starts_with("image/");
    is_image && may_show(text(medium, "url"))
}

/// A picture of a host that the config names, which does not hear who looks at it where, or a link to a file.
fn medium(medium: &Value) -> Node {
    let url = text(medium, "url");
    let label = Some(text(medium, "description")).filter(|label| !label.is_empty());
    let label = label.unwrap_or_else(|| url.rsplit('/').find(|part| !part.is_empty()).unwrap_or(url));
    if is_picture(medium) {
        // The address comes last: it is asked for as soon as it is there.
        let picture = element("img").with("alt", label).with("loading", "lazy").with("referrerpolicy", "no-referrer");
        return frame(t(Text::Picture), picture.with("src", url));
    }
    if !is_web(url) {
        return element("span").with("class", "cw-source").text(label);
    }
    let link = element("a").with("class", "cw-source").with("href", url).with("target", "_blank");
    let link = link.with("rel", "noopener noreferrer nofollow").with("referrerpolicy", "no-referrer");
    let place = element("span").with("class", "cw-source-host").text(host(url));
    link.around(vec![icon(Shape::Link), element("span").with("dir", "auto").text(label), place])
}

/// Something to look at, in a place whose height is known before it is there, so that nothing jumps.
fn frame(title: &'static str, content: Node) -> Node {
    let switch = element("input").with("type", "checkbox");
    let switch = element("label").around(vec![switch, element("span").text(t(Text::Enlarge))]);
    let head = element("div").with("class", "cw-frame-head").around(vec![element("span").text(title), switch]);
    element("div").with("class", "cw-frame").around(vec![head, content])
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}
