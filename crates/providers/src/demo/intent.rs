//! Recognizes what the user asks for.

/// The recognized request of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// An overview of the possible requests.
    Overview,
    Greeting,
    Table,
    Formula,
    Diagram,
    /// A page in the conversation's files.
    Page,
    /// The beginning of an attached file.
    AttachedFile,
    FillForm,
    /// A search for this topic.
    Search(String),
    /// The entities that are connected with this.
    Connections(String),
    /// The deletion of the article about this topic.
    Delete(String),
    /// The analysis of a CSV file.
    Analyse(String),
    /// The call of a tool by its name, with a text: `start invoice: …`.
    Start {
        tool: String,
        text: String,
    },
    /// A question to the user, with a form or with options.
    Question {
        form: bool,
    },
    /// The numbers up to this one.
    Count(u32),
    LongAnswer,
    Failure,
    Unknown,
}

/// Recognizes a request. Only ASCII letters are compared case-insensitively, so that positions in
/// the text do not shift.
pub(crate) fn parse_intent(asked: &str) -> Intent {
    let words = asked.trim().trim_end_matches(['.', '!', '?']).to_ascii_lowercase();
    let has = |needle: &str| words.contains(needle);
    let greetings = ["hello", "hi", "hey", "good morning", "good evening", "hello there"];
    if words == "simulate a failure" {
        Intent::Failure
    } else if greetings.contains(&words.as_str()) {
        Intent::Greeting
    } else if let Some(start) = start(asked) {
        start
    } else if let Some(file) = super::analysis::file(asked) {
        Intent::Analyse(file)
    } else if has("what can you do") || words == "help" {
        Intent::Overview
    } else if has("ask me") {
        Intent::Question { form: has("form") }
    } else if has("fill") && (has("form") || has(" for ")) {
        Intent::FillForm
    } else if has("connected with ") || has("connected to ") {
        Intent::Connections(topic(asked, &["connected with ", "connected to "]))
    } else if has("know about") || has("search") || has("look up") || has("tell me about") {
        Intent::Search(topic(asked, &["know about ", "tell me about ", "search for ", "look up ", "search "]))
    } else if has("delete") || has("remove") {
        Intent::Delete(topic(asked, &["article about ", "article on ", "article ", "delete ", "remove "]))
    } else if let Some(number) = count_to(&words) {
        Intent::Count(number)
    } else if has("long answer") || has("long text") {
        Intent::LongAnswer
    } else if has("attached file") {
        Intent::AttachedFile
    } else if has("calculator") {
        Intent::Page
    } else if has("formula") {
        Intent::Formula
    } else if has("diagram") {
        Intent::Diagram
    } else if has("table") || has("code") {
        Intent::Table
    } else {
        Intent::Unknown
    }
}

/// Recognizes `start NAME: TEXT`.
fn start(asked: &str) -> Option<Intent> {
    let asked = asked.trim();
    let rest =
        asked.get(.."start ".len()).filter(|verb| verb.eq_ignore_ascii_case("start ")).map(|verb| &asked[verb.len()..]);
    let (tool, text) = rest?.split_once(':')?;
    Some(Intent::Start { tool: tool.trim().to_owned(), text: text.trim().to_owned() })
}

/// Returns the text after the first of these leads that occurs.
fn topic(asked: &str, leads: &[&str]) -> String {
    let lower = asked.to_ascii_lowercase();
    let behind = leads.iter().find_map(|lead| Some(lower.find(lead)? + lead.len()));
    let text = behind.map_or(asked, |at| &asked[at..]);
    let text = text.trim().trim_end_matches(['?', '.', '!']);
    let text = ["the ", "our ", "your "].iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text);
    text.trim_matches(['"', '“', '”', '*', '‘', '’', '\'']).to_owned()
}

/// Returns a title of a few words for a message.
pub(crate) fn title(message: &str) -> String {
    let about = match parse_intent(message) {
        Intent::Search(topic) => topic,
        Intent::Delete(topic) => format!("delete {topic}"),
        _ => message.trim().trim_end_matches(['.', '!', '?']).to_owned(),
    };
    let mut words = about.split_whitespace().take(5).collect::<Vec<_>>().join(" ");
    if let Some(first) = words.get(..1) {
        let first = first.to_ascii_uppercase();
        words.replace_range(..1, &first);
    }
    words
}

fn count_to(words: &str) -> Option<u32> {
    let number: String = words.split("count to ").nth(1)?.chars().take_while(char::is_ascii_digit).collect();
    number.parse().ok().map(|number: u32| number.clamp(1, 2_000))
}

/// Returns a person and, if it is named, their company: "… for NAME at COMPANY".
pub(crate) fn parse_person(asked: &str) -> Option<(String, Option<String>)> {
    let lower = asked.to_ascii_lowercase();
    let start = lower.find(" for ")? + " for ".len();
    let ends = [",", ";", " with ", "\n"].iter().filter_map(|end| lower[start..].find(end));
    let end = start + ends.min().unwrap_or(asked.len() - start);
    let tidy = |text: &str| text.trim().trim_end_matches(['.', '!', '?']).trim().to_owned();
    let at = [" at ", " of ", " from "].iter().find_map(|at| Some((lower[start..end].find(at)?, at.len())));
    let (name, company) = match at {
        Some((at, len)) => (tidy(&asked[start..start + at]), Some(tidy(&asked[start + at + len..end]))),
        None => (tidy(&asked[start..end]), None),
    };
    (!name.is_empty()).then(|| (name, company.filter(|company| !company.is_empty())))
}
