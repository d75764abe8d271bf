//! Speaker notes of a presentation. `undoc` finds them by the numbers in the names of files, which
//! are those of other slides in many presentations; here the relationships of each slide are
//! followed.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use undoc::OoxmlContainer;

/// The maximum length of the notes of a slide in bytes.
const MAX_NOTES: usize = 32 * 1024;

const PRESENTATION: &str = "ppt/presentation.xml";

/// Returns the notes of each slide in the order of the slides; none where there are none or where
/// they cannot be read.
pub(crate) fn read_notes(bytes: &[u8]) -> Vec<Option<String>> {
    let Ok(container) = OoxmlContainer::from_bytes(bytes.to_vec()) else { return Vec::new() };
    let Ok(presentation) = container.read_xml(PRESENTATION) else { return Vec::new() };
    let Ok(relationships) = container.read_relationships(PRESENTATION) else { return Vec::new() };
    let notes_of = |id: &String| {
        let slide = OoxmlContainer::resolve_path(PRESENTATION, &relationships.get(id)?.target);
        let slide_relationships = container.read_relationships(&slide).ok()?;
        let notes = slide_relationships.by_id.values().find(|target| target.rel_type.ends_with("/notesSlide"))?;
        let xml = container.read_xml(&OoxmlContainer::resolve_path(&slide, &notes.target)).ok()?;
        Some(body_text(&xml)).filter(|text| !text.trim().is_empty())
    };
    slide_ids(&presentation).iter().map(notes_of).collect()
}

/// Returns the ids of the relationships of the slides in their order.
fn slide_ids(presentation: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut reader = Reader::from_str(presentation);
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) if element.local_name().as_ref() == "sldId" => {
                ids.extend(attribute(&element, "r:id"));
            }
            Ok(Event::Eof) | Err(_) => return ids,
            Ok(_) => {}
        }
    }
}

/// Returns the text of the placeholders that hold notes; others hold numbers and dates.
fn body_text(xml: &str) -> String {
    let mut reader = Reader::from_str(xml);
    let (mut text, mut in_body, mut in_text) = (String::new(), false, false);
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(element) | Event::Empty(element) if element.local_name().as_ref() == "ph" => {
                in_body = attribute(&element, "type").as_deref() == Some("body");
            }
            Event::Start(element) if element.local_name().as_ref() == "t" => in_text = true,
            Event::End(element) => match element.local_name().as_ref() {
                "t" => in_text = false,
                "p" if in_body => text.push('\n'),
                "sp" => in_body = false,
                _ => {}
            },
            Event::Text(content) if in_body && in_text => text.push_str(&content.xml10_content()),
            Event::GeneralRef(reference) if in_body && in_text => text.push_str(&resolve(&reference.xml10_content())),
            Event::Eof => break,
            _ => {}
        }
        if text.len() > MAX_NOTES {
            break;
        }
    }
    text
}

/// Returns the character of one of the references that XML itself has.
fn resolve(name: &str) -> String {
    let number = name.strip_prefix('#');
    let hexadecimal = number.and_then(|number| number.strip_prefix('x'));
    let code = match (hexadecimal, number) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) => digits.parse().ok(),
        (None, None) => None,
    };
    match code.and_then(char::from_u32) {
        Some(char) => char.to_string(),
        None => resolve_predefined_entity(name).unwrap_or_default().to_owned(),
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok()??;
    attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
}
