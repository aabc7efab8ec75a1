#!/bin/sh
# Runs a command while the loopback interface is captured.
#
#   capture.sh FILE.pcap PORT[,PORT]... COMMAND [ARGUMENT]...
#
# Ends with the command's status. The capture holds those TCP ports only and ends with the command,
# after 120 s or at 256 MB. Needs tshark and the right to capture (root); ends with 77 when either is
# missing, before the command is run.
set -u

if [ $# -lt 3 ]; then
    echo "usage: $0 FILE.pcap PORT[,PORT]... COMMAND [ARGUMENT]..." >&2
    exit 2
fi
file=$1
filter="tcp port $(echo "$2" | sed 's/,/ or tcp port /g')"
shift 2
command -v tshark >/dev/null || { echo "capture.sh: no tshark" >&2; exit 77; }

said=$(mktemp)
tshark -q -n -i lo -B 64 -f "$filter" -w "$file" -a duration:120 -a filesize:262144 >/dev/null 2>"$said" &
tshark=$!
for _ in $(seq 100); do
    grep -q "Capture started" "$said" && break
    kill -0 $tshark 2>/dev/null || break
    sleep 0.1
done
if ! grep -q "Capture started" "$said"; then
    echo "capture.sh: tshark does not capture: $(tail -1 "$said")" >&2
    kill $tshark 2>/dev/null
    rm -f "$said"
    exit 77
fi

"$@"
status=$?

# The kernel hands over what it holds within a second.
sleep 1
kill -INT $tshark
wait $tshark 2>/dev/null
rm -f "$said"
exit $status
