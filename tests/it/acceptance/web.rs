//! A site as a web server gives it, below a path of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Python's own server; stopped when dropped.
pub struct Server {
    program: Child,
    port: u16,
    path: String,
    _folder: tempfile::TempDir,
}

impl Server {
    pub fn below(site: &Path, path: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = folder.path().join(path);
        std::fs::create_dir_all(place.parent().expect("below the folder")).expect("a writable folder");
        std::os::unix::fs::symlink(site, place).expect("a writable folder");
        let mut program = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 is installed");
        let mut line = String::new();
        BufReader::new(program.stdout.take().expect("a piped stdout")).read_line(&mut line).expect("it says its port");
        let port = line.split("port ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("it says its port");
        Self { program, port, path: path.to_owned(), _folder: folder }
    }

    /// The address of the site, with a slash at the end.
    pub fn base(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.path)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
