//! Which option of the palette is selected, and how keys move the selection.

use super::options::PaletteOption;
use super::view::LIST;
use crate::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlElement;

/// How far Page Up and Page Down move.
const PAGE: usize = 8;

/// The selected option; a cheap handle.
#[derive(Clone, Copy)]
pub(super) struct OptionCursor {
    count: Memo<usize>,
    chosen: RwSignal<usize>,
}

impl OptionCursor {
    /// Selects the first option.
    pub(super) fn new(options: Memo<Vec<PaletteOption>>) -> Self {
        Self { count: Memo::new(move |_| options.with(Vec::len)), chosen: RwSignal::new(0) }
    }

    /// Selects the first option again.
    pub(super) fn reset(self) {
        self.set(0);
    }

    /// Returns the position of the selected option. Not tracked.
    pub(super) fn at(self) -> usize {
        self.chosen.get_untracked().min(self.count.get_untracked().saturating_sub(1))
    }

    /// Whether the option at this position is selected. Tracked.
    pub(super) fn is_at(self, place: usize) -> bool {
        self.chosen.get().min(self.count.get().saturating_sub(1)) == place
    }

    /// Returns the element id of an option.
    pub(super) fn id(at: usize) -> String {
        format!("{LIST}-{at}")
    }

    /// Returns the element id of the selected option, for `aria-activedescendant`. Tracked.
    pub(super) fn active_id(self) -> Option<String> {
        let count = self.count.get();
        (count > 0).then(|| Self::id(self.chosen.get().min(count - 1)))
    }

    /// Moves the selection by a key; false if the key has another meaning.
    pub(super) fn moves(self, key: &str) -> bool {
        let count = self.count.get_untracked();
        let Some(to) = moved(key, self.at(), count) else { return false };
        self.set(to);
        true
    }

    fn set(self, to: usize) {
        self.chosen.set(to);
        reveal(to);
    }
}

/// Returns the position to which a key moves among `count` options.
fn moved(key: &str, at: usize, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match key {
        "ArrowDown" => (at + 1) % count,
        "ArrowUp" => (at + last) % count,
        "PageDown" => (at + PAGE).min(last),
        "PageUp" => at.saturating_sub(PAGE),
        _ => return None,
    })
}

/// Scrolls the list as far as needed to show an option.
fn reveal(at: usize) {
    let element = |id: &str| document().get_element_by_id(id).and_then(|found| found.dyn_into::<HtmlElement>().ok());
    let Some(list) = element(LIST) else { return };
    // With the heading of the first group.
    let Some(option) = element(&OptionCursor::id(at)).filter(|_| at > 0) else { return list.set_scroll_top(0) };
    let (top, height) = (option.offset_top(), list.client_height());
    let bottom = top + option.offset_height();
    if top < list.scroll_top() {
        list.set_scroll_top(top);
    } else if bottom > list.scroll_top() + height {
        list.set_scroll_top(bottom - height);
    }
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn keys_move_the_selection() {
        let check = |key: &str, at: usize, count: usize, expected: Option<usize>| {
            assert_eq!(moved(key, at, count), expected, "{key} from {at} of {count}");
        };
        check("ArrowDown", 0, 3, Some(1));
        check("ArrowDown", 2, 3, Some(0));
        check("ArrowUp", 0, 3, Some(2));
        check("PageDown", 0, 3, Some(2));
        check("PageDown", 1, 30, Some(9));
        check("PageUp", 3, 30, Some(0));
        check("ArrowDown", 0, 0, None);
        check("Home", 1, 3, None);
    }
}
