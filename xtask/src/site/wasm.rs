//! A WASM module by its sections, as far as cutting it needs them.

use anyhow::Result;
use std::collections::BTreeSet;
use wasm_encoder::{Encode, ExportSection, RawSection, SectionId};
use wasmparser::{KnownCustom, Name, Parser, Payload};

/// Its names, debugging information and the like: only people and tools read them.
const CUSTOM: u8 = 0;

/// The bytes of a module without what only people and tools read.
pub(super) fn stripped(wasm: &[u8]) -> Result<Vec<u8>> {
    rewritten(wasm, &mut |id, _| (id == CUSTOM).then(Vec::new))
}

/// The names of the functions that a module defines. None after [`stripped`].
pub(super) fn functions(wasm: &[u8]) -> Result<Vec<(u32, String)>> {
    let (mut names, mut imported) = (Vec::new(), 0);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Func(_)));
                }
            }
            Payload::CustomSection(section) => {
                let KnownCustom::Name(all) = section.as_known() else { continue };
                for known in all {
                    let Name::Function(functions) = known? else { continue };
                    for function in functions {
                        let function = function?;
                        names.push((function.index, function.name.to_owned()));
                    }
                }
            }
            _ => {}
        }
    }
    names.retain(|(index, _)| *index >= imported);
    Ok(names)
}

/// The module with these functions exported too, each as `PREFIX` and its index.
pub(super) fn with_exports(wasm: &[u8], functions: &BTreeSet<u32>, prefix: &str) -> Result<Vec<u8>> {
    exports(wasm, &mut |exports, all| {
        for export in all {
            let export = export?;
            exports.export(export.name, export.kind.into(), export.index);
        }
        for index in functions {
            exports.export(&format!("{prefix}{index}"), wasm_encoder::ExportKind::Func, *index);
        }
        Ok(())
    })
}

/// The module without the exports whose names begin like this.
pub(super) fn without_exports(wasm: &[u8], prefix: &str) -> Result<Vec<u8>> {
    exports(wasm, &mut |exports, all| {
        for export in all {
            let export = export?;
            if !export.name.starts_with(prefix) {
                exports.export(export.name, export.kind.into(), export.index);
            }
        }
        Ok(())
    })
}

type Change<'c> = &'c mut dyn FnMut(&mut ExportSection, wasmparser::ExportSectionReader<'_>) -> Result<()>;

fn exports(wasm: &[u8], change: Change<'_>) -> Result<Vec<u8>> {
    let mut exports = ExportSection::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ExportSection(all) = payload? {
            change(&mut exports, all)?;
        }
    }
    let mut section = vec![SectionId::Export.into()];
    exports.encode(&mut section);
    rewritten(wasm, &mut |id, _| (id == u8::from(SectionId::Export)).then(|| section.clone()))
}

/// The module with some sections replaced, each by the bytes of a whole section or by none.
fn rewritten(wasm: &[u8], replace: &mut dyn FnMut(u8, &[u8]) -> Option<Vec<u8>>) -> Result<Vec<u8>> {
    let mut module = wasm_encoder::Module::HEADER.to_vec();
    for payload in Parser::new(0).parse_all(wasm) {
        let Some((id, range)) = payload?.as_section() else { continue };
        let data = &wasm[usize::try_from(range.start)?..usize::try_from(range.end)?];
        match replace(id, data) {
            Some(other) => module.extend(other),
            None => {
                module.push(id);
                RawSection { id, data }.encode(&mut module);
            }
        }
    }
    Ok(module)
}
