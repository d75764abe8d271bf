//! The section `pages`.

use super::events::EventContext;
use super::{Notes, blocks, endpoints, events, make_list, operators, request};
use crate::tree::{Tree, Value};

/// Converts the section. The start page comes first.
pub(super) fn convert(root: &mut Tree, start_page: Option<&str>, notes: &mut Notes<'_>) {
    let Some(section) = root.get_mut("pages") else { return };
    make_list(section);
    if let Value::List(pages) = &mut section.value
        && let Some(index) = pages.iter().position(|page| page.text_of("id") == start_page && start_page.is_some())
    {
        pages[..=index].rotate_right(1);
    }
    let mut added = Vec::new();
    for page in section.items_mut() {
        added.extend(convert_page(page, notes));
    }
    added.into_iter().for_each(|endpoint| endpoints::add(root, endpoint));
}

/// Converts a page. Returns the endpoints that replace its requests.
fn convert_page(page: &mut Tree, notes: &mut Notes<'_>) -> Vec<Tree> {
    page.remove("type");
    if let Some(mut properties) = page.remove("properties") {
        if let Some(title) = properties.value.remove("title").filter(|_| page.entry("title").is_none()) {
            page.insert_after_id("title", title.value);
        }
        for entry in properties.value.entries() {
            let help = "a page has a title and blocks; its frame is that of the server";
            notes.left_out(entry.key_at, format!("`{}` of a page", entry.key), help);
        }
    }
    let (requests, endpoints) = request::take(page, notes);
    blocks::take_slots(page, notes);
    blocks::leave_out_looks(page, notes);
    let context = EventContext { requests: &requests };
    events::merge_initial(page);
    events::convert(page, &context, notes);
    if let Some(list) = page.get_mut("blocks") {
        blocks::convert(list, &context, notes);
    }
    operators::convert(page, &operators::Place::Page(&requests), notes);
    endpoints
}
