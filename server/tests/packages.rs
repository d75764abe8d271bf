//! What is not ours (A44): every package comes from where it should, is the one that was looked at when it came in, and may be passed on.
//! Advisories are published elsewhere every day, so they are no test's matter: `cargo audit` and `npm audit` read them.

use cargo_metadata::{CargoOpt, MetadataCommand};
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Under these a package may stand in a program that is given away, whatever that program's own licence is.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // Of the certificates of the web's authorities, which are data.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    // Of each of its files, which stay as they are.
    "MPL-2.0",
    "Unicode-3.0",
    "Zlib",
];

/// What is built: the server, and what the browser runs.
const PLATFORMS: &[&str] = &["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"];

fn read(path: &str) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn crates_come_from_the_registry_with_a_checksum() {
    for path in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock = read(path);
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

/// What is in the workspace and has no source is a room of it: nothing else lies on somebody's disk.
#[test]
fn crates_may_be_passed_on() {
    let mut refused = BTreeSet::new();
    for platform in PLATFORMS {
        let options = ["--locked", "--filter-platform", platform].map(str::to_owned).to_vec();
        let mut command = MetadataCommand::new();
        command.manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"));
        let metadata = command.features(CargoOpt::AllFeatures).other_options(options).exec().unwrap();
        for package in &metadata.packages {
            let is_ours = metadata.workspace_members.contains(&package.id);
            let licence = package.license.as_deref().unwrap_or_default();
            if !is_ours && (package.source.is_none() || !may_be_passed_on(licence)) {
                refused.insert(format!("{} {}: `{licence}`", package.name, package.version));
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

fn may_be_passed_on(licence: &str) -> bool {
    let parsed = Expression::parse_mode(licence, ParseMode::LAX);
    parsed.is_ok_and(|licence| {
        licence.evaluate(|wanted| wanted.license.id().is_some_and(|id| LICENCES.contains(&id.name)))
    })
}

#[test]
fn what_a_licence_allows() {
    let check = |licence: &str, expected: bool| assert_eq!(may_be_passed_on(licence), expected, "{licence}");
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
fn packages_of_npm_are_those_that_were_looked_at() {
    let lock: Value = serde_json::from_str(&read("end2end/package-lock.json")).unwrap();
    let packages = lock["packages"].as_object().unwrap().iter().filter(|(path, _)| !path.is_empty());
    let is_known = |package: &Value| {
        let is_sound = package["integrity"].as_str().is_some_and(|hash| hash.starts_with("sha512-"));
        // Where it comes from is whoever's who installs it: what it must be is in its hash.
        is_sound && package["resolved"].is_null() && package["link"] != true
    };
    let others: Vec<_> = packages.filter(|(_, package)| !is_known(package)).map(|(path, _)| path).collect();
    assert!(others.is_empty(), "{others:?}");
    let wanted: Value = serde_json::from_str(&read("end2end/package.json")).unwrap();
    for (name, version) in wanted["devDependencies"].as_object().unwrap() {
        let version = version.as_str().unwrap_or_default();
        assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{name} is not pinned: {version}");
    }
}
