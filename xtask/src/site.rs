//! The folder `target/site`: everything that the browser loads.

use crate::build::Profile;
use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;
use xshell::Shell;

/// Files whose kinds are compressed already gain nothing.
const COMPRESSED: &[&str] = &["wasm", "js", "css", "svg", "html", "txt", "json"];

/// Makes the site. What has not changed is not written, so that what depends on it is not built again.
pub(crate) fn make(shell: &Shell, wasm: &Path, profile: Profile) -> Result<()> {
    let root = shell.current_dir();
    let site = root.join("target/site");
    let mut files = BTreeMap::new();
    files.insert(PathBuf::from("pkg/chatwright.css"), styles(&root.join("style"))?);
    add_folder(&root.join("public"), Path::new(""), &mut files)?;
    let mut changed = write_all(&site, &files)?;
    changed |= bind(&root.join(wasm), &site.join("pkg"), profile)?;
    if profile == Profile::Release && (changed || !site.join("pkg/chatwright.wasm.br").exists()) {
        compress(&site)?;
    }
    if profile == Profile::Debug {
        // An older compressed copy would be served instead of the new file.
        for_each_file(&site, &mut |file| {
            if matches!(ending(file), "br" | "gz") { std::fs::remove_file(file).map_err(Into::into) } else { Ok(()) }
        })?;
    }
    Ok(())
}

/// The files that `main.css` imports, one after the other.
fn styles(folder: &Path) -> Result<Vec<u8>> {
    let main = std::fs::read_to_string(folder.join("main.css")).context("style/main.css")?;
    let mut all = String::new();
    for line in main.lines() {
        match line.strip_prefix("@import \"").and_then(|rest| rest.strip_suffix("\";")) {
            Some(name) => {
                all.push_str(&std::fs::read_to_string(folder.join(name)).with_context(|| format!("style/{name}"))?);
                all.push('\n');
            }
            None => {
                all.push_str(line);
                all.push('\n');
            }
        }
    }
    Ok(all.into_bytes())
}

fn add_folder(folder: &Path, name: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = name.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => add_folder(&entry.path(), &name, files)?,
            false => {
                files.insert(name, std::fs::read(entry.path())?);
            }
        }
    }
    Ok(())
}

fn write_all(site: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) -> Result<bool> {
    let mut changed = false;
    for (name, content) in files {
        let path = site.join(name);
        if std::fs::read(&path).is_ok_and(|known| known == *content) {
            continue;
        }
        std::fs::create_dir_all(path.parent().context("a file in a folder")?)?;
        std::fs::write(&path, content)?;
        changed = true;
    }
    Ok(changed)
}

/// The JavaScript that loads the WASM. Skipped when this WASM was bound before.
fn bind(wasm: &Path, package: &Path, profile: Profile) -> Result<bool> {
    let input = std::fs::read(wasm).with_context(|| format!("{}", wasm.display()))?;
    let stamp = package.with_file_name(".bound");
    let mark = format!("{profile:?} {} {:x}", input.len(), fingerprint(&input));
    if std::fs::read_to_string(&stamp).is_ok_and(|known| known == mark) && package.join("chatwright.wasm").exists() {
        return Ok(false);
    }
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes("chatwright", input).web(true)?.typescript(false).omit_default_module_path(true);
    if profile == Profile::Release {
        bindgen.remove_name_section(true).remove_producers_section(true);
    }
    if let Err(error) = bindgen.generate(package) {
        bail!("wasm-bindgen: {error}");
    }
    // The page asks for this name, because LEPTOS_OUTPUT_NAME is set when the server is compiled.
    std::fs::rename(package.join("chatwright_bg.wasm"), package.join("chatwright.wasm"))?;
    std::fs::write(stamp, mark)?;
    Ok(true)
}

/// Tells two builds apart; nothing hostile is compared.
fn fingerprint(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

fn ending(file: &Path) -> &str {
    file.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

fn for_each_file(folder: &Path, work: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => for_each_file(&entry.path(), work)?,
            false => work(&entry.path())?,
        }
    }
    Ok(())
}

/// `.br` and `.gz` beside each file, made once so that no request pays for it.
fn compress(site: &Path) -> Result<()> {
    let mut download = 0;
    for_each_file(site, &mut |file| {
        if !COMPRESSED.contains(&ending(file)) {
            return Ok(());
        }
        let content = std::fs::read(file)?;
        let mut small = Vec::new();
        let parameters = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
        brotli::BrotliCompress(&mut content.as_slice(), &mut small, &parameters)?;
        std::fs::write(with_ending(file, "br"), &small)?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&content)?;
        std::fs::write(with_ending(file, "gz"), gzip.finish()?)?;
        eprintln!("  {:>9} bytes, {:>8} as brotli  {}", content.len(), small.len(), file.strip_prefix(site)?.display());
        download += small.len();
        Ok(())
    })?;
    eprintln!("  {:>28.1} KB as brotli, all together", download as f64 / 1000.0);
    Ok(())
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}
