//! Reads the memory usage of the process and its limits: the config, the limits of the process
//! (`ulimit`), its control groups (containers, systemd) and the machine. Each limit is compared
//! with the figure that the system itself counts for it. Outside Linux, no limit of the system is
//! known.

use chat::{MemoryProbe, MemoryUse};
use std::fs;
use std::path::{Path, PathBuf};

/// Where control groups are mounted, by version.
const CGROUP_V2_ROOT: &str = "/sys/fs/cgroup";
const CGROUP_V1_ROOT: &str = "/sys/fs/cgroup/memory";

/// Limits from 2^60 bytes on mean "unlimited", which version 1 writes as a number.
const UNLIMITED_FROM: u64 = 1 << 60;

/// The memory limits of this process, with their usage.
pub(crate) struct SystemMemoryProbe {
    /// Limits that do not change while the process runs.
    fixed: Vec<FixedLimit>,
    /// The control groups of the process, each with its ancestors.
    groups: Vec<ControlGroup>,
}

/// A limit on a field of `/proc/self/status`.
#[derive(Debug, PartialEq, Eq)]
struct FixedLimit {
    name: &'static str,
    /// The field of `/proc/self/status` that is limited.
    status_field: &'static str,
    limit: u64,
}

/// The files of a control group.
#[derive(Debug, PartialEq, Eq)]
struct ControlGroup {
    limit: PathBuf,
    used: PathBuf,
    statistics: PathBuf,
    /// Fields of the statistics for the page cache, which the system frees when memory is needed.
    cache_fields: [&'static str; 2],
}

impl SystemMemoryProbe {
    /// Detects the limits; `configured` is the limit from the config.
    pub(crate) fn new(configured: Option<u64>) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            fixed: fixed_limits(configured, &read("/proc/self/limits"), &read("/proc/meminfo")),
            groups: control_groups(&read("/proc/self/cgroup")),
        }
    }
}

impl MemoryProbe for SystemMemoryProbe {
    fn sample(&mut self) -> Vec<MemoryUse> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let fixed = self.fixed.iter().filter_map(|limit| limit.usage(&status));
        // Groups are nested: the one with the highest share of its limit counts.
        let groups = self.groups.iter().filter_map(ControlGroup::usage);
        let group = groups.max_by_key(MemoryUse::thousandths);
        fixed.chain(group).collect()
    }
}

impl FixedLimit {
    fn usage(&self, status: &str) -> Option<MemoryUse> {
        Some(MemoryUse { limited_by: self.name, used: parse_kilobytes(status, self.status_field)?, limit: self.limit })
    }
}

impl ControlGroup {
    /// Returns the usage of the limit; none without a limit.
    fn usage(&self) -> Option<MemoryUse> {
        let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let limit = number(&self.limit).filter(|limit| *limit < UNLIMITED_FROM)?;
        let statistics = fs::read_to_string(&self.statistics).unwrap_or_default();
        let used = number(&self.used)?.saturating_sub(cache_bytes(&statistics, self.cache_fields));
        Some(MemoryUse { limited_by: "cgroup", used, limit })
    }
}

/// Returns the bytes of the page cache.
fn cache_bytes(statistics: &str, lines: [&str; 2]) -> u64 {
    let line = |name: &str| {
        statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    };
    lines.into_iter().filter_map(line).sum()
}

/// Returns the limits of the config, `/proc/self/limits` and `/proc/meminfo`.
fn fixed_limits(configured: Option<u64>, limits: &str, machine: &str) -> Vec<FixedLimit> {
    let soft =
        |name: &str| limits.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    let found = [
        ("limits.memoryBytes", "VmRSS:", configured),
        ("RLIMIT_AS", "VmSize:", soft("Max address space")),
        ("RLIMIT_DATA", "VmData:", soft("Max data size")),
        ("physical memory", "VmRSS:", parse_kilobytes(machine, "MemTotal:")),
    ];
    let limit =
        |(name, line, limit): (_, _, Option<u64>)| limit.map(|limit| FixedLimit { name, status_field: line, limit });
    found.into_iter().filter_map(limit).collect()
}

/// Parses a line such as `VmRSS:  1024 kB` into bytes.
fn parse_kilobytes(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Returns the control groups in `/proc/self/cgroup`, each with its ancestors. In a container the
/// path may be the host's, which is not mounted there; the mounted root is the container's group
/// then.
fn control_groups(text: &str) -> Vec<ControlGroup> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (root, is_v2) = match controllers {
            "" => (CGROUP_V2_ROOT, true),
            controllers if controllers.split(',').any(|one| one == "memory") => (CGROUP_V1_ROOT, false),
            _ => continue,
        };
        let folder = Path::new(root).join(path.trim_start_matches('/'));
        let around = folder.ancestors().take_while(|folder| folder.starts_with(root));
        found.extend(around.map(|folder| control_group(folder, is_v2)));
    }
    found
}

fn control_group(folder: &Path, is_v2: bool) -> ControlGroup {
    let file = |v2: &str, v1: &str| folder.join(if is_v2 { v2 } else { v1 });
    ControlGroup {
        limit: file("memory.max", "memory.limit_in_bytes"),
        used: file("memory.current", "memory.usage_in_bytes"),
        statistics: folder.join("memory.stat"),
        cache_fields: if is_v2 {
            ["inactive_file", "active_file"]
        } else {
            ["total_inactive_file", "total_active_file"]
        },
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
    fn limits_come_from_config_process_and_machine() {
        let names = |configured, limits, machine| {
            let found = fixed_limits(configured, limits, machine);
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
        let used = fixed_limits(Some(1 << 30), LIMITS, MACHINE)
            .iter()
            .map(|one| one.usage(status).unwrap().used / 1024)
            .collect::<Vec<_>>();
        assert_eq!(used, [50_000, 120_000, 50_000]);
    }

    #[test]
    fn control_groups_include_their_ancestors() {
        let folders =
            |text: &str| control_groups(text).iter().map(|group| group.limit.display().to_string()).collect::<Vec<_>>();
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
    fn page_cache_does_not_count_as_used() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.max", "1000\n");
        write("memory.current", "900\n");
        write("memory.stat", "anon 500\ninactive_file 300\nactive_file 50\n");
        let used = MemoryUse { limited_by: "cgroup", used: 550, limit: 1_000 };
        assert_eq!(control_group(folder.path(), true).usage(), Some(used));
        write("memory.max", "max\n");
        assert_eq!(control_group(folder.path(), true).usage(), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn sample_reports_usage_of_physical_memory() {
        let uses = SystemMemoryProbe::new(None).sample();
        let machine = uses.iter().find(|one| one.limited_by == "physical memory").unwrap();
        assert!((1 << 20..machine.limit).contains(&machine.used), "{uses:?}");
    }
}
