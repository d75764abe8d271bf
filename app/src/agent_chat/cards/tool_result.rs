//! The result of a tool: MCP content, the output of a remote tool, or any other value.

use crate::agent_chat::message::attachment::is_web;
use crate::approval::value::{label_node, result_value_nodes};
use crate::texts::{Text, fill, t};
use crate::ui::icons::{Shape, icon};
use crate::ui::image_origins::is_allowed_image;
use crate::ui::node::{Node, element};
use markdown_stream::link::host;
use serde_json::{Map, Value};

/// The picture types that are shown; other types could be documents with scripts.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Prepended to third-party HTML. The HTML that follows can make this policy stricter, but cannot
/// relax it.
const CSP_META: &str = r#"<meta http-equiv="Content-Security-Policy" content="img-src data:">"#;

/// A result as nodes; `name` is the name of the tool.
pub(in crate::agent_chat) fn result_nodes(output: &Value, name: &str) -> Vec<Node> {
    if let Some(content) = mcp_content(output) {
        return content.iter().flat_map(|block| mcp_block(block, name)).collect();
    }
    match remote_output(output) {
        Some(remote) => remote_nodes(remote, name),
        None => result_value_nodes(output),
    }
}

/// Whether a result contains pictures, audio or HTML.
pub(in crate::agent_chat) fn is_media(output: &Value) -> bool {
    match (mcp_content(output), remote_output(output)) {
        (Some(content), _) => content.iter().any(|block| text(block, "type") != "text"),
        // A picture from another host is loaded only when the card is opened.
        (None, Some(remote)) => {
            let media = remote.get("media").and_then(Value::as_array);
            (remote.contains_key("html") || media.is_some()) && !media.into_iter().flatten().any(is_picture)
        }
        (None, None) => false,
    }
}

/// The content of an MCP result; none if the output has other fields as well.
fn mcp_content(output: &Value) -> Option<&Vec<Value>> {
    let output = output.as_object().filter(|output| output.len() == 1)?;
    let content = output.get("content")?.as_array()?;
    let is_block = |block: &Value| matches!(text(block, "type"), "text" | "image" | "audio");
    (!content.is_empty() && content.iter().all(is_block)).then_some(content)
}

fn mcp_block(block: &Value, name: &str) -> Vec<Node> {
    let kind = text(block, "mimeType");
    let url = || format!("data:{kind};base64,{}", text(block, "data"));
    match text(block, "type") {
        "text" => result_value_nodes(block.get("text").unwrap_or_default()),
        "image" if PICTURES.contains(&kind) => {
            let picture = element("img").attr("src", url()).attr("alt", fill(Text::PictureFrom, &[name]));
            vec![frame(t(Text::Picture), picture)]
        }
        "audio" if kind.starts_with("audio/") => {
            let label = fill(Text::SoundFrom, &[name]);
            vec![element("audio").attr("controls", "").attr("aria-label", label).attr("src", url())]
        }
        _ => vec![label_node(fill(Text::FileNotShown, &[kind]))],
    }
}

/// The output of a remote tool; see `RemoteTool` for the formats.
fn remote_output(output: &Value) -> Option<&Map<String, Value>> {
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
        nodes.extend(result_value_nodes(text));
    }
    if let Some(Value::String(html)) = output.get("html") {
        nodes.push(frame("HTML", html_frame(html, name)));
    }
    let media = output.get("media").and_then(Value::as_array);
    nodes.extend(media.into_iter().flatten().map(media_node));
    if let Some(omitted) = output.get("omitted") {
        nodes.push(label_node(fill(Text::MoreLeftOut, &[&omitted.to_string()])));
    }
    if let Some(data) = output.get("data") {
        nodes.extend(result_value_nodes(data));
    }
    nodes
}

/// Third-party HTML in a sandboxed frame, without scripts, forms, remote resources, or access to
/// the page. The sandbox is set before the content.
fn html_frame(html: &str, name: &str) -> Node {
    let html = format!("{CSP_META}{html}");
    let frame = element("iframe").attr("sandbox", "").attr("referrerpolicy", "no-referrer");
    frame.attr("title", fill(Text::HtmlFrom, &[name])).attr("srcdoc", html)
}

fn is_picture(medium: &Value) -> bool {
    let is_image = text(medium, "type") == "image" || text(medium, "mimeType").starts_with("image/");
    is_image && is_allowed_image(text(medium, "url"))
}

/// A picture from a host that the config allows, loaded without a referrer, or a link to a file.
fn media_node(medium: &Value) -> Node {
    let url = text(medium, "url");
    let label = Some(text(medium, "description")).filter(|label| !label.is_empty());
    let label = label.unwrap_or_else(|| url.rsplit('/').find(|part| !part.is_empty()).unwrap_or(url));
    if is_picture(medium) {
        // The address comes last, because loading starts as soon as it is set.
        let picture = element("img").attr("alt", label).attr("loading", "lazy").attr("referrerpolicy", "no-referrer");
        return frame(t(Text::Picture), picture.attr("src", url));
    }
    if !is_web(url) {
        return element("span").attr("class", "cw-source").text(label);
    }
    let link = element("a").attr("class", "cw-source").attr("href", url).attr("target", "_blank");
    let link = link.attr("rel", "noopener noreferrer nofollow").attr("referrerpolicy", "no-referrer");
    let place = element("span").attr("class", "cw-source-host").text(host(url));
    link.children(vec![icon(Shape::LINK), element("span").attr("dir", "auto").text(label), place])
}

/// A frame for pictures and HTML. Its height is fixed before the content is loaded, so that nothing
/// jumps.
fn frame(title: &'static str, content: Node) -> Node {
    let switch = element("input").attr("type", "checkbox");
    let switch = element("label").children(vec![switch, element("span").text(t(Text::Enlarge))]);
    let head = element("div").attr("class", "cw-frame-head").children(vec![element("span").text(title), switch]);
    element("div").attr("class", "cw-frame").children(vec![head, content])
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}
