//! Operators that read values of the place where they are used. The evaluator knows most of them.

use crate::Usage;
use crate::function::read_arguments;
use crate::parameters::Parameters::Own;
use crate::registry::Run::{Base, Lazy};
use crate::registry::{Definition, operator};

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_state", Own, Base, "A key of the page state, or of the values that `:set_state` has set; `true` returns all of them.",
        [r#""name""# => r#""Ada""#, r#""cart.1.price""# => "4", r#""nothing""# => "null"]).used(Usage::Value),
    operator!("_url_query", Own, Base, "A query parameter of the page's address, or `true` for all of them.",
        [r#""tab""# => r#""orders""#]).used(Usage::Value),
    operator!("_event", Own, Base, "A field of the event, or `true` for all fields. Only in actions.",
        [r#""value""# => "3"]).used(Usage::Value),
    operator!("_step", Own, Base, "The result of an earlier step or action, by its id.",
        [r#""find.rows.0.id""# => "7"]).used(Usage::Value),
    operator!("_user", Own, Base, "A field of the user, such as `id`, or `true` for all fields.",
        [r#""id""# => r#""u1""#]).used(Usage::Value),
    operator!("_payload", Own, Base, "A key of the payload of an endpoint, or of what an agent's turn is about; `true` returns all of it.",
        [r#""order.id""# => "12"]).used(Usage::Value),
    operator!("_shared_state", Own, Base, "A key of the state that the page shares with its agent.",
        [r#""plan""# => r#""pro""#]).used(Usage::Value),
    operator!("_item", Own, Base, "The current item of a `:for`, by the name of its variable.",
        [r#""row.id""# => "7"]).used(Usage::Value),
    operator!("_error", Own, Base, "A field of the error, `message` or `step`, under `:catch`.",
        [r#""message""# => r#""no such table""#]).used(Usage::Value),
    operator!("_secret", Own, Base, "The value of an environment variable, in what is sent to a provider, a database or a web service.",
        []).used(Usage::Value),
    operator!("_expr", Own, Base, "The value of an expression over the values that the other operators read.",
        [r#""state.seats * 2 + 1""# => "7"]).used(Usage::Value),
    operator!("_template", Own, Base, "A text with values.",
        [r#""Dear {{ state.name }}""# => r#""Dear Ada""#]).used(Usage::Value),
    operator!("_args", Own, Lazy(read_arguments), "An argument of the function that is called, by its index or by a key such as `0.name`; `true` returns all of them.",
        []).used(Usage::InFunction),
    operator!("_function", Own, Base, "A function for a parameter that takes one. In it, operators with two underscores are evaluated by each call, those with one before the first.",
        []).used(Usage::AsFunction),
];
