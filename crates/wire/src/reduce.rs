//! Folds chunks into a message; the same function in the browser and on the server.
