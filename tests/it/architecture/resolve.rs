//! From a name as written to where it comes from: through `use` items, renames, globs, type aliases and re-exports.

use super::scan::{Facts, Mention, Scope, Segments, segments};

/// Names bound to each other in a circle end here; real chains are two or three long.
const MAX_STEPS: usize = 12;

/// One full path that a mention may stand for.
pub struct Reached {
    pub path: Segments,
    /// Reached without going through another top-level module's re-export: this is what the layer table judges.
    pub direct: bool,
    /// Nothing gives it on from elsewhere: this is where it is defined, as far as the sources say.
    pub last: bool,
}

pub struct Resolver<'a> {
    facts: &'a Facts,
}

impl<'a> Resolver<'a> {
    pub fn new(facts: &'a Facts) -> Self {
        Self { facts }
    }

    /// Returns every full path the mention may stand for, each step of a chain of re-exports included.
    pub fn reach(&self, mention: &Mention) -> Vec<Reached> {
        let mut reached = Vec::new();
        for path in self.absolute(&mention.module, &mention.segments, 0) {
            self.follow(&mention.module, &path, true, 0, &mut reached);
        }
        reached
    }

    /// Makes a path absolute as seen from `module`: `crate::…` for our own, otherwise starting with a crate's name.
    fn absolute(&self, module: &Segments, path: &[String], step: usize) -> Vec<Segments> {
        let Some((first, rest)) = path.split_first() else {
            return Vec::new();
        };
        if step > MAX_STEPS {
            return vec![path.to_vec()];
        }
        let join = |start: &[String], rest: &[String]| [start, rest].concat();
        match first.as_str() {
            "crate" => return vec![path.to_vec()],
            "evalreport" => return vec![join(&segments(&["crate"]), rest)],
            "self" => return vec![join(module, rest)],
            "super" => {
                let up: Vec<String> = std::iter::once("self".to_owned())
                    .chain(rest.iter().cloned())
                    .collect();
                let parent = &module[..module.len().saturating_sub(1).max(1)];
                return match rest.first().map(String::as_str) {
                    Some("super") => self.absolute(&parent.to_vec(), rest, step + 1),
                    _ => self.absolute(&parent.to_vec(), &up, step + 1),
                };
            }
            _ => {}
        }
        let scope = self.facts.scopes.get(module);
        if let Some(targets) = scope.and_then(|scope| scope.names.get(first)) {
            return targets
                .iter()
                .flat_map(|target| {
                    // `use polars;` binds a name to itself: that is the crate.
                    if target.first() == Some(first) {
                        vec![target.clone()]
                    } else {
                        self.absolute(module, target, step + 1)
                    }
                })
                .map(|target| join(&target, rest))
                .collect();
        }
        let own = join(module, std::slice::from_ref(first));
        if self.facts.modules.contains(&own) {
            return vec![join(&own, rest)];
        }
        let from_globs = scope
            .into_iter()
            .flat_map(|scope| &scope.globs)
            .flat_map(|glob| {
                let bases = if glob.target.first() == Some(first) {
                    Vec::new()
                } else {
                    self.absolute(module, &glob.target, step + 1)
                };
                bases
                    .into_iter()
                    .map(|base| join(&base, path))
                    .collect::<Vec<_>>()
            });
        std::iter::once(standard(path)).chain(from_globs).collect()
    }

    /// Records the path, then what it re-exports, if the module it names re-exports that name.
    fn follow(
        &self,
        from: &Segments,
        path: &Segments,
        direct: bool,
        step: usize,
        reached: &mut Vec<Reached>,
    ) {
        let path = standard(path);
        let foreign = path.first().is_some_and(|first| first == "crate")
            && path.len() > 1
            && path.get(1) != from.get(1);
        let is_module = self
            .facts
            .modules
            .contains(path.get(..2).unwrap_or_default());
        let next_direct = direct && !(foreign && is_module);
        let place = reached.len();
        reached.push(Reached {
            path: path.clone(),
            direct,
            last: true,
        });
        if step > MAX_STEPS || path.first().is_none_or(|first| first != "crate") {
            return;
        }
        let Some(length) = (1..path.len())
            .rev()
            .find(|length| self.facts.modules.contains(&path[..*length]))
        else {
            return;
        };
        let (holder, rest) = path.split_at(length);
        let holder = holder.to_vec();
        let Some(scope) = self.facts.scopes.get(&holder) else {
            return;
        };
        for target in self.exported(scope, &holder, rest, from.starts_with(&holder), step) {
            if target != path {
                reached[place].last = false;
                self.follow(from, &target, next_direct, step + 1, reached);
            }
        }
    }

    fn exported(
        &self,
        scope: &Scope,
        holder: &Segments,
        rest: &[String],
        child: bool,
        step: usize,
    ) -> Vec<Segments> {
        let Some((name, after)) = rest.split_first() else {
            return Vec::new();
        };
        if let Some(targets) = scope.names.get(name) {
            let targets = targets.iter().flat_map(|target| {
                if target.first() == Some(name) {
                    vec![target.clone()]
                } else {
                    self.absolute(holder, target, step + 1)
                }
            });
            return targets
                .map(|target| [target.as_slice(), after].concat())
                .collect();
        }
        if self
            .facts
            .modules
            .contains(&[holder.as_slice(), std::slice::from_ref(name)].concat())
        {
            return Vec::new();
        }
        let visible = scope.globs.iter().filter(|glob| glob.public || child);
        visible
            .flat_map(|glob| self.absolute(holder, &glob.target, step + 1))
            .map(|base| [base.as_slice(), rest].concat())
            .collect()
    }
}

/// `core` and `alloc` hold the same items as `std`.
fn standard(path: &[String]) -> Segments {
    match path.first().map(String::as_str) {
        Some("core" | "alloc") => std::iter::once("std".to_owned())
            .chain(path[1..].iter().cloned())
            .collect(),
        _ => path.to_vec(),
    }
}
