//! The system calls that confined programs are refused (seccomp(2)): what Landlock does not cover, or not on all kernels.
//!
//! A program cannot lift the filter, and everything that it starts has it too.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::order::ConfinementRules;

/// Answer that programs take for "this kernel has it not", and go on without.
const ABSENT_CALLS: [i64; 6] = [
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
];

/// Calls that concern the whole system, or reach what the rules of files do not cover. Most need powers that no program has; these are refused
/// again, because a program has all powers in a user namespace of its own.
const REFUSED_CALLS: [i64; 27] = [
    libc::SYS_acct,
    libc::SYS_bpf,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls whose first argument is a process. Without a namespace of its own, a program may change itself alone.
const OF_PROCESSES: [i64; 7] = [
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// Calls by which a process reaches into another of its user.
const OF_OTHER_PROCESSES: [i64; 5] = [
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
];

/// Requests that type into a terminal or take its selection.
const OF_TERMINALS: [u64; 2] = [TIOCSTI, TIOCLINUX];
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541C;
/// `fcntl`: a lease on a file makes whoever else opens it wait, for 45 seconds by default, and reading is enough to take one.
const LEASE: u64 = 1024;
/// `setpriority`: all processes of a user.
const PRIO_USER: u64 = 2;
/// `ioprio_set`: all processes of a user.
const IOPRIO_WHO_USER: u64 = 3;
/// The kinds of sockets, without their flags.
const SOCKET_KIND: SeccompCmpOp = SeccompCmpOp::MaskedEq(0xf);
/// Kinds of sockets other than streams.
const NO_STREAMS: [u64; 6] = [2, 3, 4, 5, 6, 10];

/// Returns whether the kernel can refuse system calls on this processor.
pub fn are_filtered() -> bool {
    target_processor().is_some() && rustix::thread::secure_computing_mode().is_ok()
}

fn target_processor() -> Option<TargetArch> {
    std::env::consts::ARCH.try_into().ok()
}

/// Refuses the calls to this thread and everything that it starts. The thread must have given up new privileges.
pub fn refuse_calls(rules: &ConfinementRules) -> io::Result<()> {
    let Some(processor) = target_processor().filter(|_| are_filtered()) else {
        return Ok(());
    };
    for (refused, answer) in [
        (refused_rules(rules)?, libc::EPERM),
        (
            ABSENT_CALLS.map(|call| (call, Vec::new())).into(),
            libc::ENOSYS,
        ),
    ] {
        let filter = SeccompFilter::new(
            refused,
            SeccompAction::Allow,
            SeccompAction::Errno(answer.unsigned_abs()),
            processor,
        );
        let program: BpfProgram = filter
            .and_then(TryInto::try_into)
            .map_err(io::Error::other)?;
        apply_filter(&program).map_err(io::Error::other)?;
    }
    Ok(())
}

fn refused_rules(rules: &ConfinementRules) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    // No rule means that the call is refused whatever its arguments.
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED_CALLS.map(|call| (call, Vec::new())).into();
    if rules.are_kept_apart {
        refused.extend(OF_OTHER_PROCESSES.map(|call| (call, Vec::new())));
    }
    let mut refuse = |call: i64, conditions: &[(u8, SeccompCmpOp, u64)]| -> io::Result<()> {
        let condition = |(argument, how, value): &(u8, SeccompCmpOp, u64)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, how.clone(), *value)
        };
        let conditions = conditions
            .iter()
            .map(condition)
            .collect::<Result<Vec<_>, _>>();
        let rule = conditions
            .and_then(SeccompRule::new)
            .map_err(io::Error::other)?;
        refused.entry(call).or_default().push(rule);
        Ok(())
    };
    let is = SeccompCmpOp::Eq;
    let is_not = SeccompCmpOp::Ne;
    refuse(libc::SYS_fcntl, &[(1, is.clone(), LEASE)])?;
    for request in OF_TERMINALS {
        refuse(libc::SYS_ioctl, &[(1, is.clone(), request)])?;
    }
    // Other families reach the host of a virtual machine, the kernel's ciphers, radios and buses.
    let families = [
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
    ]
    .map(constant_value);
    refuse(
        libc::SYS_socket,
        &families.map(|family| (0, is_not.clone(), family)),
    )?;
    if rules.ports.is_some() && !rules.has_network {
        // Landlock covers TCP alone.
        for family in [libc::AF_INET, libc::AF_INET6].map(constant_value) {
            for kind in NO_STREAMS {
                refuse(
                    libc::SYS_socket,
                    &[(0, is.clone(), family), (1, SOCKET_KIND, kind)],
                )?;
            }
            let [any, tcp] = [libc::IPPROTO_IP, libc::IPPROTO_TCP].map(constant_value);
            refuse(
                libc::SYS_socket,
                &[
                    (0, is.clone(), family),
                    (2, is_not.clone(), any),
                    (2, is_not.clone(), tcp),
                ],
            )?;
        }
        // Connects without `connect`, which is what Landlock looks at.
        let fast = constant_value(libc::MSG_FASTOPEN);
        for (call, flags) in [
            (libc::SYS_sendto, 3),
            (libc::SYS_sendmsg, 2),
            (libc::SYS_sendmmsg, 3),
        ] {
            refuse(call, &[(flags, SeccompCmpOp::MaskedEq(fast), fast)])?;
        }
    }
    if !rules.is_apart {
        for call in OF_PROCESSES {
            refuse(call, &[(0, is_not.clone(), 0)])?;
        }
        for (call, all) in [
            (libc::SYS_setpriority, PRIO_USER),
            (libc::SYS_ioprio_set, IOPRIO_WHO_USER),
        ] {
            refuse(call, &[(0, is.clone(), all)])?;
            refuse(call, &[(1, is_not.clone(), 0)])?;
        }
    }
    Ok(refused)
}

fn constant_value(constant: i32) -> u64 {
    u64::from(constant.unsigned_abs())
}
