//! `completions`: prints shell completions or the man page.

use clap::CommandFactory;

use super::arguments::{Arguments, Completions, Shell};
use super::failure::Failure;
use super::{exit_code, output};

pub(super) fn run(arguments: &Completions) -> Result<u8, Failure> {
    let mut command = Arguments::command();
    let mut bytes = Vec::new();
    let shell = match arguments.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Elvish => clap_complete::Shell::Elvish,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Powershell => clap_complete::Shell::PowerShell,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Man => {
            clap_mangen::Man::new(command)
                .render(&mut bytes)
                .map_err(|error| Failure::new(format!("cannot write the man page: {error}")))?;
            output::print(&String::from_utf8_lossy(&bytes))?;
            return Ok(exit_code::DONE);
        }
    };
    clap_complete::generate(shell, &mut command, "evalreport", &mut bytes);
    output::print(&String::from_utf8_lossy(&bytes))?;
    Ok(exit_code::DONE)
}
