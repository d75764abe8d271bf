//! Latent semantic analysis: words that occur in the same chunks get similar vectors, so a question
//! finds chunks that say the same in other words. It needs no model, only the chunks themselves.

mod linear;

use crate::{Index, Query, Slot};
use linear::{Matrix, largest_directions};

/// How the vectors are computed.
#[derive(Clone, Copy, Debug)]
pub struct LatentOptions {
    /// The length of the vectors.
    pub dimensions: usize,
    /// The most terms that count, those of most chunks.
    pub terms: usize,
    /// How often the directions are improved.
    pub rounds: usize,
}

/// The values that were best on three collections, see the README.
impl Default for LatentOptions {
    fn default() -> Self {
        Self { dimensions: 128, terms: 30_000, rounds: 3 }
    }
}

/// The vectors of terms, computed from an index. It stays valid when chunks are added: their vectors
/// are made of those of their terms.
pub struct Latent {
    /// The row of a term's vector; `u32::MAX` for a term without one.
    rows: Vec<u32>,
    /// The weight of a term by its row.
    weights: Vec<f32>,
    vectors: Matrix,
    chunks: usize,
}

impl Latent {
    /// The fewest chunks with which directions mean something.
    pub const LEAST_CHUNKS: usize = 200;

    /// Computes the vectors of the terms of an index; `None` if it has too few chunks, or if `is_over`
    /// says that nobody waits for the result.
    pub fn fit(index: &Index, options: LatentOptions, is_over: &dyn Fn() -> bool) -> Option<Self> {
        if index.len() < Self::LEAST_CHUNKS {
            return None;
        }
        let most = (index.len() / 2) as u32;
        let mut terms: Vec<u32> =
            (0..index.term_count() as u32).filter(|term| (2..=most).contains(&index.frequency(*term))).collect();
        terms.sort_unstable_by_key(|term| (std::cmp::Reverse(index.frequency(*term)), *term));
        terms.truncate(options.terms);
        let dimensions = options.dimensions.min(terms.len() / 2).min(index.len() / 2);
        if dimensions < 2 {
            return None;
        }
        let mut rows = vec![u32::MAX; index.term_count()];
        (0..).zip(&terms).for_each(|(row, term)| rows[*term as usize] = row);
        let weights = terms.iter().map(|term| index.rarity(*term)).collect();
        let mut latent = Self { rows, weights, vectors: Matrix::new(0, 0), chunks: index.len() };
        let chunks: Vec<Vec<(u32, f32)>> =
            (0..index.slots() as Slot).map(|slot| latent.row(index, slot)).filter(|row| !row.is_empty()).collect();
        latent.vectors = largest_directions(&chunks, terms.len(), dimensions, options.rounds, is_over)?;
        Some(latent)
    }

    /// Returns the length of the vectors.
    pub fn dimensions(&self) -> usize {
        self.vectors.columns()
    }

    /// Returns about how many bytes the vectors of the terms take.
    pub fn bytes(&self) -> usize {
        (self.weights.len() * (self.vectors.columns() + 1) + self.rows.len()) * 4
    }

    /// Returns whether the index has grown so much since that the vectors should be computed anew.
    pub fn is_outdated(&self, index: &Index) -> bool {
        index.len() * 5 > self.chunks * 6 || index.len() * 2 < self.chunks
    }

    /// Returns the weights of a chunk's terms, of the length 1.
    fn row(&self, index: &Index, slot: Slot) -> Vec<(u32, f32)> {
        let weighted = |(term, count): &(u32, u8)| {
            let row = self.rows.get(*term as usize).copied().filter(|row| *row != u32::MAX)?;
            Some((row, f32::from(*count).ln_1p() * self.weights[row as usize]))
        };
        let mut row: Vec<_> = index.terms_of(slot).iter().filter_map(weighted).collect();
        let length = row.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt().max(f32::EPSILON);
        row.iter_mut().for_each(|(_, weight)| *weight /= length);
        row
    }

    /// Returns the vector of a chunk.
    pub fn chunk(&self, index: &Index, slot: Slot) -> Vec<f32> {
        self.sum(&self.row(index, slot))
    }

    /// Returns the vector of a question.
    pub fn query(&self, index: &Index, text: &str) -> Vec<f32> {
        let query = Query::new(index, text);
        let weighted = |(term, count): &(u32, f32)| {
            let row = self.rows.get(*term as usize).copied().filter(|row| *row != u32::MAX)?;
            Some((row, count.ln_1p() * self.weights[row as usize]))
        };
        self.sum(&query.terms.iter().filter_map(weighted).collect::<Vec<_>>())
    }

    fn sum(&self, row: &[(u32, f32)]) -> Vec<f32> {
        let mut sum = vec![0.0; self.vectors.columns()];
        for (term, weight) in row {
            linear::add_scaled(&mut sum, self.vectors.row(*term as usize), *weight);
        }
        sum
    }
}

/// Returns how much the ranking by these vectors counts beside that by words, which counts 1. Chunks of
/// a few words do not say what belongs together.
pub fn latent_weight(index: &Index) -> f32 {
    index.substance().max(0.25)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChunkText, Vectors};

    /// Chunks about two subjects; `feline` and `cat` never stand in the same one.
    fn index() -> Index {
        let mut index = Index::default();
        for number in 0..300 {
            let body = match number % 4 {
                0 => format!("the cat purrs and eats mice item{}", number % 7),
                1 => format!("a feline purrs and hunts mice item{}", number % 5),
                2 => format!("the car has an engine and wheels item{}", number % 7),
                _ => format!("an automobile with its engine and brakes item{}", number % 5),
            };
            assert!(index.add(&number.to_string(), &[ChunkText { heading: "", body: &body }]));
        }
        index
    }

    #[test]
    fn words_of_the_same_surroundings_find_each_other() {
        let index = index();
        let options = LatentOptions { dimensions: 2, ..LatentOptions::default() };
        let latent = Latent::fit(&index, options, &|| false).unwrap();
        let mut vectors = Vectors::new(latent.dimensions(), index.len());
        (0..index.slots() as Slot).for_each(|slot| vectors.set(slot, &latent.chunk(&index, slot)));
        let hits = vectors.search(&latent.query(&index, "cats"), 140, None);
        let felines = hits.iter().filter(|hit| hit.slot % 4 == 1).count();
        let cars = hits.iter().filter(|hit| hit.slot % 4 > 1).count();
        assert!(felines > 50 && cars < 10, "{felines} {cars}");
        assert!(!latent.is_outdated(&index));
        assert!(Latent::fit(&index, options, &|| true).is_none());
        assert!(Latent::fit(&Index::default(), options, &|| false).is_none());
    }
}
