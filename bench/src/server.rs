//! Measures the cost of a turn, compared with that of the baseline on the same machine.

use crate::load::{self, Load, LoadCost};
use crate::process::{self, MeasuredServer};
use crate::results::{Table, figure};
use crate::{config, growth, upstream};
use anyhow::Result;
use std::path::Path;

/// Many short replies at maximum speed.
const BURST: Load = Load { model: "bench-200x0", turns: 400, at_once: 20, deltas: 200, rounds: 9 };
/// Many concurrent streams, each at the speed of a real model.
const PACED: Load = Load { model: "bench-100x100", turns: 500, at_once: 500, deltas: 100, rounds: 1 };
/// Runs once through the whole path, so that first-time effects are not measured.
const WARM_UP: Load = Load { model: "bench-200x0", turns: 40, at_once: 20, deltas: 200, rounds: 1 };

/// Measures the server, its config, and how its cost grows.
pub(crate) async fn measure(binary: &Path) -> Result<Vec<Table>> {
    let upstream = upstream::start().await?;
    let folder = tempfile::tempdir()?;
    let product = process::product(binary, folder.path(), &upstream).await?;
    let floor = process::floor(&upstream).await?;
    let mut program = Table::new("The program", &["measured"]);
    program.add("size of the binary, with the site", [figure(binary.metadata()?.len() as f64 / 1e6, "MB")]);
    program.add("memory when idle", [figure(product.memory_mb()?, "MB")]);
    program.add("of it, without pages of the binary", [figure(product.own_memory_mb()?, "MB")]);
    config::measure(binary, &mut program).await?;
    let columns = [
        "CPU per text delta",
        "compared with the floor",
        "lowest round",
        "highest round",
        "first text, p50",
        "p99",
        "memory per stream",
    ];
    let mut turns = Table::new("A turn", &columns);
    for (name, load) in [("burst", BURST), ("paced", PACED)] {
        eprintln!("{name}: {} turns, {} at once, {} deltas each", load.turns, load.at_once, load.deltas);
        add_load(&mut turns, name, &load, &in_turn(&floor, &product, &load).await?);
    }
    let doubling = growth::doubling(&product).await?;
    growth::history(&product, &mut program).await?;
    Ok(vec![turns, doubling, program])
}

/// Adds the row of a load: the round with the median ratio.
fn add_load(table: &mut Table, name: &str, load: &Load, rounds: &[(LoadCost, LoadCost)]) {
    let ratios: Vec<_> = rounds.iter().map(ratio).collect();
    let (_, product) = &rounds[rounds.len() / 2];
    let spread = |at: usize| figure(ratios[at], "×").filter(|_| ratios.len() > 1);
    let (p50, p99) = product.first_text_ms;
    table.add(
        &format!("{name}: {} streams at once, {} deltas each", load.at_once, load.deltas),
        [
            figure(product.cpu_us_per_delta, "µs"),
            figure(ratios[ratios.len() / 2], "×"),
            spread(0),
            spread(ratios.len() - 1),
            figure(p50, "ms"),
            figure(p99, "ms"),
            // A burst has too few streams for their memory to be seen.
            figure(product.kb_per_stream, "KB").filter(|_| load.rounds == 1),
        ],
    );
}

/// Alternates rounds of the baseline and the product, and returns them sorted by ratio. Noise of
/// the machine affects both, and the median of several rounds is less noisy than one round.
async fn in_turn(floor: &MeasuredServer, product: &MeasuredServer, load: &Load) -> Result<Vec<(LoadCost, LoadCost)>> {
    let mut rounds = Vec::new();
    for _ in 0..load.rounds {
        rounds.push((measure_load(floor, load).await?, measure_load(product, load).await?));
    }
    rounds.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    Ok(rounds)
}

/// Returns the CPU time per delta relative to the baseline's.
fn ratio((floor, product): &(LoadCost, LoadCost)) -> f64 {
    product.cpu_us_per_delta / floor.cpu_us_per_delta
}

async fn measure_load(server: &MeasuredServer, load: &Load) -> Result<LoadCost> {
    load::run(server, &WARM_UP).await?;
    load::run(server, load).await
}
