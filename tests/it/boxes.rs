//! What decides is seen whole: no text is cut without saying so, and no two texts overlap, on wide and narrow screens.

use serde_json::{Value, json};

use crate::browser::{Browser, Family, LIBERATION, NOTO};
use crate::kept;

const PAGES: [&str; 5] = [
    "index.html",
    "suites/aider-polyglot/index.html",
    "suites/workflow/index.html",
    "suites/nightly-sums-made/index.html",
    "suites/mmlu-pro-history/index.html",
];
const WIDTHS: [u32; 5] = [1440, 1280, 768, 390, 320];

/// Lists what is wrong: a page that is wider than the screen, texts that are cut without a title, and texts that overlap in a row or a picture.
const LOOK: &str = "
    const wrong = [], page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) wrong.push('wider than the screen by ' + (page.scrollWidth - page.clientWidth));
    const seen = part => { const box = part.getBoundingClientRect(); return box.width > 1 && box.height > 1 && getComputedStyle(part).visibility !== 'hidden'; };
    for (const part of document.querySelectorAll('main bdi, main td, main th, main strong')) {
      if (part.closest('.unseen, details:not([open])') || !seen(part)) continue;
      const style = getComputedStyle(part), isCut = style.overflowX !== 'visible' && part.scrollWidth > part.clientWidth + 1;
      if (isCut && !part.closest('[title]') && !part.querySelector('[title]')) wrong.push('cut: ' + part.textContent.trim().slice(0, 60));
    }
    for (const deed of document.querySelectorAll('.suites:not(.dense) .deed bdi'))
      if (seen(deed) && deed.scrollWidth > deed.clientWidth + 1 && getComputedStyle(deed).overflowX !== 'visible') wrong.push('a decision is cut: ' + deed.textContent);
    const texts = part => {
      const found = [];
      const walk = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const node = walk.currentNode, holder = node.parentElement;
        if (!node.textContent.trim() || holder.closest('.unseen, title, desc, option') || !seen(holder)) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        let clip = holder;
        while (clip && (getComputedStyle(clip).overflowX === 'visible' || getComputedStyle(clip).display === 'inline')) clip = clip.parentElement;
        for (const box of range.getClientRects()) {
          // Letters are lower than their line.
          const air = box.height * 0.2, limit = clip ? clip.getBoundingClientRect().right : Infinity;
          found.push({ node, text: node.textContent.trim().slice(0, 40), left: box.left, right: Math.min(box.right, limit), top: box.top + air, bottom: box.bottom - air });
        }
      }
      return found;
    };
    for (const part of document.querySelectorAll('main table.suites tr, main table.arms tr, main .pareto, main .bought tr, main .keys')) {
      const boxes = texts(part);
      for (let one = 0; one < boxes.length; one += 1) for (let other = one + 1; other < boxes.length; other += 1) {
        const a = boxes[one], b = boxes[other];
        if (a.node !== b.node && a.left + 1 < b.right && b.left + 1 < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom) wrong.push('overlap: ' + a.text + ' | ' + b.text);
      }
    }
    return wrong.slice(0, 12)";

fn check_boxes(family: Family) {
    let site = kept::shipped();
    let browser = Browser::start_in(family);
    let mut wrong = Vec::new();
    for page in PAGES {
        for width in WIDTHS {
            browser.resize(width, 900);
            browser.open(&site.path(&format!("site/{page}")));
            let found = browser.evaluate(LOOK);
            if found != json!([]) {
                wrong.push(format!("{page} at {width}: {found:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_that_decides_is_cut_or_overlaps_in_a_tall_font() {
    needs!("chromium", "chromedriver", NOTO.name);
    check_boxes(NOTO);
}

#[test]
fn nothing_that_decides_is_cut_or_overlaps_in_a_flat_font() {
    needs!("chromium", "chromedriver", LIBERATION.name);
    check_boxes(LIBERATION);
}

/// In the picture of costs, the dot nearest to a name is its own.
#[test]
fn a_name_in_the_picture_of_costs_is_nearest_to_its_own_dot() {
    needs!("chromium", "chromedriver");
    let site = kept::shipped();
    let browser = Browser::start();
    browser.resize(1440, 900);
    let mut pictures = 0;
    let mut names = 0;
    for page in site.files("site/suites") {
        if !page.ends_with("/index.html") || page.matches('/').count() != 3 {
            continue;
        }
        browser.open(&site.path(&page));
        let found = browser.evaluate(
            "const points = [...document.querySelectorAll('.pareto a')].map(point => {
               const dot = point.querySelector('circle.hit').getBoundingClientRect(), name = point.querySelector('text.name');
               return { x: dot.left + dot.width / 2, y: dot.top + dot.height / 2, name: name && name.getBoundingClientRect().width > 0 ? name : null };
             });
             const away = (box, point) => Math.hypot(Math.max(box.left - point.x, point.x - box.right, 0), Math.max(box.top - point.y, point.y - box.bottom, 0));
             const wrong = [];
             for (const point of points) {
               if (!point.name) continue;
               const box = point.name.getBoundingClientRect(), own = away(box, point);
               for (const other of points) if (other !== point && away(box, other) < own - 1) wrong.push(point.name.textContent);
             }
             return [points.length, points.filter(point => point.name).length, wrong]",
        );
        if found[0] == json!(0) {
            continue;
        }
        pictures += 1;
        names += found[1].as_u64().unwrap_or_default();
        assert_eq!(found[2], json!([]), "{page}");
    }
    assert!(
        pictures >= 4 && names >= 30,
        "{pictures} pictures, {names} names"
    );
    let wide = "const picture = document.querySelector('.pareto'); return picture ? picture.getBoundingClientRect().width : 0";
    browser.open(&site.path("site/suites/aider-polyglot/index.html"));
    assert!(
        browser.evaluate(wide).as_f64() >= Some(800.0),
        "{}",
        browser.evaluate(wide)
    );
    let Value::Array(complaints) = json!(browser.complaints()) else {
        panic!("a list")
    };
    assert!(complaints.is_empty(), "{complaints:?}");
}
