//! Optimizes the main module of a release with wasm-opt: equal functions become one, and imports and
//! exports get short names. The long ones contain hashes, which hardly compress, twice: in the module
//! and in the JavaScript that loads it.

use super::split::LOADER;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// The installed wasm-opt, relative to the workspace.
const WASM_OPT: &str = "xtask/npm/node_modules/binaryen/bin/wasm-opt";
/// Other passes make the module smaller, but not what it compresses to: with `-Oz` it is 7 % larger. The level makes
/// the first pass go on until no functions are equal any more, which is 2.3 KB.
const PASSES: [&str; 3] =
    ["--optimize-level=3", "--duplicate-function-elimination", "--minify-imports-and-exports-and-modules"];
/// The module of all imports afterwards.
const MODULE: &str = "a";
/// The module of the imports that the bindings implement; those of other modules are loaders of chunks.
const BINDINGS: &str = "./chatwright_bg.js";
/// The instruction of the loader that takes what chunks import from the main module.
const SHARED: &str = "} = initSync(undefined, undefined);";

/// The new names that wasm-opt prints.
#[derive(Deserialize)]
struct Names {
    /// The module, name and new name of each import.
    imports: Vec<(String, String, String)>,
    /// The name and new name of each export.
    exports: Vec<(String, String)>,
}

/// Optimizes the main module, and renames its imports and exports in the bindings and the loader.
pub(super) fn optimize(root: &Path, package: &Path) -> Result<()> {
    let (module, bindings, loader) =
        (package.join("chatwright.wasm"), package.join("chatwright.js"), package.join(LOADER));
    let run = Command::new("node").arg(root.join(WASM_OPT)).args(PASSES).arg(&module).arg("-o").arg(&module).output();
    let run = run.context("running wasm-opt with Node")?;
    if !run.status.success() {
        bail!("wasm-opt: {}", String::from_utf8_lossy(&run.stderr));
    }
    let names: Names = serde_json::from_slice(&run.stdout).context("reading the names that wasm-opt printed")?;
    std::fs::write(&bindings, names.rename_in_bindings(&std::fs::read_to_string(&bindings)?)?)?;
    Ok(std::fs::write(&loader, names.rename_in_loader(&std::fs::read_to_string(&loader)?)?)?)
}

impl Names {
    fn rename_in_bindings(&self, script: &str) -> Result<String> {
        let script = self.merge_modules(&self.rename_implementations(script)?)?;
        let new: HashMap<&str, &str> = self.exports.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
        // Everything uses an export as `wasm.NAME`.
        let mut parts = script.split("wasm.");
        let mut renamed = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|sign: char| !is_in_name(sign)).unwrap_or(part.len());
            let is_export = !renamed.ends_with(is_in_name);
            let name = if is_export { new.get(&part[..end]).copied() } else { None };
            renamed.extend(["wasm.", name.unwrap_or(&part[..end]), &part[end..]]);
        }
        Ok(renamed)
    }

    /// Renames the functions that implement imports: `NAME: function…`, each on a line of its own.
    fn rename_implementations(&self, script: &str) -> Result<String> {
        let own = self.imports.iter().filter(|(module, ..)| module == BINDINGS);
        let mut new: HashMap<&str, &str> = own.map(|(_, old, new)| (old.as_str(), new.as_str())).collect();
        let mut renamed = String::with_capacity(script.len());
        for line in script.lines() {
            let implemented = line.split_once(": ").and_then(|(name, rest)| Some((new.remove(name)?, rest)));
            match implemented {
                Some((name, rest)) => renamed.extend([name, ": ", rest, "\n"]),
                None => renamed.extend([line, "\n"]),
            }
        }
        ensure!(new.is_empty(), "the bindings do not implement {:?}", new.keys());
        Ok(renamed)
    }

    /// Makes one module of those that the bindings import, `{"./chatwright_bg.js": import0, …}`: the
    /// others are one script, with the loaders of the chunks.
    fn merge_modules(&self, script: &str) -> Result<String> {
        let start = format!("return {{\n__proto__: null,\n\"{BINDINGS}\": import0,\n");
        let (before, rest) =
            script.split_once(&start).context("the bindings do not return their imports as expected")?;
        let (modules, after) = rest.split_once("};\n").context("the imports of the bindings do not end as expected")?;
        let is_loader = |line: &str| line.starts_with(&format!("\"./{LOADER}\": import"));
        ensure!(modules.lines().all(is_loader), "the bindings import other modules than the loader: {modules}");
        let others = self.imports.iter().filter(|(module, ..)| module != BINDINGS);
        let loaders: String = others.map(|(_, old, new)| format!("{new}: import1.{old},\n")).collect();
        Ok(format!("{before}return {{\n{MODULE}: {{\n__proto__: import0,\n{loaders}}},\n}};\n{after}"))
    }

    /// Renames what the loader takes from the main module: `const { NAME, … } = initSync(…);`
    fn rename_in_loader(&self, script: &str) -> Result<String> {
        let (before, after) = script.split_once(SHARED).context("the loader does not use the main module's exports")?;
        let at = before.rfind('{').context("the loader does not use the main module's exports as expected")?;
        let mut renamed = before[..=at].to_owned();
        for name in before[at + 1..].split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let export = self.exports.iter().find(|(old, _)| old == name);
            let (_, new) = export.with_context(|| format!("the main module does not export {name}"))?;
            renamed.extend([" ", new.as_str(), ": ", name, ","]);
        }
        Ok(renamed + " " + SHARED + after)
    }
}

/// Returns whether a character can be in a JavaScript name.
fn is_in_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_' || sign == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let import = |[module, old, new]: [&str; 3]| (module.to_owned(), old.to_owned(), new.to_owned());
        let imports = [[BINDINGS, "__wbg_log_01", "b"], ["./chatwright-chunks.js", "load_math", "c"]];
        let exports = [("memory", "d"), ("__start", "$e"), ("memory_size", "f")];
        let exports = exports.map(|(old, new)| (old.to_owned(), new.to_owned()));
        Names { imports: imports.map(import).into(), exports: exports.into() }
    }

    const SCRIPT: &str = "\
import * as import1 from \"./chatwright-chunks.js\"
const import0 = {
__proto__: null,
__wbg_log_01: function(arg0) {
console.log(\"memory\", wasm.memory.buffer, wasm.memory_size());
},
};
return {
__proto__: null,
\"./chatwright_bg.js\": import0,
\"./chatwright-chunks.js\": import1,
\"./chatwright-chunks.js\": import2,
};
wasm.__start();
notwasm.memory;
";

    #[test]
    fn imports_and_exports_are_renamed_in_the_bindings() {
        let expected = "\
import * as import1 from \"./chatwright-chunks.js\"
const import0 = {
__proto__: null,
b: function(arg0) {
console.log(\"memory\", wasm.d.buffer, wasm.f());
},
};
return {
a: {
__proto__: import0,
c: import1.load_math,
},
};
wasm.$e();
notwasm.memory;
";
        assert_eq!(names().rename_in_bindings(SCRIPT).unwrap(), expected);
    }

    #[test]
    fn unexpected_bindings_are_errors() {
        let check = |script: String| assert!(names().rename_in_bindings(&script).is_err(), "{script}");
        check(SCRIPT.replace("__wbg_log_01", "__wbg_log_02"));
        check(SCRIPT.replace("\"./chatwright_bg.js\"", "\"./other.js\""));
        check(SCRIPT.replace("chunks.js\": import2", "other.js\": import2"));
    }

    #[test]
    fn exports_are_renamed_in_the_loader() {
        let check = |script: &str, expected: Option<&str>| {
            assert_eq!(names().rename_in_loader(script).ok().as_deref(), expected, "{script}");
        };
        check(
            "if (a) {\nconst { memory, __start,  } = initSync(undefined, undefined);\nuse({ memory });",
            Some("if (a) {\nconst { d: memory, $e: __start, } = initSync(undefined, undefined);\nuse({ memory });"),
        );
        check("const { other } = initSync(undefined, undefined);", None);
        check("const { memory } = initSync();", None);
    }
}
