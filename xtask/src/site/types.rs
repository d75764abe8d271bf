//! A module without the types of functions that nothing in it has: each chunk comes with those of the whole.

use anyhow::Result;
use std::collections::BTreeSet;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{Module, TypeSection};
use wasmparser::{Parser, TypeSectionReader};

/// The module with the types that are used, under new numbers.
pub(super) fn pruned(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut used = Used::default();
    used.parse_core_module(&mut Module::new(), Parser::new(0), wasm)?;
    let mut module = Module::new();
    Pruned(used.0.into_iter().collect()).parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// The types that anything has.
#[derive(Default)]
struct Used(BTreeSet<u32>);

impl Reencode for Used {
    type Error = Infallible;

    fn type_index(&mut self, index: u32) -> Result<u32, Error> {
        self.0.insert(index);
        Ok(index)
    }
}

/// The old number of each type that stays.
struct Pruned(Vec<u32>);

impl Reencode for Pruned {
    type Error = Infallible;

    fn type_index(&mut self, index: u32) -> Result<u32, Error> {
        // All that are asked for have been seen.
        let place = self.0.binary_search(&index).unwrap_or_default();
        Ok(u32::try_from(place).unwrap_or_default())
    }

    fn parse_type_section(&mut self, types: &mut TypeSection, section: TypeSectionReader<'_>) -> Result<(), Error> {
        for (index, group) in (0..).zip(section) {
            let group = group?;
            if self.0.binary_search(&index).is_ok() {
                self.parse_recursive_type_group(types.ty(), group)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, Function, FunctionSection, ValType};
    use wasmparser::{Payload, Validator};

    #[test]
    fn what_nothing_has_goes_and_the_rest_keeps_its_types() -> Result<()> {
        let (mut types, mut functions, mut code) = (TypeSection::new(), FunctionSection::new(), CodeSection::new());
        types.ty().function([ValType::I64], []);
        types.ty().function([ValType::I32], [ValType::I32]);
        types.ty().function([], []);
        functions.function(1);
        let mut body = Function::new([]);
        body.instructions().local_get(0).end();
        code.function(&body);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        let small = pruned(&module.finish())?;
        Validator::new().validate_all(&small)?;
        let count = Parser::new(0).parse_all(&small).find_map(|payload| match payload {
            Ok(Payload::TypeSection(types)) => Some(types.count()),
            _ => None,
        });
        assert_eq!(count, Some(1));
        Ok(())
    }
}
