#!/bin/sh
# Builds the omniORB peers and lets them judge each other, so that a failure against another ORB is
# that ORB's.
#
#   run-omniorb-selftest.sh [OUT]           builds into OUT (a temporary directory by default)
#
# One line per mode: `ok`, `FAIL` (with what failed) or `skip`; ends with 0 when none failed. All
# sockets are on the loopback interface, on ports that the kernel chooses.
set -u

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
out=${1:-$scratch/peers}
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$scratch"' EXIT
failed=0

make -s -C "$here" OUT="$(mkdir -p "$out" && cd "$out" && pwd)" >"$scratch/make" 2>&1 || {
    cat "$scratch/make"
    exit 2
}

row() {
    printf '%-4s %-34s %s\n' "$1" "$2" "$3"
    [ "$1" = FAIL ] && failed=1
    return 0
}

# Waits, at most ten seconds, until a command succeeds.
until_true() {
    for _ in $(seq 100); do
        "$@" 2>/dev/null && return 0
        sleep 0.1
    done
    return 1
}

# start PROGRAM OPTION...: runs a server until `stop`; its reference is in $reference, its port in $port.
start() {
    rm -f "$scratch/in" "$scratch/reference"
    mkfifo "$scratch/in"
    "$out/$@" <"$scratch/in" >"$scratch/reference" 2>"$scratch/server-errors" &
    server=$!
    pids="$pids $server"
    exec 9>"$scratch/in"
    until_true test -s "$scratch/reference"
    reference=$(cat "$scratch/reference")
    port=$(catior "$reference" | awk '$2 == "IIOP" { print $5; exit }')
}

# Fails when the server did not end by itself with 0.
stop() {
    exec 9>&-
    wait "$server"
}

# judge MODE COMMAND...: a row by the command's status, 77 being a skip; what failed below it.
judge() {
    mode=$1
    shift
    timeout 150 "$@" >"$scratch/said" 2>&1
    status=$?
    last=$(tail -1 "$scratch/said")
    case $status in
        0) row ok "$mode" "$last" ;;
        77) row skip "$mode" "$last" ;;
        *)
            row FAIL "$mode" "status $status"
            grep -v -e '^ok ' -e '^skip ' "$scratch/said" | sed 's/^/         /'
            ;;
    esac
}

# mode NAME SERVER_OPTIONS CLIENT_OPTIONS
mode() {
    # shellcheck disable=SC2086
    start interop_server $2
    # shellcheck disable=SC2086
    judge "$1" "$out/interop_client" $3 "$reference"
    stop || row FAIL "$1" "the server ended with $?: $(cat "$scratch/server-errors")"
}

disorder="--except oneway.order"
utf8="-ORBnativeCharCodeSet UTF-8"

mode "GIOP 1.2"                         ""                                  "$disorder"
mode "GIOP 1.1"                         "-ORBmaxGIOPVersion 1.1"            "-ORBmaxGIOPVersion 1.1 $disorder"
mode "GIOP 1.0"                         "-ORBmaxGIOPVersion 1.0"            "-ORBmaxGIOPVersion 1.0 $disorder"
mode "GIOP 1.0 client"                  ""                                  "-ORBmaxGIOPVersion 1.0 $disorder"
mode "GIOP 1.0 server"                  "-ORBmaxGIOPVersion 1.0"            "$disorder"
mode "oneways in order"                 "-ORBmaxServerThreadPerConnection 1" ""
mode "UTF-8"                            "$utf8"                             "$utf8 $disorder"
mode "UTF-8 client"                     ""                                  "$utf8 --latin-peer $disorder"
mode "UTF-8 server"                     "$utf8"                             "$disorder"
mode "UTF-8, GIOP 1.0"                  "$utf8 -ORBmaxGIOPVersion 1.0"      "$utf8 $disorder"
mode "no LocateRequest"                 ""                                  "-ORBverifyObjectExistsAndType 0 $disorder"
mode "calls interleaved"                ""                                  "-ORBoneCallPerConnection 0 -ORBmaxInterleavedCallsPerConnection 32 $disorder"
mode "thread pool"                      "-ORBthreadPerConnectionPolicy 0"   "$disorder"
mode "writes and reads of 1 KiB"        "-ORBmaxSocketSend 1024 -ORBmaxSocketRecv 1024" "-ORBmaxSocketSend 1024 -ORBmaxSocketRecv 1024 $disorder"
mode "Unix sockets"                     "-ORBendPoint giop:unix:$scratch/server" "-ORBendPoint giop:unix:$scratch/client $disorder"

if grep -q '^0*1 ' /proc/net/if_inet6 2>/dev/null; then
    mode "IPv6"                         "-ORBendPoint giop:tcp:[::1]:"      "-ORBendPoint giop:tcp:[::1]: $disorder"
else
    row skip "IPv6" "no ::1 here"
fi

# A corbaloc tells no code sets: without a default omniORB sends no wide characters to one.
start interop_server
for version in 1.0 1.1 1.2; do
    # shellcheck disable=SC2086
    judge "corbaloc, $version" "$out/interop_client" -ORBdefaultWCharCodeSet UTF-16 $disorder --except bulk \
        "corbaloc:iiop:$version@127.0.0.1:$port/suite"
done

names=$scratch/names
mkdir "$names"
omniNames -start 1 -always -datadir "$names" -errlog "$names/log" -ORBendPoint giop:tcp:127.0.0.1: 2>/dev/null &
names_pid=$!
pids="$pids $names_pid"
until_true grep -q "Checkpointing completed" "$names/log"
names_port=$(catior "$(sed -n 's/.*Root context is \(IOR:.*\)/\1/p' "$names/log")" | awk '$2 == "IIOP" { print $5; exit }')
service="corbaloc::127.0.0.1:$names_port/NameService"

judge "nameclt and omniNames" "$here/nameclt-session.sh" "$service"
nameclt -ORBInitRef "NameService=$service" bind_new_context inter.op >/dev/null
nameclt -ORBInitRef "NameService=$service" bind inter.op/the%suite.object "$reference"
# shellcheck disable=SC2086
judge "corbaname" "$out/interop_client" $disorder --except bulk "corbaname::127.0.0.1:$names_port#inter.op/the%25suite.object"
kill $names_pid
wait $names_pid 2>/dev/null

# shellcheck disable=SC2086
judge "captured" "$here/capture.sh" "$scratch/suite.pcap" "$port" "$out/interop_client" $disorder "$reference"
if [ "$status" -eq 0 ]; then
    judge "captured: decoded by tshark" "$here/tshark-check.sh" "$scratch/suite.pcap" "$port"
    fragments=$(awk '$1 == "Fragment"' "$scratch/said")
    [ -n "$fragments" ] && row ok "captured: in fragments" "$fragments" || row FAIL "captured: in fragments" "no Fragment message"
else
    row skip "captured: decoded by tshark" "nothing captured"
fi
stop || row FAIL "the last server" "ended with $?"

start bench_server --objects 100
for threads in 1 8; do
    judge "bench: $threads threads" "$out/bench_client" -ORBmaxGIOPConnectionPerServer 32 "$reference" move 4096 400 40 $threads
done
printf 'ping 0 100\nmove 65536 20\npost 0 100\n' >"$scratch/rounds"
judge "bench: rounds" sh -c '"$1" "$2" --rounds <"$3"' - "$out/bench_client" "$reference" "$scratch/rounds"
stop || row FAIL "the bench server" "ended with $?"

exit $failed
