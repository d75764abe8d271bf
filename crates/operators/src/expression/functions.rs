//! The filters, tests and functions of the language. Each is charged for what it is given, and what it makes is counted.

use super::counted::{cost, counted, has_items, is_counted};
use super::meter::{charge, units};
use super::{MAX_BYTES, too_large};
use minijinja::value::{Kwargs, Rest, Value as Known, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters, functions, tests};
use std::borrow::Cow;

/// What a function costs beside going once through its arguments.
#[derive(Clone, Copy)]
enum Weight {
    /// Nothing.
    Linear,
    /// It compares the items of a list with each other.
    Sorting,
    /// It adds up lists or texts, each of which is copied with every further one.
    Adding,
    /// It looks each character of one text up in another.
    Product,
}

/// Adds all that there is. Left out is what lets one text multiply another without counting (`format`, `indent`, `batch`,
/// `slice`), what keeps a growing text over the turns of a loop (`namespace`), and `debug`.
pub(super) fn add_all(environment: &mut Environment<'static>) {
    add_filters(environment);
    add_tests(environment);
    for (name, function, weight) in [
        ("range", Known::from_function(functions::range), Weight::Linear),
        ("dict", Known::from_function(functions::dict), Weight::Sorting),
    ] {
        environment.add_function(name, charged(function, weight));
    }
}

fn add_filters(environment: &mut Environment<'static>) {
    let linear = [
        ("safe", Known::from_function(filters::safe)),
        ("escape", Known::from_function(filters::escape)),
        ("e", Known::from_function(filters::escape)),
        ("lower", Known::from_function(filters::lower)),
        ("upper", Known::from_function(filters::upper)),
        ("title", Known::from_function(filters::title)),
        ("capitalize", Known::from_function(filters::capitalize)),
        ("replace", Known::from_function(replace)),
        ("length", Known::from_function(filters::length)),
        ("count", Known::from_function(filters::length)),
        ("items", Known::from_function(filters::items)),
        ("reverse", Known::from_function(filters::reverse)),
        ("join", Known::from_function(join)),
        ("split", Known::from_function(filters::split)),
        ("lines", Known::from_function(filters::lines)),
        ("default", Known::from_function(filters::default)),
        ("d", Known::from_function(filters::default)),
        ("round", Known::from_function(filters::round)),
        ("abs", Known::from_function(filters::abs)),
        ("int", Known::from_function(filters::int)),
        ("float", Known::from_function(filters::float)),
        ("attr", Known::from_function(filters::attr)),
        ("first", Known::from_function(filters::first)),
        ("last", Known::from_function(filters::last)),
        ("min", Known::from_function(filters::min)),
        ("max", Known::from_function(filters::max)),
        ("list", Known::from_function(filters::list)),
        ("string", Known::from_function(filters::string)),
        ("bool", Known::from_function(filters::bool)),
        ("select", Known::from_function(filters::select)),
        ("reject", Known::from_function(filters::reject)),
        ("selectattr", Known::from_function(filters::selectattr)),
        ("rejectattr", Known::from_function(filters::rejectattr)),
        ("map", Known::from_function(filters::map)),
        ("chain", Known::from_function(filters::chain)),
        ("zip", Known::from_function(filters::zip)),
        ("pprint", Known::from_function(filters::pprint)),
        ("tojson", Known::from_function(filters::tojson)),
    ];
    let others = [
        ("sort", Known::from_function(filters::sort), Weight::Sorting),
        ("unique", Known::from_function(filters::unique), Weight::Sorting),
        ("groupby", Known::from_function(filters::groupby), Weight::Sorting),
        ("dictsort", Known::from_function(filters::dictsort), Weight::Sorting),
        ("sum", Known::from_function(filters::sum), Weight::Adding),
        ("trim", Known::from_function(filters::trim), Weight::Product),
    ];
    let linear = linear.into_iter().map(|(name, filter)| (name, filter, Weight::Linear));
    for (name, filter, weight) in linear.chain(others) {
        environment.add_filter(name, charged(filter, weight));
    }
}

fn add_tests(environment: &mut Environment<'static>) {
    let all: [(&[&'static str], Known); 30] = [
        (&["undefined"], Known::from_function(tests::is_undefined)),
        (&["defined"], Known::from_function(tests::is_defined)),
        (&["none"], Known::from_function(tests::is_none)),
        (&["safe", "escaped"], Known::from_function(tests::is_safe)),
        (&["boolean"], Known::from_function(tests::is_boolean)),
        (&["odd"], Known::from_function(tests::is_odd)),
        (&["even"], Known::from_function(tests::is_even)),
        (&["divisibleby"], Known::from_function(tests::is_divisibleby)),
        (&["number"], Known::from_function(tests::is_number)),
        (&["integer", "int"], Known::from_function(tests::is_integer)),
        (&["float"], Known::from_function(tests::is_float)),
        (&["string"], Known::from_function(tests::is_string)),
        (&["sequence"], Known::from_function(tests::is_sequence)),
        (&["iterable"], Known::from_function(tests::is_iterable)),
        (&["mapping"], Known::from_function(tests::is_mapping)),
        (&["startingwith"], Known::from_function(tests::is_startingwith)),
        (&["endingwith"], Known::from_function(tests::is_endingwith)),
        (&["lower"], Known::from_function(tests::is_lower)),
        (&["upper"], Known::from_function(tests::is_upper)),
        (&["sameas"], Known::from_function(tests::is_sameas)),
        (&["eq", "equalto", "=="], Known::from_function(tests::is_eq)),
        (&["ne", "!="], Known::from_function(tests::is_ne)),
        (&["lt", "lessthan", "<"], Known::from_function(tests::is_lt)),
        (&["le", "<="], Known::from_function(tests::is_le)),
        (&["gt", "greaterthan", ">"], Known::from_function(tests::is_gt)),
        (&["ge", ">="], Known::from_function(tests::is_ge)),
        (&["in"], Known::from_function(tests::is_in)),
        (&["true"], Known::from_function(tests::is_true)),
        (&["false"], Known::from_function(tests::is_false)),
        (&["filter"], Known::from_function(tests::is_filter)),
    ];
    for (names, test) in all {
        for name in names {
            environment.add_test(*name, charged(test.clone(), Weight::Linear));
        }
    }
    environment.add_test("test", charged(Known::from_function(tests::is_test), Weight::Linear));
}

/// The function, which runs once its arguments are paid for.
fn charged(
    function: Known,
    weight: Weight,
) -> impl Fn(&mut State<'_, '_>, Rest<ValueOrKwargs>) -> Result<Known, Error> + Send + Sync + 'static {
    move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
        let arguments = arguments.into_values();
        for argument in &arguments {
            charge_argument(argument, weight)?;
        }
        if let (Weight::Product, [text, signs]) = (weight, arguments.as_slice()) {
            charge(cost(text).saturating_mul(signs.as_str().map_or(0, |signs| signs.len() as u64)))?;
        }
        function.call(state, &arguments).map(counted)
    }
}

fn charge_argument(argument: &Known, weight: Weight) -> Result<(), Error> {
    if let Some(text) = argument.as_str() {
        return charge(units(text));
    }
    if !argument.as_object().is_some_and(has_items) {
        return Ok(());
    }
    match weight {
        // What goes through it is charged there.
        Weight::Linear | Weight::Product if is_counted(argument) => Ok(()),
        Weight::Linear | Weight::Product => charge_items(argument).map(drop),
        Weight::Sorting => {
            let Items { number, units, .. } = charge_items(argument)?;
            charge(units.saturating_mul(u64::from(number.max(1).ilog2())))
        }
        Weight::Adding => {
            let Items { texts_and_lists, units, .. } = charge_items(argument)?;
            charge(units.saturating_mul(texts_and_lists) / 64)
        }
    }
}

/// What a list or an object holds.
#[derive(Default)]
struct Items {
    number: u64,
    /// How many of them are no numbers.
    texts_and_lists: u64,
    units: u64,
}

/// Goes through the items, and charges for each.
fn charge_items(list: &Known) -> Result<Items, Error> {
    let mut items = Items::default();
    for item in list.try_iter()?.checked() {
        let item = item?;
        charge(cost(&item))?;
        items.number += 1;
        items.texts_and_lists += u64::from(!item.is_number());
        items.units += cost(&item);
    }
    Ok(items)
}

/// The texts of a list, one behind the other: `names | join(', ')`, `items | join(', ', attribute='name')`.
fn join(values: &Known, between: Option<&str>, attribute: Option<&str>, named: Kwargs) -> Result<String, Error> {
    let attribute = match attribute {
        Some(attribute) => Some(attribute),
        None => named.get("attribute")?,
    };
    named.assert_all_used()?;
    let mut joined = String::new();
    for (at, value) in values.try_iter()?.checked().enumerate() {
        let value = value?;
        let value = attribute.map_or_else(|| Ok(value.clone()), |attribute| value.get_attr(attribute))?;
        let between = between.filter(|_| at > 0).unwrap_or_default();
        let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
        if joined.len() + between.len() + text.len() > MAX_BYTES {
            return Err(too_large());
        }
        joined.push_str(between);
        joined.push_str(&text);
    }
    Ok(joined)
}

/// A text with all of one text in it replaced by another.
fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let grown = text.matches(from).count().saturating_mul(to.len()).saturating_add(text.len());
    if grown > MAX_BYTES { Err(too_large()) } else { Ok(text.replace(from, to)) }
}
