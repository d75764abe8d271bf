//! The clients for TypeScript and Python in `clients/`: their packages and their tests.

use crate::cargo::cargo;
use crate::step::step;
use crate::tools;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use xshell::{Shell, cmd};

const TYPESCRIPT: &str = "clients/typescript";
const PYTHON: &str = "clients/python";
/// The program of the virtual environment that [`tools::ensure_python_packages`] makes.
const INTERPRETER: &str = "target/python/bin/python";
/// Where the packages are written.
const PACKAGES: &str = "target/packages";
/// The maximum size of the npm package in bytes; most of it is types.
const MAX_NPM_PACKAGE: u64 = 60_000;

/// Builds the packages and, if asked to, checks and tests them with the server.
pub(crate) fn run(shell: &Shell, with_tests: bool) -> Result<()> {
    tools::ensure_client_packages(shell)?;
    tools::ensure_python_packages(shell)?;
    if !with_tests {
        return build(shell);
    }
    step("build the server", || {
        Ok(cargo(shell).args(["build", "--package", "server", "--features", "full"]).run()?)
    })?;
    test(shell)
}

/// Builds the packages, checks that their generated types are current, and tests them with the server program that
/// the tests have built.
pub(crate) fn test(shell: &Shell) -> Result<()> {
    build(shell)?;
    step("check the types of the clients", || {
        cmd!(shell, "node clients/generate.mjs --check").run()?;
        let _folder = shell.push_dir(TYPESCRIPT);
        Ok(cmd!(shell, "npm run --silent check").run()?)
    })?;
    step("test the TypeScript client", || {
        let _folder = shell.push_dir(TYPESCRIPT);
        Ok(cmd!(shell, "npm test --silent").run()?)
    })?;
    if !has_python(shell) {
        return Ok(());
    }
    step("test the Python client", || {
        let python = shell.current_dir().join(INTERPRETER);
        // The tests use the package as it will be installed.
        let _path = shell.push_env("PYTHONPATH", wheel(shell)?);
        let _folder = shell.push_dir(PYTHON);
        cmd!(shell, "{python} -m mypy").run()?;
        Ok(cmd!(shell, "{python} -m unittest discover --top-level-directory . --start-directory tests").run()?)
    })
}

/// Builds the npm package, the wheel and the source distribution.
fn build(shell: &Shell) -> Result<()> {
    shell.remove_path(PACKAGES)?;
    let packages = shell.create_dir(PACKAGES)?;
    step("build the npm package", || {
        let _folder = shell.push_dir(TYPESCRIPT);
        cmd!(shell, "npm run --silent build").run()?;
        cmd!(shell, "npm pack --silent --pack-destination {packages}").run()?;
        let package = find(shell, &packages, "tgz")?;
        let size = std::fs::metadata(&package)?.len();
        ensure!(size <= MAX_NPM_PACKAGE, "{} has {size} bytes, more than {MAX_NPM_PACKAGE}", package.display());
        Ok(())
    })?;
    if !has_python(shell) {
        eprintln!("SKIPPED, NOT TESTED: there is no Python with venv, so there is no package for Python");
        return Ok(());
    }
    step("build the Python package", || {
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            shell.copy_file(licence, PYTHON)?;
        }
        // The build backend is installed with the other packages.
        Ok(cmd!(shell, "{INTERPRETER} -m build --no-isolation --outdir {packages} {PYTHON}").ignore_stdout().run()?)
    })?;
    println!("The packages are in {PACKAGES}.");
    Ok(())
}

fn has_python(shell: &Shell) -> bool {
    shell.path_exists(INTERPRETER)
}

fn wheel(shell: &Shell) -> Result<std::path::PathBuf> {
    find(shell, &shell.current_dir().join(PACKAGES), "whl")
}

/// Returns the file with this extension in a folder.
fn find(shell: &Shell, folder: &Path, extension: &str) -> Result<std::path::PathBuf> {
    let mut files = shell.read_dir(folder)?.into_iter();
    let found = files.find(|file| file.extension().is_some_and(|own| own == extension));
    found.with_context(|| format!("there is no .{extension} in {}", folder.display()))
}
