//! Pages for the review of what people read in messengers. Where the environment variable `PICTURES` names a folder, each
//! test with a stand-in leaves a page there: what people wrote, and the messages of the bot in their last state, and in
//! the last one with buttons.

use pulldown_cmark::{Event, Options, Parser, html};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;

const STYLE: &str = "
    :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
    body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; display: flex; flex-direction: column; gap: .75rem; }
    h1 { font-size: 1rem; }
    article { max-width: 85%; padding: .5rem .75rem; border-radius: .75rem; align-self: flex-start; background: light-dark(#f0f1f4, #2a2c31); }
    article.person { align-self: flex-end; background: light-dark(#d9ebff, #173a5e); }
    header { font-size: .75rem; opacity: .7; }
    .text { white-space: pre-wrap; overflow-wrap: anywhere; }
    .markdown { white-space: normal; }
    p { margin: .25rem 0; }
    pre { margin: .25rem 0; padding: .5rem; border-radius: .5rem; background: light-dark(#fff, #18191c); white-space: pre-wrap; }
    iframe { width: 34rem; max-width: 100%; height: 20rem; border: 0; background: #fff; }
    button { margin: .25rem .5rem .25rem 0; padding: .4rem .8rem; }
";

/// A message of the bot as its reader sees it.
pub(crate) struct Shown {
    /// The text as HTML.
    text: String,
    /// The labels of the buttons, and their data.
    buttons: Vec<(String, String)>,
}

/// A message of a person or of the bot.
struct Bubble {
    /// The id of a message that can change; empty for others.
    id: String,
    is_person: bool,
    author: String,
    place: String,
    shown: Shown,
    edits: usize,
}

impl Bubble {
    fn html(&self) -> String {
        let class = if self.is_person { "person" } else { "bot" };
        let (author, place) = (escaped(&self.author), escaped(&self.place));
        let edits = if self.edits == 0 { String::new() } else { format!(" · edits: {}", self.edits) };
        let button = |(label, _): &(String, String)| format!("<button type=\"button\">{}</button>", escaped(label));
        let buttons: String = self.shown.buttons.iter().map(button).collect();
        format!(
            "<article class=\"{class}\"><header>{author} in {place}{edits}</header>\
             <div class=\"text\">{}</div>{buttons}</article>\n",
            self.shown.text
        )
    }
}

/// The conversation that a stand-in of a messenger shows.
#[derive(Default)]
pub(crate) struct Picture {
    /// The file of the page; `None` if there is none.
    page: Option<PathBuf>,
    bubbles: Vec<Bubble>,
}

impl Picture {
    /// Returns the picture of a messenger in the test that runs: its thread has the name of the test.
    pub(crate) fn new(messenger: &str) -> Self {
        let thread = std::thread::current();
        let test = thread.name().and_then(|name| name.rsplit("::").next()).unwrap_or("test");
        let page = |folder: OsString| PathBuf::from(folder).join(format!("channels-{messenger}-{test}.html"));
        let folder = std::env::var_os("PICTURES").filter(|folder| !folder.is_empty());
        Self { page: folder.map(page), bubbles: Vec::new() }
    }

    /// A person writes.
    pub(crate) fn write(&mut self, person: impl Display, place: impl Display, text: &str) {
        self.add(true, person, place, text);
    }

    /// A person presses a button.
    pub(crate) fn press(&mut self, person: impl Display, place: impl Display, data: &str) {
        let mut buttons = self.bubbles.iter().flat_map(|bubble| &bubble.shown.buttons);
        let label = buttons.find(|(_, known)| known == data).map_or(data, |(label, _)| label.as_str());
        let text = format!("presses “{label}”");
        self.write(person, place, &text);
    }

    /// The bot says something that is not a message.
    pub(crate) fn notice(&mut self, place: impl Display, text: &str) {
        self.add(false, "Notice", place, text);
    }

    fn add(&mut self, is_person: bool, author: impl Display, place: impl Display, text: &str) {
        let shown = Shown { text: escaped(text), buttons: Vec::new() };
        let (author, place) = (author.to_string(), place.to_string());
        self.bubbles.push(Bubble { id: String::new(), is_person, author, place, shown, edits: 0 });
        self.save();
    }

    /// The bot sends or changes a message, which `read` reads.
    pub(crate) fn show(&mut self, (id, place): (impl Display, impl Display), body: &Value, read: fn(&Value) -> Shown) {
        if self.page.is_none() {
            return;
        }
        let (id, shown) = (id.to_string(), read(body));
        let (mut place, mut edits) = (place.to_string(), 0);
        if let Some(known) = self.bubbles.iter_mut().find(|bubble| bubble.id == id) {
            if known.shown.buttons.is_empty() || !shown.buttons.is_empty() {
                known.shown = shown;
                known.edits += 1;
                return self.save();
            }
            // The message with its buttons stays, and its next state appears below the press of the button.
            known.id.clear();
            (place, edits) = (known.place.clone(), known.edits + 1);
        }
        self.bubbles.push(Bubble { id, is_person: false, author: "Bot".to_owned(), place, shown, edits });
        self.save();
    }

    /// The bot deletes a message.
    pub(crate) fn remove(&mut self, id: impl Display) {
        let id = id.to_string();
        self.bubbles.retain(|bubble| bubble.id != id);
        self.save();
    }

    fn save(&self) {
        let Some(page) = &self.page else { return };
        let title = escaped(&page.file_stem().unwrap().to_string_lossy());
        let head = format!("<meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style>");
        let bubbles: String = self.bubbles.iter().map(Bubble::html).collect();
        std::fs::create_dir_all(page.parent().unwrap()).unwrap();
        std::fs::write(page, format!("<!doctype html><html lang=\"en\">{head}<h1>{title}</h1>\n{bubbles}")).unwrap();
    }
}

/// Reads a message to Telegram: a text with the positions of its styles.
pub(crate) fn telegram(body: &Value) -> Shown {
    let units: Vec<u16> = body["text"].as_str().unwrap().encode_utf16().collect();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let style = |entity: &Value| {
        let start = number(&entity["offset"]);
        (start, start + number(&entity["length"]), plain(&entity["type"]))
    };
    let styles: Vec<(usize, usize, String)> = items(&body["entities"]).map(style).collect();
    let mut ends: Vec<usize> = styles.iter().flat_map(|(start, end, _)| [*start, *end]).collect();
    ends.extend([0, units.len()]);
    ends.sort_unstable();
    ends.dedup();
    let part = |range: &[usize]| {
        let text = escaped(&String::from_utf16_lossy(&units[range[0]..range[1]]));
        let around = styles.iter().filter(|(start, end, _)| *start <= range[0] && range[1] <= *end);
        around.fold(text, |text, (_, _, kind)| styled(&text, kind))
    };
    let rows = items(&body["reply_markup"]["inline_keyboard"]);
    let buttons = rows.flat_map(items).map(|button| (plain(&button["text"]), plain(&button["callback_data"])));
    Shown { text: ends.windows(2).map(part).collect(), buttons: buttons.collect() }
}

/// Reads a message to Slack: blocks of rich text and of buttons.
pub(crate) fn slack(body: &Value) -> Shown {
    let (mut text, mut buttons) = (String::new(), Vec::new());
    for element in items(&body["blocks"]).flat_map(|block| items(&block["elements"])) {
        if element["type"] == "button" {
            buttons.push((plain(&element["text"]["text"]), plain(&element["value"])));
        } else {
            let parts: String = items(&element["elements"]).map(slack_part).collect();
            let tag = match element["type"].as_str() {
                Some("rich_text_preformatted") => "pre",
                Some("rich_text_quote") => "blockquote",
                _ => "section",
            };
            text.push_str(&format!("<{tag}>{parts}</{tag}>"));
        }
    }
    Shown { text, buttons }
}

fn slack_part(part: &Value) -> String {
    let styles = part["style"].as_object().into_iter().flat_map(|style| style.keys());
    let text = styles.fold(escaped(&plain(&part["text"])), |text, kind| styled(&text, kind));
    if part["type"] == "link" { styled(&text, "text_link") } else { text }
}

/// Reads a message to Discord: Markdown, and rows of buttons.
pub(crate) fn discord(body: &Value) -> Shown {
    let buttons = items(&body["components"]).flat_map(|row| items(&row["components"]));
    let buttons = buttons.map(|button| (plain(&button["label"]), plain(&button["custom_id"])));
    Shown { text: markdown(&plain(&body["content"])), buttons: buttons.collect() }
}

/// Reads a message to Feishu: a card with Markdown and buttons.
pub(crate) fn feishu(body: &Value) -> Shown {
    let card: Value = serde_json::from_str(body["content"].as_str().unwrap()).unwrap();
    let (mut text, mut buttons) = (String::new(), Vec::new());
    for element in items(&card["body"]["elements"]) {
        let nested = items(&element["columns"]).flat_map(|column| items(&column["elements"]));
        for element in std::iter::once(element).chain(nested) {
            match element["tag"].as_str() {
                Some("markdown") => text.push_str(&markdown(&plain(&element["content"]))),
                Some("button") => {
                    let data = &element["behaviors"][0]["value"]["data"];
                    buttons.push((plain(&element["text"]["content"]), plain(data)));
                }
                _ => {}
            }
        }
    }
    Shown { text, buttons }
}

/// Reads a mail as the stand-in has written it: its subject, both of its texts, and the names of its files.
pub(crate) fn email(mail: &Value) -> Shown {
    let [subject, text, html] =
        [&mail["head"]["subject"], &mail["text"], &mail["html"]].map(|part| escaped(&plain(part)));
    let files: String = items(&mail["files"]).map(|file| format!("<p>📎 {}</p>", escaped(&plain(&file[0])))).collect();
    let text = format!("<b>{subject}</b><pre>{text}</pre><iframe sandbox srcdoc=\"{html}\"></iframe>{files}");
    Shown { text, buttons: Vec::new() }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the text of a value: of a string, what it contains.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns HTML with a style of Telegram or Slack.
fn styled(html: &str, kind: &str) -> String {
    let tag = match kind {
        "bold" => "b",
        "italic" => "i",
        "strikethrough" | "strike" => "s",
        "text_link" => "u",
        "code" | "pre" | "blockquote" => kind,
        _ => "span",
    };
    format!("<{tag}>{html}</{tag}>")
}

/// Returns Markdown as HTML. HTML in it is shown as text, but for the line breaks of Feishu.
fn markdown(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH).map(|event| match event {
        Event::SoftBreak => Event::HardBreak,
        Event::Html(html) | Event::InlineHtml(html) if html.trim() == "<br>" => Event::HardBreak,
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        event => event,
    });
    let mut shown = String::new();
    html::push_html(&mut shown, events);
    format!("<div class=\"markdown\">{}</div>", shown.trim_end())
}

#[test]
fn messages_are_read_with_their_styles_and_buttons() {
    let check = |shown: Shown, text: &str| {
        assert_eq!(shown.text, text);
        assert_eq!(shown.buttons, [("Go".to_owned(), "a:y".to_owned())]);
    };
    let telegram_body = json!({
        "text": "<b> 😀 bold", "entities": [{ "type": "bold", "offset": 7, "length": 4 }],
        "reply_markup": { "inline_keyboard": [[{ "text": "Go", "callback_data": "a:y" }]] },
    });
    check(telegram(&telegram_body), "&lt;b&gt; 😀 <b>bold</b>");
    let section = json!({ "type": "rich_text_section", "elements": [{ "type": "text", "text": "a & b", "style": { "bold": true } }] });
    let button = json!({ "type": "button", "text": { "text": "Go" }, "value": "a:y" });
    check(
        slack(&json!({ "blocks": [{ "elements": [section] }, { "elements": [button] }] })),
        "<section><b>a &amp; b</b></section>",
    );
    let rows = json!([{ "components": [{ "label": "Go", "custom_id": "a:y" }] }]);
    check(
        discord(&json!({ "content": "\\<b> **bold**\nnext", "components": rows })),
        "<div class=\"markdown\"><p>&lt;b&gt; <strong>bold</strong><br />\nnext</p></div>",
    );
    let button = json!({ "tag": "button", "text": { "content": "Go" }, "behaviors": [{ "value": { "data": "a:y" } }] });
    let elements = json!([{ "tag": "markdown", "content": "&#42;a<br>b" }, button]);
    let card = json!({ "body": { "elements": elements } }).to_string();
    check(feishu(&json!({ "content": card })), "<div class=\"markdown\"><p>*a<br />\nb</p></div>");
}

#[test]
fn page_has_the_last_state_of_each_message_and_the_last_with_buttons() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("new/page.html");
    let mut picture = Picture { page: Some(page.clone()), bubbles: Vec::new() };
    let message = |text: &str, rows: Value| json!({ "content": text, "components": rows });
    let rows = json!([{ "components": [{ "label": "Go", "custom_id": "a:y" }] }]);
    picture.write("<Ada>", 7, "Do it");
    picture.show((1, 7), &message("Now?", rows.clone()), discord);
    picture.show((1, 7), &message("Really?", rows), discord);
    picture.press("<Ada>", 7, "a:y");
    picture.show((1, 7), &message("Approved", json!([])), discord);
    picture.show((2, 7), &message("…", json!([])), discord);
    picture.remove(2);
    let shown = std::fs::read_to_string(page).unwrap();
    let expected =
        ["&lt;Ada&gt; in 7", "Do it", "Really?", "<button", "presses “Go”", "Bot in 7 · edits: 2", "Approved"];
    for expected in expected {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_eq!(shown.matches("<button").count(), 1, "{shown}");
    for gone in ["<Ada>", "Now?", "…"] {
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
}
