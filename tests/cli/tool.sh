# shellcheck shell=sh
# The tool itself: its commands, its help, its version, and words it does not know.

try warpmeter
expect_status 0
expect_no_error
expect_golden tool/help.txt
cp ../stdout commands
for word in --help -h; do
    try warpmeter "$word"
    expect_status 0
    expect_same ../stdout commands
done

for command in doctor show convert compare metrics ncu version; do
    try warpmeter "$command" --help
    expect_status 0
    expect_no_error
    expect_line "usage: warpmeter $command [options]"
    expect_line "The manual page is warpmeter-$command(1)."
done
try warpmeter show --help
expect_golden tool/help_show.txt
try warpmeter show --format json --columns a -h --zz
expect_golden tool/help_show.txt

for word in --version version; do
    try warpmeter "$word"
    expect_status 0
    expect_no_error
    echo 'warpmeter 0.1.0' | cmp -s - ../stdout || complain 'expected the version alone'
done

# The version needs no library but the tool's own. doctor shows that the trace works.
try env LD_DEBUG=libs warpmeter --version
expect_error warpmeter
for library in muparser pfm cuda cupti nvidia; do refuse_error "$library"; done
try env LD_DEBUG=libs warpmeter doctor
expect_error muparser

try warpmeter shwo results.json
expect_refused "warpmeter: unknown command 'shwo'; did you mean show?"
try warpmeter frobnicate
expect_refused "warpmeter: unknown command 'frobnicate'; warpmeter takes doctor, show, convert, compare, metrics, ncu, version, --help or --version"
try warpmeter ''
expect_refused "warpmeter: unknown command ''; warpmeter takes"
try warpmeter --hlp
expect_refused "warpmeter: unknown option '--hlp'; did you mean --help?"
try warpmeter "$(printf 'a\033[1m\nb')"
expect_refused "warpmeter: unknown command 'a\\x1b[1m\\x0ab'"
try warpmeter "$(head -c 5000 /dev/zero | tr '\0' x)"
expect_status 2
expect_one_error

try warpmeter show --colums region x.json
expect_refused "warpmeter: unknown option '--colums'; did you mean --columns?"
try warpmeter show --x x.json
expect_refused "warpmeter: unknown option '--x'; show takes --columns, --sort, --filter, --format, --from, --color or --help"
try warpmeter version --format json
expect_refused "warpmeter: unknown option '--format'; version takes --help"
try warpmeter show -x x.json
expect_refused "warpmeter: unknown option '-x'; show takes"
try warpmeter show --format
expect_refused 'warpmeter: --format needs a value: --format NAME'
try warpmeter show --format xml x.json
expect_refused "warpmeter: --format takes text, csv, json, gbench-json or markdown, not 'xml'"
try warpmeter show --format= x.json
expect_refused "warpmeter: --format takes text, csv, json, gbench-json or markdown, not ''"
try warpmeter show --from text x.json
expect_refused "warpmeter: --from takes csv, json or ncu-rep, not 'text'"
try warpmeter doctor --color sometimes
expect_refused "warpmeter: --color takes auto, always or never, not 'sometimes'"

try warpmeter show
expect_refused 'warpmeter: show needs FILE; usage: warpmeter show [options] FILE'
try warpmeter convert x.json
expect_refused 'warpmeter: convert needs IN OUT; usage: warpmeter convert [options] IN OUT'
try warpmeter compare x.json
expect_refused 'warpmeter: compare needs A B; usage: warpmeter compare [options] A B'
try warpmeter show x.json y.json
expect_refused "warpmeter: 'y.json' is one word too many; usage: warpmeter show [options] FILE"
try warpmeter version now
expect_refused "warpmeter: 'now' is one word too many; usage: warpmeter version [options]"

# `--` ends the options; of two the last one counts.
cp "$SOURCE/tests/cli/data/before.json" ./--before.json
try warpmeter show --format text --format csv --columns region -- --before.json
expect_status 0
expect_line region,nulls
