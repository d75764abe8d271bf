//! A database that is down, lost or shared.

mod database_down;
mod lost_files;
mod replays;
mod replicas;
mod second_server;
