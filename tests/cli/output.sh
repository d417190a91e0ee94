# shellcheck shell=sh disable=SC2034
# What goes to standard output: nothing lost in silence, no escape where none belongs.
cp "$SOURCE/tests/cli/data/before.json" "$SOURCE/tests/cli/data/after.json" .
escape=$(printf '\033')

# Every command reports a full disk and a pipe that nobody reads.
every_command() {
    "$1"
    "$1" --version
    "$1" show --help
    "$1" show before.json
    "$1" show before.json --format json
    "$1" convert before.json - --to csv
    "$1" compare before.json after.json
    "$1" compare before.json after.json --fail-on worse
    "$1" metrics time
    "$1" doctor
}
to_full() {
    tried="warpmeter $* >/dev/full"
    status=0
    warpmeter "$@" >/dev/full 2>../stderr || status=$?
    : >../stdout
    expect_status 4
    expect_one_error
    expect_error 'warpmeter: cannot write to standard output: No space left on device'
}
to_closed() {
    tried="warpmeter $* >&-"
    status=0
    warpmeter "$@" >&- 2>../stderr || status=$?
    : >../stdout
    expect_status 4
    expect_one_error
    expect_error 'warpmeter: cannot write to standard output: Bad file descriptor'
}
# The reader is gone before anything is written: it opens the pipe, closes it and only then lets go.
to_broken() {
    tried="warpmeter $* with nobody to read"
    mkfifo pipe
    {
        exec 3<pipe
        exec 3<&-
        : >gone
    } &
    {
        exec 4>pipe
        while [ ! -e gone ]; do :; done
        status=0
        warpmeter "$@" >&4 2>../stderr || status=$?
        echo "$status" >../status
    } &
    wait
    status=$(cat ../status)
    rm pipe gone
    : >../stdout
    expect_status 4
    expect_one_error
    expect_error 'warpmeter: cannot write to standard output: Broken pipe'
}
every_command to_full
every_command to_closed
every_command to_broken

# A file that may not grow.
try sh -c 'ulimit -f 1; exec warpmeter show before.json --format json'
expect_status 4
expect_error 'warpmeter: cannot write to standard output: File too large'

# No error where nothing is written to the closed stream.
status=0
tried='warpmeter convert >&-'
warpmeter convert before.json out.csv >&- 2>../stderr || status=$?
: >../stdout
expect_status 0
expect_no_error

# No escape off a terminal, unless asked for.
for term in dumb xterm; do
    export TERM=$term
    try warpmeter show before.json
    refuse_line "$escape"
    try warpmeter compare before.json after.json --color auto
    refuse_line "$escape"
    try warpmeter doctor --color never
    refuse_line "$escape"
    try warpmeter compare before.json after.json --color always
    expect_line "$escape"
done

# On a terminal: colour by TERM, NO_COLOR and --color.
terminal() {
    tried="$* on a terminal"
    status=0
    script -qec "$*" /dev/null </dev/null >../stdout 2>../stderr || status=$?
    expect_status 0
}
if command -v script >/dev/null; then
    export TERM=xterm
    terminal warpmeter compare before.json after.json
    expect_line "$escape"
    terminal warpmeter compare before.json after.json --color never
    refuse_line "$escape"
    terminal env NO_COLOR= warpmeter compare before.json after.json
    expect_line "$escape"
    terminal env NO_COLOR=1 warpmeter compare before.json after.json
    refuse_line "$escape"
    terminal env NO_COLOR=1 warpmeter compare before.json after.json --color always
    expect_line "$escape"
    terminal env TERM=dumb warpmeter compare before.json after.json
    refuse_line "$escape"
    terminal env TERM= warpmeter compare before.json after.json
    refuse_line "$escape"
fi
export TERM=dumb

# ASCII where the locale is not UTF-8, and where there is no such locale; numbers as ever.
for locale in C POSIX xx_XX.UTF-8; do
    try env LC_ALL="$locale" warpmeter compare before.json after.json
    expect_status 0
    LC_ALL=C grep -q '[^ -~]' ../stdout && complain "expected ASCII under $locale"
    expect_line '1.000 us'
    expect_line 'new, "\xc2\xb5"'
done
try env LC_ALL=C.UTF-8 warpmeter compare before.json after.json
expect_line '1.000 µs'
expect_line 'new, "µ"'
