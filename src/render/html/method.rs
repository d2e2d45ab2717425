//! The page on methods.

use askama::Template;

use crate::views::Overview;

use super::SiteFile;
use super::plan::Plan;
use super::shell::{Here, Shell};

#[derive(Template)]
#[template(path = "method.html")]
struct MethodPage {
    shell: Shell,
}

pub(super) fn page(overview: &Overview, plan: &Plan) -> SiteFile {
    let path = "method.html";
    let title = format!("What the numbers mean · {}", overview.context.title);
    let shell = Shell::new(
        &overview.context,
        &plan.assets,
        path,
        Here::Method,
        title,
        "How each figure is computed, which runs it counts, and what it does not show.",
    )
    .foot(&overview.context);
    SiteFile::page(path.to_owned(), &MethodPage { shell })
}
