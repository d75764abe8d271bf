//! Settings that apply to some steps of a turn only (`prepareStep`).

use contract::ToolChoice;
use schemars::JsonSchema;
use serde::Deserialize;

/// Overrides of settings for some steps of a turn. A step is one request to the model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = settings::allow_operators)]
pub struct StepRule {
    /// The numbers of the steps, counted from 1.
    #[schemars(inner(range(min = 1, max = 1000)))]
    pub steps: Option<Vec<u32>>,
    /// Instead of `steps`: the first step.
    #[schemars(range(min = 1, max = 1000))]
    pub from: Option<u32>,
    /// With `from`: the last step. Default: the rest of the turn.
    #[schemars(range(min = 1, max = 1000))]
    pub to: Option<u32>,
    /// The names of the tools that are offered.
    #[schemars(inner(regex(pattern = settings::pattern::TOOL_NAME)))]
    pub active_tools: Option<Vec<String>>,
    /// Whether the model must call a tool, and which.
    pub tool_choice: Option<ToolChoice>,
    /// The longest reply in tokens.
    #[schemars(range(min = 1))]
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature: low values make replies more predictable, high values more varied.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
}

impl StepRule {
    /// Returns whether the rule applies to a step. Without `steps` and `from` it applies to all.
    fn applies_to(&self, number: u32) -> bool {
        match &self.steps {
            Some(steps) => steps.contains(&number),
            None => self.from.unwrap_or(1) <= number && self.to.is_none_or(|to| number <= to),
        }
    }
}

/// Returns the rule for a step.
pub(crate) fn rule(rules: &[StepRule], number: u32) -> Option<&StepRule> {
    rules.iter().find(|rule| rule.applies_to(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_rule_applies() {
        let rules = [
            StepRule { steps: Some(vec![1, 3]), temperature: Some(0.1), ..StepRule::default() },
            StepRule { from: Some(3), to: Some(4), temperature: Some(0.2), ..StepRule::default() },
            StepRule { from: Some(6), temperature: Some(0.3), ..StepRule::default() },
        ];
        let found: Vec<_> = (1..8).map(|number| rule(&rules, number).and_then(|rule| rule.temperature)).collect();
        assert_eq!(found, [Some(0.1), None, Some(0.1), Some(0.2), None, Some(0.3), Some(0.3)]);
    }
}
