#!/usr/bin/env node
// Writes the Homebrew formula and the Scoop manifest of a release from its checksums.
//
//   node packaging/manifests.mjs --sums SHA256SUMS --out DIR
//
// The version is that of Cargo.toml. EVALREPORT_REPOSITORY, else `packaging/repository`, says where the release is.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { packageFacts, repository } from "./facts.mjs";

function stop(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

const { values } = parseArgs({ options: { sums: { type: "string" }, out: { type: "string" } } });
if (!values.sums || !values.out) {
  stop("usage: node packaging/manifests.mjs --sums SHA256SUMS --out DIR");
}
const address = repository();
if (!address) {
  stop("no repository is set: write OWNER/NAME into packaging/repository, or set EVALREPORT_REPOSITORY");
}
const { version, description, license } = packageFacts();
const home = `https://github.com/${address}`;
const sums = new Map(
  readFileSync(values.sums, "utf8")
    .split("\n")
    .map((line) => line.match(/^([0-9a-f]{64}) [ *](\S+)$/))
    .filter(Boolean)
    .map(([, sum, name]) => [name, sum])
);

function archive(target, ending) {
  const name = `evalreport-v${version}-${target}`;
  const sum = sums.get(`${name}.${ending}`);
  if (!sum) {
    stop(`${values.sums} does not list ${name}.${ending}`);
  }
  return { name, url: `${home}/releases/download/v${version}/${name}.${ending}`, sum };
}

// Of a Ruby string: no interpolation, no end.
const quoted = (text) => `"${text.replace(/["\\#]/g, "\\$&")}"`;
const source = (target) => {
  const { url, sum } = archive(target, "tar.gz");
  return `      url ${quoted(url)}\n      sha256 ${quoted(sum)}`;
};
// At most 80 characters, as Homebrew's audit wants it, and without the details.
const short = description.split(":")[0];
const licences = license.split(" OR ").map(quoted).join(", ");

const formula = `class Evalreport < Formula
  desc ${quoted(short)}
  homepage ${quoted(home)}
  version ${quoted(version)}
  license any_of: [${licences}]

  on_macos do
    on_arm do
${source("aarch64-apple-darwin")}
    end
    on_intel do
${source("x86_64-apple-darwin")}
    end
  end

  on_linux do
    on_arm do
${source("aarch64-unknown-linux-musl")}
    end
    on_intel do
${source("x86_64-unknown-linux-musl")}
    end
  end

  def install
    bin.install "evalreport"
    bash_completion.install "completions/evalreport.bash" => "evalreport"
    zsh_completion.install "completions/_evalreport"
    fish_completion.install "completions/evalreport.fish"
    man1.install "man/evalreport.1"
  end

  test do
    assert_equal "evalreport #{version}", shell_output("#{bin}/evalreport --version").strip
  end
end
`;

const windows = archive("x86_64-pc-windows-msvc", "zip");
const next = (text) => text.replaceAll(version, "$version");
const manifest = {
  version,
  description: short,
  homepage: home,
  license: license.replaceAll(" OR ", "|"),
  architecture: { "64bit": { url: windows.url, hash: windows.sum, extract_dir: windows.name } },
  bin: "evalreport.exe",
  checkver: { github: home },
  autoupdate: {
    architecture: { "64bit": { url: next(windows.url), extract_dir: next(windows.name) } },
    hash: { url: "$baseurl/SHA256SUMS" },
  },
};

mkdirSync(values.out, { recursive: true });
writeFileSync(join(values.out, "evalreport.rb"), formula);
writeFileSync(join(values.out, "evalreport.json"), `${JSON.stringify(manifest, null, 4)}\n`);
