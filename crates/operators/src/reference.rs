//! The documentation of all operators, as a page in Markdown, from their definitions.

use crate::families::FAMILIES;
use crate::unsupported::UNSUPPORTED;
use crate::{Definition, Kind, Operators, Parameters, Usage};
use std::fmt::Write;

const INTRODUCTION: &str = r#"# Operators

An operator stands in place of a value in the config and is evaluated when the value is used. It is a mapping with one
key that begins with `_`:

```yaml
- id: welcome
  type: Title
  properties:
    title:
      _string.concat:
        - "Welcome, "
        - _if_none: [{ _state: company }, stranger]
        - "!"
```

This page is generated from the code (`chatwright schema --operators`), and its examples are tests. Most names and
results are those of JavaScript and of Lowdefy. Positions in texts are counted in UTF-16 code units. A result that is not
a finite number is `null`, as in JSON.

## Where operators are allowed
| where | they are evaluated | and read |
|---|---|---|
| properties and `visible` of blocks | on the server, and in the browser whenever something changes that they read | `_state`, `_url_query` |
| actions of pages | when the action runs | `_state`, `_url_query`, `_event`, `_step` |
| properties of agents | for each turn | `_user`, `_payload`; in options of a provider `_secret` |
| steps of endpoints | when the step runs | `_payload`, `_step`, `_state`, `_user`, `_item`, `_error`, `_agent`; in requests to databases and web services `_secret` |

`_expr` and `_template` ([config.md](config.md#operators)) read the same values, but no secrets. All operators that only
compute may stand wherever operators are evaluated. Those with another result each time (marked with *) may not stand in
properties of blocks, because the page that the server renders must equal the one in the browser: compute the value in
an action. A secret may be passed on by `_string.concat`, `_if` and a few others, but not changed, because responses are
searched for secrets as they are.

`chatwright check` reports unknown operators, wrong arguments that are written in the config, and operators that have no
meaning where they stand. Arguments that are computed are checked when they are evaluated.

## Functions
Operators such as `_array.map` call a function for each item of a list. Operators that begin with two underscores are
evaluated by each call, those with one underscore once, before the first call. `__args` reads the arguments: here `0` is
the item, `1` its index and `2` the list.

```yaml
api:
  - id: order_lines
    description: Lists the lines of an order as texts.
    routine:
      - ':return':
          _array.map:
            on: { _payload: lines }
            callback:
              _function:
                __string.concat: [{ __args: 0.name }, ": ", { __args: 0.price }, " ", { _payload: currency }]
```

In a function in a function, its own operators begin with three underscores, and `__args` reads the arguments of the
outer one.

## Limits
An evaluation has a budget of work, which everything in it shares: each step costs a unit, and so does each part of a
value that is copied or made, and every 32 bytes of a text. Pages that the server renders have 200,000 units, all others
4,000,000. When they are used up, the evaluation is an error. A text that an operator makes has at most 1 MB. Regular
expressions take time in proportion to the text; look-around, back references and `\p{…}` are not supported, and `\w`,
`\d` and the flag `i` know ASCII only.

A program of its own can add operators ([extending.md](extending.md#an-operator)). They are evaluated by the server alone: in
agents and endpoints, not on pages.

## The operators
Arguments with names are a mapping or, in this order, a list; those in brackets may be left out. Where a text or a list
is expected as `on` or as the only argument, `null` counts as an empty one.

In the examples, the state is `{ name: Ada, seats: 3, cart: [{ price: 2.5 }, { price: 4 }] }`.
"#;

/// Returns the page about these operators.
pub fn reference(operators: &Operators) -> String {
    let mut page = INTRODUCTION.to_owned();
    for (title, family) in FAMILIES {
        write_table(&mut page, title, family.iter());
    }
    if !operators.custom().is_empty() {
        write_table(&mut page, "Added by this program", operators.custom().iter().copied());
    }
    page.push_str("\n## Not supported\nOperators of other systems that `check` knows, and what to use instead.\n\n| operator | instead |\n|---|---|\n");
    for (name, instead) in UNSUPPORTED {
        let _ = writeln!(page, "| `{name}` | {instead} |");
    }
    page
}

fn write_table<'d>(page: &mut String, title: &str, definitions: impl Iterator<Item = &'d Definition>) {
    let _ = write!(page, "\n### {title}\n| operator | takes | returns | for example |\n|---|---|---|---|\n");
    definitions.for_each(|definition| write_row(page, definition));
}

fn write_row(page: &mut String, definition: &Definition) {
    let Definition { name, parameters, docs, .. } = definition;
    let mark = if definition.usage == Usage::NotRendered { "*" } else { "" };
    let code = |json: &str| format!("`{}`", json.replace('|', "\\|"));
    let example = |(argument, result): &(&str, &str)| format!("{} → {}", code(argument), code(result));
    let examples: Vec<_> = docs.examples.iter().map(example).collect();
    let (takes, examples) = (describe(*parameters), examples.join("<br>"));
    let _ = writeln!(page, "| `{name}`{mark} | {takes} | {} | {examples} |", docs.summary);
}

/// Describes what an operator takes.
fn describe(parameters: Parameters) -> String {
    match parameters {
        Parameters::Own => String::new(),
        Parameters::Nothing => "nothing (`null`)".to_owned(),
        Parameters::NothingOr(word) => format!("nothing (`null`), or `{word}`"),
        Parameters::One(kind) => kind.describe().to_owned(),
        Parameters::Pair(Kind::Number) => "a list of two numbers".to_owned(),
        Parameters::Pair(_) => "a list of two values".to_owned(),
        Parameters::Values(kind) => match kind {
            Kind::Number => "a list of numbers".to_owned(),
            Kind::List => "a list of lists".to_owned(),
            Kind::Map => "a list of mappings".to_owned(),
            _ => "a list of values".to_owned(),
        },
        Parameters::Named(parameters) => {
            let name = |parameter: &crate::Parameter| {
                if parameter.optional { format!("[`{}`]", parameter.name) } else { format!("`{}`", parameter.name) }
            };
            parameters.iter().map(name).collect::<Vec<_>>().join(", ")
        }
    }
}
