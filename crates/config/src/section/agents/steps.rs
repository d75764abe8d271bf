//! Checks `prepareStep`: properties of an agent that differ from step to step.

use agent::StepRule;
use config_source::{Node, PathStep, Report};

/// Reports rules whose steps are missing or contradictory.
pub(crate) fn check(rules: &[StepRule], place: &Node, report: &mut Report) {
    for (index, rule) in rules.iter().enumerate() {
        let at = place.span_at(&[PathStep::Key("prepareStep"), PathStep::Index(index)]);
        match (&rule.steps, rule.from, rule.to) {
            (Some(_), None, None) => {}
            (None, Some(from), Some(to)) if to < from => {
                report.error(at, format!("no request has a number from {from} to {to}"), None);
            }
            (None, Some(_), _) => {}
            (Some(_), ..) => report.error(at, "a rule has either `steps` or `from` and `to`", None),
            (None, None, _) => {
                let help = "add `steps: [1]`, or `from: 2`".to_owned();
                report.error(at, "this rule does not say for which requests it is", Some(help));
            }
        }
    }
}
