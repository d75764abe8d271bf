//! Rebuilds the crate when a migration changes, because the migrations are embedded in the program.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
