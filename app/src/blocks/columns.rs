//! The block `Columns`.

use crate::prelude::*;
use wire::page::ColumnsProperties;

/// The whole width, in the units of the style sheet's `cw-share-N` classes.
const SHARES: f64 = 12.0;

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
    let column =
        |(content, share)| view! { <div class=format!("cw-column cw-share-{share}")>{content}</div> }.into_any();
    view! { <div class="cw-columns">{columns.into_iter().zip(shares).map(column).collect_view()}</div> }.into_any()
}

/// Returns each column's share of the width in twelfths, at least one. Shares are CSS classes,
/// because the content security policy forbids inline styles.
pub(crate) fn shares(widths: &[f64], columns: usize) -> Vec<u8> {
    let width = |column: usize| {
        let width = widths.get(column).copied().unwrap_or(1.0);
        if width.is_finite() && width > 0.0 { width } else { 1.0 }
    };
    let total = (0..columns).map(width).sum::<f64>();
    // A cast from f64 saturates, and the clamp limits it to the classes that exist.
    (0..columns).map(|column| (width(column) / total * SHARES).round().clamp(1.0, SHARES) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn widths_are_converted_to_twelfths() {
        for (widths, columns, expected) in [
            (&[][..], 2, &[6, 6][..]),
            (&[1.0, 2.0], 2, &[4, 8]),
            (&[1.0], 3, &[4, 4, 4]),
            (&[1.0, 1000.0], 2, &[1, 12]),
            (&[f64::NAN, -1.0], 2, &[6, 6]),
            (&[1.0], 0, &[]),
        ] {
            assert_eq!(shares(widths, columns), expected, "{widths:?}");
        }
    }
}
