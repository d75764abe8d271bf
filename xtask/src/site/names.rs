//! Short names between the WASM and the JavaScript that `wasm-bindgen` writes: its own carry a number of sixteen digits each, which no
//! compressor makes shorter, and stand in both files.

use anyhow::Result;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use wasm_encoder::{EntityType, ExportKind, ExportSection, ImportSection, Module, RawSection};
use wasmparser::{Parser, Payload};

/// The file that the WASM imports from; `wasm-bindgen` puts its content into the script.
const GLUE: &str = "./chatwright_bg.js";

/// What begins the names that closures are called by.
const CLOSURE: &str = "wasm_bindgen__convert__closures";

/// Both with the names shortened that stand in no other file.
pub(super) fn shortened(wasm: &[u8], script: &str) -> Result<(Vec<u8>, String)> {
    let names = Names::of(wasm)?;
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        let section = payload.as_section();
        match payload {
            Payload::ImportSection(all) => {
                let mut imports = ImportSection::new();
                for import in all.into_imports() {
                    let import = import?;
                    let name = if import.module == GLUE { names.short(import.name) } else { import.name };
                    imports.import(import.module, name, EntityType::try_from(import.ty)?);
                }
                module.section(&imports);
            }
            Payload::ExportSection(all) => {
                let mut exports = ExportSection::new();
                for export in all {
                    let export = export?;
                    exports.export(names.short(export.name), ExportKind::from(export.kind), export.index);
                }
                module.section(&exports);
            }
            _ => {
                if let Some((id, range)) = section {
                    let data = &wasm[usize::try_from(range.start)?..usize::try_from(range.end)?];
                    module.section(&RawSection { id, data });
                }
            }
        }
    }
    Ok((module.finish(), names.shorten(script)))
}

/// The short name of each.
struct Names(HashMap<String, String>);

impl Names {
    fn of(wasm: &[u8]) -> Result<Self> {
        let mut all = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        all.extend((import.module == GLUE).then(|| import.name.to_owned()));
                    }
                }
                Payload::ExportSection(exports) => {
                    for export in exports {
                        let export = export?;
                        all.extend(export.name.starts_with(CLOSURE).then(|| export.name.to_owned()));
                    }
                }
                _ => {}
            }
        }
        // No name that `wasm-bindgen` gives begins like this. The first one carries the others' fingerprint: a script and a WASM of two
        // builds must not link to one another, which the long names saw to.
        let mut hasher = DefaultHasher::new();
        all.hash(&mut hasher);
        let mark = format!("_{:x}", hasher.finish());
        let short = |at| format!("$${at}{}", if at == 0 { mark.as_str() } else { "" });
        Ok(Self(all.into_iter().enumerate().map(|(at, name)| (name, short(at))).collect()))
    }

    fn short<'n>(&'n self, name: &'n str) -> &'n str {
        self.0.get(name).map_or(name, String::as_str)
    }

    /// The script with the short names, without comments of whole lines and without indentation.
    fn shorten(&self, script: &str) -> String {
        let mut light = String::with_capacity(script.len());
        let mut in_comment = false;
        for line in script.lines().map(str::trim) {
            in_comment |= line.starts_with("/**");
            if !(in_comment || line.is_empty() || line.starts_with("//")) {
                self.write(line, &mut light);
                light.push('\n');
            }
            in_comment &= !line.ends_with("*/");
        }
        light
    }

    fn write(&self, line: &str, to: &mut String) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let mut rest = line;
        while let Some(start) = rest.find(is_name) {
            let length = rest[start..].find(|c| !is_name(c)).unwrap_or(rest.len() - start);
            to.push_str(&rest[..start]);
            to.push_str(self.short(&rest[start..start + length]));
            rest = &rest[start + length..];
        }
        to.push_str(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{CodeSection, Function, FunctionSection, TypeSection};

    #[test]
    fn both_sides_call_it_by_the_same_short_name() -> Result<()> {
        let (mut types, mut imports, mut exports) = (TypeSection::new(), ImportSection::new(), ExportSection::new());
        types.ty().function([], []);
        imports.import(GLUE, "__wbg_now_0123456789abcdef", EntityType::Function(0));
        imports.import("./other.js", "__wbg_kept", EntityType::Function(0));
        let (mut functions, mut code, mut body) = (FunctionSection::new(), CodeSection::new(), Function::new([]));
        functions.function(0);
        body.instructions().end();
        code.function(&body);
        exports.export("hydrate", ExportKind::Func, 2);
        exports.export("wasm_bindgen__convert__closures__h01", ExportKind::Func, 2);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
        let script = "/**\n * A clock.\n */\nx = {\n  // now\n  __wbg_now_0123456789abcdef: () => `${1}`,\n};\n\
                      wasm.wasm_bindgen__convert__closures__h01(__wbg_now_0);\nwasm.hydrate();";
        let (wasm, script) = shortened(&module.finish(), script)?;
        let first = script.lines().find_map(|line| Some(line.split_once(": ()")?.0.to_owned())).unwrap_or_default();
        assert!(first.starts_with("$$0_"), "{script}");
        assert_eq!(
            script.replace(&first, "FIRST"),
            "x = {\nFIRST: () => `${1}`,\n};\nwasm.$$1(__wbg_now_0);\nwasm.hydrate();\n"
        );
        let text = String::from_utf8_lossy(&wasm);
        assert!([first.as_str(), "$$1", "__wbg_kept", "hydrate"].iter().all(|name| text.contains(name)));
        assert!(!text.contains("0123456789abcdef") && !text.contains("h01"));
        Ok(())
    }
}
