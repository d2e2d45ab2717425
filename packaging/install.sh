#!/bin/sh
# Installs the newest release of evalreport for this machine, as you and without root. The archive's checksum is compared before anything
# of it is unpacked. A checksum from the same address finds damage; where the archive was built, its attestation says, which GitHub's program
# `gh` checks if it is installed and logged in.
#
#   sh install.sh [--version 1.2.3] [--dir DIR] [--attested]
#
# --attested installs nothing whose attestation cannot be checked.
# EVALREPORT_REPOSITORY is OWNER/NAME of the repository that has the releases; a released install.sh knows its own. EVALREPORT_RELEASE_URL
# is an address that holds SHA256SUMS and the archives, such as a mirror or file:///srv/evalreport.
set -eu

# The release puts the repository's name here.
REPOSITORY=OWNER/evalreport

main() {
  version=${EVALREPORT_VERSION:-latest}
  dir=${EVALREPORT_INSTALL_DIR:-${HOME:-}/.local/bin}
  attested=no
  while [ $# -gt 0 ]; do
    case $1 in
      --version) [ $# -ge 2 ] || fail '--version needs a value' 'as in --version 1.2.3'; version=$2; shift 2 ;;
      --dir) [ $# -ge 2 ] || fail '--dir needs a value' 'as in --dir ~/bin'; dir=$2; shift 2 ;;
      --attested) attested=yes; shift ;;
      -h | --help) echo 'usage: sh install.sh [--version 1.2.3] [--dir DIR] [--attested]'; exit 0 ;;
      *) fail "unknown argument \`$1\`" 'sh install.sh --help lists all' ;;
    esac
  done
  version=${version#v}
  case $version in
    *[!0-9A-Za-z.+-]* | '') fail "\`$version\` is no version" 'as in --version 1.2.3' ;;
  esac
  [ "$dir" != /.local/bin ] || fail 'HOME is not set' 'name a folder with --dir'
  has tar || fail 'tar is not installed' 'install it with the system packages'

  target=$(target)
  release=$(release)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM

  download "$release/SHA256SUMS" "$work/SHA256SUMS"
  # Only names that a release can have: the name becomes a path.
  archive=$(sed -n "s/^[0-9a-f]\{64\} [ *]\(evalreport-v[0-9A-Za-z.+-]*-$target\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
  case $archive in
    '') fail "the release has no archive for $target" "$release/SHA256SUMS lists what it has" ;;
    *'
'*) fail "the release has several archives for $target" "$release/SHA256SUMS lists them" ;;
  esac
  if [ "$version" != latest ] && [ "$archive" != "evalreport-v$version-$target.tar.gz" ]; then
    fail "the release at $release is not version $version" 'its SHA256SUMS lists other archives'
  fi
  download "$release/$archive" "$work/$archive"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$archive\$/\1/p" "$work/SHA256SUMS")
  got=$(checksum "$work/$archive")
  if [ "$got" != "$expected" ]; then
    fail "$archive has the checksum $got, but SHA256SUMS lists $expected" 'it is damaged or was replaced; nothing is installed'
  fi
  attest "$work/$archive"

  tar -xzf "$work/$archive" -C "$work"
  program=$work/${archive%.tar.gz}/evalreport
  [ -f "$program" ] || fail "$archive holds no evalreport" 'report this as a defect of the release'
  chmod 755 "$program"
  said=$("$program" --version 2>/dev/null) || fail "evalreport for $target does not start on this machine" 'build it from source instead'
  mkdir -p "$dir" 2>/dev/null || fail "cannot make the folder $dir" 'name another with --dir'
  # First beside the old one, then in its place: a running program is not disturbed, and half a file is never seen.
  { cp "$program" "$dir/.evalreport.$$" && mv -f "$dir/.evalreport.$$" "$dir/evalreport"; } 2>/dev/null || {
    rm -f "$dir/.evalreport.$$"
    fail "cannot write into $dir" 'name another folder with --dir'
  }
  echo "installed $said as $dir/evalreport"
  echo "$origin"
  case :$PATH: in
    *":$dir:"*) ;;
    *) echo "$dir is not in PATH; add it: export PATH=\"$dir:\$PATH\"" ;;
  esac
}

fail() {
  printf 'error: %s\n  hint: %s\n' "$1" "$2" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

target() {
  system=$(uname -s) machine=$(uname -m)
  case $system/$machine in
    Linux/x86_64 | Linux/amd64) echo x86_64-unknown-linux-musl ;;
    Linux/aarch64 | Linux/arm64) echo aarch64-unknown-linux-musl ;;
    Darwin/x86_64)
      # Under Rosetta the machine is another.
      if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then echo aarch64-apple-darwin; else echo x86_64-apple-darwin; fi ;;
    Darwin/arm64) echo aarch64-apple-darwin ;;
    *) fail "there is no release for $system on $machine" 'build it from source, or on Windows use Scoop' ;;
  esac
}

# Says in $origin where the archive $1 was built, as far as that can be checked.
attest() {
  repository=${EVALREPORT_REPOSITORY:-$REPOSITORY}
  workflow=$repository/.github/workflows/release.yml
  origin='attestation not checked:'
  case $repository in
    OWNER/*) origin="$origin no repository is set" ;;
    *)
      if ! has gh; then
        origin="$origin gh is not installed"
      elif ! gh attestation verify --help >/dev/null 2>&1; then
        origin="$origin this gh is too old for it"
      elif ! gh auth status >/dev/null 2>&1; then
        origin="$origin gh is not logged in"
      elif gh attestation verify "$1" --repo "$repository" --signer-workflow "$workflow" >/dev/null 2>&1; then
        origin="attested: built by $workflow"
        return
      else
        fail "$archive has no valid attestation of $workflow" "it may have been replaced; nothing is installed. See \`gh attestation verify\`"
      fi ;;
  esac
  [ "$attested" = no ] || fail "$origin" 'without --attested, the checksum alone is compared'
}

release() {
  if [ -n "${EVALREPORT_RELEASE_URL:-}" ]; then
    echo "${EVALREPORT_RELEASE_URL%/}"
    return
  fi
  repository=${EVALREPORT_REPOSITORY:-$REPOSITORY}
  case $repository in
    OWNER/*) fail 'no repository is set' 'set EVALREPORT_REPOSITORY to OWNER/NAME, or take install.sh from a release' ;;
  esac
  if [ "$version" = latest ]; then
    echo "https://github.com/$repository/releases/latest/download"
  else
    echo "https://github.com/$repository/releases/download/v$version"
  fi
}

# $1 is the address, $2 the file. Encrypted, unless it is a file or this machine.
download() {
  case $1 in
    https://* | file://* | http://127.0.0.1:* | http://localhost:*) ;;
    *) fail "$1 is neither https nor a file" 'use an https address' ;;
  esac
  case $1 in
    file://*)
      cp "${1#file://}" "$2" 2>/dev/null || fail "cannot read ${1#file://}" 'look at EVALREPORT_RELEASE_URL' ;;
    *)
      if has curl; then
        set -- "$1" "$2" '=https'
        case $1 in http://*) set -- "$1" "$2" '=http,https' ;; esac
        curl --proto "$3" --proto-redir '=https' --tlsv1.2 -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1" 'check the network and the version'
      elif has wget; then
        with_wget "$1" "$2"
      else
        fail 'neither curl nor wget is installed' 'install one with the system packages'
      fi ;;
  esac
}

# Downloads $1 into $2, one request for each redirect: wget follows redirects from https to http, also with --https-only, which is about
# links in pages.
with_wget() {
  from=$1 steps=0
  while [ "$steps" -lt 10 ]; do
    steps=$((steps + 1)) ended=0
    wget --max-redirect=0 --server-response -nv -O "$2" "$from" 2>"$2.said" || ended=$?
    next=$(tr -d '\r' <"$2.said" | sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p' | tail -n 1)
    case $next in
      '')
        [ "$ended" = 0 ] || {
          grep -qi 'unrecognized option' "$2.said" && fail 'this wget cannot be kept to https' 'install curl or GNU wget'
          fail "cannot download $1" 'check the network and the version'
        }
        return ;;
      https://*) from=$next ;;
      *) fail "$from redirects to $next, which is not https" 'nothing is installed; check the network' ;;
    esac
  done
  fail "$1 redirects without end" 'check the address'
}

checksum() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail 'no program for checksums is installed' 'install sha256sum, shasum or openssl'
  fi
}

# Last, so that half a download of this script does nothing.
main "$@"
