//! Operators that read values of the place where they are used. The evaluator knows those of pages.

use crate::evaluation::Evaluation;
use crate::function::read_arguments;
use crate::parameters::Parameters::Own;
use crate::registry::Run::{Base, Lazy};
use crate::registry::{Definition, operator};
use crate::{OperatorError, Usage};
use serde_json::Value;

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_state", Own, Base, "A key of the page state, or of the values that `:set_state` has set; `true` returns all of them.",
        [r#""name""# => r#""Ada""#, r#""cart.1.price""# => "4", r#""nothing""# => "null"]).used(Usage::Value),
    operator!("_url_query", Own, Base, "A query parameter of the page's address, or `true` for all of them.",
        [r#""tab""# => r#""orders""#]).used(Usage::Value),
    operator!("_event", Own, Base, "A field of the event, or `true` for all fields. Only in actions.",
        [r#""value""# => "3"]).used(Usage::Value),
    operator!("_step", Own, Base, "The result of an earlier step or action, by its id.",
        [r#""find.rows.0.id""# => "7"]).used(Usage::Value),
    operator!("_user", Own, Lazy(|here, key| here.read("_user", here.scope.user, key)), "A field of the user, such as `id`, or `true` for all fields.",
        [r#""id""# => r#""u1""#]).used(Usage::Value),
    operator!("_payload", Own, Lazy(|here, key| here.read("_payload", here.scope.payload, key)), "A key of the payload of an endpoint, or of what an agent's turn is about; `true` returns all of it.",
        [r#""order.id""# => "12"]).used(Usage::Value),
    operator!("_input", Own, Lazy(|here, key| here.read("_input", here.scope.input, key)), "A key of the input of a workflow, or `true` for all of it.",
        [r#""amount""# => "12"]).used(Usage::Value),
    operator!("_shared_state", Own, Lazy(|here, key| here.read("_shared_state", here.scope.shared_state, key)), "A key of the state that the page shares with its agent.",
        [r#""plan""# => r#""pro""#]).used(Usage::Value),
    operator!("_item", Own, Lazy(|here, key| here.read("_item", here.scope.item, key)), "The current item of a `:for` or of a workflow's loop, by the name of its variable.",
        [r#""row.id""# => "7"]).used(Usage::Value),
    operator!("_error", Own, Lazy(|here, key| here.read("_error", here.scope.error, key)), "A field of the error, `message` or `step`, under `:catch`, and in the steps of `onError`.",
        [r#""message""# => r#""no such table""#]).used(Usage::Value),
    operator!("_agent", Own, Lazy(|here, key| here.read("_agent", here.scope.agent, key)), "The `id` of the agent that calls the endpoint, as a tool or a hook, or its `conversationId`; `true` for both. `null` for other callers.",
        [r#""id""# => r#""support""#, r#""conversationId""# => r#""c1""#]).used(Usage::Value),
    operator!("_secret", Own, Lazy(read_secret), "The value of an environment variable, in what is sent to a provider, a database or a web service.",
        []).used(Usage::Value),
    operator!("_expr", Own, Base, "The value of an expression over the values that the other operators read.",
        [r#""state.seats * 2 + 1""# => "7"]).used(Usage::Value),
    operator!("_template", Own, Base, "A text with values.",
        [r#""Dear {{ state.name }}""# => r#""Dear Ada""#]).used(Usage::Value),
    operator!("_args", Own, Lazy(read_arguments), "An argument of the function that is called, by its index or by a key such as `0.name`; `true` returns all of them.",
        []).used(Usage::InFunction),
    operator!("_function", Own, Lazy(misplaced_function), "A function for a parameter that takes one. In it, operators with two underscores are evaluated by each call, those with one before the first.",
        []).used(Usage::AsFunction),
];

fn misplaced_function(evaluation: &mut Evaluation<'_>, _: &Value) -> Result<Value, OperatorError> {
    Err(evaluation.error("a function has no value here"))
}

fn read_secret(evaluation: &mut Evaluation<'_>, argument: &Value) -> Result<Value, OperatorError> {
    let Some(resolve) = evaluation.scope.secret else {
        return Err(
            evaluation.error("secrets are available on the server only, in connections and in requests of routines")
        );
    };
    let Some(name) = argument.as_str() else {
        return Err(evaluation.error("`_secret` takes the name of an environment variable"));
    };
    let value = resolve(name).map(Value::String);
    value.ok_or_else(|| evaluation.error(format!("the environment variable `{name}` is not set")))
}
