//! The block `Libraries`: libraries of documents, what is in them, and who may read them; and the documents
//! that answers in a chat cite. It uses the HTTP API that other programs use, too.

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

mod api;
mod block;
mod chunk_table;
mod cited;
mod confirm;
mod document;
mod documents;
mod dropped;
mod entities;
mod form;
mod labels;
mod lazy;
mod library;
mod problem;
mod questions;
mod route;
mod search;
mod state;
mod upload;
mod upload_view;

pub(crate) use chunk_table::LIBRARIES;
pub(crate) use cited::state::{Citation, CitationState};
