//! Combines rankings.

use crate::search::top;
use crate::{Hit, Slot};
use hashbrown::HashMap;

/// The constant of reciprocal rank fusion. 60 is the one of the paper; measured in the README, values
/// between 20 and 100 differ by less than the collections do.
pub const RRF_K: f32 = 60.0;

/// Combines rankings by the reciprocal ranks of their chunks, each ranking with its weight. Ranks can
/// be compared where scores cannot.
pub fn fuse(rankings: &[(&[Hit], f32)], limit: usize) -> Vec<Hit> {
    let mut scores = HashMap::<Slot, f32>::new();
    for (hits, weight) in rankings {
        for (rank, hit) in (1_u16..).zip(*hits) {
            *scores.entry(hit.slot).or_default() += weight / (RRF_K + f32::from(rank));
        }
    }
    let mut hits: Vec<_> = scores.into_iter().map(|(slot, score)| Hit { slot, score }).collect();
    top(&mut hits, limit);
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_find_comes_first() {
        let hits = |slots: &[Slot]| slots.iter().map(|slot| Hit { slot: *slot, score: 1.0 }).collect::<Vec<_>>();
        let fused = |one: &[Slot], other: &[Slot], weight: f32| {
            let all = fuse(&[(&hits(one), 1.0), (&hits(other), weight)], 10);
            all.iter().map(|hit| hit.slot).collect::<Vec<_>>()
        };
        assert_eq!(fused(&[1, 2, 3], &[4, 3, 5], 1.0), [3, 1, 4, 2, 5]);
        assert_eq!(fused(&[1, 2], &[3], 2.0), [3, 1, 2]);
        assert_eq!(fused(&[], &[], 1.0), []);
    }
}
