# shellcheck shell=sh disable=SC2154
# docs/guide.md: its programs compile, and its commands run. The numbers are not looked at.
guide=$SOURCE/docs/guide.md
lib=$BIN/../lib

if LC_ALL=C grep -q -e __asan_init -e __tsan_init "$lib/libwarpmeter.so"; then
    skip 'the library is built with a sanitizer, and the guide compiles without one'
fi
command -v cc >/dev/null || skip 'there is no cc'

# block LANGUAGE: the lines of the fenced blocks of that language.
block() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/{/^\`\`\`/!p;}" "$guide"
}
block c >sum.c
block 'c running\.c' >running.c
block console | sed -n 's/^\$ //p' >commands
[ "$(grep -c '^cc ' commands)" -eq 3 ] || complain 'expected three builds in the guide'
[ "$(wc -l <commands)" -ge 10 ] || complain 'expected ten commands at least'

# pkg-config is for an installed library; this one answers with the flags of the build.
mkdir shims
printf '#!/bin/sh\necho "-I%s -L%s -lwarpmeter -Wl,-rpath,%s"\n' "$SOURCE/include" "$lib" "$lib" >shims/pkg-config
chmod +x shims/pkg-config
PATH=$PWD/shims:$PATH

while read -r line; do
    # Three runs are enough here, where their number is not found while running.
    case $line in
    *--target-ci* | *--dry-run*) ;;
    ./*) line="$line --runs 3" ;;
    esac
    try sh -c "$line"
    case $line in
    *--fail-on*) [ "$status" -le 1 ] || complain 'expected status 0 or 1' ;;
    *) expect_status 0 ;;
    esac
done <commands
for file in before.json before.csv after.json running.json; do
    [ -s "$file" ] || complain "the guide left no $file"
done
