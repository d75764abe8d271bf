//! `AxiosHttp`: a request to a web service.

use super::{Notes, templates};
use crate::tree::{Entry, Tree, Value};
use url::form_urlencoded;

/// The first of the characters that stand for operators in an address: they are for private use, so no address has them.
const FIRST_MARK: u32 = 0xE000;
/// How many of these characters there are.
const MARKS: usize = 6400;

/// Converts the step to `Http`.
pub(super) fn convert(step: &mut Tree, notes: &mut Notes<'_>) {
    step.set("type", Tree::text_at(step.at, "Http"));
    let Some(properties) = step.get_mut("properties") else { return };
    for (from, to) in [("url", "path"), ("params", "query"), ("data", "body")] {
        properties.rename(from, to);
    }
    if let Some(method) = properties.get_mut("method")
        && let Value::Text(text) = &mut method.value
    {
        *text = text.to_ascii_uppercase();
    }
    convert_path(properties);
    if let Some(entry) = properties.remove("timeout") {
        notes.left_out(entry.key_at, "`timeout` of a request", "set `timeoutMs` of the connection");
    }
    if let Some(entry) = properties.remove("responseType") {
        notes.left_out(entry.key_at, "`responseType`", "JSON is parsed, anything else is text");
    }
}

/// Converts a path of several pieces to a template, and what it has after a `?` to `query`. A path that cannot be
/// converted stays as it is: the check of the config says why.
fn convert_path(properties: &mut Tree) {
    let Some(path) = properties.get_mut("path") else { return };
    let mut pieces = match path.operator() {
        Some(("_string.concat" | "_string", pieces)) => pieces.items().to_vec(),
        _ if path.text().is_some() => vec![path.clone()],
        _ => return,
    };
    let query = take_query(&mut pieces);
    if path.text().is_none() || query.is_some() {
        let at = path.at;
        // A template encodes each value as one step of the path.
        let Some(converted) = join(at, &pieces) else { return };
        path.value = converted.value;
    }
    let Some(query) = query.filter(|query| !query.is_empty()) else { return };
    if let Some(known) = properties.map_of("query") {
        query.into_iter().for_each(|entry| known.set(&entry.key, entry.value));
    }
}

/// Joins pieces: to a text if all are texts, otherwise to a template.
fn join(at: config::Span, pieces: &[Tree]) -> Option<Tree> {
    if pieces.iter().all(|piece| piece.text().is_some()) {
        return Some(Tree::text_at(at, pieces.iter().filter_map(Tree::text).collect::<String>()));
    }
    let template = templates::from_pieces(&Tree::list_at(at, pieces.to_vec()))?;
    Some(Tree::map_at(at, vec![("_template", Tree::text_at(at, template))]))
}

/// Takes what follows the first `?`, as parameters by name. `None` if there is no `?` or a name is computed; then the
/// pieces stay.
fn take_query(pieces: &mut Vec<Tree>) -> Option<Vec<Entry>> {
    let (index, path, rest) = pieces.iter().enumerate().find_map(|(index, piece)| {
        let (path, rest) = piece.text()?.split_once('?')?;
        Some((index, path.to_owned(), rest.to_owned()))
    })?;
    let at = pieces[index].at;
    let (query, operators) = with_marks(&rest, &pieces[index + 1..])?;
    let mut parameters = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name.is_empty() || name.chars().any(|c| mark(c).is_some()) {
            return None;
        }
        let value = join_marked(at, &value, &operators)?;
        parameters.push(Entry { key: name.into_owned(), key_at: at, value });
    }
    pieces.truncate(index + 1);
    pieces[index] = Tree::text_at(at, path);
    Some(parameters)
}

/// Writes the rest of an address as one text, in which a character stands for each operator. A fragment, which is never
/// sent, is left out.
fn with_marks(first: &str, following: &[Tree]) -> Option<(String, Vec<Tree>)> {
    let (mut text, mut operators) = (first.to_owned(), Vec::new());
    for piece in following {
        match &piece.value {
            Value::Text(literal) => text.push_str(literal),
            Value::Number(number) => text.push_str(&number.to_string()),
            _ => {
                let offset = u32::try_from(operators.len()).ok().filter(|_| operators.len() < MARKS)?;
                text.push(char::from_u32(FIRST_MARK + offset)?);
                operators.push(piece.clone());
            }
        }
    }
    if text.chars().filter(|c| mark(*c).is_some()).count() != operators.len() {
        return None;
    }
    let end = text.find('#').unwrap_or(text.len());
    text.truncate(end);
    Some((text, operators))
}

/// Returns the number of the operator for which a character stands.
fn mark(character: char) -> Option<usize> {
    let offset = u32::from(character).checked_sub(FIRST_MARK)?;
    usize::try_from(offset).ok().filter(|offset| *offset < MARKS)
}

/// Returns a value with its operators in place of their marks. One operator alone stays what it is.
fn join_marked(at: config::Span, value: &str, operators: &[Tree]) -> Option<Tree> {
    let mut pieces: Vec<Tree> = Vec::new();
    let mut literal = String::new();
    for character in value.chars() {
        match mark(character) {
            None => literal.push(character),
            Some(number) => {
                pieces.extend((!literal.is_empty()).then(|| Tree::text_at(at, std::mem::take(&mut literal))));
                pieces.push(operators.get(number)?.clone());
            }
        }
    }
    pieces.extend((!literal.is_empty()).then(|| Tree::text_at(at, literal)));
    match pieces.as_slice() {
        [] => Some(Tree::text_at(at, "")),
        [only] => Some(only.clone()),
        _ => join(at, &pieces),
    }
}
