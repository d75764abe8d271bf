//! Means with 95 % intervals.

use fastrand::Rng;
use serde::Serialize;

/// The number of samples of a bootstrap.
const SAMPLES: usize = 2_000;
/// The number of draws of a bootstrap with very many values, which needs fewer samples.
const MAX_DRAWS: usize = 20_000_000;
/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_985;

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The number of values.
    pub count: usize,
    /// The mean; 0 without values.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Returns the mean of values with the interval of a percentile bootstrap. The same seed gives the same
/// interval. For differences of pairs it is the paired bootstrap.
pub(crate) fn bootstrap(values: &[f64], seed: u64) -> Estimate {
    let count = values.len();
    let mean = mean(values);
    if count < 2 {
        return Estimate { count, mean, low: mean, high: mean };
    }
    let mut random = Rng::with_seed(seed);
    let samples = SAMPLES.min((MAX_DRAWS / count).max(200));
    let mut means: Vec<f64> =
        (0..samples).map(|_| (0..count).map(|_| values[random.usize(..count)]).sum::<f64>() / count as f64).collect();
    means.sort_unstable_by(f64::total_cmp);
    let quantile = |part: f64| means[((samples - 1) as f64 * part).round() as usize];
    Estimate { count, mean, low: quantile(0.025), high: quantile(0.975) }
}

/// Returns a rate of cases that pass, with the Wilson score interval: unlike that of a bootstrap it is
/// not empty when all cases pass. `rates` has a value from 0 to 1 for each case.
pub(crate) fn rate(rates: &[f64]) -> Estimate {
    let (count, mean) = (rates.len(), mean(rates));
    if count == 0 {
        return Estimate { count, mean, low: 0.0, high: 1.0 };
    }
    let n = count as f64;
    let square = Z * Z;
    let center = (mean + square / (2.0 * n)) / (1.0 + square / n);
    let half = Z * (mean * (1.0 - mean) / n + square / (4.0 * n * n)).sqrt() / (1.0 + square / n);
    Estimate { count, mean, low: (center - half).max(0.0), high: (center + half).min(1.0) }
}

/// Returns the mean; 0 without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rounded(Estimate { count, mean, low, high }: Estimate) -> String {
        format!("{count}: {mean:.3} [{low:.3}, {high:.3}]")
    }

    /// The bounds are those of the formula, as other programs compute them.
    #[test]
    fn rates_have_wilson_intervals() {
        let check = |passed: usize, count: usize, expected: &str| {
            let rates: Vec<_> = (0..count).map(|index| f64::from(u8::from(index < passed))).collect();
            assert_eq!(rounded(rate(&rates)), expected);
        };
        check(10, 10, "10: 1.000 [0.722, 1.000]");
        check(0, 10, "10: 0.000 [0.000, 0.278]");
        check(5, 10, "10: 0.500 [0.237, 0.763]");
        check(0, 0, "0: 0.000 [0.000, 1.000]");
    }

    #[test]
    fn bootstrap_is_reproducible() {
        let values: Vec<f64> = (0..40).map(|index| f64::from(index % 5) / 4.0).collect();
        let first = bootstrap(&values, 7);
        assert_eq!(first, bootstrap(&values, 7));
        // Values with many digits show another seed in the bounds.
        let fine: Vec<f64> = (0..40).map(|index| f64::from(index).sqrt() / 7.0).collect();
        assert_ne!(bootstrap(&fine, 7), bootstrap(&fine, 8));
        // The interval of the normal approximation is 0.5 ± 0.11.
        assert!((first.mean - 0.5).abs() < 1e-9 && (first.low - 0.39).abs() < 0.03 && (first.high - 0.61).abs() < 0.03);
        assert_eq!(rounded(bootstrap(&[1.0; 9], 0)), "9: 1.000 [1.000, 1.000]");
        assert_eq!(rounded(bootstrap(&[0.25], 0)), "1: 0.250 [0.250, 0.250]");
        assert_eq!(rounded(bootstrap(&[], 0)), "0: 0.000 [0.000, 0.000]");
    }

    proptest! {
        #[test]
        fn means_are_within_their_intervals(values in prop::collection::vec(0.0..=1.0, 1..30), seed: u64) {
            let Estimate { mean, low, high, .. } = bootstrap(&values, seed);
            prop_assert!(low <= high && (0.0..=1.0).contains(&mean));
            let Estimate { mean, low, high, .. } = rate(&values);
            prop_assert!(low <= mean + 1e-9 && mean <= high + 1e-9 && low >= 0.0 && high <= 1.0);
        }
    }
}
