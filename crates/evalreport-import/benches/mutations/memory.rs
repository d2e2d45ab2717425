//! How much memory the process has held, as Linux counts it.

use std::fs;

/// Begins to count anew. Where the system does not count, nothing happens.
pub fn forget_peak() {
    // 5 is the number that the kernel has for this.
    drop(fs::write("/proc/self/clear_refs", "5"));
}

/// Returns the most bytes that were held at one time since then. None where the system does not say.
pub fn peak_bytes() -> Option<u64> {
    held("VmHWM:")
}

/// Returns the bytes that are held now.
pub fn bytes() -> Option<u64> {
    held("VmRSS:")
}

fn held(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim()
        .strip_suffix(" kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes << 10)
}
