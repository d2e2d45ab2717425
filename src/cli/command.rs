//! What a command is: options, examples, and what it does with them. A command's own file implements [`Command`], and the list in `mod.rs` names it.

use std::path::PathBuf;

use crate::render::json::AnswerSchema;

use super::failure::CommandFailure;
use super::missing::NamedPaths;
use super::options::Global;
use super::settings::Settings;
use super::threads;

/// A command line, and what it does. A test runs them all.
pub(super) type Example = (&'static str, &'static str);

/// A command. Its options are the fields of the type, and its line in the help is the type's documentation.
pub(super) trait Command {
    /// The word of the command line.
    const NAME: &'static str;
    /// Two examples, for its help.
    const EXAMPLES: [Example; 2];
    /// Its JSON answers, which have a schema in `docs/schemas`.
    const ANSWERS: &'static [AnswerSchema] = &[];
    /// Its options whose paths it does not read, by their ids: it writes or makes them, or they may be gone. Any other path has to be there.
    const UNREAD: &'static [&'static str] = &[];

    /// Returns every path that it was told to write to, except its own stores, cache and workspaces.
    fn output_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Carries out the command, and returns its exit code. With [`Invocation::with_settings`], unless it works without a configuration.
    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure>;
}

/// What a command does with results folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultsUse {
    /// It needs none.
    None,
    /// It reads the runs of folders and lakes. Those that are named have to be there.
    Read,
    /// It changes a folder that is there.
    Change,
    /// It adds runs to a folder, and makes one that is not there.
    Add,
}

/// What a command is started with, beside its own options.
pub(super) struct Invocation<'a> {
    /// The command's name.
    pub name: &'static str,
    pub global: &'a Global,
    /// The paths that the command line names for reading.
    pub read: &'a NamedPaths,
    /// Returns the definition of the whole command line, for the commands that show it.
    pub command_line: fn() -> clap::Command,
}

impl Invocation<'_> {
    /// Runs a command that works with a configuration and results.
    pub fn with_settings(
        &self,
        results: ResultsUse,
        run: impl FnOnce(&Settings) -> Result<u8, CommandFailure>,
    ) -> Result<u8, CommandFailure> {
        threads::start_pool()?;
        self.read.check_certain()?;
        let settings = Settings {
            named: self.read.clone(),
            ..Settings::new(self.global)?
        };
        if matches!(results, ResultsUse::Read | ResultsUse::Change) {
            settings.check_named_paths()?;
        }
        if matches!(results, ResultsUse::Change | ResultsUse::Add) {
            settings.check_writes(self.name)?;
        }
        let done = run(&settings);
        // Also after a failure: what was added is there.
        settings.append_chain_entry(self.name);
        settings.release_cache();
        settings.ignore_own_folder();
        done
    }
}

/// What is known of a command without its options.
pub(super) struct CommandDefinition {
    pub name: &'static str,
    pub examples: [Example; 2],
    pub answers: &'static [AnswerSchema],
    pub unread: &'static [&'static str],
}

impl CommandDefinition {
    pub const fn of<C: Command>() -> Self {
        Self {
            name: C::NAME,
            examples: C::EXAMPLES,
            answers: C::ANSWERS,
            unread: C::UNREAD,
        }
    }

    /// Adds the examples to the command's help.
    pub fn add_examples(&self, command: clap::Command) -> clap::Command {
        let mut text = String::from("Examples:\n");
        for (line, purpose) in self.examples {
            text.push_str(&format!("  # {purpose}\n  {line}\n"));
        }
        if let Some(after) = command.get_after_help() {
            text.push_str(&format!("\n{after}"));
        }
        command.after_help(text)
    }
}

/// Lists the commands in the order of the help, each with the type that implements [`Command`].
macro_rules! list_commands {
    ($($name:ident($arguments:ty),)+) => {
        /// The command of a command line, with its options.
        #[derive(clap::Subcommand)]
        enum ChosenCommand {
            $(
                #[command(name = <$arguments as Command>::NAME)]
                $name(Box<$arguments>),
            )+
        }

        const COMMANDS: &[CommandDefinition] = &[$(CommandDefinition::of::<$arguments>(),)+];

        impl ChosenCommand {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => <$arguments as Command>::NAME,)+
                }
            }

            fn output_paths(&self) -> Vec<PathBuf> {
                match self {
                    $(Self::$name(arguments) => arguments.output_paths(),)+
                }
            }

            fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
                match self {
                    $(Self::$name(arguments) => arguments.run(invocation),)+
                }
            }
        }
    };
}

pub(super) use list_commands;
