//! The migrations are part of the program: a changed one makes a new build.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
