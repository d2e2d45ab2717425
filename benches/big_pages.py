#!/usr/bin/env python3
"""Measures in Chromium the largest page of every kind of a built site: time to load, DOM nodes, JavaScript heap, parts of the index that a filter loads.

    python3 benches/big_pages.py target/million-site

A kind is a page's address without what the data name: `suites/*/i/.html` are all pages of items. Pages are opened from the disk, each in a new
tab, as a reader opens them. "Load" is the time from the navigation to the second frame after the load event, the median over the rounds; "heap"
is what is in use after a collection of garbage. Where a page has a field to filter or to search, a word is typed into it: "answer" is the time
to the second frame after everything that it asked for is there, and "parts" the scripts that it loaded. Prints a Markdown table and what is
beyond the limits; exits with 1 if anything is. Needs nothing but Python and Chromium.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LOAD_MS, NODES, HEAP_MB, PARTS, ANSWER_MS, PAGE_KB = 1000, 8000, 50, 4, 1000, 150


class Chromium:
    """A headless browser, spoken to through a pair of pipes."""

    def __init__(self, program, profile):
        to_browser, our_end = os.pipe()
        their_end, from_browser = os.pipe()
        # The browser reads from file 3 and writes to file 4.
        started = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
        self.process = subprocess.Popen(
            ["bash", "-c", started, program, *arguments, f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.writer, self.reader = os.fdopen(our_end, "wb"), os.fdopen(their_end, "rb")
        self.rest, self.number, self.requests = b"", 0, []

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while True:
            answer = self.receive()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        while b"\0" not in self.rest:
            part = self.reader.read1(1 << 20)
            if not part:
                sys.exit("the browser went away")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, session, script):
        answer = self.call("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def close(self):
        self.call("Browser.close")
        self.process.wait(timeout=30)


TWO_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))"
LOADED = f"new Promise(done => {{ const wait = () => document.readyState === 'complete' ? {TWO_FRAMES} : setTimeout(wait, 5); wait(); }})"
# What is typed is in many names. The search says "Loading" until all is there.
FILTERED = f"""new Promise(done => {{
    const field = document.querySelector('#search-field, input[id^=filter-]');
    if (!field) return done(null);
    const begun = performance.now();
    field.focus();
    field.value = '1';
    field.dispatchEvent(new Event('input'));
    const status = document.getElementById('search-status');
    const wait = () => status && status.textContent.startsWith('Loading') ? setTimeout(wait, 5)
        : requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
    wait();
}})"""


def kind(page):
    """The address without what is named by the data: pages of one template have one kind."""
    *folders, file = page.split("/")
    if "--" in file:
        file = "pair.html"
    elif folders and folders[-1] == "items" and file != "index.html":
        file = "list.html"
    elif len(folders) == 1 and folders[0] in ("arms", "embed", "search") and file != "index.html":
        file = "named.html"
    file = re.sub(r"\d", "", file)
    return "/".join("*" if depth == 1 else folder for depth, folder in enumerate(folders)) + ("/" if folders else "") + file


def largest(site):
    pages, counts = {}, {}
    for path in site.rglob("*.html"):
        page, size = path.relative_to(site).as_posix(), path.stat().st_size
        of = kind(page)
        counts[of] = counts.get(of, 0) + 1
        pages[of] = max(pages.get(of, (0, "")), (size, page))
    return {of: (counts[of], size, page) for of, (size, page) in sorted(pages.items())}


def visit(browser, address):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    browser.call("Network.enable", session)
    browser.call("Page.enable", session)
    browser.call("Page.navigate", session, url=address)
    found = {"load": browser.evaluate(session, LOADED), "nodes": browser.evaluate(session, "document.querySelectorAll('*').length")}
    browser.requests.clear()
    found["answer"] = browser.evaluate(session, FILTERED)
    found["parts"] = sum(url.endswith(".js") for url in browser.requests)
    browser.call("HeapProfiler.collectGarbage", session)
    found["heap"] = browser.call("Runtime.getHeapUsage", session)["usedSize"] / 1e6
    browser.call("Target.closeTarget", targetId=target)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome") or "chromium")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    site = options.site.resolve()
    pages = largest(site)
    beyond = []
    with tempfile.TemporaryDirectory() as profile:
        browser = Chromium(options.chromium, profile)
        version = browser.call("Browser.getVersion")["product"]
        visit(browser, "about:blank")
        files = sum(path.is_file() for path in site.rglob("*"))
        print(f"{files:,} files; {version}; medians of {options.rounds}\n")
        print("| kind of page | pages | largest, KB | load, ms | DOM nodes | heap, MB | filter: answer, ms | parts |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for of, (count, size, page) in pages.items():
            visits = [visit(browser, f"file://{site}/{page}") for _ in range(options.rounds)]
            median = {name: statistics.median(found[name] for found in visits) if visits[0][name] is not None else None for name in visits[0]}
            answer = "" if median["answer"] is None else f"{median['answer']:.0f}"
            parts = "" if median["answer"] is None else f"{median['parts']:.0f}"
            print(
                f"| `{of}` | {count:,} | {size / 1e3:.0f} | {median['load']:.0f} | {median['nodes']:,.0f} | {median['heap']:.1f} | {answer} | {parts} |",
                flush=True,
            )
            limits = [("load", LOAD_MS), ("nodes", NODES), ("heap", HEAP_MB), ("answer", ANSWER_MS), ("parts", PARTS)]
            beyond += [f"{page}: {name} {median[name]:.0f} of {limit}" for name, limit in limits if (median[name] or 0) > limit]
            beyond += [f"{page}: {size} bytes of {PAGE_KB} KB"] if size > PAGE_KB * 1000 else []
        browser.close()
    print("\nBeyond the limits: " + ("; ".join(beyond) if beyond else "nothing"))
    sys.exit(1 if beyond else 0)


if __name__ == "__main__":
    main()
