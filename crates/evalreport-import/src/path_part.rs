//! Columns that a file's path fills: `@file`, `@folder`, and keys of folders such as `model=nova`.

/// Endings of compressed files and archives.
const COMPRESSED_EXTENSIONS: [&str; 4] = ["gz", "gzip", "zst", "zip"];

/// Part of a file's path that names something of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathPart {
    /// The name of the file, or of the archive's member, without its extensions.
    File,
    /// The name of a folder, counted up from the file: 1 is the folder that the file lies in.
    Folder(usize),
    /// The value of a key in the name of a folder: `nova` in `model=nova`.
    Key(String),
}

impl PathPart {
    /// Returns the part that a column of this name stands for: `@file`, `@folder`, `@folder2`, or `model=`.
    pub fn from_column(name: &str) -> Option<Self> {
        match name.strip_prefix('@') {
            Some("file") => Some(Self::File),
            Some("folder") => Some(Self::Folder(1)),
            Some(other) => other
                .strip_prefix("folder")?
                .parse()
                .ok()
                .filter(|level| (2..=9).contains(level))
                .map(Self::Folder),
            None => name
                .strip_suffix('=')
                .filter(|key| !key.trim().is_empty())
                .map(|key| Self::Key(key.to_owned())),
        }
    }

    /// Returns the name of the column that stands for the part.
    pub fn column_name(&self) -> String {
        match self {
            Self::File => "@file".to_owned(),
            Self::Folder(1) => "@folder".to_owned(),
            Self::Folder(level) => format!("@folder{level}"),
            Self::Key(key) => format!("{key}="),
        }
    }

    /// Returns the part's text in a path whose parts are separated by `/`.
    pub fn text_in(&self, path: &str) -> Option<String> {
        let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
        let file = parts.next()?;
        match self {
            Self::File => Some(strip_extensions(file).to_owned()),
            Self::Folder(level) => parts.nth(level - 1).map(str::to_owned),
            Self::Key(key) => parts
                .find_map(|part| part.strip_prefix(key.as_str())?.strip_prefix('='))
                .map(str::to_owned),
        }
    }
}

/// Returns the keys in the names of the folders, from the outermost.
pub(super) fn folder_keys(path: &str) -> Vec<String> {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let keys = folders
        .split('/')
        .filter_map(|part| part.split_once('='))
        .filter(|(key, value)| !key.is_empty() && !value.is_empty());
    keys.map(|(key, _)| key.to_owned()).collect()
}

/// Returns a file's name without the extensions of tables and compressions.
pub(super) fn strip_extensions(name: &str) -> &str {
    let mut stem = name;
    while let Some((before, ending)) = stem.rsplit_once('.') {
        let is_ending = COMPRESSED_EXTENSIONS.contains(&ending.to_lowercase().as_str())
            || super::source::may_be_table(stem);
        if !is_ending || before.is_empty() {
            break;
        }
        stem = before;
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_files_folders_and_keys() {
        let path = "/data/model=nova/seed=1/part-0.csv.gz";
        for (column, expected) in [
            ("@file", "part-0"),
            ("@folder", "seed=1"),
            ("@folder2", "model=nova"),
            ("model=", "nova"),
            ("seed=", "1"),
        ] {
            let part = PathPart::from_column(column).expect("a part");
            assert_eq!(
                (part.text_in(path).as_deref(), part.column_name().as_str()),
                (Some(expected), column)
            );
        }
        assert_eq!(folder_keys(path), ["model", "seed"]);
        assert!(
            ["@timestamp", "file", "@folder1", "=", "model"]
                .into_iter()
                .all(|name| PathPart::from_column(name).is_none())
        );
    }

    #[test]
    fn a_file_is_called_without_its_extensions() {
        for (name, expected) in [
            ("out.csv.gz", "out"),
            ("v1.2.xlsx", "v1.2"),
            ("a.b", "a.b"),
            (".csv", ".csv"),
        ] {
            assert_eq!(strip_extensions(name), expected);
        }
    }
}
