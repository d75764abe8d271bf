//! Vectors of chunks in memory, searched exactly.

use crate::search::top;
use crate::{Hit, Mask, Slot};

/// From how many vectors on they are kept with one byte for each number. It costs a little of the
/// ranking and saves three quarters of the memory.
pub const INT8_FROM: usize = 100_000;

/// The largest number of a quantised vector.
const STEPS: f32 = 127.0;

/// Vectors of one length by slot. Slots without one are not found.
#[derive(Debug)]
pub struct Vectors {
    dimensions: usize,
    numbers: Numbers,
    /// The factor of a quantised vector, or 1; 0 for a slot without a vector.
    scales: Vec<f32>,
}

#[derive(Debug)]
enum Numbers {
    Float(Vec<f32>),
    Byte(Vec<i8>),
}

impl Vectors {
    /// Creates an empty set for about `expected` vectors.
    pub fn new(dimensions: usize, expected: usize) -> Self {
        let numbers = if expected > INT8_FROM { Numbers::Byte(Vec::new()) } else { Numbers::Float(Vec::new()) };
        Self { dimensions, numbers, scales: Vec::new() }
    }

    /// Returns the length of the vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns about how many bytes the vectors take.
    pub fn bytes(&self) -> usize {
        let each = if matches!(self.numbers, Numbers::Float(_)) { 4 } else { 1 };
        self.scales.len() * (self.dimensions * each + 4)
    }

    /// Returns about how many bytes so many vectors take.
    pub fn bytes_for(&self, count: usize) -> usize {
        let each = if count > INT8_FROM { 1 } else { 4 };
        count * (self.dimensions * each + 4)
    }

    /// Keeps one byte for each number from now on.
    fn quantise(&mut self) {
        let Numbers::Float(all) = &mut self.numbers else { return };
        let all = std::mem::take(all);
        self.numbers = Numbers::Byte(Vec::new());
        for (slot, vector) in (0..).zip(all.chunks_exact(self.dimensions.max(1))) {
            // Removed ones and those that were never set have no direction, and are left out again.
            if self.contains(slot) {
                self.set(slot, vector);
            }
        }
    }

    /// Sets the vector of a chunk; it is brought to the length 1. One of another number of dimensions
    /// and one that has no direction is ignored.
    pub fn set(&mut self, slot: Slot, vector: &[f32]) {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if vector.len() != self.dimensions || !length.is_finite() || length <= f32::EPSILON {
            return;
        }
        let slot = slot as usize;
        if slot >= INT8_FROM {
            self.quantise();
        }
        let (from, to) = (slot * self.dimensions, (slot + 1) * self.dimensions);
        if self.scales.len() <= slot {
            self.scales.resize(slot + 1, 0.0);
        }
        match &mut self.numbers {
            Numbers::Float(all) => {
                if all.len() < to {
                    all.resize(to, 0.0);
                }
                all[from..to].iter_mut().zip(vector).for_each(|(kept, number)| *kept = number / length);
                self.scales[slot] = 1.0;
            }
            Numbers::Byte(all) => {
                if all.len() < to {
                    all.resize(to, 0);
                }
                let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
                let factor = STEPS / largest;
                let quantised = |number: f32| (number * factor).round() as i8;
                all[from..to].iter_mut().zip(vector).for_each(|(kept, number)| *kept = quantised(*number));
                self.scales[slot] = largest / STEPS / length;
            }
        }
    }

    /// Returns whether a chunk has a vector.
    pub fn contains(&self, slot: Slot) -> bool {
        self.scales.get(slot as usize).is_some_and(|scale| *scale > 0.0)
    }

    /// Forgets the vector of a chunk.
    pub fn remove(&mut self, slot: Slot) {
        if let Some(scale) = self.scales.get_mut(slot as usize) {
            *scale = 0.0;
        }
    }

    /// Returns the chunks whose vectors have the smallest angles to this one, best first, at most
    /// `limit`. Those at a right angle or more are left out.
    pub fn search(&self, vector: &[f32], limit: usize, mask: Option<&Mask>) -> Vec<Hit> {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if vector.len() != self.dimensions || !length.is_finite() || length <= f32::EPSILON {
            return Vec::new();
        }
        let passes = |slot: Slot| mask.is_none_or(|mask| mask.contains(slot));
        let slots = (0..).zip(&self.scales).filter(|(slot, scale)| **scale > 0.0 && passes(*slot));
        let score = |slot: Slot, scale: f32| {
            let (from, to) = (slot as usize * self.dimensions, (slot as usize + 1) * self.dimensions);
            let product = match &self.numbers {
                Numbers::Float(all) => dot(&all[from..to], vector),
                Numbers::Byte(all) => dot_bytes(&all[from..to], vector),
            };
            Hit { slot, score: product * scale / length }
        };
        let hits = slots.map(|(slot, scale)| score(slot, *scale));
        let mut hits: Vec<_> = hits.filter(|hit| hit.score > 0.0).collect();
        top(&mut hits, limit);
        hits
    }
}

/// How many sums are made beside each other, so that the compiler uses vector instructions.
const LANES: usize = 16;

pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (one, one_rest) = one.as_chunks::<LANES>();
    let (other, other_rest) = other.as_chunks::<LANES>();
    for (one, other) in one.iter().zip(other) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    sums.iter().sum::<f32>() + rest
}

fn dot_bytes(bytes: &[i8], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (bytes, bytes_rest) = bytes.as_chunks::<LANES>();
    let (other, other_rest) = other.as_chunks::<LANES>();
    for (bytes, other) in bytes.iter().zip(other) {
        for lane in 0..LANES {
            sums[lane] += f32::from(bytes[lane]) * other[lane];
        }
    }
    let rest: f32 = bytes_rest.iter().zip(other_rest).map(|(byte, other)| f32::from(*byte) * other).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nearest_vectors_are_found() {
        for expected in [0, INT8_FROM + 1] {
            let mut vectors = Vectors::new(2, expected);
            for (slot, vector) in [(0, [1.0, 0.0]), (2, [3.0, 3.0]), (3, [0.0, -1.0]), (4, [0.0, 0.0])] {
                vectors.set(slot, &vector);
            }
            vectors.set(5, &[1.0]);
            vectors.set(6, &[f32::NAN, 1.0]);
            let slots = |vector: &[f32]| vectors.search(vector, 9, None).iter().map(|hit| hit.slot).collect::<Vec<_>>();
            assert_eq!(slots(&[2.0, 0.1]), [0, 2]);
            assert_eq!(slots(&[0.0, 1.0]), [2]);
            assert_eq!(slots(&[0.0, 0.0]), []);
            assert_eq!(slots(&[1.0]), []);
            assert_eq!(vectors.search(&[1.0, 0.0], 1, None).len(), 1);
            vectors.remove(0);
            assert_eq!(vectors.search(&[1.0, 0.0], 9, None).iter().map(|hit| hit.slot).collect::<Vec<_>>(), [2]);
        }
    }

    proptest! {
        #[test]
        fn bytes_keep_the_angles(one in prop::array::uniform20(-1.0_f32..1.0), other in prop::array::uniform20(-1.0_f32..1.0)) {
            let [exact, rounded] = [0, INT8_FROM + 1].map(|expected| {
                let mut vectors = Vectors::new(20, expected);
                vectors.set(0, &one);
                vectors.search(&other, 1, None).first().map_or(0.0, |hit| hit.score)
            });
            prop_assert!((exact - rounded).abs() < 0.02, "{exact} {rounded}");
        }
    }
}
