//! Checks operators in values that are evaluated later.

mod arguments;
mod message;

use crate::env::Env;
use config_source::{Node, NodeKind, Report, Span, suggest};
use operators::{Definition, ExpressionLanguage, Kind, Operators, Parameters, Usage};
use secrecy::SecretString;
use serde_json::Value;

/// Where values are evaluated.
#[derive(Clone, Copy)]
pub(super) struct EvaluationPlace<'a> {
    /// All operators.
    pub(super) operators: &'a Operators,
    /// Those that read a value there.
    pub(super) values: &'a [&'static str],
    /// Who evaluates the values.
    pub(super) side: Side,
}

/// Who evaluates a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The server.
    Server,
    /// The browser.
    Browser,
    /// Both: the result is rendered, so that it must be the same.
    Both,
}

impl EvaluationPlace<'_> {
    fn allows(&self, definition: &Definition) -> bool {
        match definition.usage {
            Usage::Value => self.values.contains(&definition.name),
            Usage::Anywhere | Usage::InFunction => true,
            Usage::NotRendered => self.side != Side::Both,
            Usage::AsFunction => false,
            Usage::OnServer => self.side == Side::Server,
        }
    }

    /// Returns the names of all operators that may stand there, without those of functions.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let is_value = |definition: &&Definition| !matches!(definition.usage, Usage::InFunction);
        operators::definitions()
            .chain(self.operators.custom().iter().copied())
            .filter(|definition| self.allows(definition))
            .filter(is_value)
            .map(|definition| definition.name)
            .collect()
    }
}

/// An operator in the config.
#[derive(Clone, Copy)]
pub(super) struct FoundOperator<'n> {
    /// The name, as it is outside of functions.
    pub(super) key: &'n str,
    pub(super) key_at: Span,
    pub(super) value: &'n Node,
}

impl<'n> FoundOperator<'n> {
    /// Returns the operator that a value is, and the number of underscores before its name. The rule
    /// is that of `operators::operator`: a mapping with this one key.
    fn read(value: &'n Node) -> Option<(Self, usize)> {
        let [entry] = value.entries() else { return None };
        if !entry.key.starts_with('_') || operators::is_prototype_key(&entry.key) {
            return None;
        }
        let underscores = entry.key.bytes().take_while(|byte| *byte == b'_').count();
        let key = operators::name_outside_functions(&entry.key);
        Some((Self { key, key_at: entry.key_at, value: &entry.value }, underscores))
    }
}

/// Checks the operators in a value that is evaluated on the server, without secrets. `operators` are
/// those of the language, `values` those that read a value there.
pub(crate) fn check(value: &Node, operators: &Operators, values: &[&'static str], report: &mut Report) {
    for_each_operator(value, EvaluationPlace { operators, values, side: Side::Server }, report, &mut |_, _| {});
}

/// Visits all operators in a value, outer ones first. Allowed ones are passed to `check`, others
/// are reported.
pub(super) fn for_each_operator<'n>(
    value: &'n Node,
    place: EvaluationPlace<'_>,
    report: &mut Report,
    check: &mut dyn FnMut(FoundOperator<'n>, &mut Report),
) {
    OperatorVisitor { place, report, check }.visit(value, Surroundings::default());
}

/// The keys that `_user` reads. They are those of `chat::Caller::facts`.
pub const USER_KEYS: [&str; 4] = ["id", "name", "roles", "inputs"];

/// The keys that `_agent` reads. They are those of `endpoints::CallingAgent`.
const AGENT_KEYS: [&str; 2] = ["id", "conversationId"];

/// Warns of a `_user` or an `_agent` that reads a key which no user, or no agent, has.
pub(super) fn check_known_keys(operator: FoundOperator<'_>, report: &mut Report) {
    match operator.key {
        "_user" => warn_of_unknown_key(operator, &USER_KEYS, "a user has no", report),
        "_agent" => warn_of_unknown_key(operator, &AGENT_KEYS, "an agent has no", report),
        _ => {}
    }
}

/// The place around a value.
#[derive(Clone, Copy, Default)]
struct Surroundings<'n> {
    /// The most underscores before the name of an operator, less one: 1 in a function, 2 in a
    /// function in a function.
    functions: usize,
    /// The operator that would change a secret.
    changes_secrets: Option<&'n str>,
}

struct OperatorVisitor<'n, 'a> {
    place: EvaluationPlace<'a>,
    report: &'a mut Report,
    check: &'a mut dyn FnMut(FoundOperator<'n>, &mut Report),
}

impl<'n> OperatorVisitor<'n, '_> {
    fn visit(&mut self, value: &'n Node, around: Surroundings<'n>) {
        let Some((operator, underscores)) = FoundOperator::read(value) else {
            value.items().iter().for_each(|item| self.visit(item, around));
            value.entries().iter().for_each(|entry| self.visit(&entry.value, around));
            return;
        };
        let FoundOperator { key, key_at, value } = operator;
        if underscores > around.functions + 1 {
            return message::report_too_many_underscores(&"_".repeat(underscores - 1), operator, self.report);
        }
        let Some(definition) = self.place.operators.definition(key).filter(|definition| self.place.allows(definition))
        else {
            message::report_misplaced(operator, self.place, self.report);
            return self.visit(value, around);
        };
        match key {
            "_args" if underscores < 2 => {
                let help = "a function reads its arguments as `__args`".to_owned();
                self.report.error(key_at, "`_args` has no meaning here", Some(help));
            }
            "_secret" if underscores > 1 => {
                let help = "write `_secret`, which is read once, before the function is called".to_owned();
                self.report.error(key_at, "a function cannot read secrets", Some(help));
            }
            _ => {}
        }
        if let ("_secret", Some(around)) = (key, around.changes_secrets) {
            return message::report_changed_secret(around, operator, self.report);
        }
        check_syntax(operator, self.report);
        arguments::check(definition, operator, self.report);
        (self.check)(operator, self.report);
        let changes = !definition.keeps_secrets && definition.parameters.are_evaluated();
        let inner =
            Surroundings { changes_secrets: around.changes_secrets.or(changes.then_some(definition.name)), ..around };
        self.visit_arguments(definition, value, inner);
    }

    /// Visits the arguments of an operator. A function is allowed only where one is taken.
    fn visit_arguments(&mut self, definition: &Definition, value: &'n Node, around: Surroundings<'n>) {
        let Parameters::Named(parameters) = definition.parameters else { return self.visit(value, around) };
        if FoundOperator::read(value).is_some() {
            return self.visit(value, around);
        }
        let takes_function = |name: Option<&str>, index: usize| {
            let parameter = match name {
                Some(name) => parameters.iter().find(|parameter| parameter.name == name),
                None => parameters.get(index),
            };
            parameter.is_some_and(|parameter| parameter.kind == Kind::Function)
        };
        for (index, item) in value.items().iter().enumerate() {
            self.visit_argument(item, takes_function(None, index), around);
        }
        for entry in value.entries() {
            self.visit_argument(&entry.value, takes_function(Some(&entry.key), 0), around);
        }
    }

    fn visit_argument(&mut self, value: &'n Node, takes_function: bool, around: Surroundings<'n>) {
        match FoundOperator::read(value).filter(|_| takes_function) {
            Some((FoundOperator { key: "_function", value, .. }, underscores)) => {
                self.visit(value, Surroundings { functions: underscores, ..around });
            }
            // The check of the arguments has reported it.
            _ if takes_function => {}
            _ => self.visit(value, around),
        }
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
pub(super) fn check_secret(operator: FoundOperator<'_>, env: &dyn Env, needed: &str, report: &mut Report) {
    let Some(name) = operator.value.text().filter(|_| operator.key == "_secret") else { return };
    if env.get(name).is_none_or(|value| value.trim().is_empty()) {
        let help = Some(format!("set it before the server starts: {needed}"));
        report.error(operator.value.at, format!("the environment variable `{name}` is not set"), help);
    }
}

/// Warns of an operator that reads a key which never exists: its value is always null. `message` is
/// what precedes the key.
pub(super) fn warn_of_unknown_key(operator: FoundOperator<'_>, known: &[&str], message: &str, report: &mut Report) {
    let Some(path) = operator.value.text() else { return };
    let key = path.split('.').next().unwrap_or(path);
    if !known.contains(&key) {
        let help = suggest::help(key, known.iter().copied());
        report.warning(operator.value.at, format!("{message} `{key}`"), help);
    }
}

/// Checks the syntax of an `_expr` or a `_template`.
fn check_syntax(operator: FoundOperator<'_>, report: &mut Report) {
    let Some(language) = ExpressionLanguage::from_operator(operator.key) else { return };
    let value = operator.value;
    match value.text() {
        Some(source) => {
            if let Err(problem) = operators::check_source(language, source) {
                report.error(value.at, problem, None);
            }
        }
        None if matches!(value.kind, NodeKind::Broken) => {}
        None => report.error(value.at, format!("expected a text, found {}", value.describe()), None),
    }
}
