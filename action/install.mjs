// Installs a released program: downloads the archive of this platform, and unpacks it if its checksum is the published one.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const platforms = JSON.parse(readFileSync(new URL("../npm/platforms.json", import.meta.url), "utf8"));
const TRIES = 4;

async function download(address, log) {
  for (let attempt = 1; ; attempt += 1) {
    let why;
    let isFinal = false;
    try {
      const response = await fetch(address, { signal: AbortSignal.timeout(300_000) });
      const { protocol, hostname } = new URL(response.url);
      const isPrivate = protocol === "https:" || hostname === "127.0.0.1";
      if (response.ok && isPrivate) {
        return Buffer.from(await response.arrayBuffer());
      }
      why = isPrivate ? String(response.status) : `it leads to ${response.url}, which is not https`;
      isFinal = !isPrivate || (response.status < 500 && response.status !== 429);
    } catch (error) {
      why = `no answer (${error.cause?.code ?? error.name})`;
    }
    if (isFinal || attempt === TRIES) {
      throw new Error(`cannot download ${address}: ${why}`);
    }
    log(`download: ${why}; attempt ${attempt + 1} of ${TRIES} follows`);
    await new Promise((resolve) => setTimeout(resolve, Number(process.env.EVALREPORT_ACTION_WAIT_MS || 1000) * 2 ** (attempt - 1)));
  }
}

/** Checks with GitHub's program that the release workflow of `repository` built the file. Says so if it cannot. */
function attest({ file, repository, token, log }) {
  const unchecked = (why) => log(`attestation not checked: ${why}`);
  if (!repository) {
    return unchecked("no repository is set");
  }
  if ((process.env.GITHUB_SERVER_URL ?? "https://github.com") !== "https://github.com") {
    return unchecked("this is not github.com");
  }
  const env = { ...process.env, GH_TOKEN: token };
  if (spawnSync("gh", ["attestation", "verify", "--help"], { env }).status !== 0) {
    return unchecked("gh is not installed, or too old");
  }
  const workflow = `${repository}/.github/workflows/release.yml`;
  const words = ["attestation", "verify", file, "--repo", repository, "--signer-workflow", workflow];
  const got = spawnSync("gh", words, { env, encoding: "utf8", timeout: 120_000 });
  if (got.status !== 0) {
    throw new Error(`${basename(file)} has no valid attestation of ${workflow}: ${(got.stderr ?? "").trim().split("\n").at(-1)}`);
  }
  return log(`attested: built by ${workflow}`);
}

/** Returns the path of the installed program. `release` is the address that holds the archives and SHA256SUMS. */
export async function install({ release, version, folder, repository, token, log }) {
  const platform = platforms[`${process.platform}-${process.arch}`];
  if (!platform) {
    throw new Error(`no release for ${process.platform}-${process.arch}: build evalreport, and give its path as \`binary\``);
  }
  const name = `evalreport-v${version}-${platform.target}`;
  const archive = `${name}.${process.platform === "win32" ? "zip" : "tar.gz"}`;
  const sums = (await download(`${release}/SHA256SUMS`, log)).toString("utf8");
  const expected = sums
    .split("\n")
    .map((line) => line.match(/^([0-9a-f]{64}) [ *](.+)$/))
    .find((found) => found?.[2] === archive)?.[1];
  if (!expected) {
    throw new Error(`${release}/SHA256SUMS does not list ${archive}`);
  }
  const bytes = await download(`${release}/${archive}`, log);
  const got = createHash("sha256").update(bytes).digest("hex");
  if (got !== expected) {
    throw new Error(`${archive} has the checksum ${got}, but SHA256SUMS lists ${expected}: it is damaged or was replaced`);
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, archive), bytes);
  attest({ file: join(folder, archive), repository, token, log });
  // The tar of Windows reads ZIP files too. Relative names: a drive's colon would mean another machine to GNU tar.
  execFileSync("tar", ["-xf", basename(archive)], { cwd: folder });
  const program = join(folder, name, platform.program);
  chmodSync(program, 0o755);
  return program;
}
