//! Messages about operators that cannot stand where they are written.

use super::{EvaluationPlace, FoundOperator};
use config_source::{Report, suggest};
use operators::{Usage, instead_of};

/// Reports an operator that is unknown, not supported, or not allowed in a place.
pub(super) fn report_misplaced(operator: FoundOperator<'_>, place: EvaluationPlace<'_>, report: &mut Report) {
    let FoundOperator { key: name, key_at: at, .. } = operator;
    let Some(known) = place.operators.definition(name) else {
        return match instead_of(name) {
            Some(instead) => {
                report.error(at, format!("the operator `{name}` is not supported"), Some(instead.to_owned()))
            }
            None => report.error(at, format!("there is no operator `{name}`"), suggestion(name, place)),
        };
    };
    match known.usage {
        _ if name == "_secret" => {
            let help = "secrets are read in `connections`, in an agent's `providerOptions`, and in what a routine asks of a database or a web service; they never leave the server otherwise".to_owned();
            report.error(at, "a secret has no place here", Some(help));
        }
        Usage::AsFunction => {
            let help = "only parameters such as `callback` of `_array.map` take a function".to_owned();
            report.error(at, "a function has no meaning here", Some(help));
        }
        Usage::OnServer => {
            let help = "compute it in an endpoint, which an action of the page calls, and show the state that it sets"
                .to_owned();
            report.error(at, format!("the operator `{name}` is evaluated by the server alone"), Some(help));
        }
        Usage::NotRendered => {
            let help = "what the server renders must be the same as in the browser; compute it in an action and show the state that it sets".to_owned();
            report.error(at, format!("the operator `{name}` has another result each time"), Some(help));
        }
        _ => {
            let help = suggest::list(place.values)
                .map(|names| format!("what can be read here: {names}; operators that only compute are allowed, too"));
            report.error(at, format!("the operator `{name}` has no meaning here"), help);
        }
    }
}

/// Returns the help line for an unknown name: the most similar operator, or those of its family.
fn suggestion(name: &str, place: EvaluationPlace<'_>) -> Option<String> {
    let names = place.names();
    if let Some(nearest) = suggest::nearest(name, names.iter().copied()) {
        return Some(suggest::did_you_mean(nearest));
    }
    let family = name.split('.').next().unwrap_or(name);
    let is_of_family = |known: &&str| known.split_once('.').is_some_and(|(of, _)| of == family);
    let methods: Vec<_> = names.iter().copied().filter(is_of_family).collect();
    if methods.is_empty() {
        suggest::list(place.values)
            .map(|values| format!("{values} read a value here; `docs/operators.md` has all others"))
    } else {
        suggest::one_of(&methods).or_else(|| Some(format!("`docs/operators.md` has those of `{family}`")))
    }
}

/// Reports an operator that is evaluated by a call of a function, outside of one. `more` is the
/// underscores before its name.
pub(super) fn report_too_many_underscores(more: &str, operator: FoundOperator<'_>, report: &mut Report) {
    let name = operator.key;
    let help = format!("write `{name}`; more underscores are for what a function evaluates (`_function`)");
    report.error(operator.key_at, format!("there is no operator `{more}{name}` here"), Some(help));
}

/// Reports a secret in an operator that would change it.
pub(super) fn report_changed_secret(around: &str, operator: FoundOperator<'_>, report: &mut Report) {
    let help = "responses are searched for secrets as they are, so one that was changed would not be found; store it in the form that is sent".to_owned();
    report.error(operator.key_at, format!("a secret cannot be given to `{around}`"), Some(help));
}
