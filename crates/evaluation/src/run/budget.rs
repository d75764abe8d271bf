//! The bound of the cost.

/// The cost so far, and the probable cost of running work. Work of one kind is counted at a time: cases, then
/// comparisons.
#[derive(Debug)]
pub(super) struct Budget {
    max_usd: Option<f64>,
    spent_usd: f64,
    /// The cost of the finished work of this kind.
    finished_usd: f64,
    finished: usize,
    running: usize,
}

impl Budget {
    /// `spent_usd`: what an earlier process has spent for results that are made again.
    pub(super) fn new(max_usd: Option<f64>, spent_usd: f64) -> Self {
        Self { max_usd, spent_usd, finished_usd: 0.0, finished: 0, running: 0 }
    }

    /// Counts work that an earlier process has done.
    pub(super) fn add_finished(&mut self, cost_usd: f64) {
        self.spent_usd += cost_usd;
        self.finished_usd += cost_usd;
        self.finished += 1;
    }

    /// Begins to count work of another kind.
    pub(super) fn next_kind(&mut self) {
        (self.finished_usd, self.finished) = (0.0, 0);
    }

    /// Counts work that begins. Returns `false` if it would probably exceed the bound.
    pub(super) fn begin(&mut self) -> bool {
        let foreseen = self.estimate(self.running + 1);
        if self.max_usd.is_some_and(|max| foreseen > max) {
            return false;
        }
        self.running += 1;
        true
    }

    /// Counts the end of work.
    pub(super) fn end(&mut self, cost_usd: f64) {
        self.running -= 1;
        self.add_finished(cost_usd);
    }

    /// Returns the mean cost of work of this kind.
    fn mean(&self) -> f64 {
        if self.finished == 0 { 0.0 } else { self.finished_usd / self.finished as f64 }
    }

    /// Returns the estimated total cost with an amount of further work of this kind.
    pub(super) fn estimate(&self, further: usize) -> f64 {
        self.mean().mul_add(further as f64, self.spent_usd)
    }

    pub(super) fn max_usd(&self) -> Option<f64> {
        self.max_usd
    }

    pub(super) fn spent_usd(&self) -> f64 {
        self.spent_usd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_would_exceed_the_bound_does_not_begin() {
        let mut budget = Budget::new(Some(1.0), 0.0);
        assert!(budget.begin());
        budget.end(0.3);
        assert!((budget.estimate(9) - 3.0).abs() < 1e-9);
        assert!(budget.begin() && budget.begin(), "0.9 with the two that run");
        assert!(!budget.begin(), "1.2 with a third one");
        budget.end(0.1);
        budget.end(0.1);
        assert!(budget.begin() && budget.begin());
        let mut unbounded = Budget::new(None, 0.0);
        unbounded.add_finished(1e9);
        assert!(unbounded.begin());
    }

    /// Comparisons cost something else than cases.
    #[test]
    fn work_of_another_kind_has_its_own_mean() {
        let mut budget = Budget::new(Some(2.0), 0.5);
        budget.add_finished(1.0);
        assert!(!budget.begin(), "2.5 with another case");
        budget.next_kind();
        assert!(budget.begin());
        budget.end(0.1);
        assert!((budget.estimate(2) - 1.8).abs() < 1e-9);
    }
}
