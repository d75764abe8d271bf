//! A PostgreSQL server for tests in other languages. Prints the URL of a new, empty database as a
//! line on standard output, and serves it until standard input ends. If PostgreSQL is not
//! installed, it prints a message and exits without a URL.

use std::io;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    if let Some(url) = test_postgres::new_database().await {
        println!("{url}");
        io::copy(&mut io::stdin(), &mut io::sink())?;
    }
    Ok(())
}
