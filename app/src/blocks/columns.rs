//! The block `Columns`.

use crate::prelude::*;
use wire::page::ColumnsProperties;

/// The whole width, in the units of shares.
pub(crate) const WHOLE: u16 = 10_000;

/// The largest share: the style sheet has classes for four digits.
const MAX_SHARE: u16 = WHOLE - 1;

/// Puts its blocks side by side, one per column; on a narrow screen they are stacked.
#[component]
pub fn Columns(
    /// The widths of the columns.
    properties: ColumnsProperties,
    /// The content of each column.
    columns: Vec<Children>,
) -> AnyView {
    columns_view(&properties, columns.into_iter().map(|column| column().into_any()).collect())
}

/// Renders the columns from their contents.
pub(super) fn columns_view(properties: &ColumnsProperties, columns: Vec<AnyView>) -> AnyView {
    let shares = shares(&properties.widths, columns.len());
    let column = |(content, share)| view! { <div class=share_class("cw-column", share)>{content}</div> }.into_any();
    view! { <div class="cw-columns">{columns.into_iter().zip(shares).map(column).collect_view()}</div> }.into_any()
}

/// Returns each column's share of the width in ten thousandths, at least one.
pub(crate) fn shares(widths: &[f64], columns: usize) -> Vec<u16> {
    let width = |column: usize| {
        let width = widths.get(column).copied().unwrap_or(1.0);
        if width.is_finite() && width > 0.0 { width } else { 1.0 }
    };
    let total = (0..columns).map(width).sum::<f64>();
    // A cast from f64 saturates, and the clamp limits it to the classes that exist.
    (0..columns)
        .map(|column| (width(column) / total * f64::from(WHOLE)).round().clamp(1.0, MAX_SHARE.into()) as u16)
        .collect()
}

/// Adds the classes of a share of the width, one for each digit: the content security policy forbids
/// inline styles. Shares that add up to the whole width or more are limited to the largest one.
pub(crate) fn share_class(classes: &str, share: u16) -> String {
    let share = share.min(MAX_SHARE);
    let digit = |place: u16| share / place % 10;
    format!("{classes} cw-share a{} b{} c{} d{}", digit(1000), digit(100), digit(10), digit(1))
}

#[cfg(test)]
mod tests {
    use super::{share_class, shares};

    #[test]
    fn widths_are_converted_to_shares() {
        for (widths, columns, expected) in [
            (&[][..], 2, &[5000, 5000][..]),
            (&[1.0, 2.0], 2, &[3333, 6667]),
            (&[1.0], 3, &[3333, 3333, 3333]),
            (&[1.0, 1000.0], 2, &[10, 9990]),
            (&[f64::NAN, -1.0], 2, &[5000, 5000]),
            (&[3.0, 7.0], 2, &[3000, 7000]),
            (&[0.05, 1e9], 2, &[1, 9999]),
            (&[1.0], 0, &[]),
        ] {
            assert_eq!(shares(widths, columns), expected, "{widths:?}");
        }
    }

    #[test]
    fn shares_have_a_class_for_each_digit() {
        for (share, classes) in [
            (3045, "x cw-share a3 b0 c4 d5"),
            (1, "x cw-share a0 b0 c0 d1"),
            (9_999, "x cw-share a9 b9 c9 d9"),
            // The parts of a region without a list beside it: a class of its first digit, 0, would collapse it.
            (10_000, "x cw-share a9 b9 c9 d9"),
            (u16::MAX, "x cw-share a9 b9 c9 d9"),
        ] {
            assert_eq!(share_class("x", share), classes, "{share}");
        }
    }
}
