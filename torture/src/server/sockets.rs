//! Reads sockets from `/proc`.

use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A row of `/proc/net/tcp`.
struct Socket {
    local: SocketAddr,
    remote: SocketAddr,
    is_established: bool,
    inode: u64,
}

/// Returns the number of established connections to a local port.
pub(super) fn established_connections(port: u16) -> Result<usize> {
    let table = fs::read_to_string("/proc/net/tcp")?;
    Ok(sockets(&table).filter(|socket| socket.local.port() == port && socket.is_established).count())
}

/// Returns the remote addresses of a process's connections, without those of its clients at the
/// port `own`.
pub(super) fn remote_addresses(id: u32, own: u16) -> Vec<SocketAddr> {
    let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let inode = |link: String| link.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok();
    let inodes: BTreeSet<_> =
        files.filter_map(|file| inode(fs::read_link(file.path()).ok()?.to_string_lossy().into_owned())).collect();
    let tables = ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{id}/net/{table}")).unwrap_or_default());
    let all = tables.iter().flat_map(|table| sockets(table));
    let out = all.filter(|socket| inodes.contains(&socket.inode) && socket.local.port() != own);
    let reached: BTreeSet<_> = out.map(|socket| socket.remote).filter(|remote| remote.port() != 0).collect();
    reached.into_iter().collect()
}

/// Parses rows with the columns `sl local_address rem_address st … inode`; the state 01 is
/// established.
fn sockets(table: &str) -> impl Iterator<Item = Socket> {
    table.lines().skip(1).filter_map(|line| {
        let row: Vec<_> = line.split_whitespace().collect();
        let (local, remote) = (address(row.get(1)?)?, address(row.get(2)?)?);
        Some(Socket { local, remote, is_established: row.get(3) == Some(&"01"), inode: row.get(9)?.parse().ok()? })
    })
}

/// Parses an address such as `0100007F:1F90`: 32-bit words with the last byte first, and the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let words = address.as_bytes().chunks(8).map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok());
    let bytes: Vec<u8> = words.collect::<Option<Vec<_>>>()?.into_iter().flat_map(u32::to_le_bytes).collect();
    let address: IpAddr = match *bytes.as_slice() {
        [a, b, c, d] => Ipv4Addr::new(a, b, c, d).into(),
        ref bytes => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
    };
    Some(SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_table_is_parsed() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             \x20  0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17 1 0 100 0 0 10 0\n\
             \x20  1: 0100007F:0BB8 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 18 1 0 20 4 30 10 -1\n";
        let found: Vec<_> = sockets(table).map(|socket| (socket.remote.to_string(), socket.inode)).collect();
        assert_eq!(found, [("0.0.0.0:0".to_owned(), 17), ("127.0.0.1:50000".to_owned(), 18)]);
        let six = address("0000000000000000FFFF00000100007F:0050");
        assert_eq!(six.map(|six| six.to_string()).as_deref(), Some("127.0.0.1:80"));
    }
}
