//! A database that is down, lost or shared.

mod database_down;
mod lost_files;
mod replicas;
mod second_server;
