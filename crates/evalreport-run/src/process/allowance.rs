//! What the system allows this process: its limits, priority and processors.
//!
//! Any program of the same user can change them (prlimit(2), setpriority(2), sched_setaffinity(2)), which could end this process or make
//! later runs fail. Confined programs cannot; others are found out.

#[cfg(target_os = "linux")]
pub use linux::Allowance;
#[cfg(not(target_os = "linux"))]
pub use nowhere::Allowance;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::process::{
        Pid, Resource, Rlimit, getpriority_process, getrlimit, setpriority_process, setrlimit,
    };
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    const PROCESS_LIMITS: [(Resource, &str); 15] = [
        (Resource::As, "memory"),
        (Resource::Core, "core files"),
        (Resource::Cpu, "processor time"),
        (Resource::Data, "data"),
        (Resource::Fsize, "the size of files"),
        (Resource::Locks, "locks"),
        (Resource::Memlock, "locked memory"),
        (Resource::Msgqueue, "messages"),
        (Resource::Nice, "priority"),
        (Resource::Nofile, "open files"),
        (Resource::Nproc, "processes"),
        (Resource::Rtprio, "real-time priority"),
        (Resource::Rttime, "real-time processor time"),
        (Resource::Sigpending, "signals"),
        (Resource::Stack, "the stack"),
    ];
    const KILLED_FIRST: &str = "/proc/self/oom_score_adj";

    /// What the system allowed at one time.
    #[derive(Clone, Debug)]
    pub struct Allowance {
        limits: Vec<Rlimit>,
        /// The priority and processors of all threads.
        threads: Option<(i32, CpuSet)>,
        killed_first: Option<String>,
    }

    impl Allowance {
        pub fn now() -> Self {
            let threads = getpriority_process(None)
                .ok()
                .zip(sched_getaffinity(None).ok());
            Self {
                limits: PROCESS_LIMITS
                    .iter()
                    .map(|(limit, _)| getrlimit(*limit))
                    .collect(),
                threads,
                killed_first: read_kill_score(),
            }
        }

        /// Names what has changed since then, and restores it. Returns whether all could be restored: some limits only a privileged user raises.
        pub fn restore(&self) -> (Vec<String>, bool) {
            let (mut changed, mut is_whole) = (Vec::new(), true);
            let mut note = |what: &str, is_restored: bool| {
                changed.push(format!(
                    "evalreport's own {what} was changed{}",
                    if is_restored {
                        ""
                    } else {
                        " and cannot be restored"
                    }
                ));
                is_whole &= is_restored;
            };
            for ((limit, name), before) in PROCESS_LIMITS.iter().zip(&self.limits) {
                let now = getrlimit(*limit);
                if now != *before {
                    note(
                        &format!("limit of {name}"),
                        setrlimit(*limit, *before).is_ok(),
                    );
                }
            }
            if let Some((priority, processors)) = &self.threads {
                let threads = list_threads();
                let slower: Vec<Pid> = threads
                    .iter()
                    .copied()
                    .filter(|thread| {
                        getpriority_process(Some(*thread)).is_ok_and(|now| now != *priority)
                    })
                    .collect();
                if !slower.is_empty() {
                    note(
                        "priority",
                        slower
                            .iter()
                            .all(|thread| setpriority_process(Some(*thread), *priority).is_ok()),
                    );
                }
                let bound: Vec<Pid> = threads
                    .iter()
                    .copied()
                    .filter(|thread| {
                        sched_getaffinity(Some(*thread)).is_ok_and(|now| now != *processors)
                    })
                    .collect();
                if !bound.is_empty() {
                    note(
                        "choice of processors",
                        bound
                            .iter()
                            .all(|thread| sched_setaffinity(Some(*thread), processors).is_ok()),
                    );
                }
            }
            if read_kill_score() != self.killed_first {
                note(
                    "order of being killed",
                    self.killed_first
                        .as_ref()
                        .is_some_and(|before| write_kill_score(before).is_ok()),
                );
            }
            (changed, is_whole)
        }
    }

    fn read_kill_score() -> Option<String> {
        fs::read_to_string(KILLED_FIRST).ok()
    }

    fn write_kill_score(text: &str) -> rustix::io::Result<()> {
        let file = open(
            KILLED_FIRST,
            OFlags::WRONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        rustix::io::write(file, text.trim().as_bytes()).map(drop)
    }

    fn list_threads() -> Vec<Pid> {
        let numbers = fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten();
        numbers
            .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::process::tests::alone;

        #[test]
        fn what_is_changed_is_named_and_restored() {
            // The limits of a process are those of all tests in it.
            let other = alone("process::allowance::linux::tests::changed")
                .output()
                .expect("it starts");
            let said = String::from_utf8_lossy(&other.stdout);
            assert!(
                other.status.success() && said.contains("1 passed"),
                "{said}"
            );
        }

        #[test]
        #[ignore = "the process in the test above"]
        fn changed() {
            let before = Allowance::now();
            assert_eq!(before.restore(), (Vec::new(), true));
            let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
            setrlimit(
                Resource::Nofile,
                Rlimit {
                    current: Some(40),
                    maximum,
                },
            )
            .expect("lower");
            let mut one = CpuSet::new();
            let (_, processors) = before.threads.expect("known");
            one.set(
                (0..CpuSet::MAX_CPU)
                    .find(|number| processors.is_set(*number))
                    .expect("one"),
            );
            let has_more = processors.count() > 1;
            sched_setaffinity(None, &one).expect("fewer");
            write_kill_score("900").expect("sooner");
            let (changed, _) = before.restore();
            assert_eq!(
                changed[0],
                "evalreport's own limit of open files was changed"
            );
            assert_eq!(
                changed
                    .iter()
                    .any(|line| line == "evalreport's own choice of processors was changed"),
                has_more,
                "{changed:?}"
            );
            assert!(
                changed
                    .last()
                    .is_some_and(|line| line
                        .starts_with("evalreport's own order of being killed was changed")),
                "{changed:?}"
            );
            assert_eq!(getrlimit(Resource::Nofile), before.limits[9]);
            assert_eq!(sched_getaffinity(None).expect("known"), processors);
        }
    }
}

/// For systems on which a program cannot change the limits of another.
#[cfg(not(target_os = "linux"))]
mod nowhere {
    #[derive(Clone, Debug)]
    pub struct Allowance;

    impl Allowance {
        pub fn now() -> Self {
            Self
        }

        pub fn restore(&self) -> (Vec<String>, bool) {
            (Vec::new(), true)
        }
    }
}
