//! Mathematics. The functions of `libm` have the same results on the server and in the browser;
//! those of the platforms differ in the last digit.

use super::identifiers::random_fraction;
use super::text::number;
use crate::Arguments;
use crate::parameters::Kind::Number;
use crate::parameters::Parameters::{Named, Nothing, One, Values};
use crate::parameters::required;
use crate::registry::Run::{Calling, Plain};
use crate::registry::{Definition, operator};
use serde_json::Value;
use std::f64::consts;

/// Declares a function of one number.
macro_rules! unary {
    ($name:literal, $function:expr, $summary:literal, $argument:literal => $result:literal) => {
        operator!(
            $name,
            One(Number),
            Plain(|arguments| Ok(number($function(arguments.number(0).unwrap_or_default())))),
            $summary,
            [$argument => $result]
        )
    };
}

/// Declares a constant.
macro_rules! constant {
    ($name:literal, $value:expr, $summary:literal, $result:literal) => {
        operator!($name, Nothing, Plain(|_| Ok(number($value))), $summary, ["null" => $result])
    };
}

pub(super) const OPERATORS: &[Definition] = &[
    unary!("_math.abs", f64::abs, "The absolute value.", "-5" => "5"),
    unary!("_math.acos", libm::acos, "The arccosine in radians.", "1" => "0"),
    unary!("_math.acosh", libm::acosh, "The hyperbolic arccosine.", "1" => "0"),
    unary!("_math.asin", libm::asin, "The arcsine in radians.", "0" => "0"),
    unary!("_math.asinh", libm::asinh, "The hyperbolic arcsine.", "0" => "0"),
    unary!("_math.atan", libm::atan, "The arctangent in radians.", "1" => "0.7853981633974483"),
    operator!("_math.atan2", Named(&[required("y", Number), required("x", Number)]), Plain(|a| binary(&a, libm::atan2)),
        "The angle in radians to the point at `x` and `y`.", [r#"{"x": 1, "y": 1}"# => "0.7853981633974483"]),
    unary!("_math.atanh", libm::atanh, "The hyperbolic arctangent.", "0" => "0"),
    unary!("_math.cbrt", libm::cbrt, "The cube root.", "27" => "3"),
    unary!("_math.ceil", libm::ceil, "The number rounded up.", "3.2" => "4"),
    unary!("_math.clz32", clz32, "The number of leading zero bits of 32.", "1" => "31"),
    unary!("_math.cos", libm::cos, "The cosine of an angle in radians.", "0" => "1"),
    unary!("_math.cosh", libm::cosh, "The hyperbolic cosine.", "0" => "1"),
    unary!("_math.exp", libm::exp, "`e` to this power.", "0" => "1"),
    unary!("_math.expm1", libm::expm1, "`e` to this power, less 1.", "0" => "0"),
    unary!("_math.floor", libm::floor, "The number rounded down.", "-3.2" => "-4"),
    unary!("_math.fround", fround, "The nearest number with 32 bits.", "5.5" => "5.5"),
    operator!("_math.hypot", Values(Number), Plain(hypot), "The square root of the sum of the squares.", ["[3, 4]" => "5"]),
    operator!("_math.imul", Named(&[required("a", Number), required("b", Number)]), Plain(|a| binary(&a, imul)),
        "The product as a whole number of 32 bits.", ["[2, 4]" => "8"]),
    unary!("_math.log", libm::log, "The natural logarithm, `null` for numbers below 0.", "1" => "0"),
    unary!("_math.log10", libm::log10, "The logarithm to the base 10.", "1000" => "3"),
    unary!("_math.log1p", libm::log1p, "The natural logarithm of the number plus 1.", "0" => "0"),
    unary!("_math.log2", libm::log2, "The logarithm to the base 2.", "8" => "3"),
    operator!("_math.max", Values(Number), Plain(|a| Ok(extreme(&a, f64::max))), "The largest number of a list, `null` for an empty list.",
        ["[42, 99, 0]" => "99", "[]" => "null"]),
    operator!("_math.min", Values(Number), Plain(|a| Ok(extreme(&a, f64::min))), "The least number of a list, `null` for an empty list.",
        ["[42, 99, 0]" => "0"]),
    operator!("_math.pow", Named(&[required("base", Number), required("exponent", Number)]), Plain(|a| binary(&a, libm::pow)),
        "The base to the power of the exponent; `null` if it is too large for a number.",
        [r#"{"base": 2, "exponent": 3}"# => "8", "[2, 3]" => "8", "[10, 400]" => "null"]),
    operator!("_math.random", Nothing, Calling(|evaluation, _| random_fraction(evaluation).map(number)),
        "A random number from 0 to less than 1.", ["null" => "0.5"])
    .not_rendered(),
    unary!("_math.round", round, "The nearest whole number; a half is rounded up.", "3.5" => "4"),
    unary!("_math.sign", sign, "`-1`, `0` or `1`, the sign of the number.", "-3" => "-1"),
    unary!("_math.sin", libm::sin, "The sine of an angle in radians.", "0" => "0"),
    unary!("_math.sinh", libm::sinh, "The hyperbolic sine.", "0" => "0"),
    unary!("_math.sqrt", libm::sqrt, "The square root, `null` for numbers below 0.", "16" => "4"),
    unary!("_math.tan", libm::tan, "The tangent of an angle in radians.", "0" => "0"),
    unary!("_math.tanh", libm::tanh, "The hyperbolic tangent.", "0" => "0"),
    unary!("_math.trunc", libm::trunc, "The number without its fraction.", "-3.7" => "-3"),
    constant!("_math.E", consts::E, "Euler's number.", "2.718281828459045"),
    constant!("_math.LN10", consts::LN_10, "The natural logarithm of 10.", "2.302585092994046"),
    constant!("_math.LN2", consts::LN_2, "The natural logarithm of 2.", "0.6931471805599453"),
    constant!("_math.LOG10E", consts::LOG10_E, "The logarithm of `e` to the base 10.", "0.4342944819032518"),
    constant!("_math.LOG2E", consts::LOG2_E, "The logarithm of `e` to the base 2.", "1.4426950408889634"),
    constant!("_math.PI", consts::PI, "The ratio of a circle's circumference to its diameter.", "3.141592653589793"),
    constant!("_math.SQRT1_2", consts::FRAC_1_SQRT_2, "The square root of one half.", "0.7071067811865476"),
    constant!("_math.SQRT2", consts::SQRT_2, "The square root of 2.", "1.4142135623730951"),
];

fn binary(arguments: &Arguments, function: fn(f64, f64) -> f64) -> Result<Value, String> {
    Ok(number(function(arguments.number(0).unwrap_or_default(), arguments.number(1).unwrap_or_default())))
}

fn numbers(arguments: &Arguments) -> impl Iterator<Item = f64> {
    (0..).map_while(|index| arguments.number(index))
}

fn extreme(arguments: &Arguments, choose: fn(f64, f64) -> f64) -> Value {
    numbers(arguments).reduce(choose).map_or(Value::Null, number)
}

fn hypot(arguments: Arguments) -> Result<Value, String> {
    Ok(number(numbers(&arguments).fold(0.0, libm::hypot)))
}

/// Rounds halves up, as JavaScript does, for negative numbers, too.
fn round(number: f64) -> f64 {
    let floor = libm::floor(number);
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}

fn sign(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number.signum() }
}

/// Returns the number modulo 2³², as JavaScript's bitwise operators do.
fn to_u32(number: f64) -> u32 {
    libm::trunc(number).rem_euclid(4_294_967_296.0) as u32
}

fn clz32(number: f64) -> f64 {
    to_u32(number).leading_zeros().into()
}

fn fround(number: f64) -> f64 {
    f64::from(number as f32)
}

fn imul(left: f64, right: f64) -> f64 {
    f64::from(to_u32(left).wrapping_mul(to_u32(right)).cast_signed())
}
