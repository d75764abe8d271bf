//! Conversations, their files, and what users choose in a chat.

mod attachments;
mod chat_message;
mod choices;
mod conversations;
mod dispatcher;
mod files;
mod models;
mod queued;
mod suggestions;
mod voice;
