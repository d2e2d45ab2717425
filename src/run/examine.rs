//! Examines a finished workspace: runs the suite's setup, server and tests, in this order and within the run's time.
//!
//! Failures caused by the approach's work are noted, and the tests show their effect. If the machine itself is at fault, nothing is tested:
//! no approach should look bad because a package index was down.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::SERVICES;
use crate::domain::{RunId, visible};
use crate::evaluate::{CommandResult, Ground, tools_of};
use crate::process::{self, End, Finished};
use crate::suite::Phase;

use super::isolation::{More, Whom};
use super::packages::chosen_packages;
use super::prerequisites::installs_pytest;
use super::python::Whose;
use super::server::{self, Ended, NoServer, Place, Server, Start};
use super::shell::Shell;
use super::suite_copy::SuiteCopy;
use super::tampering::Census;
use super::testing::{Bench, Desk, Family, Tested, has_own_tests_command, own_tests_command};
use super::tests_python::TestsPython;
use super::workspace::{self, PhaseFolders, Workspace};
use super::{CodeWork, Context, python};

/// Time limit of making a virtual environment, which takes seconds, or minutes on a busy machine.
const ENVIRONMENT_TIME: Duration = Duration::from_mins(10);
/// Time limit of the approach's own tests, because they may hang.
const OWN_TESTS_TIME: Duration = Duration::from_mins(10);
const MOST_SAID: usize = 400;

/// The subject of an examination, and its limits.
pub struct Examination<'a> {
    pub run: &'a RunId,
    pub work: &'a CodeWork,
    pub workspace: &'a Workspace,
    /// The folder copy in which the suite's tests start.
    pub copy: &'a SuiteCopy,
    /// Moved by the time that our own work takes.
    pub deadline: Cell<Instant>,
    /// The network of its server and tests.
    pub place: Place,
    pub context: &'a Context<'a>,
    pub step: &'a dyn Fn(&str),
}

/// The result of an examination.
pub struct Examined {
    pub families: Vec<(Family, Tested)>,
    /// Problems outside the tests, in words.
    pub troubles: Vec<String>,
    /// The time ran out before the shared tests and checks finished.
    pub is_cut: bool,
    /// Whether finding no own tests means that there are none.
    pub knows_own_tests: bool,
    /// The environment of commands in the finished workspace.
    pub shell: InPhase,
}

/// A shell whose commands are confined to a phase.
#[derive(Clone)]
pub struct InPhase {
    pub shell: Shell,
    phase: PhaseFolders,
}

impl InPhase {
    pub fn desk(&self) -> Desk {
        Desk {
            shell: self.shell.clone(),
            reports: self.phase.reports.clone(),
        }
    }
}

/// Why there is no result.
pub enum Halt {
    /// The user stopped it.
    Stopped,
    /// It could not be examined, through no fault of the approach.
    Impossible(String),
}

impl Examination<'_> {
    pub fn examine(&self) -> Result<Examined, Halt> {
        let suite = &self.work.suite;
        let mut troubles = Vec::new();
        // Names no program that the run could have made.
        let clean = self.shell();
        let mut shell = clean.clone();
        if suite.language.as_deref() == Some("python") {
            self.environment(&mut shell)?;
        }
        let installing = self.begin(&shell, Whom::Setup, suite.grants(Phase::Setup), None)?;
        for (number, line) in suite.setup.iter().enumerate() {
            (self.step)("setup");
            troubles.extend(self.setup(&installing.shell, line, number > 0)?);
        }
        let mut running = None;
        let mut port = None;
        let mut empty = None;
        if let Some(server) = &suite.server {
            (self.step)("server");
            let phase = self.work_phase(&installing)?;
            let confined = |port: u16| {
                self.confine(
                    &shell,
                    Whom::Work,
                    self.copy.given(),
                    &phase,
                    suite.grants(Phase::Server),
                    Some(port),
                )
            };
            let start = Start {
                server,
                workspace: self.workspace,
                place: &self.place,
                suite: &suite.folder,
                is_after_setup: !suite.setup.is_empty(),
                most: self.left(),
                stop: self.context.stop,
            };
            match start.start(&confined) {
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
                Err(NoServer::Impossible(reason)) => return Err(Halt::Impossible(reason)),
                Err(NoServer::Stopped) => return Err(Halt::Stopped),
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
                &self.workspace.venv(),
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
            let shell = self.confine(
                &testing,
                Whom::Tests,
                &reads,
                &phase,
                suite.grants(Phase::Tests),
                port,
            )?;
            Ok(Desk {
                shell,
                reports: phase.reports,
            })
        };
        let mut families = Vec::new();
        for (family, commands) in [
            (Family::Shared, &suite.tests.shared),
            (Family::Functional, &suite.tests.functional),
        ] {
            if !commands.is_empty() {
                let bench =
                    self.bench(&desk, &testing, self.copy.root(), port, self.deadline.get());
                let bench = Bench {
                    controls: (family == Family::Shared).then_some(self.copy.controls()),
                    ..bench
                };
                families.push((family, self.test(&bench, family, commands)?));
            }
        }
        if let Some(reason) = empty.and_then(|port| self.place.intruder(port)) {
            return Err(Halt::Impossible(reason));
        }
        let is_cut = self.left().is_zero();
        match running.map(Server::stop) {
            None | Some(Ended::Now) => {}
            Some(Ended::Early(reason)) => troubles.push(reason),
            Some(Ended::Replaced(reason)) => return Err(Halt::Impossible(reason)),
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
            let own = self.in_phase(&shell, Whom::Work, phase, suite.grants(Phase::Tests), port)?;
            let desk = || Ok(own.desk());
            let bench = self.bench(&desk, &shell, self.workspace.folder(), port, deadline);
            let tested = self.test(&bench, Family::Own, &lines)?;
            // If the suite's own command finds no tests, there are none.
            let is_unknown = tested.is_unknown && suite.tests.own.is_empty();
            families.push((
                Family::Own,
                Tested {
                    is_unknown,
                    ..tested
                },
            ));
        }
        // Evaluators run after the server has stopped.
        let shell = self.in_phase(
            &shell,
            Whom::Work,
            self.work_phase(&installing)?,
            suite.grants(Phase::Tests),
            None,
        )?;
        let knows_own_tests = !suite.tests.own.is_empty()
            || suite.language.as_deref().is_some_and(has_own_tests_command);
        Ok(Examined {
            families,
            troubles,
            is_cut,
            knows_own_tests,
            shell,
        })
    }

    fn left(&self) -> Duration {
        self.deadline
            .get()
            .saturating_duration_since(Instant::now())
    }

    fn shell(&self) -> Shell {
        let suite = &self.work.suite;
        let mut shell = Shell::without_secrets(
            self.context.environment,
            &self.work.wrap_of_tests(&self.context.root),
        );
        shell.set("EVAL_WORKSPACE", self.workspace.folder());
        shell.set("EVAL_SUITE_DIR", workspace::absolute(&suite.folder));
        shell.set("EVAL_SUITE", &suite.name);
        shell
    }

    /// Begins a phase of its own.
    fn begin(
        &self,
        shell: &Shell,
        whom: Whom,
        has_network: bool,
        port: Option<u16>,
    ) -> Result<InPhase, Halt> {
        let phase = self
            .workspace
            .begin_phase()
            .map_err(|error| Halt::Impossible(format!("no temporary folder: {error}")))?;
        self.in_phase(shell, whom, phase, has_network, port)
    }

    /// Returns the folders of a phase in which the approach's program works. It finds the packages that `setup` got for it; no test does.
    fn work_phase(&self, setup: &InPhase) -> Result<PhaseFolders, Halt> {
        let phase = self
            .workspace
            .begin_phase()
            .map_err(|error| Halt::Impossible(format!("no temporary folder: {error}")))?;
        Ok(PhaseFolders {
            caches: setup.phase.caches.clone(),
            ..phase
        })
    }

    fn in_phase(
        &self,
        shell: &Shell,
        whom: Whom,
        phase: PhaseFolders,
        has_network: bool,
        port: Option<u16>,
    ) -> Result<InPhase, Halt> {
        let confined = self.confine(shell, whom, self.copy.given(), &phase, has_network, port);
        let shell = confined.map_err(|error| Halt::Impossible(format!("no isolation: {error}")))?;
        Ok(InPhase { shell, phase })
    }

    /// Returns the shell with its commands confined to a phase. They may read `reads` beside the system.
    fn confine(
        &self,
        shell: &Shell,
        whom: Whom,
        reads: &[PathBuf],
        phase: &PhaseFolders,
        has_network: bool,
        port: Option<u16>,
    ) -> io::Result<Shell> {
        let ports: Vec<u16> = port.into_iter().collect();
        // A command that knows the server's port runs in the server's network.
        let network = port.and_then(|_| self.place.network());
        let more = More {
            reads,
            ports: (!has_network).then_some(ports.as_slice()),
            network,
            ..More::default()
        };
        self.with(shell, whom, phase, &more)
    }

    fn with(
        &self,
        shell: &Shell,
        whom: Whom,
        phase: &PhaseFolders,
        more: &More<'_>,
    ) -> io::Result<Shell> {
        let isolation = &self.context.isolation;
        let home = isolation.furnish(phase, &shell.wrap, &self.work.approach.reads, &[])?;
        let reads = [more.reads, &self.work.approach.reads].concat();
        let more = More {
            wrap: &shell.wrap,
            reads: &reads,
            home: home.as_ref(),
            ..*more
        };
        let confinement = isolation.confine(whom, self.workspace, phase, &more)?;
        let mut shell = Shell {
            confinement,
            ..shell.clone()
        };
        let mut variables = isolation.variables(whom, phase, self.context.environment);
        if let Some(home) = home {
            shell.forget(SERVICES);
            variables.extend(home.variables());
        }
        for (name, value) in variables {
            shell.variables.insert(name.into(), value);
        }
        Ok(shell)
    }

    /// Returns the shell for the approach's code, which may also change the folders `writes`.
    pub fn reaching(
        &self,
        InPhase { shell, phase }: &InPhase,
        writes: &[PathBuf],
    ) -> io::Result<Shell> {
        let ports: &[u16] = &[];
        let has_network = self.work.suite.grants(Phase::Tests);
        let more = More {
            reads: self.copy.given(),
            writes,
            ports: (!has_network).then_some(ports),
            ..More::default()
        };
        self.with(shell, Whom::Work, phase, &more)
    }

    fn environment(&self, shell: &mut Shell) -> Result<(), Halt> {
        (self.step)("virtual environment");
        let folder = self.workspace.venv();
        self.make_environment(shell, Whose::Program, &folder, &self.workspace.runner())?;
        shell.enter_venv(
            &folder,
            self.context
                .environment
                .variables
                .get("PATH")
                .map(String::as_str),
        );
        shell.set(
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
        shell: &Shell,
        whose: Whose,
        folder: &Path,
        runner: &Path,
    ) -> Result<(), Halt> {
        // It is our work, so it takes nothing of the run's time.
        let begin = Instant::now();
        let created = python::create(
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
                End::Exited(0) => Ok(()),
                End::Stopped => Err(Halt::Stopped),
                End::TimedOut => {
                    let minutes = ENVIRONMENT_TIME.as_secs() / 60;
                    Err(Halt::Impossible(format!(
                        "the virtual environment was not ready within {minutes} minutes"
                    )))
                }
                End::Exited(_) | End::Signalled(_) => Err(Halt::Impossible(format!(
                    "no virtual environment: {}",
                    last_line(&finished)
                ))),
            },
            Err(error) => Err(Halt::Impossible(format!("no virtual environment: {error}"))),
        }
    }

    /// Returns the Python of the suite's tests. `None` if the suite is not in Python, or if its setup installs pytest in a way that only the
    /// run's own environment can follow.
    fn tests_python(&self, shell: &Shell) -> Result<Option<TestsPython>, Halt> {
        let suite = &self.work.suite;
        if suite.language.as_deref() != Some("python") || cfg!(windows) {
            return Ok(None);
        }
        let python = self
            .copy
            .python(|folder| self.make_tests_python(shell, folder))?;
        if python.has_pytest() {
            return Ok(Some(python));
        }
        let tests = suite.tests.shared.iter().chain(&suite.tests.functional);
        match tests
            .flat_map(|line| tools_of(line))
            .find(|tool| *tool == "pytest")
        {
            Some(_) if installs_pytest(&suite.setup) => Ok(None),
            // One approach may have installed it and another not.
            Some(_) => Err(Halt::Impossible(
                "`pytest` is not on this machine: its `python3` has none".to_owned(),
            )),
            None => Ok(Some(python)),
        }
    }

    fn make_tests_python(&self, shell: &Shell, folder: &Path) -> Result<TestsPython, Halt> {
        let suite = &self.work.suite;
        let failed =
            |error: io::Error| Halt::Impossible(format!("no Python for the tests: {error}"));
        let (venv, runner, empty) = (
            folder.join("venv"),
            folder.join("runner"),
            folder.join("empty"),
        );
        fs::create_dir(folder)
            .and_then(|()| fs::create_dir(&empty))
            .map_err(failed)?;
        self.make_environment(shell, Whose::Tests, &venv, &runner)?;
        let begin = Instant::now();
        for arguments in chosen_packages(&suite.setup, &suite.folder) {
            (self.step)("packages of the tests");
            let phase = self.workspace.begin_phase().map_err(failed)?;
            let ports: &[u16] = &[];
            let (reads, writes) = (
                [self.copy.root().to_owned(), runner.clone()],
                [venv.clone()],
            );
            let ports = (!suite.grants(Phase::Setup)).then_some(ports);
            let more = More {
                reads: &reads,
                writes: &writes,
                ports,
                ..More::default()
            };
            let shell = self
                .with(
                    &Shell {
                        wrap: Vec::new(),
                        ..shell.clone()
                    },
                    Whom::Work,
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
            let finished = process::run(
                &shell.program(argv, &empty, Some(ENVIRONMENT_TIME)),
                self.context.stop,
            )
            .map_err(|error| Halt::Impossible(error.to_string()))?;
            if finished.end == End::Stopped {
                return Err(Halt::Stopped);
            }
            if python::is_unreachable(&finished) {
                let said = last_line(&finished);
                return Err(Halt::Impossible(format!(
                    "the packages of the tests reached no package index: {said}"
                )));
            }
            // Otherwise the same line of setup says what is wrong with it.
        }
        self.deadline.set(self.deadline.get() + begin.elapsed());
        // Only read if the system does not protect it.
        let census = if self.context.isolation.is_enforced() {
            Census::default()
        } else {
            Census::of([venv.clone(), runner.clone()])
        };
        Ok(TestsPython {
            venv,
            runner,
            census,
        })
    }

    /// Runs a setup command. Returns what went wrong, if anything.
    fn setup(
        &self,
        shell: &Shell,
        line: &str,
        is_after_setup: bool,
    ) -> Result<Option<String>, Halt> {
        let finished = process::run(
            &shell.line(line, self.workspace.folder(), Some(self.left())),
            self.context.stop,
        )
        .map_err(|error| Halt::Impossible(error.to_string()))?;
        let failed = |what: &str| format!("setup `{}` {what}", visible(line));
        match finished.end {
            End::Exited(0) => Ok(None),
            End::Stopped => Err(Halt::Stopped),
            End::TimedOut => Ok(Some(failed("did not end in time"))),
            End::Exited(_) | End::Signalled(_) if python::is_unreachable(&finished) => {
                Err(Halt::Impossible(failed(&format!(
                    "reached no package index: {}",
                    last_line(&finished)
                ))))
            }
            End::Exited(_) | End::Signalled(_) => {
                let said = last_line(&finished);
                match CommandResult::of(finished).and_then(|result| {
                    result.owed(
                        line,
                        &self.ground(shell, self.workspace.folder(), is_after_setup),
                    )
                }) {
                    Some(owed) => Err(Halt::Impossible(failed(&format!(
                        "could not be done: {owed}"
                    )))),
                    None => Ok(Some(failed(&format!("failed: {said}")))),
                }
            }
        }
    }

    fn ground<'b>(
        &'b self,
        shell: &'b Shell,
        folder: &'b Path,
        is_after_setup: bool,
    ) -> Ground<'b> {
        let (workspace, suite) = (self.workspace.folder(), self.work.suite.folder.as_path());
        Ground {
            folder,
            workspace,
            suite,
            path: shell.path(),
            is_after_setup,
        }
    }

    pub fn bench<'b>(
        &'b self,
        desk: &'b dyn Fn() -> io::Result<Desk>,
        shell: &'b Shell,
        folder: &'b Path,
        port: Option<u16>,
        deadline: Instant,
    ) -> Bench<'b> {
        Bench {
            desk,
            folder,
            ground: self.ground(shell, folder, !self.work.suite.setup.is_empty()),
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

    fn test(&self, bench: &Bench<'_>, family: Family, commands: &[String]) -> Result<Tested, Halt> {
        (self.step)(family.evaluator());
        bench.test(family, commands, self.run).ok_or(Halt::Stopped)
    }
}

/// Returns a program's last line of errors, or else of output.
fn last_line(finished: &Finished) -> String {
    let last = |text: &str| {
        text.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(visible)
    };
    let line = last(&finished.stderr.text())
        .or_else(|| last(&finished.stdout.text()))
        .unwrap_or_else(|| "it said nothing".to_owned());
    line.chars().take(MOST_SAID).collect()
}
