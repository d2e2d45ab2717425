//! Examines a finished workspace: runs the suite's setup, server and tests, in this order and within the run's time.
//!
//! Failures caused by the approach's work are noted, and the tests show their effect. If the machine itself is at fault, nothing is tested:
//! no approach should look bad because a package index was down.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::SERVICE_VARIABLES;
use crate::domain::{RunId, escape_invisible};
use crate::evaluate::{CommandContext, CommandResult, named_tools};
use crate::process::{self, FinishedProgram, ProgramExit};
use crate::suite::RunPhase;

use super::isolation::{ExtraGrants, ProgramKind};
use super::packages::chosen_packages;
use super::prerequisites::installs_pytest;
use super::python::EnvironmentUser;
use super::server::{self, NoServer, RunningServer, ServerEnd, ServerNetwork, ServerStart};
use super::shell::CommandShell;
use super::suite_copy::SuiteCopy;
use super::tampering::FileSnapshot;
use super::testing::{
    CommandSetup, FamilyResult, TestBench, TestFamily, has_own_tests_command, own_tests_command,
};
use super::tests_python::TestsPython;
use super::workspace::{self, PhaseFolders, RunWorkspace};
use super::{CodeWork, PlanContext, python};

/// Time limit of making a virtual environment, which takes seconds, or minutes on a busy machine.
const ENVIRONMENT_TIME: Duration = Duration::from_mins(10);
/// Time limit of the approach's own tests, because they may hang.
const OWN_TESTS_TIME: Duration = Duration::from_mins(10);
const MAX_SAID: usize = 400;

/// The subject of an examination, and its limits.
pub struct WorkspaceExamination<'a> {
    pub run: &'a RunId,
    pub work: &'a CodeWork,
    pub workspace: &'a RunWorkspace,
    /// The folder copy in which the suite's tests start.
    pub copy: &'a SuiteCopy,
    /// Moved by the time that our own work takes.
    pub deadline: Cell<Instant>,
    /// The network of its server and tests.
    pub place: ServerNetwork,
    pub context: &'a PlanContext<'a>,
    pub step: &'a dyn Fn(&str),
}

/// The result of an examination.
pub struct ExaminationResult {
    pub families: Vec<(TestFamily, FamilyResult)>,
    /// Problems outside the tests, in words.
    pub troubles: Vec<String>,
    /// The time ran out before the shared tests and checks finished.
    pub is_cut: bool,
    /// Whether finding no own tests means that there are none.
    pub knows_own_tests: bool,
    /// The environment of commands in the finished workspace.
    pub shell: PhaseShell,
}

/// A shell whose commands are confined to a phase.
#[derive(Clone)]
pub struct PhaseShell {
    pub shell: CommandShell,
    phase: PhaseFolders,
}

impl PhaseShell {
    pub fn new_command_setup(&self) -> CommandSetup {
        CommandSetup {
            shell: self.shell.clone(),
            reports: self.phase.reports.clone(),
        }
    }
}

/// Why there is no result.
pub enum ExaminationHalt {
    /// The user stopped it.
    Stopped,
    /// It could not be examined, through no fault of the approach.
    Impossible(String),
}

impl WorkspaceExamination<'_> {
    pub fn run_phases(&self) -> Result<ExaminationResult, ExaminationHalt> {
        let suite = &self.work.suite;
        let mut troubles = Vec::new();
        // Names no program that the run could have made.
        let clean = self.clean_shell();
        let mut shell = clean.clone();
        if suite.language.as_deref() == Some("python") {
            self.prepare_environment(&mut shell)?;
        }
        let installing = self.begin_phase(
            &shell,
            ProgramKind::Setup,
            suite.grants_network(RunPhase::Setup),
            None,
        )?;
        for (number, line) in suite.setup.iter().enumerate() {
            (self.step)("setup");
            troubles.extend(self.run_setup_command(&installing.shell, line, number > 0)?);
        }
        let mut running = None;
        let mut port = None;
        let mut empty = None;
        if let Some(server) = &suite.server {
            (self.step)("server");
            let phase = self.work_phase(&installing)?;
            let confined = |port: u16| {
                self.confine_shell(
                    &shell,
                    ProgramKind::Work,
                    self.copy.readable_files(),
                    &phase,
                    suite.grants_network(RunPhase::Server),
                    Some(port),
                )
            };
            let start = ServerStart {
                server,
                workspace: self.workspace,
                place: &self.place,
                suite: &suite.folder,
                is_after_setup: !suite.setup.is_empty(),
                most: self.time_left(),
                stop: self.context.stop,
            };
            match start.start_and_wait(&confined) {
                Ok(started) => {
                    port = Some(started.port);
                    running = Some(started);
                }
                // Without the server its tests fail, which is the right result.
                Err(NoServer::Failed {
                    port: failed,
                    reason,
                }) => {
                    (port, empty) = (Some(failed), Some(failed));
                    troubles.push(reason);
                }
                Err(NoServer::Impossible(reason)) => {
                    return Err(ExaminationHalt::Impossible(reason));
                }
                Err(NoServer::Stopped) => return Err(ExaminationHalt::Stopped),
            }
        }
        if let Some(port) = port {
            server::set_port(&mut shell, port);
        }
        let python = self.tests_python(&clean)?;
        let mut testing = shell.clone();
        if let Some(python) = &python {
            testing.enter_tests(
                &python.venv,
                &self.workspace.venv_path(),
                self.context.environment.variable("PATH"),
            );
        }
        let mut reads = vec![self.copy.root().to_owned()];
        reads.extend(
            python
                .into_iter()
                .flat_map(|python| [python.venv, python.runner]),
        );
        // Programs that a command starts may write to its folders, so each command has its own.
        let desk = || {
            let phase = self.workspace.begin_phase()?;
            let shell = self.confine_shell(
                &testing,
                ProgramKind::Tests,
                &reads,
                &phase,
                suite.grants_network(RunPhase::Tests),
                port,
            )?;
            Ok(CommandSetup {
                shell,
                reports: phase.reports,
            })
        };
        let mut families = Vec::new();
        for (family, commands) in [
            (TestFamily::Shared, &suite.tests.shared),
            (TestFamily::Functional, &suite.tests.functional),
        ] {
            if !commands.is_empty() {
                let bench =
                    self.test_bench(&desk, &testing, self.copy.root(), port, self.deadline.get());
                let bench = TestBench {
                    controls: (family == TestFamily::Shared).then_some(self.copy.controls()),
                    ..bench
                };
                families.push((family, self.run_tests(&bench, family, commands)?));
            }
        }
        if let Some(reason) = empty.and_then(|port| self.place.intruder_reason(port)) {
            return Err(ExaminationHalt::Impossible(reason));
        }
        let is_cut = self.time_left().is_zero();
        match running.map(RunningServer::stop) {
            None | Some(ServerEnd::Now) => {}
            Some(ServerEnd::Early(reason)) => troubles.push(reason),
            Some(ServerEnd::Replaced(reason)) => return Err(ExaminationHalt::Impossible(reason)),
        }
        let lines: Vec<String> = if suite.tests.own.is_empty() {
            own_tests_command(suite.language.as_deref(), self.workspace.folder())
                .into_iter()
                .collect()
        } else {
            suite.tests.own.clone()
        };
        if !lines.is_empty() {
            let deadline = self.deadline.get().min(Instant::now() + OWN_TESTS_TIME);
            let phase = self.work_phase(&installing)?;
            let own = self.in_phase(
                &shell,
                ProgramKind::Work,
                phase,
                suite.grants_network(RunPhase::Tests),
                port,
            )?;
            let desk = || Ok(own.new_command_setup());
            let bench = self.test_bench(&desk, &shell, self.workspace.folder(), port, deadline);
            let tested = self.run_tests(&bench, TestFamily::Own, &lines)?;
            // If the suite's own command finds no tests, there are none.
            let is_unknown = tested.is_unknown && suite.tests.own.is_empty();
            families.push((
                TestFamily::Own,
                FamilyResult {
                    is_unknown,
                    ..tested
                },
            ));
        }
        // Evaluators run after the server has stopped.
        let shell = self.in_phase(
            &shell,
            ProgramKind::Work,
            self.work_phase(&installing)?,
            suite.grants_network(RunPhase::Tests),
            None,
        )?;
        let knows_own_tests = !suite.tests.own.is_empty()
            || suite.language.as_deref().is_some_and(has_own_tests_command);
        Ok(ExaminationResult {
            families,
            troubles,
            is_cut,
            knows_own_tests,
            shell,
        })
    }

    fn time_left(&self) -> Duration {
        self.deadline
            .get()
            .saturating_duration_since(Instant::now())
    }

    fn clean_shell(&self) -> CommandShell {
        let suite = &self.work.suite;
        let mut shell = CommandShell::without_secrets(
            self.context.environment,
            &self.work.tests_wrap(&self.context.root),
        );
        shell.set_variable("EVAL_WORKSPACE", self.workspace.folder());
        shell.set_variable("EVAL_SUITE_DIR", workspace::absolute_path(&suite.folder));
        shell.set_variable("EVAL_SUITE", &suite.name);
        shell
    }

    /// Begins a phase of its own.
    fn begin_phase(
        &self,
        shell: &CommandShell,
        whom: ProgramKind,
        has_network: bool,
        port: Option<u16>,
    ) -> Result<PhaseShell, ExaminationHalt> {
        let phase = self.workspace.begin_phase().map_err(|error| {
            ExaminationHalt::Impossible(format!("no temporary folder: {error}"))
        })?;
        self.in_phase(shell, whom, phase, has_network, port)
    }

    /// Returns the folders of a phase in which the approach's program works. It finds the packages that `setup` got for it; no test does.
    fn work_phase(&self, setup: &PhaseShell) -> Result<PhaseFolders, ExaminationHalt> {
        let phase = self.workspace.begin_phase().map_err(|error| {
            ExaminationHalt::Impossible(format!("no temporary folder: {error}"))
        })?;
        Ok(PhaseFolders {
            caches: setup.phase.caches.clone(),
            ..phase
        })
    }

    fn in_phase(
        &self,
        shell: &CommandShell,
        whom: ProgramKind,
        phase: PhaseFolders,
        has_network: bool,
        port: Option<u16>,
    ) -> Result<PhaseShell, ExaminationHalt> {
        let confined = self.confine_shell(
            shell,
            whom,
            self.copy.readable_files(),
            &phase,
            has_network,
            port,
        );
        let shell = confined
            .map_err(|error| ExaminationHalt::Impossible(format!("no isolation: {error}")))?;
        Ok(PhaseShell { shell, phase })
    }

    /// Returns the shell with its commands confined to a phase. They may read `reads` beside the system.
    fn confine_shell(
        &self,
        shell: &CommandShell,
        whom: ProgramKind,
        reads: &[PathBuf],
        phase: &PhaseFolders,
        has_network: bool,
        port: Option<u16>,
    ) -> io::Result<CommandShell> {
        let ports: Vec<u16> = port.into_iter().collect();
        // A command that knows the server's port runs in the server's network.
        let network = port.and_then(|_| self.place.private_network());
        let more = ExtraGrants {
            reads,
            ports: (!has_network).then_some(ports.as_slice()),
            network,
            ..ExtraGrants::default()
        };
        self.with_confinement(shell, whom, phase, &more)
    }

    fn with_confinement(
        &self,
        shell: &CommandShell,
        whom: ProgramKind,
        phase: &PhaseFolders,
        more: &ExtraGrants<'_>,
    ) -> io::Result<CommandShell> {
        let isolation = &self.context.isolation;
        let named = &self.work.suite.writes;
        let granted = [&self.work.approach.reads[..], named].concat();
        let home = isolation.create_home(phase, &shell.wrap, &granted, &[])?;
        let reads = [more.reads, &self.work.approach.reads].concat();
        let writes = [more.writes, named].concat();
        let more = ExtraGrants {
            wrap: &shell.wrap,
            reads: &reads,
            writes: &writes,
            home: home.as_ref(),
            ..*more
        };
        let confinement = isolation.confine_program(whom, self.workspace, phase, &more)?;
        let mut shell = CommandShell {
            confinement,
            ..shell.clone()
        };
        let mut variables = isolation.phase_variables(whom, phase, self.context.environment);
        if let Some(home) = home {
            shell.remove_variables(SERVICE_VARIABLES);
            variables.extend(home.environment_changes());
        }
        for (name, value) in variables {
            shell.variables.insert(name.into(), value);
        }
        Ok(shell)
    }

    /// Returns the shell for the approach's code, which may also change the folders `writes`.
    pub fn shell_with_writes(
        &self,
        PhaseShell { shell, phase }: &PhaseShell,
        writes: &[PathBuf],
    ) -> io::Result<CommandShell> {
        let ports: &[u16] = &[];
        let has_network = self.work.suite.grants_network(RunPhase::Tests);
        let more = ExtraGrants {
            reads: self.copy.readable_files(),
            writes,
            ports: (!has_network).then_some(ports),
            ..ExtraGrants::default()
        };
        self.with_confinement(shell, ProgramKind::Work, phase, &more)
    }

    fn prepare_environment(&self, shell: &mut CommandShell) -> Result<(), ExaminationHalt> {
        (self.step)("virtual environment");
        let folder = self.workspace.venv_path();
        self.make_environment(
            shell,
            EnvironmentUser::Program,
            &folder,
            &self.workspace.runner_path(),
        )?;
        shell.enter_venv(
            &folder,
            self.context
                .environment
                .variables
                .get("PATH")
                .map(String::as_str),
        );
        shell.set_variable(
            "EVAL_PYTHON",
            folder.join(if cfg!(windows) {
                "Scripts/python.exe"
            } else {
                "bin/python"
            }),
        );
        Ok(())
    }

    fn make_environment(
        &self,
        shell: &CommandShell,
        whose: EnvironmentUser,
        folder: &Path,
        runner: &Path,
    ) -> Result<(), ExaminationHalt> {
        // It is our work, so it takes nothing of the run's time.
        let begin = Instant::now();
        let created = python::create_environment(
            shell,
            whose,
            folder,
            runner,
            ENVIRONMENT_TIME,
            self.context.stop,
        );
        self.deadline.set(self.deadline.get() + begin.elapsed());
        match created {
            Ok(finished) => match finished.end {
                ProgramExit::Exited(0) => Ok(()),
                ProgramExit::Stopped => Err(ExaminationHalt::Stopped),
                ProgramExit::TimedOut => {
                    let minutes = ENVIRONMENT_TIME.as_secs() / 60;
                    Err(ExaminationHalt::Impossible(format!(
                        "the virtual environment was not ready within {minutes} minutes"
                    )))
                }
                ProgramExit::Exited(_) | ProgramExit::Signalled(_) => {
                    Err(ExaminationHalt::Impossible(format!(
                        "no virtual environment: {}",
                        last_line(&finished)
                    )))
                }
            },
            Err(error) => Err(ExaminationHalt::Impossible(format!(
                "no virtual environment: {error}"
            ))),
        }
    }

    /// Returns the Python of the suite's tests. `None` if the suite is not in Python, or if its setup installs pytest in a way that only the
    /// run's own environment can follow.
    fn tests_python(&self, shell: &CommandShell) -> Result<Option<TestsPython>, ExaminationHalt> {
        let suite = &self.work.suite;
        if suite.language.as_deref() != Some("python") || cfg!(windows) {
            return Ok(None);
        }
        let python = self
            .copy
            .get_or_make_python(|folder| self.make_tests_python(shell, folder))?;
        if python.has_pytest() {
            return Ok(Some(python));
        }
        let tests = suite.tests.shared.iter().chain(&suite.tests.functional);
        match tests
            .flat_map(|line| named_tools(line))
            .find(|tool| *tool == "pytest")
        {
            Some(_) if installs_pytest(&suite.setup) => Ok(None),
            // One approach may have installed it and another not.
            Some(_) => Err(ExaminationHalt::Impossible(
                "`pytest` is not on this machine: its `python3` has none".to_owned(),
            )),
            None => Ok(Some(python)),
        }
    }

    fn make_tests_python(
        &self,
        shell: &CommandShell,
        folder: &Path,
    ) -> Result<TestsPython, ExaminationHalt> {
        let suite = &self.work.suite;
        let failed = |error: io::Error| {
            ExaminationHalt::Impossible(format!("no Python for the tests: {error}"))
        };
        let (venv, runner, empty) = (
            folder.join("venv"),
            folder.join("runner"),
            folder.join("empty"),
        );
        fs::create_dir(folder)
            .and_then(|()| fs::create_dir(&empty))
            .map_err(failed)?;
        self.make_environment(shell, EnvironmentUser::Tests, &venv, &runner)?;
        let begin = Instant::now();
        for arguments in chosen_packages(&suite.setup, &suite.folder) {
            (self.step)("packages of the tests");
            let phase = self.workspace.begin_phase().map_err(failed)?;
            let ports: &[u16] = &[];
            let (reads, writes) = (
                [self.copy.root().to_owned(), runner.clone()],
                [venv.clone()],
            );
            let ports = (!suite.grants_network(RunPhase::Setup)).then_some(ports);
            let more = ExtraGrants {
                reads: &reads,
                writes: &writes,
                ports,
                ..ExtraGrants::default()
            };
            let shell = self
                .with_confinement(
                    &CommandShell {
                        wrap: Vec::new(),
                        ..shell.clone()
                    },
                    ProgramKind::Work,
                    &phase,
                    &more,
                )
                .map_err(failed)?;
            let python = venv.join("bin/python").display().to_string();
            let argv = [&python, "-I", "-m", "pip", "install"]
                .into_iter()
                .map(str::to_owned)
                .chain(arguments)
                .collect();
            let finished = process::run_program(
                &shell.program_command(argv, &empty, Some(ENVIRONMENT_TIME)),
                self.context.stop,
            )
            .map_err(|error| ExaminationHalt::Impossible(error.to_string()))?;
            if finished.end == ProgramExit::Stopped {
                return Err(ExaminationHalt::Stopped);
            }
            if python::is_unreachable(&finished) {
                let said = last_line(&finished);
                return Err(ExaminationHalt::Impossible(format!(
                    "the packages of the tests reached no package index: {said}"
                )));
            }
            // Otherwise the same line of setup says what is wrong with it.
        }
        self.deadline.set(self.deadline.get() + begin.elapsed());
        // Only read if the system does not protect it.
        let census = if self.context.isolation.is_enforced() {
            FileSnapshot::default()
        } else {
            FileSnapshot::new([venv.clone(), runner.clone()])
        };
        Ok(TestsPython {
            venv,
            runner,
            census,
        })
    }

    /// Runs a setup command. Returns what went wrong, if anything.
    fn run_setup_command(
        &self,
        shell: &CommandShell,
        line: &str,
        is_after_setup: bool,
    ) -> Result<Option<String>, ExaminationHalt> {
        let finished = process::run_program(
            &shell.line_command(line, self.workspace.folder(), Some(self.time_left())),
            self.context.stop,
        )
        .map_err(|error| ExaminationHalt::Impossible(error.to_string()))?;
        let failed = |what: &str| format!("setup `{}` {what}", escape_invisible(line));
        match finished.end {
            ProgramExit::Exited(0) => Ok(None),
            ProgramExit::Stopped => Err(ExaminationHalt::Stopped),
            ProgramExit::TimedOut => Ok(Some(failed("did not end in time"))),
            ProgramExit::Exited(_) | ProgramExit::Signalled(_)
                if python::is_unreachable(&finished) =>
            {
                Err(ExaminationHalt::Impossible(failed(&format!(
                    "reached no package index: {}",
                    last_line(&finished)
                ))))
            }
            ProgramExit::Exited(_) | ProgramExit::Signalled(_) => {
                let said = last_line(&finished);
                match CommandResult::from_finished(finished).and_then(|result| {
                    result.environment_fault(
                        line,
                        &self.command_context(shell, self.workspace.folder(), is_after_setup),
                    )
                }) {
                    Some(owed) => Err(ExaminationHalt::Impossible(failed(&format!(
                        "could not be done: {owed}"
                    )))),
                    None => Ok(Some(failed(&format!("failed: {said}")))),
                }
            }
        }
    }

    fn command_context<'b>(
        &'b self,
        shell: &'b CommandShell,
        folder: &'b Path,
        is_after_setup: bool,
    ) -> CommandContext<'b> {
        let (workspace, suite) = (self.workspace.folder(), self.work.suite.folder.as_path());
        CommandContext {
            folder,
            workspace,
            suite,
            path: shell.search_path(),
            is_after_setup,
        }
    }

    pub fn test_bench<'b>(
        &'b self,
        desk: &'b dyn Fn() -> io::Result<CommandSetup>,
        shell: &'b CommandShell,
        folder: &'b Path,
        port: Option<u16>,
        deadline: Instant,
    ) -> TestBench<'b> {
        TestBench {
            desk,
            folder,
            ground: self.command_context(shell, folder, !self.work.suite.setup.is_empty()),
            port,
            roots: vec![self.workspace.folder().display().to_string()],
            deadline,
            controls: None,
            addopts: self
                .context
                .environment
                .variables
                .get("PYTEST_ADDOPTS")
                .map(String::as_str),
            stop: self.context.stop,
        }
    }

    fn run_tests(
        &self,
        bench: &TestBench<'_>,
        family: TestFamily,
        commands: &[String],
    ) -> Result<FamilyResult, ExaminationHalt> {
        (self.step)(family.evaluator_name());
        bench
            .run_family(family, commands, self.run)
            .ok_or(ExaminationHalt::Stopped)
    }
}

/// Returns a program's last line of errors, or else of output.
fn last_line(finished: &FinishedProgram) -> String {
    let last = |text: &str| {
        text.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(escape_invisible)
    };
    let line = last(&finished.stderr.text())
        .or_else(|| last(&finished.stdout.text()))
        .unwrap_or_else(|| "it said nothing".to_owned());
    line.chars().take(MAX_SAID).collect()
}
