//! Ranking by BM25: any word of the query counts, rare ones more.

use crate::analyzer::{Analyzer, for_each_word};
use crate::expansion::Expansion;
use crate::{Index, Mask, Slot};
use std::cmp::Ordering;

/// How much further occurrences of a term add.
const K1: f32 = 1.2;
/// How much the length of a chunk counts.
const B: f32 = 0.75;
/// The most different words of a query that count.
const MAX_WORDS: usize = 64;

/// A chunk that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The chunk.
    pub slot: Slot,
    /// The score, which can be compared only with others of the same search.
    pub score: f32,
}

/// The terms of a question with their weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pub(crate) terms: Vec<(u32, f32)>,
}

impl Query {
    /// Makes a query of a text. The words are stemmed by the rules of every language of the index.
    pub fn new(index: &Index, text: &str) -> Self {
        let analyzers: Vec<_> = index.languages().map(Analyzer::new).collect();
        let mut query = Self::default();
        let mut words = 0;
        for_each_word(text, |word| {
            words += 1;
            if words > MAX_WORDS * 4 || query.terms.len() >= MAX_WORDS {
                return;
            }
            let mut numbers: Vec<u32> =
                analyzers.iter().filter_map(|analyzer| index.number(&analyzer.term(word)?)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers.into_iter().for_each(|number| query.add(number, 1.0));
        });
        query
    }

    pub(crate) fn add(&mut self, term: u32, weight: f32) {
        match self.terms.iter_mut().find(|(known, _)| *known == term) {
            Some((_, known)) => *known += weight,
            None => self.terms.push((term, weight)),
        }
    }

    /// Returns whether no word of the text is in the index.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

impl Index {
    /// Returns the best chunks for a query, best first, at most `limit`; with `expansion`, of the query
    /// with terms of those that were found first.
    pub fn search(&self, query: &Query, limit: usize, mask: Option<&Mask>, expansion: Option<Expansion>) -> Vec<Hit> {
        let Some(expansion) = expansion else { return best(self.scores(query, mask), limit) };
        let first = best(self.scores(query, mask), expansion.chunks);
        best(self.scores(&expansion.expand(self, query, &first), mask), limit)
    }

    #[expect(clippy::suboptimal_flops, reason = "a fused multiplication is a function call on processors without one")]
    fn scores(&self, query: &Query, mask: Option<&Mask>) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.slots()];
        for (term, weight) in &query.terms {
            let weight = weight * self.rarity(*term) * (K1 + 1.0);
            for posting in self.postings(*term) {
                let (slot, count) = (posting.slot(), posting.count());
                let damping = K1 * (1.0 - B) + K1 * B * self.relative_length(slot);
                scores[slot as usize] += weight * count / (count + damping);
            }
        }
        for (slot, score) in (0..).zip(&mut scores) {
            if *score > 0.0 && (!self.is_live(slot) || mask.is_some_and(|mask| !mask.contains(slot))) {
                *score = 0.0;
            }
        }
        scores
    }
}

/// Returns the positions of the highest scores above 0, highest first; of equal ones the first.
pub(crate) fn best(scores: Vec<f32>, limit: usize) -> Vec<Hit> {
    let mut hits: Vec<_> =
        (0..).zip(scores).filter(|(_, score)| *score > 0.0).map(|(slot, score)| Hit { slot, score }).collect();
    top(&mut hits, limit);
    hits
}

/// Keeps the best, best first.
pub(crate) fn top(hits: &mut Vec<Hit>, limit: usize) {
    let order =
        |one: &Hit, other: &Hit| -> Ordering { other.score.total_cmp(&one.score).then(one.slot.cmp(&other.slot)) };
    if hits.len() > limit && limit > 0 {
        hits.select_nth_unstable_by(limit - 1, order);
    }
    hits.truncate(limit);
    hits.sort_unstable_by(order);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChunkText;

    fn index() -> Index {
        let mut index = Index::default();
        let chunks = [
            ("Vacation", "Every employee has thirty days of vacation in a year."),
            ("Sick leave", "Employees who are ill call before nine. The days do not count as vacation."),
            ("Expenses", "Keep the receipts of a journey and hand them in within thirty days."),
        ];
        let texts = chunks.map(|(heading, body)| ChunkText { heading, body });
        assert!(index.add("handbook", &texts));
        assert!(index.add(
            "buch",
            &[ChunkText { heading: "Urlaub", body: "Die Tage des Urlaubs sind für alle gleich, und das ist gut." }]
        ));
        index
    }

    #[test]
    fn any_word_counts_and_titles_more() {
        let index = index();
        let check = |text: &str, expected: &[Slot]| {
            let hits = index.search(&Query::new(&index, text), 10, None, None);
            assert_eq!(hits.iter().map(|hit| hit.slot).collect::<Vec<_>>(), expected, "{text}");
        };
        check("how much vacation do I have?", &[0, 1]);
        check("I am ill", &[1]);
        check("receipt", &[2]);
        check("RECEIPTS, vacations", &[2, 0, 1]);
        check("Urlaub", &[3]);
        check("the of and", &[]);
        check("zebra", &[]);
        check("", &[]);
    }

    #[test]
    fn filter_and_limit_apply() {
        let index = index();
        let query = Query::new(&index, "vacation days Urlaub");
        let mask = index.mask(|id| id == "buch");
        assert_eq!(index.search(&query, 10, Some(&mask), None).len(), 1);
        assert_eq!(index.search(&query, 2, None, None).len(), 2);
        assert_eq!(index.search(&query, 0, None, None), []);
    }
}
