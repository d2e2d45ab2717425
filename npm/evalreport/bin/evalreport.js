#!/usr/bin/env node
"use strict";

// Starts the program of this machine's platform package, and ends as it ends.

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const name = `@evalreport/${platform}`;
// Platforms that have a package.
const offered = Object.keys(require("../package.json").optionalDependencies || {});

// "Wrong arguments, configuration or data", as the program itself says it.
const UNUSABLE = 2;

function fail(message, hint) {
  process.stderr.write(`error: ${message}\n  hint: ${hint}\n`);
  process.exit(UNUSABLE);
}

function find() {
  const program = process.platform === "win32" ? "evalreport.exe" : "evalreport";
  try {
    return require.resolve(`${name}/bin/${program}`);
  } catch {
    if (!offered.includes(name)) {
      const platforms = offered.map((other) => other.split("/")[1]).join(", ");
      fail(`evalreport has no package for ${platform}`, `there are: ${platforms}; build it with cargo on other platforms`);
    }
    fail(
      `the package \`${name}\` is not installed`,
      "install evalreport again with optional dependencies: without --omit=optional, and with a lock file that lists this platform"
    );
  }
}

const program = find();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// A terminal sends Ctrl-C to every process of the group. A second signal from here would end the program without cleanup.
const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  if (process.platform === "win32" && signal === "SIGQUIT") {
    continue;
  }
  process.on(signal, () => {
    if (signal === "SIGTERM" || !hasTerminal) {
      child.kill(signal);
    }
  });
}

child.on("error", (error) => fail(`cannot start \`${program}\`: ${error.message}`, "install evalreport again"));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // Ends by the same signal, so that a shell sees it.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // If the signal does not end this process: the code that a shell gives.
  setTimeout(() => process.exit(128 + (constants.signals[signal] || 0)), 1000);
});
