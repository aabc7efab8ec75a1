#!/bin/sh
# Judges a capture by tshark's GIOP dissector.
#
#   tshark-check.sh CAPTURE.pcap [TCP_PORT]
#
# Counts GIOP messages by type and fails when a message is malformed, when the dissector's expert has
# an error to tell, when octets of the port are neither GIOP nor ZIOP (which is counted apart), or
# when there is no message at all. With a port everything to and from it is taken for GIOP; without
# one tshark recognises GIOP by itself.
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ ! -r "$1" ]; then
    echo "usage: $0 CAPTURE.pcap [TCP_PORT]" >&2
    exit 2
fi
command -v tshark >/dev/null || { echo "$0: no tshark" >&2; exit 2; }

capture=$1
scope=giop
decode=
if [ $# -eq 2 ]; then
    decode="-d tcp.port==$2,giop"
    scope="tcp.port==$2"
fi

# The dissectors of Tango, Parlay and GIAS guess by operation names as common as `ping`.
dissect() {
    # shellcheck disable=SC2086
    tshark -2 -n -r "$capture" $decode -o giop.max_message_size:268435456 \
        --disable-protocol giop-tango --disable-protocol giop-parlay --disable-protocol giop-gias "$@" 2>/dev/null
}

# tshark 4.0 reads CosNaming's NotFound as something else, and takes a correct one for malformed. It expects the reference
# of a LocateReply at a multiple of 8, as the bodies of requests and replies of GIOP 1.2 are; omniORB reads it, and others
# write it, right after the status.
sound='!(giop.exceptionid == "IDL:omg.org/CosNaming/NamingContext/NotFound:1.0") && !(giop.type == 4 && giop.minor_version == 2 && giop.locale_status == 2)'

# Lists the frames that match, at most ten, under a title; fails when there are any.
none() {
    found=$(dissect -Y "($2) && $sound")
    [ -z "$found" ] && return 0
    echo "FAIL $1: $(echo "$found" | wc -l) frames"
    echo "$found" | head -10
    return 1
}

dissect -Y giop -T fields -e giop.type -E occurrence=a -E aggregator=' ' | tr ' ' '\n' | awk '
    BEGIN { split("Request Reply CancelRequest LocateRequest LocateReply CloseConnection MessageError Fragment", name) }
    { kind = ($1 ~ /^0x/) ? substr($1, 3) + 0 : $1 + 0; if ($1 != "") count[kind]++ }
    END {
        for (k = 0; k < 8; k++) if (count[k]) { printf "%-16s %d\n", name[k + 1], count[k]; all += count[k] }
        printf "%-16s %d\n", "all", all
        exit all == 0
    }' || { echo "FAIL no GIOP message"; exit 1; }

zipped=$(dissect -Y ziop | wc -l)
[ "$zipped" -eq 0 ] || printf '%-16s %d\n' ZIOP "$zipped"

failed=0
none "malformed" "($scope) && (_ws.malformed || _ws.short || _ws.unreassembled)" || failed=1
none "expert errors" "($scope) && giop && _ws.expert.severity == error" || failed=1
none "unknown version, type or length" "($scope) && (giop.version_not_supported || giop.length_too_big || giop.message_size_too_big || giop.minor_version > 2 || giop.major_version != 1 || giop.type > 7)" || failed=1
none "fragments not put together" "($scope) && (giop.fragment.error || giop.fragment.overlap || giop.fragment.toolongfragment || giop.fragment.multipletails)" || failed=1
if [ $# -eq 2 ]; then
    none "no GIOP" "($scope) && tcp.len > 0 && !giop && !ziop && !tcp.reassembled_in && !tcp.analysis.retransmission" || failed=1
fi
exit $failed
