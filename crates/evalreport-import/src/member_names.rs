//! Finds hostile names in archives.

use crate::domain::escape_invisible;

/// Returns whether a member's name, used as a path, would lead out of the folder of the unpacked archive. Nothing is unpacked here, but
/// such a name is an attack on programs that unpack.
pub(super) fn leads_out(name: &str) -> bool {
    let mut depth = 0usize;
    let is_above = name.split('/').any(|part| match part {
        ".." => {
            let is_above = depth == 0;
            depth = depth.saturating_sub(1);
            is_above
        }
        "" | "." => false,
        _ => {
            depth += 1;
            false
        }
    });
    is_above || name.starts_with('/') || name.contains('\0')
}

/// Returns the message for an archive that is refused because of a member's name.
pub(super) fn leads_out_message(name: &str) -> String {
    let shown: String = escape_invisible(name).chars().take(200).collect();
    format!("has a member whose name leads out of the archive: `{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_lead_out_are_refused() {
        for name in [
            "../x",
            "/etc/passwd",
            "samples/../../x",
            "samples/a\0.json",
            "..",
            "//x",
        ] {
            assert!(leads_out(name), "{name}");
        }
        for name in [
            "samples/1_epoch_1.json",
            "samples/../x",
            "a..b",
            "samples/C:\\x",
            "samples//x",
            "./x",
            "",
        ] {
            assert!(!leads_out(name), "{name}");
        }
        assert!(leads_out_message(&format!("/\u{1b}{}", "x".repeat(70_000))).len() < 300);
    }
}
