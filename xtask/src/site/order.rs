//! The same module in fewer bytes on the wire: functions that are alike stand together, those that are equal are one.
//!
//! A compressor writes a repetition the shorter the nearer it is, and the code of generic functions is repetition: sorted by type, and among
//! those of a type each behind the one that it is most like, a twentieth of the download goes.

use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef};

/// The module with its functions sorted, each of them once. Debugging information does not survive.
pub(super) fn sorted(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut module = wasm.to_vec();
    // Callers of what were copies of each other may be copies now.
    loop {
        let order = Order::of(&module)?;
        let is_last = order.sorted.len() == order.places.len();
        module = order.apply(&module)?;
        if is_last {
            return Ok(module);
        }
    }
}

/// Where each function goes.
struct Order {
    imported: u32,
    /// The functions that stay, by their numbers among those that are defined.
    sorted: Vec<usize>,
    /// The new index of each defined function.
    places: Vec<u32>,
}

impl Order {
    fn of(wasm: &[u8]) -> Result<Self> {
        let (mut imported, mut types, mut bodies) = (0, Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => types = section.into_iter().collect::<Result<_, _>>()?,
                Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
                _ => {}
            }
        }
        let mut sorted: Vec<_> = (0..bodies.len()).collect();
        sorted.sort_by_key(|function| (types.get(*function), bodies[*function]));
        let mut known = HashMap::new();
        sorted.retain(|function| {
            let is_new = !known.contains_key(&(types[*function], bodies[*function]));
            if is_new {
                known.insert((types[*function], bodies[*function]), known.len());
            }
            is_new
        });
        let sorted = beside_alike(&sorted, &types, &bodies);
        for (place, function) in sorted.iter().enumerate() {
            known.insert((types[*function], bodies[*function]), place);
        }
        let place = |function: usize| -> Result<u32> {
            let place = known.get(&(types[function], bodies[function])).context("each function has a place")?;
            Ok(imported + u32::try_from(*place)?)
        };
        let places = (0..bodies.len()).map(place).collect::<Result<_>>()?;
        Ok(Self { imported, sorted, places })
    }

    fn apply(mut self, wasm: &[u8]) -> Result<Vec<u8>> {
        let mut module = Module::new();
        self.parse_core_module(&mut module, Parser::new(0), wasm)?;
        Ok(module.finish())
    }
}

/// How many bytes in a row are looked at; and how many of the sums over them say what a function is like.
const GRAM: usize = 4;
const SUMS: usize = 32;

/// Functions that are sorted by type, each behind that of the rest of its type which is most like it (the more of their least sums are
/// equal, the more of what they have in a row is: MinHash).
fn beside_alike(sorted: &[usize], types: &[u32], bodies: &[&[u8]]) -> Vec<usize> {
    let mut ordered = Vec::new();
    for group in sorted.chunk_by(|a, b| types[*a] == types[*b]) {
        let mut rest: Vec<_> = group.iter().map(|function| (*function, least_sums(bodies[*function]))).collect();
        let mut next = 0;
        while next < rest.len() {
            let (function, sums) = rest.remove(next);
            ordered.push(function);
            let alike = |other: &[u32; SUMS]| other.iter().zip(&sums).filter(|(a, b)| a == b).count();
            // The first of those that are equally alike: they are sorted by what is in them.
            let best = rest.iter().enumerate().max_by_key(|(at, (_, other))| (alike(other), Reverse(*at)));
            next = best.map(|(at, _)| at).unwrap_or_default();
        }
    }
    ordered
}

/// For each of so many ways to sum up bytes in a row, the least sum in a function.
fn least_sums(body: &[u8]) -> [u32; SUMS] {
    let mut least = [u32::MAX; SUMS];
    for gram in body.windows(GRAM) {
        let mut sum = DefaultHasher::new();
        gram.hash(&mut sum);
        let mut sum = sum.finish();
        for least in &mut least {
            // Each way goes on from the one before (SplitMix64).
            sum = sum.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *least = (*least).min((mixed >> 32) as u32);
        }
    }
    least
}

impl Reencode for Order {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        Ok(match function.checked_sub(self.imported) {
            Some(defined) => self.places[defined as usize],
            None => function,
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in &self.sorted {
            functions.function(types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Result<(), Error> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in self.sorted.clone() {
            utils::parse_function_body(self, code, bodies[function].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{ExportKind, ExportSection, Function, TypeSection};

    /// Functions without parameters, each of which calls another of them, if any. All are exported.
    fn module(calls: &[Option<u32>]) -> Vec<u8> {
        let (mut types, mut functions, mut exports, mut code) =
            (TypeSection::new(), FunctionSection::new(), ExportSection::new(), CodeSection::new());
        types.ty().function([], []);
        for (index, call) in (0..).zip(calls) {
            functions.function(0);
            exports.export(&format!("f{index}"), ExportKind::Func, index);
            let mut body = Function::new([]);
            if let Some(call) = call {
                body.instructions().call(*call);
            }
            body.instructions().end();
            code.function(&body);
        }
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&exports).section(&code);
        module.finish()
    }

    /// What each export is, and what each function calls.
    fn read(wasm: &[u8]) -> Result<(Vec<u32>, Vec<Option<u32>>)> {
        let (mut exports, mut calls) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ExportSection(section) => {
                    for export in section {
                        exports.push(export?.index);
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    let first = body.get_operators_reader()?.read()?;
                    calls.push(if let wasmparser::Operator::Call { function_index } = first {
                        Some(function_index)
                    } else {
                        None
                    });
                }
                _ => {}
            }
        }
        Ok((exports, calls))
    }

    #[test]
    fn equal_functions_are_one_and_callers_find_it() -> Result<()> {
        // 0 and 3 are equal, and once they are one, so are their callers 1 and 2; 4 calls one of these.
        let small = sorted(&module(&[None, Some(0), Some(3), None, Some(2)]))?;
        let (exports, calls) = read(&small)?;
        assert_eq!(calls.len(), 3);
        assert_eq!((exports[0], exports[1]), (exports[3], exports[2]));
        assert_eq!(calls[exports[0] as usize], None);
        assert_eq!(calls[exports[1] as usize], Some(exports[0]));
        assert_eq!(calls[exports[4] as usize], Some(exports[1]));
        Ok(())
    }
}
