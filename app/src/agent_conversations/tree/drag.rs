//! Dragging in the tree: a conversation or a folder is dropped into a folder, and a folder also between two others if the
//! folders are in the user's own order.

use super::FolderTree;
use super::order::{Order, in_tree_order};
use crate::agent_conversations::move_dialog::{hide_targets, move_to};
use crate::prelude::*;
use leptos::ev::DragEvent;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;

/// The part of a row's height, at its upper and at its lower edge, that takes a folder beside that of the row.
const EDGE: f64 = 0.25;

/// Where something is dropped, seen from a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    Before,
    Into,
    Behind,
}

impl Zone {
    /// Returns the zone at a height of a row, from 0 to 1. Behind an open folder is its content.
    fn at(height: f64, is_open: bool) -> Self {
        match height {
            height if height < EDGE => Self::Before,
            height if height > 1.0 - EDGE && !is_open => Self::Behind,
            _ => Self::Into,
        }
    }

    /// Returns the name of the line that shows the zone, for the style sheet.
    pub(super) fn line(self) -> Option<String> {
        match self {
            Self::Before => Some("before".to_owned()),
            Self::Into => None,
            Self::Behind => Some("behind".to_owned()),
        }
    }
}

impl FolderTree {
    /// Begins to drag the target of an event: a conversation or a folder of the tree, or a row of the list, whose
    /// own handler sets what is moved.
    pub(super) fn begin_drag(self, event: &DragEvent) {
        let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
        let value = |name: &str| target.closest(&format!("[{name}]")).ok().flatten()?.get_attribute(name);
        let (conversation, folder) = (value("data-filed"), value("data-folder"));
        let row = target.closest("li[data-conversation]").ok().flatten();
        if conversation.is_none() && folder.is_none() && row.is_none() {
            return;
        }
        if let (Some(id), Some(data)) = (&folder, event.data_transfer()) {
            // Some browsers drag nothing that has no data.
            let _ = data.set_data("application/x-folder", id);
        }
        let list = self.list;
        // A browser ends the drag if the document changes before it has begun.
        request_animation_frame(move || {
            if let Some(id) = conversation {
                list.ids_to_move.set_value(vec![id]);
                list.folder_to_move.set(None);
            } else if folder.is_some() {
                list.folder_to_move.set(folder);
            }
            self.dragging.set(true);
        });
    }

    /// Shows where the target of an event takes what is dragged over it.
    pub(super) fn drag_over(self, event: &DragEvent, over: RwSignal<Option<Zone>>) {
        if self.dragging.get_untracked() {
            event.prevent_default();
            let zone = Some(self.zone(event));
            if over.get_untracked() != zone {
                over.set(zone);
            }
        }
    }

    /// Moves what is dropped into a folder, beside it, or out of any folder.
    pub(super) fn drop_into(self, event: &DragEvent, over: RwSignal<Option<Zone>>, target: Option<String>) {
        if !self.dragging.get_untracked() {
            return;
        }
        // Without this the browser follows the link that is dragged.
        event.prevent_default();
        let zone = self.zone(event);
        over.set(None);
        // The row may be gone before the browser reports the end.
        self.dragging.set(false);
        hide_targets();
        let list = self.list;
        let moved = list.folder_to_move.get_untracked();
        if self.is_inside(moved.as_deref(), target.as_deref()) {
            return;
        }
        match (zone, moved, target) {
            (Zone::Before | Zone::Behind, Some(moved), Some(beside)) => {
                list.place_folder(moved, beside, zone == Zone::Behind);
            }
            (_, _, target) => move_to(list, target),
        }
    }

    /// Returns whether a folder is dropped on itself, or on one that is in it.
    fn is_inside(self, moved: Option<&str>, target: Option<&str>) -> bool {
        let (Some(moved), Some(target)) = (moved, target) else { return false };
        let others = self.list.folders.with_untracked(|folders| in_tree_order(folders, Some(moved)));
        others.iter().all(|(_, folder)| folder.id != target)
    }

    /// Returns where the row under the pointer takes what is dragged.
    fn zone(self, event: &DragEvent) -> Zone {
        let is_folder = self.list.folder_to_move.with_untracked(Option::is_some);
        if !is_folder || self.order.get_untracked() != Order::Own {
            return Zone::Into;
        }
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let Some(row) = target.and_then(|target| target.closest("[data-folder]").ok().flatten()) else {
            return Zone::Into;
        };
        let is_open =
            row.get_attribute("data-folder").is_some_and(|id| self.open.with_untracked(|open| open.contains(&id)));
        let place = row.get_bounding_client_rect();
        Zone::at((f64::from(event.client_y()) - place.top()) / place.height(), is_open)
    }
}

#[cfg(test)]
mod tests {
    use super::Zone;

    #[test]
    fn edges_of_a_row_take_a_folder_beside_it() {
        let check =
            |height: f64, is_open: bool, expected: Zone| assert_eq!(Zone::at(height, is_open), expected, "{height}");
        check(0.1, false, Zone::Before);
        check(0.1, true, Zone::Before);
        check(0.5, false, Zone::Into);
        check(0.9, false, Zone::Behind);
        check(0.9, true, Zone::Into);
    }
}
