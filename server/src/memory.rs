//! Reads how much memory the process uses, and what limits it: the config, the limits of the
//! process (`ulimit`), its control groups (containers, systemd) and the machine. Each limit is held
//! against what the system itself counts for it. Outside of Linux no limit of the system is known.

use chat::{MemoryProbe, MemoryUse};
use std::fs;
use std::path::{Path, PathBuf};

/// Where control groups are mounted.
const V2: &str = "/sys/fs/cgroup";
const V1: &str = "/sys/fs/cgroup/memory";

/// A limit of 2^60 bytes or more is none: version 1 writes "unlimited" as a number.
const NO_LIMIT: u64 = 1 << 60;

/// The limits of this process, with what is used of them.
pub(crate) struct Probe {
    /// Limits that do not change while the process runs.
    fixed: Vec<Fixed>,
    /// The control groups of the process, each with those around it.
    groups: Vec<Group>,
}

/// A limit on what `/proc/self/status` counts.
#[derive(Debug, PartialEq, Eq)]
struct Fixed {
    name: &'static str,
    /// The line of `/proc/self/status` that is limited.
    line: &'static str,
    limit: u64,
}

/// The files of a control group.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    limit: PathBuf,
    used: PathBuf,
    statistics: PathBuf,
    /// Lines of the statistics for the cache of files, which the system takes back when needed.
    cache: [&'static str; 2],
}

impl Probe {
    /// Finds the limits; `configured` is that of the config.
    pub(crate) fn new(configured: Option<u64>) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            fixed: fixed(configured, &read("/proc/self/limits"), &read("/proc/meminfo")),
            groups: groups(&read("/proc/self/cgroup")),
        }
    }
}

impl MemoryProbe for Probe {
    fn sample(&mut self) -> Vec<MemoryUse> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let fixed = self.fixed.iter().filter_map(|limit| limit.in_use(&status));
        // Groups are within each other: what counts is the one that is used most.
        let groups = self.groups.iter().filter_map(Group::in_use);
        let group = groups.max_by_key(MemoryUse::thousandths);
        fixed.chain(group).collect()
    }
}

impl Fixed {
    fn in_use(&self, status: &str) -> Option<MemoryUse> {
        Some(MemoryUse { limited_by: self.name, used: kilobytes(status, self.line)?, limit: self.limit })
    }
}

impl Group {
    /// What is used of the limit; none where there is no limit.
    fn in_use(&self) -> Option<MemoryUse> {
        let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let limit = number(&self.limit).filter(|limit| *limit < NO_LIMIT)?;
        let statistics = fs::read_to_string(&self.statistics).unwrap_or_default();
        let used = number(&self.used)?.saturating_sub(cached(&statistics, self.cache));
        Some(MemoryUse { limited_by: "cgroup", used, limit })
    }
}

/// Bytes of the cache of files.
fn cached(statistics: &str, lines: [&str; 2]) -> u64 {
    let line = |name: &str| {
        statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    };
    lines.into_iter().filter_map(line).sum()
}

/// The limits by the config, `/proc/self/limits` and `/proc/meminfo`.
fn fixed(configured: Option<u64>, limits: &str, machine: &str) -> Vec<Fixed> {
    let soft =
        |name: &str| limits.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    let found = [
        ("limits.memoryBytes", "VmRSS:", configured),
        ("RLIMIT_AS", "VmSize:", soft("Max address space")),
        ("RLIMIT_DATA", "VmData:", soft("Max data size")),
        ("physical memory", "VmRSS:", kilobytes(machine, "MemTotal:")),
    ];
    let limit = |(name, line, limit): (_, _, Option<u64>)| limit.map(|limit| Fixed { name, line, limit });
    found.into_iter().filter_map(limit).collect()
}

/// A line such as `VmRSS:  1024 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The control groups by `/proc/self/cgroup`, each with those around it. In a container the path
/// may be the host's, which is not mounted there; the mounted root is the container's group then.
fn groups(text: &str) -> Vec<Group> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, is_v2) = match controllers {
            "" => (V2, true),
            controllers if controllers.split(',').any(|one| one == "memory") => (V1, false),
            _ => continue,
        };
        let folder = Path::new(root).join(path.trim_start_matches('/'));
        let around = folder.ancestors().take_while(|folder| folder.starts_with(root));
        found.extend(around.map(|folder| group(folder, is_v2)));
    }
    found
}

fn group(folder: &Path, is_v2: bool) -> Group {
    let file = |v2: &str, v1: &str| folder.join(if is_v2 { v2 } else { v1 });
    Group {
        limit: file("memory.max", "memory.limit_in_bytes"),
        used: file("memory.current", "memory.usage_in_bytes"),
        statistics: folder.join("memory.stat"),
        cache: if is_v2 { ["inactive_file", "active_file"] } else { ["total_inactive_file", "total_active_file"] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
                          Max data size             314572800            unlimited            bytes     \n\
                          Max address space         unlimited            unlimited            bytes     \n";
    const MACHINE: &str = "MemTotal:       24683544 kB\nMemFree:        1 kB\n";

    #[test]
    fn limits_are_those_of_config_process_and_machine() {
        let names = |configured, limits, machine| {
            let found = fixed(configured, limits, machine);
            found.iter().map(|one| (one.name, one.limit)).collect::<Vec<_>>()
        };
        assert_eq!(
            names(Some(1 << 30), LIMITS, MACHINE),
            [("limits.memoryBytes", 1 << 30), ("RLIMIT_DATA", 314_572_800), ("physical memory", 24_683_544 << 10)]
        );
        assert_eq!(names(None, "", ""), [], "not on Linux");
    }

    #[test]
    fn usage_is_what_the_system_counts_for_the_limit() {
        let status = "Name:\tchatwright\nVmSize:\t  900000 kB\nVmRSS:\t   50000 kB\nVmData:\t  120000 kB\n";
        let used = fixed(Some(1 << 30), LIMITS, MACHINE)
            .iter()
            .map(|one| one.in_use(status).unwrap().used / 1024)
            .collect::<Vec<_>>();
        assert_eq!(used, [50_000, 120_000, 50_000]);
    }

    #[test]
    fn control_groups_include_those_around_them() {
        let folders =
            |text: &str| groups(text).iter().map(|group| group.limit.display().to_string()).collect::<Vec<_>>();
        assert_eq!(folders("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
        assert_eq!(
            folders("0::/system.slice/chat.service\n"),
            [
                "/sys/fs/cgroup/system.slice/chat.service/memory.max",
                "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(
            folders("5:cpu,cpuacct:/x\n4:memory:/docker/abc\n"),
            [
                "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
        assert_eq!(folders(""), [] as [&str; 0]);
    }

    #[test]
    fn cache_of_files_does_not_count_as_used() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.max", "1000\n");
        write("memory.current", "900\n");
        write("memory.stat", "anon 500\ninactive_file 300\nactive_file 50\n");
        let used = MemoryUse { limited_by: "cgroup", used: 550, limit: 1_000 };
        assert_eq!(group(folder.path(), true).in_use(), Some(used));
        write("memory.max", "max\n");
        assert_eq!(group(folder.path(), true).in_use(), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_uses_some_of_the_machine() {
        let uses = Probe::new(None).sample();
        let machine = uses.iter().find(|one| one.limited_by == "physical memory").unwrap();
        assert!((1 << 20..machine.limit).contains(&machine.used), "{uses:?}");
    }
}
