// Packs a program, installs the tarballs into an empty folder without a network, and runs it through npx.
//
//   EVALREPORT_BINARY=PATH node --test npm/test.mjs

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { packageFacts } from "../packaging/facts.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const binary = process.env.EVALREPORT_BINARY;
assert.ok(binary && existsSync(binary), "EVALREPORT_BINARY names the program to test");
const platform = `${process.platform}-${process.arch}`;
const { version } = packageFacts();
const work = mkdtempSync(join(tmpdir(), "evalreport-npm-test-"));
after(() => rmSync(work, { recursive: true, force: true }));

// A cache of its own and a registry that nobody serves: whatever is not in the tarballs is missing.
const env = {
  ...process.env,
  npm_config_cache: join(work, "cache"),
  npm_config_registry: "http://127.0.0.1:9/",
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
  npm_config_fund: "false",
};

function packed(program, out) {
  const said = execFileSync(process.execPath, [join(here, "pack.mjs"), "--out", out, "--binary", `${platform}=${program}`], {
    encoding: "utf8",
    env,
  });
  return said.trim().split("\n");
}

function installed(name, tarballs) {
  const folder = join(work, name);
  mkdirSync(folder);
  execFileSync("npm", ["install", "--offline", "--silent", "--no-save", ...tarballs], { cwd: folder, env, stdio: "pipe" });
  return folder;
}

const npx = (folder, ...words) => spawnSync("npx", ["--offline", "evalreport", ...words], { cwd: folder, env, encoding: "utf8" });

/** Writes three reports of test runs. The first `failing` of 60 tests fail. */
function reports(folder, failing, day) {
  mkdirSync(folder, { recursive: true });
  for (const run of [0, 1, 2]) {
    const cases = Array.from({ length: 60 }, (_, at) => {
      const failure = at < failing + (failing > 0 ? run : 0) ? '<failure message="expected 1"/>' : "";
      return `<testcase classname="c" name="t${at}" time="1">${failure}</testcase>`;
    });
    const named = '<properties><property name="approach" value="a"/><property name="model" value="m"/></properties>';
    const text = `<testsuite name="api" timestamp="2026-01-0${day + run}T00:00:00Z">${named}${cases.join("")}</testsuite>`;
    writeFileSync(join(folder, `r${run}.xml`), text);
  }
}

/** A program that stands in for evalreport. */
function script(name, text) {
  const path = join(work, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

let tarballs;
let folder;
before(() => {
  tarballs = packed(binary, join(work, "out"));
  const started = performance.now();
  folder = installed("project", tarballs);
  reports(join(folder, "old"), 1, 1);
  reports(join(folder, "new"), 1, 4);
  reports(join(folder, "bad"), 20, 4);
  const verdict = npx(folder, "gate", "./bad", "--baseline", "old", "--max-drop", "5pp");
  assert.equal(verdict.status, 1, verdict.stderr);
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(`npm: from tarballs to a verdict in ${seconds.toFixed(1)} s\n`);
});

test("the version is that of Cargo.toml", () => {
  const got = npx(folder, "--version");
  assert.deepEqual([got.status, got.stdout.trim()], [0, `evalreport ${version}`]);
});

test("only the package of this platform is installed, and nothing has an install script", () => {
  assert.deepEqual(readdirSync(join(folder, "node_modules", "@evalreport")), [platform]);
  for (const name of ["evalreport", `@evalreport/${platform}`]) {
    const manifest = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.version, version);
  }
});

test("a verdict on files, with the program's exit codes", () => {
  const gate = (...words) => npx(folder, "gate", ...words);
  const code = (...words) => gate(...words).status;
  assert.equal(code("./new", "--baseline", "old", "--max-drop", "20pp"), 0);
  const worse = gate("./bad", "--baseline", "old", "--max-drop", "5pp");
  assert.equal(worse.status, 1);
  assert.match(worse.stdout, /regression/);
  // Without a rule it is --no-new-failures.
  assert.equal(code("./new", "--baseline", "old"), 0);
  assert.equal(code("./new", "--baseline", "nothing", "--max-drop", "5pp"), 2);
});

test("words reach the program as they are", () => {
  const stand = installed("words", packed(script("words.sh", 'for word do printf "[%s]" "$word"; done'), join(work, "words-out")));
  const launcher = join(stand, "node_modules", "evalreport", "bin", "evalreport.js");
  const words = ["a b", "", "$HOME", "*", "--x=1", "'"];
  const got = spawnSync(process.execPath, [launcher, ...words], { encoding: "utf8" });
  assert.equal(got.stdout, "[a b][][$HOME][*][--x=1][']");
});

test("signals reach the program, and the end by a signal is passed on", { skip: process.platform === "win32" }, async () => {
  // Not a shell: that cannot catch a signal which was ignored when it started, as Ctrl-C is in background jobs.
  const waits = join(work, "waits.js");
  const on = '["SIGTERM", "SIGINT", "SIGHUP"].forEach((name) => process.on(name, () => { console.log(name); process.exit(7); }));';
  writeFileSync(waits, `#!/usr/bin/env node\n${on}\nconsole.log("ready");\nsetTimeout(() => process.exit(9), 20000);\n`);
  chmodSync(waits, 0o755);
  const stand = installed("signals", packed(waits, join(work, "signals-out")));
  const launcher = join(stand, "node_modules", "evalreport", "bin", "evalreport.js");
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    const child = spawn(process.execPath, [launcher], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (data) => {
      said += data;
      if (said === "ready\n") {
        child.kill(signal);
      }
    });
    const end = await new Promise((resolve) => child.on("close", (...words) => resolve(words)));
    assert.deepEqual([said, ...end], [`ready\n${signal}\n`, 7, null]);
  }
  const killed = installed("killed", packed(script("killed.sh", "kill -KILL $$"), join(work, "killed-out")));
  const end = spawnSync(process.execPath, [join(killed, "node_modules", "evalreport", "bin", "evalreport.js")]);
  assert.deepEqual([end.status, end.signal], [null, "SIGKILL"]);
});

test("without the platform's package the message says so", () => {
  const only = installed("alone", [tarballs.find((path) => /evalreport-\d/.test(path) && !path.includes(platform))]);
  const got = npx(only, "--version");
  assert.equal(got.status, 2);
  assert.match(got.stderr, new RegExp(`^error: the package \`@evalreport/${platform}\` is not installed\n  hint: `));
});

test("an unknown platform is told", () => {
  const launcher = join(folder, "node_modules", "evalreport", "bin", "evalreport.js");
  const got = spawnSync(process.execPath, ["-e", `Object.defineProperty(process, "platform", { value: "aix" }); require(${JSON.stringify(launcher)})`], {
    encoding: "utf8",
  });
  assert.equal(got.status, 2);
  assert.match(got.stderr, /^error: evalreport has no package for aix-/);
});

test("a release needs every platform", () => {
  const got = spawnSync(process.execPath, [join(here, "pack.mjs"), "--out", join(work, "all"), "--binary", `${platform}=${binary}`, "--all"], {
    encoding: "utf8",
  });
  assert.equal(got.status, 2);
  assert.match(got.stderr, /no program for /);
});
