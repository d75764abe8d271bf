//! The layout of blocks: a grid of 24 columns in Lowdefy.

use super::Notes;
use crate::tree::{Tree, Value};

/// The width of a row.
const ROW: f64 = 24.0;

/// Puts blocks that share a row into `Columns`.
pub(super) fn arrange(list: &mut Tree, notes: &mut Notes<'_>) {
    let at = list.at;
    let Value::List(items) = &mut list.value else { return };
    let mut rows: Vec<(f64, Vec<(f64, Tree)>)> = Vec::new();
    for mut block in std::mem::take(items) {
        let width = take_width(&mut block, notes);
        match rows.last_mut() {
            Some((used, row)) if *used + width <= ROW => {
                *used += width;
                row.push((width, block));
            }
            _ => rows.push((width, vec![(width, block)])),
        }
    }
    for (_, row) in rows {
        if row.len() == 1 {
            items.extend(row.into_iter().map(|(_, block)| block));
            continue;
        }
        let number = |width: f64| serde_json::Number::from_f64(width).map_or(Value::Null, Value::Number);
        let widths = row.iter().map(|(width, _)| Tree::new(at, whole(*width).unwrap_or_else(|| number(*width))));
        let widths = Tree::list_at(at, widths.collect());
        let first = &row[0].1;
        let (at, id) = (first.at, format!("{}_row", first.text_of("id").unwrap_or("blocks")));
        let blocks = row.into_iter().map(|(_, block)| block).collect();
        items.push(Tree::map_at(
            at,
            vec![
                ("id", Tree::text_at(at, id)),
                ("type", Tree::text_at(at, "Columns")),
                ("properties", Tree::map_at(at, vec![("widths", widths)])),
                ("blocks", Tree::list_at(at, blocks)),
            ],
        ));
    }
}

fn whole(width: f64) -> Option<Value> {
    (1..=24_u32).find(|number| (f64::from(*number) - width).abs() < f64::EPSILON).map(|n| Value::Number(n.into()))
}

/// Removes the layout of a block and returns how many of the 24 columns it takes.
fn take_width(block: &mut Tree, notes: &mut Notes<'_>) -> f64 {
    let Some(layout) = block.remove("layout") else { return ROW };
    let mut width = None;
    for entry in layout.value.entries() {
        match (entry.key.as_str(), &entry.value.value) {
            ("span", Value::Number(number)) => width = number.as_f64().filter(|width| *width > 0.0 && *width <= ROW),
            (key, _) => {
                notes.left_out(entry.key_at, format!("`layout.{key}`"), "only `span` is taken over, as `Columns`")
            }
        }
    }
    width.unwrap_or(ROW)
}
