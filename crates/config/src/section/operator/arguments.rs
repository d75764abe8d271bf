//! Checks the arguments of operators, as far as they are written in the config.

use super::FoundOperator;
use config_source::{Node, NodeKind, Report, Span, suggest};
use operators::{Definition, Kind, Parameter, Parameters};

/// Reports wrong arguments. Those that are computed are checked when they are evaluated.
pub(super) fn check(definition: &Definition, operator: FoundOperator<'_>, report: &mut Report) {
    let value = operator.value;
    if matches!(value.kind, NodeKind::Broken) {
        return;
    }
    let name = definition.name;
    let is_computed = FoundOperator::read(value).is_some();
    match definition.parameters {
        Parameters::Own => {}
        Parameters::Nothing => {
            if !matches!(value.kind, NodeKind::Null | NodeKind::Bool(true)) {
                report.error(value.at, format!("`{name}` takes nothing"), Some("write `null`".to_owned()));
            }
        }
        Parameters::NothingOr(word) => {
            if !matches!(value.kind, NodeKind::Null | NodeKind::Bool(true)) && value.text() != Some(word) {
                report.error(value.at, format!("`{name}` takes nothing, or `{word}`"), None);
            }
        }
        Parameters::One(kind) => check_kind(kind, value, true, report),
        _ if is_computed => {}
        Parameters::Pair(kind) => match value.items() {
            [_, _] => value.items().iter().for_each(|item| check_kind(kind, item, false, report)),
            _ => {
                report.error(value.at, format!("`{name}` takes a list of two values, found {}", value.describe()), None)
            }
        },
        Parameters::Values(kind) => match &value.kind {
            NodeKind::List(items) => items.iter().for_each(|item| check_kind(kind, item, false, report)),
            _ => report.error(value.at, format!("`{name}` takes a list of values, found {}", value.describe()), None),
        },
        Parameters::Named(parameters) => check_named(name, parameters, operator, report),
    }
}

fn check_named(name: &str, parameters: &[Parameter], operator: FoundOperator<'_>, report: &mut Report) {
    let value = operator.value;
    let given = |parameter: &Parameter, index: usize| match &value.kind {
        NodeKind::List(items) => items.get(index),
        _ => value.get(parameter.name).map(|entry| &entry.value),
    };
    match &value.kind {
        NodeKind::Map(entries) => {
            for entry in entries {
                if parameters.iter().all(|parameter| parameter.name != entry.key) {
                    let help = suggest::help(&entry.key, parameters.iter().map(|parameter| parameter.name));
                    report.error(entry.key_at, format!("`{name}` has no parameter `{}`", entry.key), help);
                }
            }
        }
        NodeKind::List(items) if items.len() <= parameters.len() => {}
        _ => {
            let names: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            let help =
                suggest::list(&names).map(|names| format!("it takes {names}, as a mapping or as a list in this order"));
            return report.error(value.at, format!("`{name}` cannot take {}", value.describe()), help);
        }
    }
    for (index, parameter) in parameters.iter().enumerate() {
        match given(parameter, index) {
            Some(value) if parameter.optional && matches!(value.kind, NodeKind::Null) => {}
            Some(value) => check_kind(parameter.kind, value, parameter.name == "on", report),
            None if parameter.optional => {}
            None => report_missing(name, parameter, operator.key_at, report),
        }
    }
}

fn report_missing(name: &str, parameter: &Parameter, at: Span, report: &mut Report) {
    let message = format!("`{name}` needs `{}`, {}", parameter.name, parameter.kind.describe());
    report.error(at, message, None);
}

/// Reports a value of another kind, if it is written in the config. A list or a mapping may have
/// computed parts.
fn check_kind(kind: Kind, value: &Node, may_be_null: bool, report: &mut Report) {
    let is_function = FoundOperator::read(value).is_some_and(|(operator, _)| operator.key == "_function");
    if kind == Kind::Function {
        if !is_function {
            let help = "write `_function:` with operators that begin with two underscores".to_owned();
            report.error(value.at, format!("expected a function, found {}", value.describe()), Some(help));
        }
        return;
    }
    let is_computed = FoundOperator::read(value).is_some();
    let is_empty = may_be_null && matches!(value.kind, NodeKind::Null);
    if is_computed || is_empty || value.is_broken() {
        return;
    }
    if let Some(problem) = kind.problem(&value.to_value()) {
        report.error(value.at, problem, None);
    }
}
