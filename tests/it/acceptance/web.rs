//! A site as a web server gives it, below a path of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::programs::{LONG_PATIENCE, Program, Start as _};

/// Python's own server; stopped when dropped.
pub struct Server {
    _program: Program,
    port: u16,
    path: String,
    _folder: tempfile::TempDir,
}

impl Server {
    pub fn below(site: &Path, path: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().join(path);
        std::fs::create_dir_all(place.parent().expect("below the folder"))
            .expect("a writable folder");
        std::os::unix::fs::symlink(site, place).expect("a writable folder");
        let mut program = Command::new("python3")
            .args([
                "-u",
                "-m",
                "http.server",
                "0",
                "--bind",
                "127.0.0.1",
                "--directory",
            ])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .start_for(LONG_PATIENCE);
        let mut line = String::new();
        BufReader::new(program.stdout.take().expect("a piped stdout"))
            .read_line(&mut line)
            .expect("it says its port");
        let port = line
            .split("port ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next()?.parse().ok())
            .expect("it says its port");
        Self {
            _program: program,
            port,
            path: path.to_owned(),
            _folder: folder,
        }
    }

    /// The address of the site, with a slash at the end.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.path)
    }
}
