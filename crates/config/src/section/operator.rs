//! Checks operators in values that are evaluated later.

use crate::env::Env;
use crate::shape::suggest;
use crate::source::{MapEntry, Node, NodeKind, Report};
use operators::ExpressionLanguage;
use secrecy::SecretString;
use serde_json::Value;

/// Visits all operators in a value, outer ones first. Allowed ones are passed to `check`, others
/// are reported.
pub(super) fn for_each_operator<'n>(
    value: &'n Node,
    allowed: &[&str],
    report: &mut Report,
    check: &mut dyn FnMut(&'n MapEntry, &mut Report),
) {
    match &value.kind {
        NodeKind::List(items) => items.iter().for_each(|item| for_each_operator(item, allowed, report, check)),
        NodeKind::Map(entries) => {
            // The same rule as in `operators::operator`: a mapping with this one key.
            if let [operator] = entries.as_slice()
                && operator.key.starts_with('_')
                && !operators::is_prototype_key(&operator.key)
            {
                match allowed.contains(&operator.key.as_str()) {
                    true => {
                        check_syntax(operator, report);
                        check(operator, report);
                    }
                    false => report_misplaced(operator, allowed, report),
                }
            }
            entries.iter().for_each(|entry| for_each_operator(&entry.value, allowed, report, check));
        }
        _ => {}
    }
}

/// Returns the secrets that values refer to: pairs of the variable's name and its value. Variables
/// that are not set are left out.
pub(super) fn resolve_secrets<'v>(
    values: impl IntoIterator<Item = &'v Value>,
    env: &dyn Env,
) -> Vec<(String, SecretString)> {
    let names = values.into_iter().flat_map(operators::secrets_used);
    names.filter_map(|name| Some((env.get(&name)?.into(), name))).map(|(value, name)| (name, value)).collect()
}

/// Reports a `_secret` whose variable is not set. `needed` says who needs it, as the end of "set it
/// before the server starts: …".
pub(super) fn check_secret(operator: &MapEntry, env: &dyn Env, needed: &str, report: &mut Report) {
    let Some(name) = operator.value.text().filter(|_| operator.key == "_secret") else { return };
    if env.get(name).is_none_or(|value| value.trim().is_empty()) {
        let help = Some(format!("set it before the server starts: {needed}"));
        report.error(operator.value.at, format!("the environment variable `{name}` is not set"), help);
    }
}

/// Checks the syntax of an `_expr` or a `_template`.
fn check_syntax(operator: &MapEntry, report: &mut Report) {
    let language = match operator.key.as_str() {
        "_expr" => ExpressionLanguage::Expression,
        "_template" => ExpressionLanguage::Template,
        _ => return,
    };
    match operator.value.text() {
        Some(source) => {
            if let Err(problem) = operators::check_source(language, source) {
                report.error(operator.value.at, problem, None);
            }
        }
        None => {
            let message = format!("expected a text, found {}", operator.value.describe());
            report.error(operator.value.at, message, None);
        }
    }
}

fn report_misplaced(operator: &MapEntry, allowed: &[&str], report: &mut Report) {
    let (name, at) = (operator.key.as_str(), operator.key_at);
    if name == "_secret" {
        let help = "secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise".to_owned();
        report.error(at, "a secret has no place here", Some(help));
    } else if operators::operator_names().contains(&name) {
        let help = suggest::list(allowed).map(|names| format!("what can stand here: {names}"));
        report.error(at, format!("the operator `{name}` has no meaning here"), help);
    } else {
        report.error(at, format!("there is no operator `{name}`"), suggest::help(name, allowed.iter().copied()));
    }
}
