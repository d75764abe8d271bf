//! The bound of the cost.

/// What was spent, and what running cases will probably cost.
#[derive(Debug)]
pub(super) struct Budget {
    max_usd: Option<f64>,
    spent_usd: f64,
    finished: usize,
    running: usize,
}

impl Budget {
    pub(super) fn new(max_usd: Option<f64>) -> Self {
        Self { max_usd, spent_usd: 0.0, finished: 0, running: 0 }
    }

    /// Counts what an earlier process has spent.
    pub(super) fn add_finished(&mut self, cost_usd: f64) {
        self.spent_usd += cost_usd;
        self.finished += 1;
    }

    /// Counts a case that begins. Returns `false` if it would probably exceed the bound.
    pub(super) fn begin(&mut self) -> bool {
        let foreseen = self.estimate(self.running + 1);
        if self.max_usd.is_some_and(|max| foreseen > max) {
            return false;
        }
        self.running += 1;
        true
    }

    /// Counts the end of a case.
    pub(super) fn end(&mut self, cost_usd: f64) {
        self.running -= 1;
        self.add_finished(cost_usd);
    }

    /// Counts what is not a case, such as a comparison.
    pub(super) fn spend(&mut self, cost_usd: f64) {
        self.spent_usd += cost_usd;
    }

    /// Returns whether more may be spent.
    pub(super) fn is_left(&self) -> bool {
        self.max_usd.is_none_or(|max| self.spent_usd < max)
    }

    /// Returns the mean cost of a case.
    fn mean(&self) -> f64 {
        if self.finished == 0 { 0.0 } else { self.spent_usd / self.finished as f64 }
    }

    /// Returns what everything will cost with so many further cases.
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
    fn cases_that_would_exceed_the_bound_do_not_begin() {
        let mut budget = Budget::new(Some(1.0));
        assert!(budget.begin());
        budget.end(0.3);
        assert!((budget.estimate(9) - 3.0).abs() < 1e-9);
        assert!(budget.begin() && budget.begin(), "0.9 with the two that run");
        assert!(!budget.begin(), "1.2 with a third one");
        budget.end(0.1);
        budget.end(0.1);
        assert!(budget.begin() && budget.begin());
        let mut unbounded = Budget::new(None);
        unbounded.add_finished(1e9);
        assert!(unbounded.begin() && unbounded.is_left());
    }
}
