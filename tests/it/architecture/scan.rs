//! Source text into facts: which module names what, on which line, and what its `use` items bind.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprCall, ExprMethodCall, ExprPath, ImplItemFn, Item, ItemUse, Lit, LitStr,
    Meta, Type, UseTree,
};

use super::rules::Violation;

/// One file: its path in the package with forward slashes, and its text.
pub struct Source {
    pub path: String,
    pub text: String,
}

/// Segments of a path. Paths of our own crate start with `crate`.
pub type Segments = Vec<String>;

/// How something was named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Path,
    Macro,
    /// A method call, with whether it passes arguments.
    Method {
        arguments: bool,
    },
    /// `col("…")`: a literal column name.
    Column,
    /// A literal SELECT over our tables.
    Query,
    /// `#[path]` or `include!`: source that the module tree does not show.
    Detour,
}

/// One naming of something.
pub struct Mention {
    pub file: String,
    pub line: usize,
    pub module: Segments,
    /// Within `#[cfg(test)]` code.
    pub test: bool,
    pub kind: Kind,
    /// Given on by a `use` item that others can see.
    pub exported: bool,
    pub segments: Segments,
}

/// A glob import and whether it is visible beyond the module and its children.
pub struct Glob {
    pub target: Segments,
    pub public: bool,
}

/// What one module's `use` items, `extern crate` items and type aliases bind. Targets are as written, so relative to the module.
///
/// Imports within functions count for the whole module: a name may have several targets, and each is checked.
#[derive(Default)]
pub struct Scope {
    pub names: BTreeMap<String, Vec<Segments>>,
    pub globs: Vec<Glob>,
}

/// Everything known about a set of sources.
#[derive(Default)]
pub struct Facts {
    pub mentions: Vec<Mention>,
    pub scopes: BTreeMap<Segments, Scope>,
    pub modules: BTreeSet<Segments>,
    /// The file that each module is, for modules that are a file.
    pub files: BTreeMap<Segments, String>,
    /// What each module defines itself, by name.
    pub items: BTreeMap<Segments, BTreeSet<String>>,
    /// Modules declared under `#[cfg(test)]`; their files are test code.
    test_modules: BTreeSet<Segments>,
}

impl Facts {
    /// Parses all sources, and the expressions of all templates as part of `render`; a file that does not parse is a violation.
    pub fn gather(sources: &[Source], templates: &[Source]) -> (Self, Vec<Violation>) {
        let mut facts = Self::default();
        let mut violations = Vec::new();
        for source in sources {
            let module = module_of(&source.path);
            facts.modules.insert(module.clone());
            facts.files.insert(module.clone(), source.path.clone());
            match syn::parse_file(&source.text) {
                Ok(file) => {
                    Scanner {
                        facts: &mut facts,
                        file: &source.path,
                        module,
                        test: false,
                        exported: false,
                        first_line: 0,
                    }
                    .visit_file(&file);
                }
                Err(error) => violations.push(Violation::new(
                    &source.path,
                    error.span().start().line,
                    "parse",
                    &error.to_string(),
                )),
            }
        }
        for template in templates {
            for (first_line, code) in template_code(&template.text) {
                let module = segments(&["crate", "render"]);
                let mut scanner = Scanner {
                    facts: &mut facts,
                    file: &template.path,
                    module,
                    test: false,
                    exported: false,
                    first_line,
                };
                match code.parse::<TokenStream>() {
                    Ok(tokens) => scanner.tokens(tokens, TokensOf::Macro),
                    Err(error) => violations.push(Violation::new(
                        &template.path,
                        first_line + 1,
                        "parse",
                        &error.to_string(),
                    )),
                }
            }
        }
        let Self {
            mentions,
            test_modules,
            ..
        } = &mut facts;
        for mention in mentions {
            mention.test |= test_modules
                .iter()
                .any(|module| mention.module.starts_with(module));
        }
        (facts, violations)
    }
}

/// Returns the module that a file is: `src/a/b.rs` is `crate::a::b`, `src/main.rs` is `crate::main`.
fn module_of(path: &str) -> Segments {
    let inner = path.strip_prefix("src/").unwrap_or(path);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    let mut module = segments(&["crate"]);
    if inner != "lib" {
        module.extend(inner.split('/').map(str::to_owned));
    }
    module
}

pub fn segments(parts: &[&str]) -> Segments {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// Returns the code between `{{ }}` and `{% %}` with the number of lines before it; comments are left out.
fn template_code(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let opened = &rest[start..];
        let close = match opened.as_bytes().get(1) {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => "#}",
            _ => {
                rest = &opened[1..];
                continue;
            }
        };
        let Some(length) = opened[2..].find(close) else {
            break;
        };
        let code = &opened[2..2 + length];
        if close != "#}" {
            let before = text.len() - rest.len() + start;
            found.push((
                text[..before].matches('\n').count(),
                code.trim_matches(['-', '+', '~']).to_owned(),
            ));
        }
        rest = &opened[length + 4..];
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokensOf {
    /// Arguments of a macro: code, where a string is a string.
    Macro,
    /// Arguments of an attribute: a string may be a path, as in `#[serde(with = "crate::a::b")]`.
    Attribute,
}

struct Scanner<'a> {
    facts: &'a mut Facts,
    file: &'a str,
    module: Segments,
    test: bool,
    exported: bool,
    first_line: usize,
}

impl Scanner<'_> {
    fn mention(&mut self, kind: Kind, span: Span, segments: Segments) {
        self.facts.mentions.push(Mention {
            file: self.file.to_owned(),
            line: self.first_line + span.start().line,
            module: self.module.clone(),
            test: self.test,
            kind,
            exported: self.exported,
            segments,
        });
    }

    fn bind(&mut self, name: String, target: Segments) {
        self.facts
            .scopes
            .entry(self.module.clone())
            .or_default()
            .names
            .entry(name)
            .or_default()
            .push(target);
    }

    /// Runs `visit` as test code if the attributes say so.
    fn within(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let outside = self.test;
        self.test |= attributes.iter().any(is_test_only);
        visit(self);
        self.test = outside;
    }

    fn use_tree(&mut self, tree: &UseTree, prefix: &Segments) {
        let with = |name: &syn::Ident| {
            let mut path = prefix.clone();
            path.push(plain(name));
            path
        };
        match tree {
            UseTree::Path(path) => self.use_tree(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|item| self.use_tree(item, prefix)),
            UseTree::Name(name) if name.ident == "self" => {
                self.import(name.span(), prefix.clone(), prefix.last().cloned());
            }
            UseTree::Name(name) => {
                self.import(name.span(), with(&name.ident), Some(plain(&name.ident)));
            }
            UseTree::Rename(rename) if rename.ident == "self" => {
                self.import(rename.span(), prefix.clone(), Some(plain(&rename.rename)));
            }
            UseTree::Rename(rename) => self.import(
                rename.span(),
                with(&rename.ident),
                Some(plain(&rename.rename)),
            ),
            UseTree::Glob(glob) => {
                self.import(glob.span(), prefix.clone(), None);
                let scope = self.facts.scopes.entry(self.module.clone()).or_default();
                scope.globs.push(Glob {
                    target: prefix.clone(),
                    public: self.exported,
                });
            }
        }
    }

    fn import(&mut self, span: Span, path: Segments, name: Option<String>) {
        self.mention(Kind::Path, span, path.clone());
        if let Some(name) = name {
            self.bind(name, path);
        }
    }

    fn text(&mut self, literal: &LitStr, of: TokensOf) {
        let text = literal.value();
        let lower = text.trim_start().to_lowercase();
        let names_table = ["runs", "items", "scores", "usage"]
            .iter()
            .any(|table| lower.contains(&format!("from {table}")));
        if lower.starts_with("select ") && names_table {
            self.mention(Kind::Query, literal.span(), vec![text.clone()]);
        }
        if of == TokensOf::Attribute
            && text.contains("::")
            && let Ok(path) = syn::parse_str::<syn::Path>(&text)
        {
            self.mention(Kind::Path, literal.span(), path_segments(&path));
        }
    }

    /// Finds paths, macro names, method calls and `use` items in tokens that no parser but their macro's own understands.
    fn tokens(&mut self, stream: TokenStream, of: TokensOf) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < trees.len() {
            match &trees[at] {
                TokenTree::Group(group) => self.tokens(group.stream(), of),
                TokenTree::Literal(_) => {
                    if let Ok(Lit::Str(literal)) = syn::parse2(TokenStream::from(trees[at].clone()))
                    {
                        self.text(&literal, of);
                    }
                }
                TokenTree::Ident(ident) if ident == "use" => {
                    let length = trees[at..]
                        .iter()
                        .take_while(|tree| !is_punct(Some(tree), ';'))
                        .count()
                        + 1;
                    let item: TokenStream = trees[at..].iter().take(length).cloned().collect();
                    if let Ok(item) = syn::parse2::<ItemUse>(item) {
                        self.visit_item_use(&item);
                    }
                }
                TokenTree::Ident(ident) => {
                    let called_on = at > 0
                        && is_punct(trees.get(at - 1), '.')
                        && !(at > 1 && is_punct(trees.get(at - 2), '.'));
                    let mut path = vec![plain(ident)];
                    while let (true, true, Some(TokenTree::Ident(next))) = (
                        is_punct(trees.get(at + 1), ':'),
                        is_punct(trees.get(at + 2), ':'),
                        trees.get(at + 3),
                    ) {
                        path.push(plain(next));
                        at += 3;
                    }
                    self.named_in_tokens(
                        ident.span(),
                        path,
                        called_on,
                        trees.get(at + 1),
                        trees.get(at + 2),
                    );
                }
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    fn named_in_tokens(
        &mut self,
        span: Span,
        path: Segments,
        called_on: bool,
        next: Option<&TokenTree>,
        second: Option<&TokenTree>,
    ) {
        let call = match next {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                Some(group.stream())
            }
            _ => None,
        };
        let is_macro = matches!(next, Some(TokenTree::Punct(punct)) if punct.as_char() == '!' && punct.spacing() == Spacing::Alone)
            && matches!(second, Some(TokenTree::Group(_)));
        if let (Some("col" | "cols"), Some(call)) = (path.last().map(String::as_str), &call)
            && let Some(literal) = call
                .clone()
                .into_iter()
                .next()
                .and_then(|tree| syn::parse2::<LitStr>(tree.into()).ok())
        {
            self.mention(Kind::Column, span, vec![literal.value()]);
        }
        if !called_on {
            if is_macro && path.last().is_some_and(|name| name == "include") {
                self.mention(Kind::Detour, span, segments(&["include!"]));
            }
            self.mention(if is_macro { Kind::Macro } else { Kind::Path }, span, path);
        } else if let Some(call) = call {
            self.mention(
                Kind::Method {
                    arguments: !call.is_empty(),
                },
                span,
                path,
            );
        }
    }
}

impl<'ast> Visit<'ast> for Scanner<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Some(name) = defined(item) {
            self.facts
                .items
                .entry(self.module.clone())
                .or_default()
                .insert(plain(name));
        }
        self.within(attributes(item), |scanner| visit::visit_item(scanner, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.within(&item.attrs, |scanner| {
            visit::visit_impl_item_fn(scanner, item);
        });
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(plain(&item.ident));
        self.facts.modules.insert(self.module.clone());
        if item.content.is_none() && self.test {
            self.facts.test_modules.insert(self.module.clone());
        }
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.exported = !matches!(item.vis, syn::Visibility::Inherited);
        self.use_tree(&item.tree, &Vec::new());
        self.exported = false;
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        let name = item
            .rename
            .as_ref()
            .map_or(&item.ident, |(_, rename)| rename);
        self.import(item.span(), vec![plain(&item.ident)], Some(plain(name)));
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if let Type::Path(path) = &*item.ty {
            self.bind(plain(&item.ident), path_segments(&path.path));
        }
        visit::visit_item_type(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.mention(Kind::Path, path.span(), path_segments(path));
        visit::visit_path(self, path);
    }

    fn visit_expr_path(&mut self, expression: &'ast ExprPath) {
        // `<Utc>::now` and `<File as Trait>::create` name the type's own function.
        if let Some(Type::Path(of)) = expression.qself.as_ref().map(|qself| &*qself.ty) {
            let mut path = path_segments(&of.path);
            path.extend(
                expression
                    .path
                    .segments
                    .last()
                    .map(|segment| plain(&segment.ident)),
            );
            self.mention(Kind::Path, expression.span(), path);
        }
        visit::visit_expr_path(self, expression);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let (Expr::Path(function), Some(Expr::Lit(first))) = (&*call.func, call.args.first()) {
            let is_column = function
                .path
                .segments
                .last()
                .is_some_and(|segment| segment.ident == "col" || segment.ident == "cols");
            if let (true, Lit::Str(name)) = (is_column, &first.lit) {
                self.mention(Kind::Column, name.span(), vec![name.value()]);
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.mention(
            Kind::Method {
                arguments: !call.args.is_empty(),
            },
            call.method.span(),
            vec![plain(&call.method)],
        );
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let path = path_segments(&mac.path);
        if path.last().is_some_and(|name| name == "include") {
            self.mention(Kind::Detour, mac.span(), segments(&["include!"]));
        }
        self.mention(Kind::Macro, mac.path.span(), path);
        self.tokens(mac.tokens.clone(), TokensOf::Macro);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        match &attribute.meta {
            // Documentation may speak of anything.
            meta if meta.path().is_ident("doc") => {}
            Meta::Path(path) => self.visit_path(path),
            Meta::List(list) => {
                self.visit_path(&list.path);
                self.tokens(list.tokens.clone(), TokensOf::Attribute);
            }
            Meta::NameValue(pair) if pair.path.is_ident("path") => {
                self.mention(Kind::Detour, pair.span(), segments(&["#[path]"]));
            }
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(value) => {
                    if let Lit::Str(text) = &value.lit {
                        self.text(text, TokensOf::Attribute);
                    }
                }
                value => self.visit_expr(value),
            },
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.text(literal, TokensOf::Macro);
    }
}

/// Says whether the attribute keeps its item out of ordinary builds: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
fn is_test_only(attribute: &Attribute) -> bool {
    fn requires_test(meta: &Meta) -> bool {
        match meta {
            Meta::Path(path) => path.is_ident("test"),
            Meta::List(list) if list.path.is_ident("all") => nested(list).iter().any(requires_test),
            Meta::List(_) | Meta::NameValue(_) => false,
        }
    }
    fn nested(list: &syn::MetaList) -> Vec<Meta> {
        let parser = syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated;
        parser
            .parse2(list.tokens.clone())
            .map(|metas| metas.into_iter().collect())
            .unwrap_or_default()
    }
    match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => nested(list).iter().any(requires_test),
        Meta::List(_) | Meta::NameValue(_) => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        // The enum is not exhaustive; what is left cannot hold test code here.
        _ => &[],
    }
}

/// The name that an item gives to something of its own; a module has a place of its own.
fn defined(item: &Item) -> Option<&syn::Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

fn path_segments(path: &syn::Path) -> Segments {
    path.segments
        .iter()
        .map(|segment| plain(&segment.ident))
        .collect()
}

/// The identifier without `r#`.
fn plain(ident: &syn::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}

fn is_punct(tree: Option<&TokenTree>, character: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}
