//! Opens every screen of a server with 50 agents, 200 users and 20,000 conversations as each kind of user.

mod database;
mod list;

use crate::process::{self, MeasuredServer};
use crate::results::{Figure, Goal, Table, figure};
use anyhow::{Result, ensure};
pub(crate) use database::{config, fill};
use list::Screen;
use reqwest::Client;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum 95th percentile of a screen, in milliseconds.
const BOUND_MS: f64 = 100.0;
/// The number of measured requests per screen, after an unmeasured one.
const SAMPLES: usize = 21;
/// As [`SAMPLES`], to try the program out.
const FEW: usize = 3;
/// The number of screens that are part of the results.
const SHOWN: usize = 12;
/// The period of lists with dates, in days before now.
const PERIOD: [i64; 2] = [40, 33];

/// Measures how long the server takes for each screen.
pub(crate) async fn measure(binary: &Path, is_small: bool) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("chatwright.yaml");
    std::fs::write(&config, database::config())?;
    // The server creates the tables.
    process::serve(binary, &config, folder.path()).await?.stop().await?;
    fill(&folder.path().join("bench.db"))?;
    let server = process::serve(binary, &config, folder.path()).await?;
    let client = Client::builder().build()?;
    let samples = if is_small { FEW } else { SAMPLES };
    let (mut pages, mut files) = (Vec::new(), Vec::new());
    for screen in list::all()? {
        let measured = measure_screen(&client, &server, &screen, samples).await?;
        if screen.is_file() { files.push(measured) } else { pages.push(measured) }
    }
    Ok(tables(pages, files))
}

/// How long a screen takes, in milliseconds.
struct Measured {
    name: String,
    median: f64,
    p95: f64,
    longest: f64,
}

impl Measured {
    fn cells(&self) -> [Option<Figure>; 3] {
        [self.median, self.p95, self.longest].map(|ms| figure(ms, "ms"))
    }
}

/// Returns the tables of the slowest screens. Only pages have a goal: a file has up to 50,000 rows.
fn tables(mut pages: Vec<Measured>, mut files: Vec<Measured>) -> Vec<Table> {
    let slowest_first = |a: &Measured, b: &Measured| b.p95.total_cmp(&a.p95);
    pages.sort_by(slowest_first);
    files.sort_by(slowest_first);
    let columns = ["p50", "p95", "longest"];
    let mut summary = Table::new("All screens", &["measured"]);
    let p95 = |measured: &Measured| figure(measured.p95, "ms");
    summary.add_with_goal("the slowest screen (p95)", [pages.first().and_then(p95)], Goal::AtMost(BOUND_MS));
    summary.add("the screen in the middle (p95)", [pages.get(pages.len() / 2).and_then(p95)]);
    summary.add("screens", [figure(pages.len() as f64, "")]);
    let mut slowest = Table::new("Screens that take longest", &columns);
    pages.iter().take(SHOWN).for_each(|page| slowest.add(&page.name, page.cells()));
    let mut whole = Table::new("Files of whole lists that take longest", &columns);
    files.iter().take(SHOWN).for_each(|file| whole.add(&file.name, file.cells()));
    vec![summary, slowest, whole]
}

/// Measures one screen.
async fn measure_screen(client: &Client, server: &MeasuredServer, screen: &Screen, samples: usize) -> Result<Measured> {
    ask(client, server, screen).await?;
    let mut times = Vec::new();
    for _ in 0..samples {
        times.push(ask(client, server, screen).await?.as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at =
        |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0);
    let name = format!("`{}` by {}", screen.address, screen.visitor.name());
    let measured = Measured { name, median: at(50), p95: at(95), longest: at(100) };
    eprintln!("{:>7.1} ms {:>7.1} ms {:>7.1} ms  {}", measured.median, measured.p95, measured.longest, measured.name);
    Ok(measured)
}

/// Opens a screen, and returns how long it took until all of it was there.
async fn ask(client: &Client, server: &MeasuredServer, screen: &Screen) -> Result<Duration> {
    let address = with_dates(&screen.address);
    let request = client.get(format!("{}{address}", server.origin)).header("cookie", screen.visitor.cookie());
    let begun = Instant::now();
    let answer = request.send().await?;
    ensure!(answer.status().is_success(), "{address}: {}", answer.status());
    answer.bytes().await?;
    Ok(begun.elapsed())
}

/// Inserts the days of a period some weeks ago.
fn with_dates(address: &str) -> String {
    let [from, to] = PERIOD.map(crate::admin::day);
    address.replace("FROM", &from).replace("TO", &to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_slowest_screen_has_a_goal() {
        let measured = |name: &str, p95: f64| Measured { name: name.to_owned(), median: 1.0, p95, longest: 400.0 };
        let tables = tables(vec![measured("a", 5.0), measured("b", 150.0)], vec![measured("c", 300.0)]);
        let rows = |table: &Table| table.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>().join(", ");
        assert_eq!(rows(&tables[1]), "b, a");
        assert_eq!(rows(&tables[2]), "c");
        let first = &tables[0].rows[0];
        assert_eq!((&first.cells[0], first.goal), (&figure(150.0, "ms"), Some(Goal::AtMost(BOUND_MS))));
        assert!(tables[1].rows.iter().chain(&tables[2].rows).all(|row| row.goal.is_none()));
    }
}
