//! Checks the third-party packages: their source, their checksum and their licence. Advisories
//! change without a change of the code, so they are not tested here; `cargo audit` and `npm audit`
//! read them.

use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Licences that allow redistribution within a program of any licence.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // The certificates of the web's authorities, which are data.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    // Applies to each of its files, which are not modified.
    "MPL-2.0",
    "Unicode-3.0",
    "Zlib",
    // That of the bzip2 library: like BSD.
    "bzip2-1.0.6",
];

/// The targets that are built: the server's and the browser's.
const PLATFORMS: &[&str] = &["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"];

fn read_file(path: &str) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn crates_come_from_the_registry_with_a_checksum() {
    for path in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read_file(path);
        let mut others = Vec::new();
        for package in lock.split("[[package]]").skip(1) {
            let field = |name: &str| {
                let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
                line.map(|value| value.trim_matches('"'))
            };
            let is_ours = field("source").is_none();
            let is_known = field("source") == Some("registry+https://github.com/rust-lang/crates.io-index")
                && field("checksum").is_some_and(|checksum| checksum.len() == 64);
            if !is_ours && !is_known {
                others.push(field("name").unwrap_or_default());
            }
        }
        assert!(others.is_empty(), "{path}: {others:?}");
    }
}

/// Every package without a registry source must be a member of the workspace.
#[test]
fn licences_of_crates_allow_redistribution() {
    let mut refused = BTreeSet::new();
    for platform in PLATFORMS {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", platform]);
        cargo.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")]);
        let metadata: Value = serde_json::from_slice(&cargo.output().unwrap().stdout).unwrap();
        let members = metadata["workspace_members"].as_array().unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        assert!(packages.len() > members.len());
        for package in packages {
            let is_ours = members.contains(&package["id"]);
            let licence = package["license"].as_str().unwrap_or_else(|| licence_of_file(package));
            if !is_ours && (package["source"].is_null() || !is_redistributable(licence)) {
                refused.insert(format!("{} {}: `{licence}`", package["name"], package["version"]));
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

/// Returns the licence of a package that names no licence but the file with its text.
fn licence_of_file(package: &Value) -> &'static str {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    let file = package["license_file"].as_str().and_then(|file| Some(manifest.parent()?.join(file)));
    let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let permission = "Permission is hereby granted, free of charge, to any person obtaining a copy";
    if text.starts_with("MIT License") && text.contains(permission) { "MIT" } else { "" }
}

fn is_redistributable(licence: &str) -> bool {
    let parsed = Expression::parse_mode(licence, ParseMode::LAX);
    parsed.is_ok_and(|licence| {
        licence.evaluate(|wanted| wanted.license.id().is_some_and(|id| LICENCES.contains(&id.name)))
    })
}

#[test]
fn licence_expressions_are_evaluated() {
    let check = |licence: &str, expected: bool| assert_eq!(is_redistributable(licence), expected, "{licence}");
    check("MIT", true);
    check("MIT/Apache-2.0", true);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("MIT OR GPL-3.0-only", true);
    check("MIT AND GPL-3.0-only", false);
    check("AGPL-3.0-or-later", false);
    check("", false);
    check("mine", false);
}

#[test]
fn npm_packages_are_pinned_by_hash() {
    for folder in ["end2end", "xtask/npm", "clients/typescript"] {
        let lock: Value = serde_json::from_str(&read_file(&format!("{folder}/package-lock.json"))).unwrap();
        let packages = lock["packages"].as_object().unwrap().iter().filter(|(path, _)| !path.is_empty());
        let is_known = |package: &Value| {
            let is_sound = package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-"));
            // The hash identifies the package; the registry may be a mirror.
            is_sound && package["resolved"].is_null() && package["link"] != true
        };
        let others: Vec<_> = packages.filter(|(_, package)| !is_known(package)).map(|(path, _)| path).collect();
        assert!(others.is_empty(), "{folder}: {others:?}");
        let wanted: Value = serde_json::from_str(&read_file(&format!("{folder}/package.json"))).unwrap();
        for (name, version) in wanted["devDependencies"].as_object().unwrap() {
            let version = version.as_str().unwrap_or_default();
            // A package under another name: `npm:react@18.3.1`.
            let version = version.strip_prefix("npm:").and_then(|alias| alias.rsplit('@').next()).unwrap_or(version);
            assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{name} is not pinned: {version}");
        }
    }
}
