//! Pseudo-relevance feedback: the terms that are typical of the first results are added to the query
//! with a low weight, so that texts are found that say the same in other words.

use crate::{Hit, Index, Query};
use hashbrown::HashMap;

/// How a query is expanded.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// The number of first results whose terms are added.
    pub chunks: usize,
    /// The number of terms that are added.
    pub terms: usize,
    /// The weight of the best term that is added; the query's own have 1.
    pub weight: f32,
}

impl Expansion {
    /// The expansion for an index. Results of a few words hardly say what else is typical.
    pub fn for_index(index: &Index) -> Self {
        Self { chunks: 5, terms: 10, weight: 0.4 * index.substance() }
    }

    /// Returns the query with the terms that are typical of these results.
    pub(crate) fn expand(self, index: &Index, query: &Query, first: &[Hit]) -> Query {
        let mut weights = HashMap::<u32, f32>::new();
        let best = first.first().map_or(1.0, |hit| hit.score);
        for hit in first {
            let length = (index.length(hit.slot) as f32).max(1.0);
            for (term, count) in index.terms_of(hit.slot) {
                // A term of one chunk finds only that one.
                if index.frequency(*term) > 1 {
                    *weights.entry(*term).or_default() += hit.score / best * f32::from(*count) / length;
                }
            }
        }
        let mut typical: Vec<(u32, f32)> =
            weights.into_iter().map(|(term, weight)| (term, weight * index.rarity(term))).collect();
        typical.sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        typical.truncate(self.terms);
        let mut expanded = query.clone();
        let most = typical.first().map_or(1.0, |(_, weight)| *weight);
        typical.into_iter().for_each(|(term, weight)| expanded.add(term, self.weight * weight / most));
        expanded
    }
}
