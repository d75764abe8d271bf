//! The filters, tests and functions of the language. Each is charged for its arguments, and its
//! result is metered.

use super::metered::{has_items, is_metered, item_cost, metered};
use super::too_large;
use crate::meter::{MAX_BYTES, charge, text_units};
use minijinja::value::{Kwargs, Rest, Value as EngineValue, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters, functions, tests};
use std::borrow::Cow;

/// The cost of a function in addition to one pass over its arguments.
#[derive(Clone, Copy)]
enum CostClass {
    /// No additional cost.
    Linear,
    /// Compares the items of a list with each other.
    Sorting,
    /// Adds up lists or texts; each addition copies the sum so far.
    Adding,
    /// Looks up each character of one text in another.
    Product,
}

/// Adds all supported functions. Not supported are functions that multiply texts without metering
/// (`format`, `indent`, `batch`, `slice`), `namespace`, with which a text can grow over the
/// iterations of a loop, and `debug`.
pub(super) fn add_all(environment: &mut Environment<'static>) {
    add_filters(environment);
    add_tests(environment);
    for (name, function, weight) in [
        ("range", EngineValue::from_function(functions::range), CostClass::Linear),
        ("dict", EngineValue::from_function(functions::dict), CostClass::Sorting),
    ] {
        environment.add_function(name, with_charge(function, weight));
    }
}

fn add_filters(environment: &mut Environment<'static>) {
    let linear = [
        ("safe", EngineValue::from_function(filters::safe)),
        ("escape", EngineValue::from_function(filters::escape)),
        ("e", EngineValue::from_function(filters::escape)),
        ("lower", EngineValue::from_function(filters::lower)),
        ("upper", EngineValue::from_function(filters::upper)),
        ("title", EngineValue::from_function(filters::title)),
        ("capitalize", EngineValue::from_function(filters::capitalize)),
        ("replace", EngineValue::from_function(replace)),
        ("length", EngineValue::from_function(filters::length)),
        ("count", EngineValue::from_function(filters::length)),
        ("items", EngineValue::from_function(filters::items)),
        ("reverse", EngineValue::from_function(filters::reverse)),
        ("join", EngineValue::from_function(join)),
        ("split", EngineValue::from_function(filters::split)),
        ("lines", EngineValue::from_function(filters::lines)),
        ("default", EngineValue::from_function(filters::default)),
        ("d", EngineValue::from_function(filters::default)),
        ("round", EngineValue::from_function(filters::round)),
        ("abs", EngineValue::from_function(filters::abs)),
        ("int", EngineValue::from_function(filters::int)),
        ("float", EngineValue::from_function(filters::float)),
        ("attr", EngineValue::from_function(filters::attr)),
        ("first", EngineValue::from_function(filters::first)),
        ("last", EngineValue::from_function(filters::last)),
        ("min", EngineValue::from_function(filters::min)),
        ("max", EngineValue::from_function(filters::max)),
        ("list", EngineValue::from_function(filters::list)),
        ("string", EngineValue::from_function(filters::string)),
        ("bool", EngineValue::from_function(filters::bool)),
        ("select", EngineValue::from_function(filters::select)),
        ("reject", EngineValue::from_function(filters::reject)),
        ("selectattr", EngineValue::from_function(filters::selectattr)),
        ("rejectattr", EngineValue::from_function(filters::rejectattr)),
        ("map", EngineValue::from_function(filters::map)),
        ("chain", EngineValue::from_function(filters::chain)),
        ("zip", EngineValue::from_function(filters::zip)),
        ("pprint", EngineValue::from_function(filters::pprint)),
        ("tojson", EngineValue::from_function(filters::tojson)),
    ];
    let others = [
        ("sort", EngineValue::from_function(filters::sort), CostClass::Sorting),
        ("unique", EngineValue::from_function(filters::unique), CostClass::Sorting),
        ("groupby", EngineValue::from_function(filters::groupby), CostClass::Sorting),
        ("dictsort", EngineValue::from_function(filters::dictsort), CostClass::Sorting),
        ("sum", EngineValue::from_function(filters::sum), CostClass::Adding),
        ("trim", EngineValue::from_function(filters::trim), CostClass::Product),
    ];
    let linear = linear.into_iter().map(|(name, filter)| (name, filter, CostClass::Linear));
    for (name, filter, weight) in linear.chain(others) {
        environment.add_filter(name, with_charge(filter, weight));
    }
}

fn add_tests(environment: &mut Environment<'static>) {
    let all: [(&[&'static str], EngineValue); 30] = [
        (&["undefined"], EngineValue::from_function(tests::is_undefined)),
        (&["defined"], EngineValue::from_function(tests::is_defined)),
        (&["none"], EngineValue::from_function(tests::is_none)),
        (&["safe", "escaped"], EngineValue::from_function(tests::is_safe)),
        (&["boolean"], EngineValue::from_function(tests::is_boolean)),
        (&["odd"], EngineValue::from_function(tests::is_odd)),
        (&["even"], EngineValue::from_function(tests::is_even)),
        (&["divisibleby"], EngineValue::from_function(tests::is_divisibleby)),
        (&["number"], EngineValue::from_function(tests::is_number)),
        (&["integer", "int"], EngineValue::from_function(tests::is_integer)),
        (&["float"], EngineValue::from_function(tests::is_float)),
        (&["string"], EngineValue::from_function(tests::is_string)),
        (&["sequence"], EngineValue::from_function(tests::is_sequence)),
        (&["iterable"], EngineValue::from_function(tests::is_iterable)),
        (&["mapping"], EngineValue::from_function(tests::is_mapping)),
        (&["startingwith"], EngineValue::from_function(tests::is_startingwith)),
        (&["endingwith"], EngineValue::from_function(tests::is_endingwith)),
        (&["lower"], EngineValue::from_function(tests::is_lower)),
        (&["upper"], EngineValue::from_function(tests::is_upper)),
        (&["sameas"], EngineValue::from_function(tests::is_sameas)),
        (&["eq", "equalto", "=="], EngineValue::from_function(tests::is_eq)),
        (&["ne", "!="], EngineValue::from_function(tests::is_ne)),
        (&["lt", "lessthan", "<"], EngineValue::from_function(tests::is_lt)),
        (&["le", "<="], EngineValue::from_function(tests::is_le)),
        (&["gt", "greaterthan", ">"], EngineValue::from_function(tests::is_gt)),
        (&["ge", ">="], EngineValue::from_function(tests::is_ge)),
        (&["in"], EngineValue::from_function(tests::is_in)),
        (&["true"], EngineValue::from_function(tests::is_true)),
        (&["false"], EngineValue::from_function(tests::is_false)),
        (&["filter"], EngineValue::from_function(tests::is_filter)),
    ];
    for (names, test) in all {
        for name in names {
            environment.add_test(*name, with_charge(test.clone(), CostClass::Linear));
        }
    }
    environment.add_test("test", with_charge(EngineValue::from_function(tests::is_test), CostClass::Linear));
}

/// Returns the function with a charge for its arguments.
fn with_charge(
    function: EngineValue,
    weight: CostClass,
) -> impl Fn(&mut State<'_, '_>, Rest<ValueOrKwargs>) -> Result<EngineValue, Error> + Send + Sync + 'static {
    move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
        let arguments = arguments.into_values();
        for argument in &arguments {
            charge_argument(argument, weight)?;
        }
        if let (CostClass::Product, [text, signs]) = (weight, arguments.as_slice()) {
            charge(item_cost(text).saturating_mul(signs.as_str().map_or(0, |signs| signs.len() as u64)))?;
        }
        function.call(state, &arguments).map(metered)
    }
}

fn charge_argument(argument: &EngineValue, weight: CostClass) -> Result<(), Error> {
    if let Some(text) = argument.as_str() {
        return Ok(charge(text_units(text))?);
    }
    if !argument.as_object().is_some_and(has_items) {
        return Ok(());
    }
    match weight {
        // The iteration over it is charged.
        CostClass::Linear | CostClass::Product if is_metered(argument) => Ok(()),
        CostClass::Linear | CostClass::Product => charge_items(argument).map(drop),
        CostClass::Sorting => {
            let ItemTotals { number, units, .. } = charge_items(argument)?;
            Ok(charge(units.saturating_mul(u64::from(number.max(1).ilog2())))?)
        }
        CostClass::Adding => {
            let ItemTotals { texts_and_lists, units, .. } = charge_items(argument)?;
            Ok(charge(units.saturating_mul(texts_and_lists) / 64)?)
        }
    }
}

/// The totals of the items of a list or an object.
#[derive(Default)]
struct ItemTotals {
    number: u64,
    /// The number of items that are not numbers.
    texts_and_lists: u64,
    units: u64,
}

/// Charges for each item and returns the totals.
fn charge_items(list: &EngineValue) -> Result<ItemTotals, Error> {
    let mut items = ItemTotals::default();
    for item in list.try_iter()?.checked() {
        let item = item?;
        charge(item_cost(&item))?;
        items.number += 1;
        items.texts_and_lists += u64::from(!item.is_number());
        items.units += item_cost(&item);
    }
    Ok(items)
}

/// Joins the texts of a list: `names | join(', ')`, `items | join(', ', attribute='name')`.
fn join(values: &EngineValue, between: Option<&str>, attribute: Option<&str>, named: Kwargs) -> Result<String, Error> {
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

/// Replaces all occurrences of a text.
fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let grown = text.matches(from).count().saturating_mul(to.len()).saturating_add(text.len());
    if grown > MAX_BYTES { Err(too_large()) } else { Ok(text.replace(from, to)) }
}
