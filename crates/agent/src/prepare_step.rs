//! Other settings for some requests of a turn (L-41).

use contract::ToolChoice;

/// Settings for the requests that it fits; of several rules the first that fits counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRule {
    /// Which requests.
    pub steps: Steps,
    /// The tools that are offered, by name.
    pub active_tools: Option<Vec<String>>,
    /// Whether and which tool must be called.
    pub tool_choice: Option<ToolChoice>,
    /// The longest reply, in tokens.
    pub max_output_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
}

/// Which requests of a turn, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steps {
    /// These.
    These(Vec<u32>),
    /// From the first number to the second, or to the end.
    Range(u32, Option<u32>),
}

impl Default for Steps {
    fn default() -> Self {
        Self::Range(1, None)
    }
}

impl Steps {
    fn contains(&self, number: u32) -> bool {
        match self {
            Self::These(numbers) => numbers.contains(&number),
            Self::Range(from, to) => *from <= number && to.is_none_or(|to| number <= to),
        }
    }
}

/// The rule for a request.
pub(crate) fn rule(rules: &[StepRule], number: u32) -> Option<&StepRule> {
    rules.iter().find(|rule| rule.steps.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts() {
        let of = |steps, temperature| StepRule { steps, temperature: Some(temperature), ..StepRule::default() };
        let rules =
            [of(Steps::These(vec![1, 3]), 0.1), of(Steps::Range(3, Some(4)), 0.2), of(Steps::Range(6, None), 0.3)];
        let found: Vec<_> = (1..8).map(|number| rule(&rules, number).and_then(|rule| rule.temperature)).collect();
        assert_eq!(found, [Some(0.1), None, Some(0.1), Some(0.2), None, Some(0.3), Some(0.3)]);
    }
}
