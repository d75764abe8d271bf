//! A WASM module by its sections, as far as cutting it needs them.

use anyhow::Result;
use std::collections::BTreeSet;
use wasm_encoder::{DataCountSection, DataSection, Encode, ExportSection, RawSection, SectionId};
use wasmparser::{KnownCustom, Name, Parser, Payload};

/// Its names, debugging information and the like: only people and tools read them.
const CUSTOM: u8 = 0;

/// The bytes of a module without what only people and tools read.
pub(super) fn stripped(wasm: &[u8]) -> Result<Vec<u8>> {
    rewritten(wasm, &|id| (id == CUSTOM).then(Vec::new))
}

/// The same module in fewer bytes: where the linker may still change a number it is written with five bytes, whatever it is.
pub(super) fn compact(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut config = walrus::ModuleConfig::new();
    config.generate_name_section(false).generate_producers_section(false);
    Ok(config.parse(wasm)?.emit_wasm())
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

/// The names of what a module imports.
pub(super) fn imports(wasm: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(imports) = payload? {
            for import in imports.into_imports() {
                names.push(import?.name.to_owned());
            }
        }
    }
    Ok(names)
}

/// The data of a module that has nothing else, one entry for each piece as it stands in its section.
pub(super) fn only_data(wasm: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    let mut pieces = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::FunctionSection(all) if all.count() > 0 => return Ok(None),
            Payload::ElementSection(all) if all.count() > 0 => return Ok(None),
            Payload::GlobalSection(all) if all.count() > 0 => return Ok(None),
            Payload::DataSection(all) => {
                for piece in all {
                    let range = piece?.range;
                    pieces.push(wasm[usize::try_from(range.start)?..usize::try_from(range.end)?].to_vec());
                }
            }
            _ => {}
        }
    }
    Ok(Some(pieces))
}

/// The module with further pieces of data, as [`only_data`] found them.
pub(super) fn with_data(wasm: &[u8], pieces: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut all = DataSection::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::DataSection(known) = payload? {
            for piece in known {
                let range = piece?.range;
                all.raw(&wasm[usize::try_from(range.start)?..usize::try_from(range.end)?]);
            }
        }
    }
    for piece in pieces {
        all.raw(piece);
    }
    let mut section = vec![SectionId::Data.into()];
    all.encode(&mut section);
    let mut count = vec![SectionId::DataCount.into()];
    DataCountSection { count: all.len() }.encode(&mut count);
    let replaced = [section, count];
    rewritten(wasm, &|id| replaced.iter().find(|section| section[0] == id).cloned())
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

/// The module without the exports that are meant by their names.
pub(super) fn without_exports(wasm: &[u8], is_meant: impl Fn(&str) -> bool) -> Result<Vec<u8>> {
    exports(wasm, &mut |exports, all| {
        for export in all {
            let export = export?;
            if !is_meant(export.name) {
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
    rewritten(wasm, &|id| (id == u8::from(SectionId::Export)).then(|| section.clone()))
}

/// The module with some sections replaced, each by the bytes of a whole section or by none.
fn rewritten(wasm: &[u8], replace: &dyn Fn(u8) -> Option<Vec<u8>>) -> Result<Vec<u8>> {
    let mut module = wasm_encoder::Module::HEADER.to_vec();
    for payload in Parser::new(0).parse_all(wasm) {
        let Some((id, range)) = payload?.as_section() else { continue };
        let data = &wasm[usize::try_from(range.start)?..usize::try_from(range.end)?];
        match replace(id) {
            Some(other) => module.extend(other),
            None => {
                module.push(id);
                RawSection { id, data }.encode(&mut module);
            }
        }
    }
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, ExportKind, Function, FunctionSection, Module, NameMap, NameSection, TypeSection};

    /// Two functions, the first of which is exported, with names.
    fn module() -> Vec<u8> {
        let (mut types, mut functions, mut exports) =
            (TypeSection::new(), FunctionSection::new(), ExportSection::new());
        let (mut code, mut names, mut all) = (CodeSection::new(), NameMap::new(), NameSection::new());
        types.ty().function([], []);
        exports.export("run", ExportKind::Func, 0);
        for index in 0..2 {
            functions.function(0);
            let mut body = Function::new([]);
            body.instructions().end();
            code.function(&body);
            names.append(index, &format!("function {index}"));
        }
        all.functions(&names);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&exports).section(&code).section(&all);
        module.finish()
    }

    #[test]
    fn exports_come_and_go_and_all_else_stays() -> Result<()> {
        let module = module();
        let more = with_exports(&module, &BTreeSet::from([1]), "kept:")?;
        assert!(more.windows(6).any(|bytes| bytes == b"kept:1"));
        assert_eq!(functions(&more)?, [(0, "function 0".to_owned()), (1, "function 1".to_owned())]);
        assert_eq!(without_exports(&more, |name| name.starts_with("kept:"))?, module);
        Ok(())
    }

    #[test]
    fn names_are_for_people() -> Result<()> {
        let (module, light) = (module(), stripped(&module())?);
        assert!(functions(&light)?.is_empty() && light.len() < module.len());
        assert_eq!(stripped(&light)?, light);
        Ok(())
    }
}
