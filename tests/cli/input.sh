# shellcheck shell=sh
# Files that cannot be read: each is refused by name, by every command, and nothing is written.
cp "$SOURCE/tests/cli/data/before.json" good.json
warpmeter convert good.json good.csv || complain 'no CSV file to spoil'

# refuse FILE MESSAGE: by show, by convert, which leaves its output alone, and by compare on both sides.
refuse() {
    try warpmeter show "$1"
    expect_refused "warpmeter: $2"
    echo 'as it was' >out.json
    try warpmeter convert "$1" out.json
    expect_refused "warpmeter: $2"
    [ "$(cat out.json)" = 'as it was' ] || complain 'convert wrote over out.json'
    rm out.json
    try warpmeter convert "$1" out.json
    expect_refused "warpmeter: $2"
    [ ! -e out.json ] || complain 'convert made out.json'
    try warpmeter compare "$1" good.json
    expect_refused "warpmeter: $2"
    try warpmeter compare good.json "$1"
    expect_refused "warpmeter: $2"
}

refuse absent.json "cannot read 'absent.json': No such file or directory"
mkdir folder.json
refuse folder.json "cannot read 'folder.json': Is a directory"
: >empty.json
refuse empty.json 'empty.json: line 1: this is no JSON object'
: >empty.csv
refuse empty.csv 'empty.csv is empty'
head -c 300 good.json >torn.json
refuse torn.json 'torn.json: line 11: premature end of input'
sed '$d' good.json >open.json
refuse open.json "open.json: line 61: ',' or '}' is wanted"
sed '3s/,tsc,/,/' good.csv >short.csv
cp good.csv.context.json short.csv.context.json
refuse short.csv 'short.csv: line 3: 39 fields, where the header has 40'
sed 's/"version": 1,/"version": 99,/' good.json >newer.json
refuse newer.json 'newer.json is of version 99 of the format; this library reads up to version 1'
echo '{"benchmarks": []}' >foreign.json
refuse foreign.json 'foreign.json is no file of warpmeter: its member "schema" is not "warpmeter/table"'
echo '[1, 2]' >array.json
refuse array.json 'array.json: line 1: this is no JSON object'
printf 'name,age\r\nx,1\r\n' >foreign.csv
refuse foreign.csv 'foreign.csv has no column of a table of warpmeter'
printf '\001\377\376\000\002\033[1m' >junk.json
refuse junk.json "'junk.json' holds a NUL byte: it is no text"
cp junk.json junk.csv
refuse junk.csv "'junk.csv' holds a NUL byte: it is no text"
sed 's/"mean": 1000,/"mean": "much",/' good.json >typed.json
refuse typed.json "typed.json: line 52: column 'mean' takes a double or null"
sed 's/"mean": 1000,/"mean": 1e999,/' good.json >large.json
refuse large.json 'large.json: line 52: '
echo text >notes.txt
refuse notes.txt 'text is only written; csv and json are read as well'

# A device that never ends is not read into memory for ever.
try timeout 60 "$BIN/warpmeter" show /dev/zero --from csv
expect_refused "warpmeter: '/dev/zero' holds a NUL byte: it is no text"

# A path that fills the message leaves room for the cause.
try warpmeter show "$(printf '%0600d' 0).json"
expect_refused ': File name too long'

# A byte order mark, as other programs put it in front.
{ printf '\357\273\277' && cat good.json; } >mark.json
try warpmeter show mark.json --format json
expect_status 0
expect_same ../stdout good.json

# A read that fails half way, and one that is not permitted.
try warpmeter show /proc/self/mem --from json
expect_refused "warpmeter: cannot read '/proc/self/mem': Input/output error"
if [ "$(id -u)" -ne 0 ]; then
    cp good.json secret.json
    chmod 000 secret.json
    refuse secret.json "cannot read 'secret.json': Permission denied"
fi

# A CSV file may have been growing when it was cut: its whole lines are read, and the rest is owned up to.
head -c 700 good.csv >torn.csv
cp good.csv.context.json torn.csv.context.json
try warpmeter show torn.csv
expect_status 0
expect_line 'warning: the last line of the file was cut short and is left out'
