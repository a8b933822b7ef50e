#!/usr/bin/env bash
# Runs the public conformance suite of HTTP caches against examples/proxy, and writes what it finds to
# results.json beside this script.
#
#   httpcache/conformance/run.sh DIR [TEST]
#
# DIR is a checkout of github.com/http-tests/cache-tests with its dependencies installed (npm install); nothing
# of it is part of this repository. With a TEST, that alone is run, and shown. It takes Go and Node.js, about two
# minutes, and the ports 8000 and 8002 of the loopback interface.
set -euo pipefail
suite=$(cd "$1" && pwd) test=${2:-}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

(cd "$here/../../examples" && go build -o "$work/proxy" ./proxy)
export npm_config_protocol=http npm_config_port=8000 npm_config_pidfile="$work/pid"
(cd "$suite" && exec node test-engine/server/server.mjs) >"$work/server.log" 2>&1 &
"$work/proxy" -origin http://127.0.0.1:8000 -listen 127.0.0.1:8002 2>"$work/proxy.log" &
for port in 8000 8002; do
	until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep .1; done
done
export npm_config_base=http://127.0.0.1:8002 npm_config_id=$test npm_package_config_id=
if [ -n "$test" ]; then
	cd "$suite" && node --no-warnings test-engine/cli.mjs
	exit
fi
(cd "$suite" && node --no-warnings test-engine/cli.mjs) >"$work/raw.json"
node --no-warnings "$here/report.mjs" "$suite" "$work/raw.json" "$here/results.json"
