//! Ways to have memory that is not counted. Each script would have far more than it may if it succeeded.

use super::escape_tests::control;
use super::sandbox_tests::Cell;
use serde_json::json;
use std::path::Path;

const MEMORY: u64 = 64 << 20;
const TOO_MUCH: &str = "ended: its processes used more memory than they may";

async fn cell() -> Option<Cell> {
    Cell::new(json!({ "level": "process", "timeoutSeconds": 120, "memoryBytes": MEMORY, "processes": 24 })).await
}

/// Returns whether Python is there, and says so if it is not.
fn has_python() -> bool {
    let is_there = Path::new("/usr/bin/python3").exists();
    if !is_there {
        eprintln!("skipped: Python makes the attempts, and is not installed");
    }
    is_there
}

/// The name of a process may have any bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_does_not_hide_memory() {
    let Some(cell) = cell().await else { return };
    let script = "ln -s /bin/bash $'/tmp/\\xff'; for i in 1 2 3 4 5; do \
                  $'/tmp/\\xff' -c 'x=$(head -c 15000000 /dev/zero | tr \"\\0\" x); sleep 15; echo ${#x}' & done; wait";
    assert_eq!(cell.run(script).await, TOO_MUCH);
}

/// The first thread of a process may end before the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_has_ended_does_not_hide_memory() {
    let Some(cell) = cell().await else { return };
    if !has_python() {
        return;
    }
    let script = "cat > /tmp/hide.py <<'END'
import ctypes, platform, threading, time
def hold():
    held = bytearray(20 << 20)
    time.sleep(15)
    print(len(held), flush=True)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)
END
for i in 1 2 3 4 5; do python3 /tmp/hide.py & done; wait";
    assert_eq!(cell.run(script).await, TOO_MUCH);
}

/// The kernel has tables for what a process has mapped.
#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_an_address_space_are_counted() {
    let Some(cell) = cell().await else { return };
    if !has_python() {
        return;
    }
    // 32,768 tables of 4 KB each, of pages that are all the same one.
    let script = "python3 -c '
import mmap, time
mapped = mmap.mmap(-1, 1 << 36, flags=0x4022, prot=1)
for at in range(0, 1 << 36, 1 << 21): mapped[at]
time.sleep(15)
print(len(mapped))'";
    assert_eq!(cell.run(script).await, TOO_MUCH);
}

/// The limit of a process's data does not include stacks. So a process has one stack of a fixed size, and cannot create other
/// growing mappings.
#[tokio::test(flavor = "multi_thread")]
async fn stacks_are_bounded() {
    let Some(cell) = cell().await else { return };
    assert_eq!(cell.run("ulimit -Hs; ulimit -s 65537 2>/dev/null || echo refused").await, "65536\nrefused\n");
    if !has_python() {
        return;
    }
    let script = "python3 -c 'import mmap; mmap.mmap(-1, 4096, flags=0x122); print(\"mapped\")' 2>&1 | tail -n 1";
    assert_eq!(control(script), "mapped\n");
    assert_eq!(cell.run(script).await, "OSError: [Errno 38] Function not implemented\n");
}
