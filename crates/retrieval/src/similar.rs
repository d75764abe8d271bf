//! Recognises texts that are almost the same, such as a paragraph in two versions of a document.

use crate::analyzer::for_each_word;
use hashbrown::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The words of a shingle.
const WORDS: usize = 4;

/// The hashes of all sequences of four words of a text.
#[derive(Debug)]
pub struct Shingles(HashSet<u64>);

impl Shingles {
    /// Takes the shingles of a text.
    pub fn new(text: &str) -> Self {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(hash(word)));
        let mut shingles: HashSet<u64> = words.windows(WORDS).map(hash).collect();
        if shingles.is_empty() {
            shingles.insert(hash(words.as_slice()));
        }
        Self(shingles)
    }

    /// Returns which part of the shingles of the smaller text is also in the other one, from 0 to 1.
    pub fn overlap(&self, other: &Self) -> f32 {
        let (small, large) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        let common = small.0.iter().filter(|shingle| large.0.contains(*shingle)).count();
        common as f32 / small.0.len().max(1) as f32
    }
}

/// A hash that is the same for the same value in every set.
fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_almost_the_same_overlap() {
        let overlap = |one: &str, other: &str| Shingles::new(one).overlap(&Shingles::new(other));
        let text = "Every employee has thirty days of vacation in a year.";
        assert_eq!(overlap(text, &text.to_uppercase()), 1.0);
        assert_eq!(overlap(text, &format!("{text} They are planned in January.")), 1.0);
        assert!(overlap(text, "Every employee has twenty days of vacation in a year.") < 0.5);
        assert_eq!(overlap(text, "Keep the receipts of a journey."), 0.0);
        assert_eq!(overlap("one two", "one two"), 1.0);
        assert_eq!(overlap("one two", "two one"), 0.0);
    }
}
