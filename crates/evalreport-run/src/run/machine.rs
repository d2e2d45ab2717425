//! The machine's resources and limits, read from system files in well under a millisecond. Systems other than Linux report less.

use std::path::Path;

use crate::domain::Resources;
use crate::files;

/// Longest text taken from the system.
const MAX_CHARACTERS: usize = 120;

/// Returns the machine's current resources.
pub fn read_resources() -> Resources {
    read_resources_at(Path::new("/"))
}

fn read_resources_at(root: &Path) -> Resources {
    let read = |path: &str| files::read_to_string(root.join(path)).ok();
    let cpuinfo = read("proc/cpuinfo").unwrap_or_default();
    let processors = cpuinfo
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count() as u64;
    Resources {
        system: Some(format!(
            "{} {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        )),
        kernel: read("proc/sys/kernel/osrelease").and_then(|text| truncate_text(&text)),
        cpu: find_field(&cpuinfo, "model name").and_then(truncate_text),
        cpus: Some(processors).filter(|count| *count > 0),
        // The standard library respects CPU affinity and control group quotas.
        cpu_limit: std::thread::available_parallelism()
            .ok()
            .map(|count| count.get() as u64),
        memory: read("proc/meminfo")
            .and_then(|text| parse_kibibytes(find_field(&text, "MemTotal")?)),
        memory_limit: memory_limit(root),
        load: read("proc/loadavg")
            .and_then(|text| text.split(' ').next()?.parse().ok())
            .filter(|load: &f64| load.is_finite()),
        ..Resources::default()
    }
}

/// Returns the lowest memory limit of this process's control groups.
fn memory_limit(root: &Path) -> Option<u64> {
    let groups = files::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let unified = groups
        .lines()
        .find_map(|line| line.strip_prefix("0::/"))
        .map(|own| ("sys/fs/cgroup", own, "memory.max"));
    let older = groups
        .lines()
        .find_map(|line| line.split_once(":memory:/").map(|(_, own)| own));
    let older = older.map(|own| ("sys/fs/cgroup/memory", own, "memory.limit_in_bytes"));
    // In a hybrid hierarchy, the older one has the limits. A parent's limit also applies to its children.
    let limits = unified
        .into_iter()
        .chain(older)
        .flat_map(|(top, own, file)| {
            let limit = move |group: &Path| {
                files::read_to_string(root.join(top).join(group).join(file))
                    .ok()?
                    .trim()
                    .parse::<u64>()
                    .ok()
            };
            Path::new(own).ancestors().filter_map(limit)
        });
    // Older kernels report a huge number for no limit.
    limits.min().filter(|bytes| *bytes < 1 << 60)
}

fn find_field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn parse_kibibytes(text: &str) -> Option<u64> {
    text.strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

fn truncate_text(text: impl AsRef<str>) -> Option<String> {
    let text: String = text.as_ref().trim().chars().take(MAX_CHARACTERS).collect();
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    #[test]
    fn the_systems_files_are_read() {
        let root = system(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 2.00GHz\n",
            ),
            ("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"),
            (
                "proc/meminfo",
                "MemTotal:        8000000 kB\nMemFree:  1 kB\n",
            ),
            ("proc/loadavg", "1.25 0.50 0.10 2/300 12345\n"),
            ("proc/self/cgroup", "0::/user/session\n"),
            ("sys/fs/cgroup/user/session/memory.max", "max\n"),
            ("sys/fs/cgroup/user/memory.max", "2147483648\n"),
        ]);
        let seen = read_resources_at(root.path());
        assert_eq!(
            (seen.kernel.as_deref(), seen.cpu.as_deref()),
            (Some("6.8.0-45-generic"), Some("Some CPU @ 2.00GHz"))
        );
        assert_eq!(
            (seen.cpus, seen.memory, seen.memory_limit),
            (Some(2), Some(8_192_000_000), Some(2_147_483_648))
        );
        assert_eq!(
            (seen.load, seen.usable_memory()),
            (Some(1.25), Some(2_147_483_648))
        );
        assert!(seen.cpu_limit.is_some_and(|count| count > 0) && seen.system.is_some());
    }

    #[test]
    fn older_control_groups_have_limits_and_none() {
        let group = |limit: &str| {
            let root = system(&[
                ("proc/self/cgroup", "5:memory:/job\n1:cpu:/job\n"),
                ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", limit),
            ]);
            read_resources_at(root.path()).memory_limit
        };
        assert_eq!(
            (group("1048576\n"), group("9223372036854771712\n")),
            (Some(1_048_576), None)
        );
    }

    #[test]
    fn a_hybrid_hierarchy_has_its_limits_in_the_older_one() {
        let root = system(&[
            ("proc/self/cgroup", "5:memory:/job\n0::/job\n"),
            ("sys/fs/cgroup/job/cgroup.procs", ""),
            (
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes",
                "1500000000\n",
            ),
        ]);
        assert_eq!(
            read_resources_at(root.path()).memory_limit,
            Some(1_500_000_000)
        );
    }

    #[test]
    fn what_is_not_there_is_not_known() {
        let root = system(&[
            ("proc/meminfo", "MemTotal: many kB\n"),
            ("proc/loadavg", "\n"),
        ]);
        let seen = read_resources_at(root.path());
        assert_eq!(
            (
                seen.kernel,
                seen.cpu,
                seen.cpus,
                seen.memory,
                seen.memory_limit,
                seen.load
            ),
            (None, None, None, None, None, None)
        );
    }
}
