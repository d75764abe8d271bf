//! A PostgreSQL for tests that are written in another language: writes the address of a new, empty database to the standard output, a line,
//! and serves it until its standard input ends. Where no PostgreSQL is installed it says so and ends at once, without an address.

use std::io;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    if let Some(url) = test_postgres::new_database().await {
        println!("{url}");
        io::copy(&mut io::stdin(), &mut io::sink())?;
    }
    Ok(())
}
