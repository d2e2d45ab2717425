#!/usr/bin/env python3
"""Measures what a browser makes of a report: evalreport's site beside Playwright's, Allure's and Inspect's, of the same results in the same run.

    cargo build --release
    pip install inspect_ai
    python3 benches/against_reports.py --peers FOLDER      # needs npm and Chromium; installs the other tools into FOLDER

The results: arms that answered the same questions, the later arms a little worse. evalreport and Inspect get them as recorded answers to
questions, Playwright as one file of tests for each arm, which really run, Allure as one suite of results for each arm.

Every page is loaded from a server on this machine, without compression, in a browser without a cache, the pages in turns. "Loaded" counts
the bytes and files that the server sent. "Content" is the time from the navigation to the frame that holds the name of a result or an arm
as text; "ready" is the later of that and the load event, plus two frames. axe runs with its standard rules. A request to another host is
counted and not let through. Prints a Markdown table, and one of the ratios of each page to the overview of evalreport.
A tool that is not there or does not get done in time is left out, and said so.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARMS = 8
PACKAGES = ["@playwright/test", "allure", "axe-core"]


def passes(arm, question):
    """Whether an arm has a question right: arm 0 fails about 1 in 100, each later one 1 more; Playwright starts a new process for each failure."""
    return (question * 37 + arm * 11) % 100 > arm


def answer(arm, question):
    return str(question + 2 if passes(arm, question) else question + 3)


def run(command, cwd, seconds, accepted=(0,), **environment):
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, timeout=seconds, env=dict(os.environ, **environment),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    assert done.returncode in accepted, (command, done.stdout.decode(errors="replace")[-2000:])
    return done.stdout.decode(errors="replace")


def ours(folder, questions, options):
    """A site of one suite with a run of every arm: three pages of it, since a result is on more than one."""
    rows = [
        {"id": f"q{n}", "question": f"Question {n}: what is {n} + 2?", "answers": [str(n + 1), str(n + 2), str(n + 3)], "correct_answers": [str(n + 2)]}
        for n in range(questions)
    ]
    (folder / "questions.json").write_text(json.dumps({"version": 1, "questions": rows}))
    agents = []
    for arm in range(ARMS):
        said = [{"item": row["id"], "answer": f"<answer>{answer(arm, n)}</answer>"} for n, row in enumerate(rows)]
        (folder / f"arm-{arm}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
        agents.append({"id": f"arm-{arm}", "type": "replay", "file": f"arm-{arm}.jsonl"})
    (folder / "evalreport.yaml").write_text(json.dumps({"version": 1, "agents": agents}))
    names = ",".join(agent["id"] for agent in agents)
    run([options.binary, "eval", "questions.json", "--agent", names, "--quiet"], folder, options.seconds)
    run([options.binary, "build", "--out", "site", "--quiet"], folder, options.seconds)
    site = folder / "site"
    single_run = sorted(path.relative_to(site) for path in site.glob("runs/*/index.html"))[0]
    return site, [("overview", "index.html", "arm-0"), ("the suite", "suites/questions/index.html", "arm-0"), ("a run", str(single_run), "arm-")]


def playwright(folder, questions, options):
    for arm in range(ARMS):
        lines = ["const { test, expect } = require('@playwright/test');"]
        for n in range(questions):
            lines.append(f"test('Question {n}: what is {n} + 2?', () => {{ expect('{answer(arm, n)}').toBe('{n + 2}'); }});")
        (folder / f"arm-{arm}.spec.js").write_text("\n".join(lines))
    (folder / "playwright.config.js").write_text("module.exports = { workers: 2, reporter: [['html', { open: 'never', outputFolder: 'report' }]] };")
    (folder / "node_modules").symlink_to(options.peers / "node_modules")
    run([options.peers / "node_modules/.bin/playwright", "test"], folder, options.seconds, accepted=(0, 1))
    return folder / "report", [("list", "index.html", "arm-0.spec.js")]


def allure(folder, questions, options, *more):
    results = folder / "allure-results"
    results.mkdir()
    for arm in range(ARMS):
        for n in range(questions):
            start = 1_700_000_000_000 + (arm * questions + n) * 10
            result = {
                "uuid": f"{arm:08x}-0000-4000-8000-{n:012x}", "historyId": f"{arm}-{n}", "name": f"Question {n}: what is {n} + 2?",
                "fullName": f"arm-{arm}#{n}", "status": "passed" if passes(arm, n) else "failed", "stage": "finished",
                "start": start, "stop": start + 5, "labels": [{"name": "suite", "value": f"arm-{arm}"}],
            }
            if not passes(arm, n):
                result["statusDetails"] = {"message": f"expected {n + 2}, got {answer(arm, n)}", "trace": f"at arm-{arm}.spec.js:{n + 2}:5"}
            (results / f"{result['uuid']}-result.json").write_text(json.dumps(result))
    command = [options.peers / "node_modules/.bin/allure", "awesome", "allure-results", "--output", "report", "--group-by", "suite", *more]
    run(command, folder, options.seconds, ALLURE_NO_ANALYTICS="1")
    return folder / "report", [("list", "index.html", "arm-0")]


def allure_single(folder, questions, options):
    return allure(folder, questions, options, "--single-file")


INSPECT = """
import re, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate
sys.path.insert(0, sys.argv[1])
from against_reports import ARMS, answer
questions, logs = int(sys.argv[2]), sys.argv[3]
samples = [Sample(input=f"Question {n}: what is {n} + 2?", target=str(n + 2), id=f"q{n}") for n in range(questions)]
def arm_model(arm):
    def output(messages, *_):
        n = int(re.search("Question ([0-9]+)", messages[-1].text).group(1))
        # With its usage told, or tokens would be counted by a table that is fetched from the network.
        usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
        return ModelOutput.from_content(f"mockllm/arm-{arm}", answer(arm, n)).model_copy(update={"usage": usage})
    return get_model(f"mockllm/arm-{arm}", custom_outputs=output)
for arm in range(ARMS):
    log = eval(Task(name=f"arm-{arm}", dataset=samples, solver=generate(), scorer=match(location="exact")), model=arm_model(arm), log_dir=logs, display="none")[0]
    assert log.status == "success" and len(log.samples) == questions, log.status
"""


def inspect(folder, questions, options):
    (folder / "task.py").write_text(INSPECT)
    run([options.python, "task.py", ROOT / "benches", questions, folder / "logs"], folder, options.seconds, PYTHONDONTWRITEBYTECODE="1")
    command = [options.python, "-c", "from inspect_ai._cli.main import main; main()", "view", "bundle", "--log-dir", "logs", "--output-dir", "report"]
    run(command, folder, options.seconds)
    log = sorted(path.name for path in (folder / "logs").glob("*.eval"))[0]
    return folder / "report", [("list of runs", "index.html", "arm-0"), ("a run", f"index.html#/logs/{log}", "Question 1:")]


BROWSER = r"""
const fs = require("fs"), http = require("http"), path = require("path");
const [peers, chromium, roundsText, pagesFile] = process.argv.slice(2);
const { chromium: browserType } = require(path.join(peers, "node_modules/playwright-core"));
const axe = fs.readFileSync(path.join(peers, "node_modules/axe-core/axe.min.js"), "utf8");
const pages = JSON.parse(fs.readFileSync(pagesFile)), rounds = Number(roundsText);
const WAIT = 30000, AXE_WAIT = 300000;
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json",
  ".svg": "image/svg+xml", ".png": "image/png", ".wasm": "application/wasm", ".woff2": "font/woff2" };

// Counts what it sends; with parts of files, which Inspect asks for.
function serve(root, sent) {
  const server = http.createServer((request, response) => {
    const file = path.join(root, decodeURIComponent(new URL(request.url, "http://x").pathname).replace(/\/$/, "/index.html"));
    if (!fs.existsSync(file) || !fs.statSync(file).isFile()) { response.writeHead(404); return response.end(); }
    const size = fs.statSync(file).size;
    const headers = { "content-type": TYPES[path.extname(file)] || "application/octet-stream", "accept-ranges": "bytes" };
    const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range || "");
    let [start, end] = [0, size - 1];
    if (range) {
      [start, end] = range[1] === "" ? [Math.max(0, size - Number(range[2])), size - 1] : [Number(range[1]), range[2] === "" ? size - 1 : Math.min(Number(range[2]), size - 1)];
      headers["content-range"] = `bytes ${start}-${end}/${size}`;
    }
    headers["content-length"] = size === 0 ? 0 : end - start + 1;
    response.writeHead(range ? 206 : 200, headers);
    if (request.method === "HEAD" || size === 0) return response.end();
    sent.bytes += end - start + 1;
    sent.files.add(file);
    fs.createReadStream(file, { start, end }).pipe(response);
  });
  return new Promise(done => server.listen(0, "127.0.0.1", () => done(server)));
}

// Runs before the page's own scripts: waits for the frame in which the text is there, then for the load event and two frames more.
function watch(needle) {
  let content = null;
  const frame = then => requestAnimationFrame(() => then(performance.now()));
  const look = () => frame(now => {
    if (document.body && document.body.innerText.includes(needle)) { content = now; return settle(); }
    look();
  });
  const settle = () => {
    if (document.readyState !== "complete") return frame(settle);
    frame(() => frame(now => { window.measured = { content, ready: now }; }));
  };
  look();
}

async function visit(browser, page, address, options, then) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
  try {
    const others = new Set(), own = new URL(address).origin;
    await context.route(url => /^https?:/.test(url.href) && url.origin !== own, route => { others.add(route.request().url()); return route.abort(); });
    const tab = await context.newPage();
    if (options.javaScriptEnabled !== false) await tab.addInitScript(watch, page.needle);
    await tab.goto(address, { waitUntil: "commit", timeout: WAIT });
    return await then(tab, others);
  } finally {
    await context.close();
  }
}

const measured = tab => tab.waitForFunction(() => window.measured, null, { timeout: WAIT }).then(handle => handle.jsonValue());

(async () => {
  const browser = await browserType.launch({ executablePath: chromium, args: ["--no-sandbox"] });
  for (const page of pages) {
    page.sent = { bytes: 0, files: new Set() };
    page.server = await serve(page.root, page.sent);
    page.address = `http://127.0.0.1:${page.server.address().port}/${page.path}`;
    page.times = [];
  }
  // One more round than is kept: the first warms up the page cache and the browser.
  for (let round = 0; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    for (const page of pages) {
      page.sent.bytes = 0;
      page.sent.files.clear();
      const times = await visit(browser, page, page.address, {}, async (tab, others) => {
        const times = await measured(tab).catch(() => ({ content: null, ready: null }));
        // From a visit that showed something; from the last one if none did.
        if (!page.result && round > 0 && (times.content !== null || round === rounds)) {
          // What comes later than ready, such as another host's script, is counted too.
          await tab.waitForTimeout(1000);
          page.result = { bytes: page.sent.bytes, files: page.sent.files.size, others: others.size };
          page.result.nodes = await tab.evaluate(() => document.querySelectorAll("*").length);
          const bound = new Promise(done => setTimeout(() => done(null), AXE_WAIT).unref());
          const check = tab.evaluate(axe).then(() => tab.evaluate(() => axe.run(document, { resultTypes: ["violations"] })))
            .then(found => found.violations.map(rule => [rule.id, rule.impact, rule.nodes.length]));
          page.result.axe = await Promise.race([check.catch(() => null), bound]);
        }
        return times;
      });
      if (round > 0) page.times.push(times);
    }
  }
  const results = [];
  for (const page of pages) {
    const text = await visit(browser, page, page.address, { javaScriptEnabled: false }, async tab => {
      await tab.waitForLoadState("load");
      return (await tab.locator("body").innerText()).trim().length;
    });
    const local = await visit(browser, page, "file://" + path.join(page.root, page.path), {}, tab => measured(tab).then(() => true, () => false));
    results.push({ ...page.result, times: page.times, text, local });
    page.server.close();
  }
  console.log(JSON.stringify({ browser: browser.version(), results }));
  await browser.close();
})().catch(error => { console.error(error); process.exit(1); });
"""


def size(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files), len(files)


def versions(options):
    found = [run([options.binary, "--version"], None, 60).strip()]
    for package in PACKAGES:
        manifest = options.peers / "node_modules" / package / "package.json"
        found.append(f"{package} {json.loads(manifest.read_text())['version']}")
    try:
        found.append("inspect_ai " + run([options.python, "-c", "import inspect_ai; print(inspect_ai.__version__)"], None, 60).split()[-1])
    except (AssertionError, OSError):
        pass
    return found


def megabytes(count):
    return f"{count / 1e6:.2f}"


def times(page, name):
    """The median of the visits that showed something, and how many did not."""
    seen = [times[name] for times in page["times"] if times[name] is not None]
    return (statistics.median(seen) if seen else None), len(page["times"]) - len(seen)


def milliseconds(page, name):
    median, hung = times(page, name)
    shown = "never" if median is None else f"{median:.0f}"
    return f"{shown} ({hung} of {len(page['times'])} hung)" if hung else shown


def measure(folder, results, options):
    questions = results // ARMS
    tools = [("evalreport", ours), ("Playwright", playwright), ("Allure 3", allure), ("Allure 3, one file", allure_single), ("Inspect", inspect)]
    pages = []
    for name, make in tools:
        if make.__name__ in options.leave_out:
            print(f"{name}: left out as asked\n")
            continue
        place = folder / f"{make.__name__}-{results}"
        place.mkdir()
        print(f"{name}, {results} results", file=sys.stderr)
        try:
            root, paths = make(place, questions, options)
        except subprocess.TimeoutExpired:
            print(f"{name}: not made in {options.seconds} s: left out\n")
            continue
        except (AssertionError, OSError) as error:
            print(f"{name}: left out: {error}\n")
            continue
        pages += [{"name": f"{name}: {page}", "root": str(root), "path": path, "needle": needle, "size": size(root)} for page, path, needle in paths]
    script, list_file = folder / "measure.js", folder / "pages.json"
    script.write_text(BROWSER)
    list_file.write_text(json.dumps(pages))
    command = ["node", str(script), str(options.peers), options.chromium, str(options.rounds), str(list_file)]
    measured = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    print(f"{results} results: {ARMS} arms on {questions} questions; medians of {options.rounds}; Chromium {measured['browser']}; {', '.join(versions(options))}\n")
    print("| report: page | loaded, MB | files | other hosts | content, ms | ready, ms | DOM nodes | axe: rules × nodes | text without JavaScript | from `file://` | all of it, MB | all files |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    for page, found in zip(pages, measured["results"]):
        axe = "not done" if found["axe"] is None else f"{len(found['axe'])} × {sum(rule[2] for rule in found['axe'])}"
        print(
            f"| {page['name']} | {megabytes(found['bytes'])} | {found['files']} | {found['others']} | {milliseconds(found, 'content')} | {milliseconds(found, 'ready')}"
            f" | {found['nodes']:,} | {axe} | {found['text']:,} | {'yes' if found['local'] else '**no**'} | {megabytes(page['size'][0])} | {page['size'][1]:,} |"
        )
    print()
    for page, found in zip(pages, measured["results"]):
        if found["axe"]:
            print(f"axe, {page['name']}: " + ", ".join(f"{rule} ({impact}) × {nodes}" for rule, impact, nodes in found["axe"]))
    ratios(pages, measured["results"])


def ratios(pages, results):
    """Each page as a multiple of the first one, the overview of evalreport."""
    print("\n| times evalreport's overview | loaded | content | ready | DOM nodes |")
    print("| --- | ---: | ---: | ---: | ---: |")
    figures = lambda found: (found["bytes"], times(found, "content")[0], times(found, "ready")[0], found["nodes"])
    base = figures(results[0])
    for page, found in list(zip(pages, results))[1:]:
        cells = ["" if value is None or not of else f"{value / of:.1f}" for value, of in zip(figures(found), base)]
        print(f"| {page['name']} | {' | '.join(cells)} |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, default=ROOT / "target/bench-reports", help="folder that Playwright, Allure and axe are installed into")
    parser.add_argument("--binary", default=str(ROOT / "target/release/evalreport"))
    parser.add_argument("--python", default=sys.executable, help="a Python that has inspect_ai")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome") or "chromium")
    parser.add_argument("--results", type=int, nargs="+", default=[1000], help=f"how many results, in whole {ARMS}ths; several are measured one after the other")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1800, help="longest time for one tool to make its report")
    parser.add_argument("--leave-out", nargs="+", default=[], metavar="TOOL", help="tools not to measure, such as playwright, which needs an hour for 10,000 results")
    parser.add_argument("--keep", type=Path, help="an empty folder to leave the reports in")
    options = parser.parse_args()
    options.peers = options.peers.resolve()
    options.peers.mkdir(parents=True, exist_ok=True)
    missing = [package for package in PACKAGES if not (options.peers / "node_modules" / package).is_dir()]
    if missing:
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *missing], cwd=options.peers, check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        for results in options.results:
            measure(options.keep.resolve() if options.keep else Path(folder), results, options)


if __name__ == "__main__":
    main()
