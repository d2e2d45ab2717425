//! Giving up root's powers (capabilities(7)).

use std::io;

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
    set_no_new_privs,
};

/// Gives up all powers of this thread, for good: no program that it starts can have any, as root or by a set-user-id file.
///
/// With them, root could read the memory of other programs, open devices, and change what the kernel starts.
pub fn drop_capabilities() -> io::Result<()> {
    for number in 0..u64::BITS {
        let power = CapabilitySet::from_bits_retain(1 << number);
        match capability_is_in_bounding_set(power) {
            // An ordinary user may not take them out of the set, and cannot get them.
            Ok(true) => drop(remove_capability_from_bounding_set(power)),
            Ok(false) => {}
            // The kernel has no more.
            Err(_) => break,
        }
    }
    let locked = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    // Without the power to do so, there are no powers that these could keep.
    let _ = set_capabilities_secure_bits(locked);
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    set_no_new_privs(true)?;
    match capabilities(None)? {
        CapabilitySets {
            effective,
            permitted,
            ..
        } if effective.is_empty() && permitted.is_empty() => Ok(()),
        _ => Err(io::Error::other(
            "the system's powers could not be given up",
        )),
    }
}
