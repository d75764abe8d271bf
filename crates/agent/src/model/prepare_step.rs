//! Settings that apply to some steps of a turn only (`prepareStep`).

use contract::ToolChoice;

/// Settings for some steps. The first rule that matches a step applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRule {
    /// The steps to which the rule applies.
    pub steps: StepSelector,
    /// The names of the tools that are offered.
    pub active_tools: Option<Vec<String>>,
    /// Whether the model must call a tool, and which one.
    pub tool_choice: Option<ToolChoice>,
    /// The maximum length of the reply in tokens.
    pub max_output_tokens: Option<u32>,
    /// 0 to 2.
    pub temperature: Option<f64>,
}

/// A selection of steps of a turn, which are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepSelector {
    /// The steps with these numbers.
    Numbers(Vec<u32>),
    /// The steps from the first number to the second, inclusive, or to the end.
    Range(u32, Option<u32>),
}

impl Default for StepSelector {
    fn default() -> Self {
        Self::Range(1, None)
    }
}

impl StepSelector {
    fn contains(&self, number: u32) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.contains(&number),
            Self::Range(from, to) => *from <= number && to.is_none_or(|to| number <= to),
        }
    }
}

/// Returns the rule for a step.
pub(crate) fn rule(rules: &[StepRule], number: u32) -> Option<&StepRule> {
    rules.iter().find(|rule| rule.steps.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_rule_applies() {
        let of = |steps, temperature| StepRule { steps, temperature: Some(temperature), ..StepRule::default() };
        let rules = [
            of(StepSelector::Numbers(vec![1, 3]), 0.1),
            of(StepSelector::Range(3, Some(4)), 0.2),
            of(StepSelector::Range(6, None), 0.3),
        ];
        let found: Vec<_> = (1..8).map(|number| rule(&rules, number).and_then(|rule| rule.temperature)).collect();
        assert_eq!(found, [Some(0.1), None, Some(0.1), Some(0.2), None, Some(0.3), Some(0.3)]);
    }
}
