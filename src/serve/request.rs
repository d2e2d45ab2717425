//! Parses a request and builds its answer.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use crate::files;

/// An answer, whose content is still to be read if it is a file.
#[derive(Debug)]
pub(super) struct ServedResponse {
    pub status: &'static str,
    pub kind: &'static str,
    /// Address to look at instead, for a redirect.
    pub location: Option<String>,
    /// Size in bytes of the requested content. A `HEAD` request gets this number without the content.
    pub length: u64,
    pub body: ServedBody,
}

/// The content of an answer.
#[derive(Debug)]
pub(super) enum ServedBody {
    /// Of an answer to `HEAD`.
    None,
    Text(String),
    /// Files are read while they are sent: many readers of a large file need little memory.
    File(File),
}

impl ServedResponse {
    fn from_status(status: &'static str) -> Self {
        let body = format!("{status}\n");
        Self {
            status,
            kind: TEXT_TYPE,
            location: None,
            length: body.len() as u64,
            body: ServedBody::Text(body),
        }
    }

    pub fn head_text(&self) -> String {
        let location = self
            .location
            .as_ref()
            .map_or_else(String::new, |location| format!("Location: {location}\r\n"));
        format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{location}{SECURITY_HEADERS}Connection: close\r\n\r\n",
            self.status, self.kind, self.length
        )
    }
}

const TEXT_TYPE: &str = "text/plain; charset=utf-8";
const NOT_FOUND: &str = "404 Not Found";
const FORBIDDEN: &str = "403 Forbidden";
/// What a browser may do with an answer: no page of another origin may load it, frame it, or keep hold of a window that shows it. A page
/// that a link leads to does not learn the address here.
const SECURITY_HEADERS: &str = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\nContent-Security-Policy: frame-ancestors 'self'\r\nX-Frame-Options: SAMEORIGIN\r\n\
    Referrer-Policy: same-origin\r\n";

/// Answers a request, given its head. Serves only files below `root`, and none whose name begins with a dot.
pub(super) fn answer_request(root: &Path, head: &str) -> ServedResponse {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return ServedResponse::from_status("400 Bad Request");
    };
    if !version.starts_with("HTTP/1.") {
        return ServedResponse::from_status("400 Bad Request");
    }
    let fields: Vec<(&str, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name, value.trim()))
        .collect();
    let all = |wanted: &'static str| {
        fields
            .iter()
            .filter(move |(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| *value)
    };
    if !all("host").next().is_some_and(is_this_machine) || is_for_another_page(&all) {
        return ServedResponse::from_status(FORBIDDEN);
    }
    let is_head = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return ServedResponse::from_status("405 Method Not Allowed"),
    };
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let Some(mut file) = path_below_root(root, path) else {
        return ServedResponse::from_status(NOT_FOUND);
    };
    if file.is_dir() {
        if !path.ends_with('/') {
            // Without the final slash, the page's relative links would start one folder too high. A second slash at the start would name
            // another machine.
            let location = format!("/{}/", path.trim_start_matches('/'));
            return ServedResponse {
                location: Some(location),
                ..ServedResponse::from_status("301 Moved Permanently")
            };
        }
        file.push("index.html");
    }
    // A link that leads out of the folder is not followed.
    let opened = file
        .canonicalize()
        .ok()
        .filter(|real| real.starts_with(root))
        .and_then(|real| files::open(real).ok());
    match opened.and_then(|opened| {
        Some((
            opened
                .metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)?
                .len(),
            opened,
        ))
    }) {
        Some((length, opened)) => {
            let body = if is_head {
                ServedBody::None
            } else {
                ServedBody::File(opened)
            };
            ServedResponse {
                status: "200 OK",
                kind: media_type(&file),
                location: None,
                length,
                body,
            }
        }
        None => ServedResponse::from_status(NOT_FOUND),
    }
}

/// Says whether a page of another origin asks, by what browsers say since 2019 to 2023 (Chrome 76, Firefox 90, Safari 16.4).
///
/// Such a page could include the site's scripts and style sheets as its own, and see what is in them. Other ports of this machine are the
/// same site and another origin: what listens there need not be the user's. A link to the site still works, as the page that has the link
/// sees nothing of where it leads.
fn is_for_another_page<'a, I: Iterator<Item = &'a str>>(all: &impl Fn(&'static str) -> I) -> bool {
    let is_own = |site: &str| site == "same-origin" || site == "none";
    let is_link =
        || all("sec-fetch-mode").eq(["navigate"]) && all("sec-fetch-dest").eq(["document"]);
    !all("sec-fetch-site").all(is_own) && !is_link()
}

/// Says whether the request's host name is this machine.
fn is_this_machine(host: &str) -> bool {
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Returns the location of a path below the folder. `None` if the path is hidden or would leave the folder.
fn path_below_root(root: &Path, path: &str) -> Option<PathBuf> {
    let path = decode_percent(path.strip_prefix('/')?)?;
    let is_plain = |part: Component| matches!(part, Component::Normal(name) if !name.to_string_lossy().starts_with('.'));
    let is_safe = !path.contains(['\0', '\\']) && Path::new(&path).components().all(is_plain);
    is_safe.then(|| root.join(path.trim_end_matches('/')))
}

/// Decodes `%41` to `A`. `None` if the result is not text.
fn decode_percent(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let value = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns the media type, based on the file name's extension.
fn media_type(file: &Path) -> &'static str {
    match file
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
    {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "csv" => "text/csv; charset=utf-8",
        "xml" => "application/xml",
        "md" | "txt" | "py" => TEXT_TYPE,
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use super::*;

    impl ServedResponse {
        fn content(self) -> Vec<u8> {
            let mut bytes = Vec::new();
            match self.body {
                ServedBody::None => {}
                ServedBody::Text(text) => bytes.extend(text.into_bytes()),
                ServedBody::File(mut file) => {
                    file.read_to_end(&mut bytes).expect("readable");
                }
            }
            bytes
        }
    }

    fn ask(root: &Path, request: &str, host: &str) -> ServedResponse {
        answer_request(root, &format!("{request} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    #[test]
    fn files_and_folders_are_given_and_nothing_outside() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder
            .path()
            .canonicalize()
            .expect("it is there")
            .join("site");
        fs::create_dir_all(root.join("a b")).expect("writable");
        for (path, text) in [
            ("index.html", "home"),
            ("a b/index.html", "in"),
            (".hidden", "no"),
            ("a b/x.svg", "<svg>"),
            ("../secret", "no"),
        ] {
            fs::write(root.join(path), text).expect("writable");
        }
        let get = |path: &str| ask(&root, &format!("GET {path}"), "127.0.0.1:8000");
        assert_eq!(
            (get("/").content(), get("/").kind),
            (b"home".to_vec(), "text/html; charset=utf-8")
        );
        assert_eq!(get("/a%20b/?x#y").content(), b"in");
        assert_eq!(
            (get("/a%20b/x.svg").kind, get("/a%20b").location.as_deref()),
            ("image/svg+xml", Some("/a%20b/"))
        );
        assert_eq!(
            get("//a%20b").location,
            None,
            "a path with two slashes in front is none"
        );
        for path in [
            "/../secret",
            "/%2e%2e/secret",
            "/a%20b/../../secret",
            "/.hidden",
            "/nothing",
            "/%ff",
            "/%",
            "/a\\b",
            "x",
            "/%00",
        ] {
            assert_eq!(get(path).status, NOT_FOUND, "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("../secret"), root.join("link"))
                .expect("writable");
            assert_eq!(get("/link").status, NOT_FOUND);
        }
        let head = ask(&root, "HEAD /", "localhost");
        assert!(
            head.head_text().contains("Content-Length: 4\r\n"),
            "{}",
            head.head_text()
        );
        assert_eq!((head.length, head.content().len()), (4, 0));
    }

    #[test]
    fn strangers_and_other_methods_are_refused() {
        let root = Path::new("/nonexistent");
        for host in ["evil.example", "127.0.0.1.evil.example", "", "evil:80"] {
            assert_eq!(ask(root, "GET /", host).status, FORBIDDEN, "{host}");
        }
        assert_eq!(
            ask(root, "POST /", "[::1]:1").status,
            "405 Method Not Allowed"
        );
        for request in ["", "GET", "GET / HTTP/2", "GET  / HTTP/1.1"] {
            assert_eq!(
                answer_request(root, request).status,
                "400 Bad Request",
                "{request}"
            );
        }
    }

    #[test]
    fn pages_of_other_origins_get_nothing_but_links_to_pages() {
        let root = Path::new("/nonexistent");
        let status = |fields: &str| {
            answer_request(
                root,
                &format!("GET /d/x.js HTTP/1.1\r\nHost: localhost:8000\r\n{fields}\r\n"),
            )
            .status
        };
        let of = |site: &str, mode: &str, dest: &str| {
            status(&format!(
                "Sec-Fetch-Site: {site}\r\nsec-fetch-mode:{mode}\r\nSEC-FETCH-DEST: {dest}\r\n"
            ))
        };
        for (site, mode, dest) in [
            ("same-origin", "no-cors", "script"),
            ("same-origin", "cors", "empty"),
            ("none", "navigate", "document"),
            ("same-site", "navigate", "document"),
            ("cross-site", "navigate", "document"),
        ] {
            assert_eq!(of(site, mode, dest), NOT_FOUND, "{site} {mode} {dest}");
        }
        for site in [
            "cross-site",
            "same-site",
            "",
            "Same-Origin",
            "same-origin, cross-site",
            "what comes later",
        ] {
            for (mode, dest) in [
                ("no-cors", "script"),
                ("no-cors", "style"),
                ("no-cors", "image"),
                ("cors", "empty"),
                ("navigate", "iframe"),
                ("navigate", "object"),
                ("navigate", ""),
                ("no-cors", "document"),
            ] {
                assert_eq!(of(site, mode, dest), FORBIDDEN, "{site} {mode} {dest}");
            }
        }
        assert_eq!(
            status("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n"),
            FORBIDDEN
        );
        assert_eq!(status("Sec-Fetch-Site: cross-site\r\n"), FORBIDDEN);
        // Older browsers and other programs do not say who asks.
        assert_eq!(status(""), NOT_FOUND);
    }
}
