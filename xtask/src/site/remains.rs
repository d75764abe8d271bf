//! Shared files of which only data is left, because their functions stay with what every page loads. The data goes there too: it is less
//! than what a file has around it, and each file is a request.

use super::wasm;
use anyhow::{Context, Result};
use std::path::Path;
use wasm_split_cli_support::SplitWasm;

/// Takes such files out of what was cut and out of the loader; answers with the main module and their data.
pub(super) fn take_back(cut: &mut SplitWasm, main: Vec<u8>, loader: &Path) -> Result<Vec<u8>> {
    let (mut data, mut script) = (Vec::new(), std::fs::read_to_string(loader)?);
    for file in std::mem::take(&mut cut.split_modules) {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).context("the name of a chunk")?;
        let remains = if stem.starts_with("chunk_") { wasm::only_data(&std::fs::read(&file)?)? } else { None };
        match remains {
            Some(remains) => {
                script = without(&script, &format!("__{stem}"))?;
                data.extend(remains);
                std::fs::remove_file(&file)?;
            }
            None => cut.split_modules.push(file),
        }
    }
    std::fs::write(loader, script)?;
    wasm::with_data(&main, &data)
}

/// The loader without one of its files.
fn without(script: &str, name: &str) -> Result<String> {
    const END: &str = "\n, []);\n";
    let start = script.find(&format!("const {name} = makeLoad(")).context("the loader knows the chunk")?;
    let end = start + script[start..].find(END).context("the chunk depends on no other")? + END.len();
    let script = script[..start].to_owned() + &script[end..];
    // As one of several, as the last, and alone.
    let script = script.replace(&format!("{name}, "), "").replace(&format!(", {name}]"), "]");
    Ok(script.replace(&format!("[{name}]"), "[]"))
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn a_file_leaves_no_trace_in_the_loader() {
        let file = |name: &str| format!("const {name} = makeLoad(() => {{\n    fetch(\"{name}.wasm\");\n}}\n, []);\n");
        let users = "a([__chunk_1, __chunk_11]);\nb([__chunk_11]);\nc([__chunk_11, __chunk_2]);\n";
        let script = file("__chunk_1") + &file("__chunk_11") + users;
        let left = without(&script, "__chunk_11").unwrap();
        assert_eq!(left, file("__chunk_1") + "a([__chunk_1]);\nb([]);\nc([__chunk_2]);\n");
        assert!(without(&left, "__chunk_11").is_err());
    }
}
