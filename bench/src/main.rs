#![doc = include_str!("../README.md")]

mod admin;
mod config;
mod floor;
mod growth;
mod load;
mod process;
mod upstream;

use anyhow::{Context, Result};
use load::{Load, Measured};
use process::Measurable;
use std::path::PathBuf;

/// Many short replies, as fast as they come.
const BURST: Load = Load { model: "bench-200x0", turns: 400, at_once: 20, deltas: 200 };
/// Many open streams, each at the pace of a real model.
const PACED: Load = Load { model: "bench-100x100", turns: 500, at_once: 500, deltas: 100 };
/// Once through the whole path, so that nothing measured is a first time.
const WARM_UP: Load = Load { model: "bench-200x0", turns: 40, at_once: 20, deltas: 200 };

#[tokio::main]
async fn main() -> Result<()> {
    // An error only says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match std::env::args().nth(1).as_deref() {
        Some("floor") => floor::serve(&std::env::args().nth(2).context("usage: bench floor UPSTREAM")?).await,
        Some("admin") => {
            admin::measure(&PathBuf::from(std::env::args().nth(2).context("usage: bench admin BINARY")?)).await
        }
        Some("fill") => {
            let usage = "usage: bench fill DATABASE CONVERSATIONS";
            let database = std::env::args().nth(2).context(usage)?;
            let conversations = std::env::args().nth(3).and_then(|count| count.parse().ok()).context(usage)?;
            admin::fill(&PathBuf::from(database), conversations)
        }
        Some(binary) => compare(PathBuf::from(binary)).await,
        None => anyhow::bail!("usage: bench BINARY"),
    }
}

async fn compare(binary: PathBuf) -> Result<()> {
    let upstream = upstream::start().await?;
    let folder = tempfile::tempdir()?;
    let product = process::product(&binary, folder.path(), &upstream).await?;
    let floor = process::floor(&upstream).await?;
    println!("binary {:.1} MB; idle memory {:.1} MB", binary.metadata()?.len() as f64 / 1e6, product.memory_mb()?);
    config::measure(&binary).await?;
    for (name, load) in [("burst", BURST), ("paced", PACED)] {
        println!("\n{name}: {} turns, {} at once, {} deltas each", load.turns, load.at_once, load.deltas);
        let floor = measure(&floor, &load).await?;
        let product = measure(&product, &load).await?;
        println!("{}", Measured::HEADINGS);
        println!("{}\n{}", floor.row("floor"), product.row("chatwright"));
        println!("CPU per delta, chatwright to floor: {:.2}", product.cpu_us_per_delta / floor.cpu_us_per_delta);
    }
    growth::doubling(&product).await?;
    growth::history(&product).await
}

async fn measure(server: &Measurable, load: &Load) -> Result<Measured> {
    load::run(server, &WARM_UP).await?;
    load::run(server, load).await
}
