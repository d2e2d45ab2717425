//! The page on methods.

use askama::Template;

use crate::views::Overview;

use super::SiteFile;
use super::routes::SiteRoutes;
use super::shell::{NavigationEntry, PageShell};

#[derive(Template)]
#[template(path = "method.html")]
struct MethodPage {
    shell: PageShell,
}

pub(super) fn render_page(overview: &Overview, plan: &SiteRoutes) -> SiteFile {
    let path = "method.html";
    let title = format!("What the numbers mean · {}", overview.context.title);
    let shell = PageShell::new(
        &overview.context,
        &plan.assets,
        path,
        NavigationEntry::Method,
        title,
        "How each figure is computed, which runs it counts, and what it does not show.",
    )
    .with_footer(&overview.context);
    SiteFile::from_template(path.to_owned(), &MethodPage { shell })
}
