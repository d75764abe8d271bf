//! `chatwright serve`: runs the server.

use super::diagnostics::{print_diagnostics, valid_or_printed};
use super::{ConfigArgument, DatabaseArgument, fail};
use crate::Site;
use crate::attachments::DocumentReader;
use crate::compose::{self, BackgroundWork, Composition, LoadSummary, shell_place_problem};
use crate::router::router;
use crate::state::AppState;
use crate::telemetry::{RunTelemetry, metrics, traces};
use crate::{listen, memory, reload, shutdown};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The arguments of `chatwright serve`.
#[derive(clap::Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    config: ConfigArgument,
    /// Address to listen on. The auth mode `local` allows only loopback, since everyone who reaches
    /// the server is its owner.
    #[arg(long, env = "CHATWRIGHT_ADDR", value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    addr: SocketAddr,
    #[command(flatten)]
    database: DatabaseArgument,
}

/// Runs the server until it receives a signal to stop.
pub(crate) async fn run(arguments: ServeArguments, site: Site) -> ExitCode {
    match serve(arguments, site).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

async fn serve(arguments: ServeArguments, site: Site) -> Result<(), String> {
    let reading = compose::load_config(arguments.config.path.as_deref());
    let read = LoadSummary::from_attempt(&reading);
    let (config, warnings) =
        valid_or_printed(reading.outcome).map_err(|error| format!("{error}; nothing was started"))?;
    print_diagnostics(&warnings);
    if let Some(problem) = shell_place_problem(&config, arguments.config.path.as_deref(), &arguments.database.url) {
        return Err(problem);
    }
    let seen = reload::WatchedFiles::capture(arguments.config.path.as_deref(), reading.files).await;
    // Pages are rendered on this runtime. An error only means that the executor was initialized
    // before.
    let _ = any_spawner::Executor::init_tokio();
    let metrics = metrics::install().map_err(|error| format!("metrics: {error}"))?;
    let traces = traces::start().map_err(|error| format!("traces: {error}"))?;
    let composition = Composition::new(config, read, &arguments.database.url, Some(arguments.addr), site).await;
    let composition = composition.map_err(|error| error.to_string())?;
    let listener = TcpListener::bind(arguments.addr).await;
    let listener = listener.map_err(|error| format!("cannot listen on {}: {error}", arguments.addr))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    composition.chat.watch_memory(memory::SystemMemoryProbe::new(composition.limits.memory_bytes));
    composition.chat.set_attachment_reader(Arc::new(DocumentReader::default()));
    composition.chat.set_telemetry(Arc::new(RunTelemetry { traces: traces.clone() }));
    let state = AppState { composition: Arc::new(composition), metrics, site };
    let stop = shutdown::on_signal();
    if let Some(path) = arguments.config.path {
        tokio::spawn(reload::watch_config(path, seen, state.composition.current.clone(), stop.clone()));
    }
    let (store, current) = (state.composition.store.clone(), state.composition.current.clone());
    tokio::spawn(reload::watch_additions(store.clone(), current, stop.clone()));
    let jobs = state.composition.start_jobs(BackgroundWork::All, &stop);
    let failures = state.composition.current.failed_attempts();
    tokio::spawn({
        let (failures, store, stop) = (failures.clone(), store.clone(), stop.clone());
        async move { failures.flush_periodically(&store, stop).await }
    });
    let since = jiff::Timestamp::now();
    store.announce(&format!("listening on http://{address} since {since:.0}"));
    println!("listening on http://{address}");
    state.composition.current.announce_setup();
    state.composition.current.announce_first_steps();
    let (chat, limits) = (state.composition.chat.clone(), state.composition.limits.clone());
    let drain = limits.drain;
    // While running answers finish, new requests are still told that the server is shutting down.
    // The listener closes after the last answer.
    let closed = CancellationToken::new();
    let drained = tokio::spawn({
        let closed = closed.clone();
        async move {
            stop.cancelled().await;
            chat.drain(drain).await;
            closed.cancel();
            chat
        }
    });
    listen::serve(listener, router(state), &limits, closed).await;
    let chat = drained.await.map_err(|error| error.to_string())?;
    failures.flush(&store).await;
    jobs.wait().await;
    chat.close().await;
    if let Some(traces) = traces {
        let _ = tokio::task::spawn_blocking(move || traces.shutdown()).await;
    }
    Ok(())
}
