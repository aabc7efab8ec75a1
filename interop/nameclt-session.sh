#!/bin/sh
# Drives a CORBA name service with omniORB's `nameclt` and judges each answer.
#
#   nameclt-session.sh NAME_SERVICE_URL     for instance corbaloc::127.0.0.1:2809/NameService
#
# One line per step, `ok STEP` or `FAIL STEP: why`; ends with 0 when all are ok. Works below one new
# context and removes it at the end. What it expects is what omniNames answers. Needs omniORB's
# `nameclt` and `genior` (Debian package omniorb).
set -u

if [ $# -ne 1 ]; then
    echo "usage: $0 NAME_SERVICE_URL" >&2
    exit 2
fi
for tool in nameclt genior; do
    command -v "$tool" >/dev/null || { echo "$0: no $tool" >&2; exit 2; }
done

url=$1
top=session-$$
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# References to nothing: names are bound to them, nobody calls them.
one=$(genior IDL:Bench/Target:1.0 127.0.0.1 9 one)
two=$(genior IDL:Bench/Target:1.0 127.0.0.1 9 two)

verdict() {
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        echo "FAIL $1: $2"
        failed=1
    fi
}

# nameclt's output, sorted since a context has no order, and its status in the last line.
answer() {
    timeout 20 nameclt -ORBInitRef "NameService=$url" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    LC_ALL=C sort "$scratch/out"
    cat "$scratch/err"
    echo "status $status"
}

# says STEP EXPECTED ARGUMENT...: EXPECTED is the whole answer, lines divided by `|`.
says() {
    step=$1 expected=$(printf '%s' "$2" | tr '|' '\n')
    shift 2
    got=$(answer "$@")
    if [ "$got" = "$expected" ]; then verdict "$step" ""; else verdict "$step" "$(echo "$got" | tr '\n' '|')"; fi
}

# makes STEP ARGUMENT...: the answer is the reference of a naming context.
makes() {
    step=$1
    shift
    got=$(answer "$@")
    case $got in
        IOR:*"status 0")
            # The type identifier, with or without the extended interface: "omg.org/CosNaming/NamingContext".
            case $got in
                *6f6d672e6f72672f436f734e616d696e672f4e616d696e67436f6e74657874*) verdict "$step" "" ;;
                *) verdict "$step" "no NamingContext: $got" ;;
            esac ;;
        *) verdict "$step" "$got" ;;
    esac
}

done_="status 0"

makes "context"                                          bind_new_context "$top"
says  "context: again"        "bind_new_context: AlreadyBound exception|status 1" bind_new_context "$top"
says  "list: empty"           "$done_"                   list "$top"
makes "context: nested"                                  bind_new_context "$top/sub.kind"
makes "context: in nested"                               bind_new_context "$top/sub.kind/deep"
says  "context: nowhere"      "bind_new_context: NotFound exception: missing node|status 1" bind_new_context "$top/none/deep"

says  "bind"                  "$done_"                   bind "$top/object" "$one"
says  "bind: kind"            "$done_"                   bind "$top/object.kind" "$two"
says  "bind: kind only"       "$done_"                   bind "$top/.kind" "$one"
says  "bind: escaped"         "$done_"                   bind "$top/a\\.b\\/c\\\\d.e" "$one"
says  "bind: nested"          "$done_"                   bind "$top/sub.kind/deep/object" "$two"
says  "bind: again"           "bind: AlreadyBound exception|status 1" bind "$top/object" "$two"
says  "bind: nowhere"         "bind: NotFound exception: missing node|status 1" bind "$top/none/object" "$one"
says  "bind: no name"         "bind: InvalidName exception|status 1" bind "$top//object" "$one"

says  "list"                  ".kind|a\\.b\\/c\\\\d.e|object|object.kind|sub.kind/|$done_" list "$top"
says  "list: nested"          "deep/|$done_"             list "$top/sub.kind"

says  "resolve"               "$one|$done_"              resolve "$top/object"
says  "resolve: kind"         "$two|$done_"              resolve "$top/object.kind"
says  "resolve: kind only"    "$one|$done_"              resolve "$top/.kind"
says  "resolve: escaped"      "$one|$done_"              resolve "$top/a\\.b\\/c\\\\d.e"
says  "resolve: nested"       "$two|$done_"              resolve "$top/sub.kind/deep/object"
makes "resolve: context"                                 resolve "$top/sub.kind"
says  "resolve: missing"      "resolve: NotFound exception: missing node|status 1" resolve "$top/none"
says  "resolve: other kind"   "resolve: NotFound exception: missing node|status 1" resolve "$top/object.other"
says  "resolve: no name"      "resolve: InvalidName exception|status 1" resolve ""

says  "rebind"                "$done_"                   -advanced rebind "$top/object" "$two"
says  "rebind: resolved"      "$two|$done_"              resolve "$top/object"
says  "rebind: new"           "$done_"                   -advanced rebind "$top/another" "$one"

makes "new context"                                      -advanced new_context
made=$(answer -advanced new_context | head -1)
says  "bind context"          "$done_"                   -advanced bind_context "$top/made" "$made"
says  "bind context: again"   "bind_context: AlreadyBound exception|status 1" -advanced bind_context "$top/made" "$made"
says  "bind context: used"    "$done_"                   bind "$top/made/object" "$one"
says  "bind context: found"   "$one|$done_"              resolve "$top/made/object"

# More than a listing brings at once, so that the rest comes by an iterator.
many=
for i in $(seq 100 220); do
    answer bind "$top/sub.kind/deep/$i" "$one" >"$scratch/many"
    grep -qx "status 0" "$scratch/many" || many="$many $i: $(tr '\n' '|' <"$scratch/many")"
done
verdict "bind: many" "$many"
says  "list: many"            "$(seq 100 220 | tr '\n' '|')object|$done_" list "$top/sub.kind/deep"

says  "unbind"                "$done_"                   unbind "$top/object"
says  "unbind: resolved"      "resolve: NotFound exception: missing node|status 1" resolve "$top/object"
# nameclt looks for the name in a listing before it unbinds, except with -advanced.
says  "unbind: again"         "Error: unbind: couldn't find binding|status 1" unbind "$top/object"
says  "unbind: missing"       "unbind: NotFound exception: missing node|status 1" -advanced unbind "$top/object"
says  "unbind: context"       "Error: unbind: can't unbind a naming context.|Use remove_context to remove an empty naming context.|status 1" unbind "$top/sub.kind"
says  "remove: not empty"     "remove_context: NotEmpty exception|status 1" remove_context "$top/sub.kind"

for i in $(seq 100 220); do answer unbind "$top/sub.kind/deep/$i" >/dev/null; done
for name in sub.kind/deep/object object.kind .kind 'a\.b\/c\\d.e' another made/object; do
    says "unbind: $name"      "$done_"                   unbind "$top/$name"
done
for name in made sub.kind/deep sub.kind; do
    says "remove: $name"      "$done_"                   remove_context "$top/$name"
done
says  "list: empty again"     "$done_"                   list "$top"
says  "remove"                "$done_"                   remove_context "$top"
says  "remove: resolved"      "resolve: NotFound exception: missing node|status 1" resolve "$top"

exit $failed
