#![doc = include_str!("../README.md")]

mod admin;
mod config;
mod conversation;
mod evaluation;
mod floor;
mod growth;
mod load;
mod process;
mod retrieval;
mod shell;
mod upstream;
mod workflows;

use anyhow::{Context, Result};
use load::{Load, LoadCost};
use process::MeasuredServer;
use std::path::PathBuf;

/// Many short replies at maximum speed.
const BURST: Load = Load { model: "bench-200x0", turns: 400, at_once: 20, deltas: 200, rounds: 9 };
/// Many concurrent streams, each at the speed of a real model.
const PACED: Load = Load { model: "bench-100x100", turns: 500, at_once: 500, deltas: 100, rounds: 1 };
/// Runs once through the whole path, so that first-time effects are not measured.
const WARM_UP: Load = Load { model: "bench-200x0", turns: 40, at_once: 20, deltas: 200, rounds: 1 };

#[tokio::main]
async fn main() -> Result<()> {
    // Fails only if a crypto provider is installed already.
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
        Some("workflows") => {
            let binary = std::env::args().nth(2).context("usage: bench workflows BINARY [--small]")?;
            let is_small = std::env::args().any(|word| word == "--small");
            workflows::measure(&PathBuf::from(binary), is_small).await
        }
        Some("evaluation") => {
            evaluation::measure(&PathBuf::from(std::env::args().nth(2).context("usage: bench evaluation BINARY")?))
        }
        Some("shell") => {
            shell::measure(&PathBuf::from(std::env::args().nth(2).context("usage: bench shell BINARY")?)).await
        }
        Some("conversation") => {
            let binary = std::env::args().nth(2).context("usage: bench conversation BINARY [--small]")?;
            let is_small = std::env::args().any(|word| word == "--small");
            conversation::measure(&PathBuf::from(binary), is_small).await
        }
        Some("retrieval") => {
            let usage = "usage: bench retrieval BINARY [--small] [FOLDER]…";
            let binary = PathBuf::from(std::env::args().nth(2).context(usage)?);
            let is_small = std::env::args().any(|word| word == "--small");
            let folders: Vec<_> =
                std::env::args().skip(3).filter(|word| word != "--small").map(PathBuf::from).collect();
            retrieval::measure(&binary, &folders, is_small).await
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
        let rounds = in_turn(&floor, &product, &load).await?;
        let (floor, product) = &rounds[rounds.len() / 2];
        println!("{}", LoadCost::HEADINGS);
        println!("{}\n{}", floor.row("floor"), product.row("chatwright"));
        println!("CPU per delta, chatwright to floor: {}", spread(&rounds.iter().map(ratio).collect::<Vec<_>>()));
    }
    growth::doubling(&product).await?;
    growth::history(&product).await
}

/// Alternates rounds of the baseline and the product, and returns them sorted by ratio. Noise of
/// the machine affects both, and the median of several rounds is less noisy than one round.
async fn in_turn(floor: &MeasuredServer, product: &MeasuredServer, load: &Load) -> Result<Vec<(LoadCost, LoadCost)>> {
    let mut rounds = Vec::new();
    for _ in 0..load.rounds {
        rounds.push((measure(floor, load).await?, measure(product, load).await?));
    }
    rounds.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    Ok(rounds)
}

/// Returns the CPU time per delta relative to the baseline's.
fn ratio((floor, product): &(LoadCost, LoadCost)) -> f64 {
    product.cpu_us_per_delta / floor.cpu_us_per_delta
}

/// Formats the median of sorted figures, with minimum and maximum if there are several.
fn spread(sorted: &[f64]) -> String {
    match sorted {
        [] => String::new(),
        [only] => format!("{only:.2}"),
        [least, .., greatest] => {
            format!("{:.2}, the median of {} from {least:.2} to {greatest:.2}", sorted[sorted.len() / 2], sorted.len())
        }
    }
}

async fn measure(server: &MeasuredServer, load: &Load) -> Result<LoadCost> {
    load::run(server, &WARM_UP).await?;
    load::run(server, load).await
}
