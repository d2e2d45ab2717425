//! The folder that all files of a report lie in. It differs between machines, so it is no part of a name.

/// The common folder of the files added so far.
#[derive(Default)]
pub(super) struct CommonFolder(Option<Vec<String>>);

impl CommonFolder {
    /// Takes a file's path, with `/` or `\` between its parts. An empty path is passed over.
    pub fn add_file(&mut self, path: &str) {
        if path.is_empty() {
            return;
        }
        let mut parts = split_path(path);
        parts.pop();
        match &mut self.0 {
            Some(folder) => {
                let shared = folder.iter().zip(&parts);
                let length = shared.take_while(|(known, part)| known == part).count();
                folder.truncate(length);
            }
            None => self.0 = Some(parts.into_iter().map(str::to_owned).collect()),
        }
    }

    /// Returns the path below the folder, joined by `/`.
    pub fn path_below(&self, path: &str) -> String {
        let length = self.0.as_ref().map_or(0, Vec::len);
        split_path(path).get(length..).unwrap_or_default().join("/")
    }
}

fn split_path(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_below_their_common_folder() {
        let below = |paths: &[&str]| -> Vec<String> {
            let mut folder = CommonFolder::default();
            for path in paths {
                folder.add_file(path);
            }
            paths.iter().map(|path| folder.path_below(path)).collect()
        };
        assert_eq!(below(&["/w/a/x.ts"]), ["x.ts"]);
        assert_eq!(below(&["/w/a/x.ts", "/w/ab/x.ts"]), ["a/x.ts", "ab/x.ts"]);
        assert_eq!(
            below(&["C:\\w\\x.ts", "C:\\w\\b\\y.ts"]),
            ["x.ts", "b/y.ts"]
        );
        assert_eq!(below(&["x.ts", "/w/y.ts", ""]), ["x.ts", "/w/y.ts", ""]);
    }
}
