//! `cargo xtask site --manifest-path FILE` and `cargo xtask serve --manifest-path FILE`: a program
//! outside of this repository.

use crate::build::{Profile, wasm_flags};
use crate::cargo::cargo;
use crate::serve::exec_server;
use crate::step::step;
use crate::{site, tools};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use xshell::Shell;

/// The settings of the profile of optimized WASM, which another workspace does not have.
const RELEASE_PROFILE: [&str; 8] = [
    "inherits='dev'",
    "opt-level='z'",
    "lto='fat'",
    "codegen-units=1",
    "panic='abort'",
    "strip='debuginfo'",
    "debug-assertions=false",
    "overflow-checks=false",
];

/// Builds the WASM of a package with the feature `hydrate`, and the site of it beside its manifest.
pub(crate) fn site(shell: &Shell, manifest: &Path, profile: Profile) -> Result<()> {
    let manifest = absolute(manifest)?;
    let package = step("read the package", || Package::read(shell, &manifest))?;
    package_site(shell, &manifest, &package, profile)
}

/// Builds the site and the server of a package, and runs the server.
pub(crate) fn serve(shell: &Shell, manifest: &Path, arguments: &[String]) -> Result<()> {
    let manifest = absolute(manifest)?;
    let package = step("read the package", || Package::read(shell, &manifest))?;
    let binary = package.binary.as_ref().context("the package has no binary")?;
    package_site(shell, &manifest, &package, Profile::Debug)?;
    step("build its server", || {
        // Its `.cargo/config.toml` says where the site is.
        let _folder = shell.push_dir(manifest.parent().unwrap_or(Path::new(".")));
        Ok(cargo(shell).args(["build", "--bin", binary, "--manifest-path"]).arg(&manifest).run()?)
    })?;
    exec_server(&package.target.join("debug").join(binary), arguments)
}

fn absolute(manifest: &Path) -> Result<PathBuf> {
    manifest.canonicalize().with_context(|| format!("{}", manifest.display()))
}

fn package_site(shell: &Shell, manifest: &Path, package: &Package, profile: Profile) -> Result<()> {
    tools::ensure_wasm_target(shell)?;
    if profile == Profile::Release {
        tools::ensure_wasm_opt(shell)?;
    }
    step("build its WASM client", || build_wasm(shell, manifest, package, profile))?;
    let folder = package.target.join("wasm32-unknown-unknown").join(profile.wasm_folder());
    let wasm = folder.join(format!("{}.wasm", package.library));
    step("assemble its site", || site::make(&shell.current_dir(), &wasm, &package.site, profile))
}

/// The properties of the package.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    /// The name of its library, which is the name of the WASM.
    library: String,
    /// The name of the program that `cargo run` would run.
    binary: Option<String>,
    /// Cargo's target folder.
    target: PathBuf,
    /// The folder of the site.
    site: String,
}

impl Package {
    fn read(shell: &Shell, manifest: &Path) -> Result<Self> {
        let read = cargo(shell).args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"]);
        let found = read.arg(manifest).quiet().read()?;
        Self::from_metadata(&serde_json::from_str(&found)?, manifest)
    }

    fn from_metadata(metadata: &Value, manifest: &Path) -> Result<Self> {
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let package = packages.iter().find(|one| one["manifest_path"].as_str().map(Path::new) == Some(manifest));
        let package = package.context("the file is the manifest of a workspace; name that of a package")?;
        let targets = package["targets"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_wasm =
            |target: &&Value| target["crate_types"].as_array().is_some_and(|all| all.contains(&"cdylib".into()));
        let Some(library) = targets.iter().find(is_wasm).and_then(|target| target["name"].as_str()) else {
            bail!("the package has no library of the crate type `cdylib`");
        };
        if package["features"].get("hydrate").is_none() {
            bail!("the package has no feature `hydrate`");
        }
        let is_binary = |target: &&Value| target["kind"].as_array().is_some_and(|all| all.contains(&"bin".into()));
        let only_binary = || targets.iter().find(is_binary).and_then(|target| target["name"].as_str());
        let binary = package["default_run"].as_str().or_else(only_binary).map(str::to_owned);
        let target = PathBuf::from(metadata["target_directory"].as_str().unwrap_or("target"));
        let site = manifest.parent().unwrap_or(Path::new(".")).join("target/site");
        Ok(Self {
            library: library.replace('-', "_"),
            binary,
            target,
            site: site.to_str().context("the path of the package is not Unicode")?.to_owned(),
        })
    }
}

fn build_wasm(shell: &Shell, manifest: &Path, package: &Package, profile: Profile) -> Result<()> {
    let _flags = shell.push_env("CARGO_ENCODED_RUSTFLAGS", wasm_flags(shell, profile).join("\u{1f}"));
    // Line numbers in panics would be megabytes.
    let _debug = shell.push_env("CARGO_PROFILE_DEV_DEBUG", "false");
    let manifest = manifest.as_os_str();
    let name = profile.wasm_profile();
    let mut build = cargo(shell).args(["rustc", "--lib", "--no-default-features", "--features", "hydrate"]);
    build = build.arg("--manifest-path").arg(manifest).args(["--target", "wasm32-unknown-unknown", "--profile", name]);
    if profile == Profile::Release {
        let settings = RELEASE_PROFILE.iter().map(|setting| format!("profile.{name}.{setting}"));
        build = settings.fold(build, |build, setting| build.arg("--config").arg(setting));
    }
    let built = build.args(["--", "-Clink-args=--emit-relocs"]).run();
    built.with_context(|| format!("the library `{}`", package.library))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn package_is_found_with_its_library_and_what_is_missing_is_named() {
        let manifest = Path::new("/there/shop/Cargo.toml");
        let metadata = |crate_type: &str, features: Value| {
            let library = json!({ "name": "my-shop", "kind": [crate_type], "crate_types": [crate_type, "rlib"] });
            let binary = json!({ "name": "shop", "kind": ["bin"], "crate_types": ["bin"] });
            let package = json!({ "manifest_path": manifest, "features": features, "targets": [library, binary] });
            json!({ "packages": [package], "target_directory": "/there/target" })
        };
        let check = |metadata: &Value, expected: Result<Package, &str>| {
            let found = Package::from_metadata(metadata, manifest).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned));
        };
        let package = Package {
            library: "my_shop".to_owned(),
            binary: Some("shop".to_owned()),
            target: "/there/target".into(),
            site: "/there/shop/target/site".to_owned(),
        };
        check(&metadata("cdylib", json!({ "hydrate": [] })), Ok(package));
        check(&metadata("cdylib", json!({})), Err("the package has no feature `hydrate`"));
        check(&metadata("lib", json!({ "hydrate": [] })), Err("the package has no library of the crate type `cdylib`"));
        check(&json!({}), Err("the file is the manifest of a workspace; name that of a package"));
    }
}
