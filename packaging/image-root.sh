#!/bin/sh
# Makes the root folder of the container image: packaging/image-root.sh PROGRAM DIR
set -eu
[ $# -eq 2 ] || { echo 'usage: image-root.sh PROGRAM DIR' >&2; exit 2; }
certificates=
for file in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  if [ -n "$file" ] && [ -s "$file" ]; then certificates=$file; break; fi
done
[ -n "$certificates" ] || { echo 'error: no certificates of authorities on this machine; install ca-certificates' >&2; exit 1; }
mkdir -p "$2/etc/ssl/certs" "$2/tmp" "$2/work"
cp "$1" "$2/evalreport"
chmod 755 "$2/evalreport"
cp "$certificates" "$2/etc/ssl/certs/ca-certificates.crt"
chmod 644 "$2/etc/ssl/certs/ca-certificates.crt"
echo 'evalreport:x:65532:65532::/tmp:/nothing' >"$2/etc/passwd"
echo 'evalreport:x:65532:' >"$2/etc/group"
chmod 1777 "$2/tmp"
chmod 777 "$2/work"
