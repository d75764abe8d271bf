//! Reads which files of a crate import from which others.

use super::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The names of a path from the root of the crate. The root itself has none.
pub(crate) type ModulePath = Vec<String>;

/// The imports and exports of a file.
#[derive(Default)]
struct Module {
    /// The imported paths, and the paths in the code, without those that are exported again.
    imports: BTreeSet<ModulePath>,
    /// The paths of what it exports of other files, by name.
    exports: BTreeMap<String, ModulePath>,
}

/// The product's code of a file: without comments, texts, and items for tests.
pub(crate) fn product_code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let skipped = if rest.starts_with("#[cfg(test)]\n") || rest.starts_with("#[cfg(all(test") {
            item_length(rest)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if sign == '"' {
            text_length(rest)
        } else if let Some(length) = raw_text_length(rest) {
            length
        } else if let Some(length) = character_length(rest) {
            length
        } else {
            code.push(sign);
            sign.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

/// Returns the length of an item with its attributes, which begins at the start of a line.
fn item_length(rest: &str) -> usize {
    let lines = rest.split_inclusive('\n');
    let attributes: usize = lines.take_while(|line| line.starts_with("#[")).map(str::len).sum();
    let line = rest[attributes..].lines().next().unwrap_or_default();
    match rest[attributes..].find("\n}") {
        _ if line.ends_with(';') => attributes + line.len(),
        // The tests are the last item of a file, and their texts can contain anything.
        _ if line.starts_with("mod ") => rest.len(),
        Some(end) => attributes + end + 2,
        None => rest.len(),
    }
}

/// Returns the length of a text in quotation marks.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, sign)| {
        let is_end = *sign == '"' && !is_escaped;
        is_escaped = *sign == '\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// Returns the length of a text such as `r#"…"#`.
fn raw_text_length(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let marks = after.len() - after.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(marks));
    let content = after[marks..].strip_prefix('"')?;
    let begin = 1 + marks + 1;
    Some(content.find(&end).map_or(rest.len(), |at| begin + at + end.len()))
}

/// Returns the length of a character in quotation marks that could be taken for something else.
fn character_length(rest: &str) -> Option<usize> {
    ["'\"'", "'\\\"'", "'\\''", "'\\\\'"].iter().find(|sign| rest.starts_with(**sign)).map(|sign| sign.len())
}

/// Returns the name of the module in a file of `src`; `None` for files of tests only.
pub(crate) fn module_path(in_src: &Path) -> Option<ModulePath> {
    let mut names: ModulePath =
        in_src.with_extension("").iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        names.pop();
    }
    let is_test = names.iter().any(|name| name == "tests" || name == "testing" || name.ends_with("_tests"));
    (!is_test).then_some(names)
}

/// Returns for each file of a crate's `src` those from which it imports.
pub(crate) fn import_graph<'f>(
    files: impl Iterator<Item = (&'f Path, &'f SourceFile)>,
) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let files: Vec<_> = files.filter_map(|(in_src, file)| Some((module_path(in_src)?, file))).collect();
    let known: BTreeSet<_> = files.iter().map(|(path, _)| path.clone()).collect();
    let modules: BTreeMap<_, _> =
        files.iter().map(|(path, file)| (path.clone(), Module::read(path, &file.text, &known))).collect();
    let targets = |(path, module): (&ModulePath, &Module)| {
        let found = module.imports.iter().filter_map(|import| resolve(import, &modules, 0));
        (path.clone(), found.filter(|target| !target.is_empty() && target != path).collect())
    };
    modules.iter().map(targets).collect()
}

/// Returns the file in which an imported name is defined, through files that export it again.
fn resolve(import: &[String], modules: &BTreeMap<ModulePath, Module>, depth: usize) -> Option<ModulePath> {
    let count = (0..=import.len()).rev().find(|count| modules.contains_key(&import[..*count]))?;
    let (path, rest) = import.split_at(count);
    let exported = rest.first().and_then(|name| modules.get(path)?.exports.get(name));
    match exported.filter(|_| depth < 8) {
        Some(target) => resolve(&[target.as_slice(), &rest[1..]].concat(), modules, depth + 1),
        None => Some(path.to_vec()),
    }
}

impl Module {
    fn read(path: &ModulePath, text: &str, known: &BTreeSet<ModulePath>) -> Self {
        let mut module = Self::default();
        let (mut other, mut statement) = (String::new(), None::<(bool, String)>);
        for line in product_code(text).lines() {
            let (is_public, bare) = without_visibility(line.trim_start());
            match (&mut statement, bare.strip_prefix("use ")) {
                (Some((_, begun)), _) => begun.push_str(line.trim()),
                (None, Some(tree)) => statement = Some((is_public, tree.to_owned())),
                (None, None) => other += &format!("{bare}\n"),
            }
            let Some((is_public, tree)) = statement.take_if(|(_, tree)| tree.contains(';')) else { continue };
            let names = use_paths(tree.split(';').next().unwrap_or_default());
            for found in names.iter().filter_map(|names| absolute(path, names, known)) {
                match found.last().cloned().filter(|_| is_public) {
                    Some(name) => drop(module.exports.insert(name, found)),
                    None => drop(module.imports.insert(found)),
                }
            }
        }
        module.imports.extend(paths_in_code(&other).iter().filter_map(|names| absolute(path, names, known)));
        module
    }
}

/// Removes `pub` and the like, and returns whether it was there.
fn without_visibility(line: &str) -> (bool, &str) {
    match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with(' ') => (true, rest.trim_start()),
        Some(rest) if rest.starts_with('(') => (true, rest.split_once(')').map_or(rest, |(_, rest)| rest).trim_start()),
        _ => (false, line),
    }
}

/// Returns the paths of a `use`, without their new names.
fn use_paths(tree: &str) -> Vec<ModulePath> {
    let (head, inner) = tree.split_once('{').map_or((tree, None), |(head, inner)| (head, Some(inner)));
    let head = head.split_once(" as ").map_or(head, |(head, _)| head);
    let head: ModulePath = head.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let Some(inner) = inner.and_then(|inner| inner.rsplit_once('}')).map(|(inner, _)| inner) else { return vec![head] };
    let mut depth = 0;
    let parts = inner.split(|sign| {
        depth += i32::from(sign == '{') - i32::from(sign == '}');
        sign == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    parts.flat_map(use_paths).map(|tail| [head.as_slice(), &tail].concat()).collect()
}

/// Returns the paths in code that begin with `crate`, `self` or `super`.
fn paths_in_code(code: &str) -> Vec<ModulePath> {
    let is_name = |sign: char| sign.is_alphanumeric() || sign == '_';
    let words = code.split(|sign| !is_name(sign) && sign != ':');
    let paths = words.map(|word| word.split("::").map(str::to_owned).collect::<ModulePath>());
    paths.filter(|path| path.len() > 1 && ["crate", "self", "super"].contains(&path[0].as_str())).collect()
}

/// Returns a path from the root of the crate; `None` for one of another crate.
fn absolute(path: &ModulePath, names: &[String], known: &BTreeSet<ModulePath>) -> Option<ModulePath> {
    let child = || [path.as_slice(), &names[..1]].concat();
    match names.first()?.as_str() {
        "crate" => Some(names[1..].to_vec()),
        "self" => Some([path.as_slice(), &names[1..]].concat()),
        "super" => {
            let above = names.iter().take_while(|name| *name == "super").count();
            Some([&path[..path.len().saturating_sub(above)], &names[above..]].concat())
        }
        _ => known.contains(&child()).then(|| [path.as_slice(), names].concat()),
    }
}
