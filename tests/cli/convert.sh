# shellcheck shell=sh
# warpmeter convert: there and back, and what it must not write over.
cp "$SOURCE/tests/cli/data/before.json" in.json

# JSON and CSV hold the whole table.
try warpmeter convert in.json out.csv
expect_status 0
expect_silent
expect_no_error
expect_same out.csv "$SOURCE/tests/golden/tool/show.csv"
[ -f out.csv.context.json ] || complain 'no context beside out.csv'
try warpmeter convert out.csv back.json
expect_status 0
expect_same back.json in.json
try warpmeter convert in.json same.json
expect_status 0
expect_same same.json in.json

try warpmeter convert in.json out.md
expect_status 0
try warpmeter convert in.json out.txt
expect_status 0
try warpmeter convert in.json other --to csv
expect_status 0
expect_same other out.csv
try warpmeter convert in.json - --to csv
expect_status 0
expect_same ../stdout out.csv
warpmeter convert --from json - - --to csv <in.json >../stdout || complain 'standard input failed'
expect_same ../stdout out.csv
cp in.json in.dat
try warpmeter convert in.dat back.json --from json
expect_status 0
expect_same back.json in.json

# A file is replaced in full, or left as it is.
echo old >out.json
try warpmeter convert in.json out.json
expect_status 0
expect_same out.json in.json
find . -name '.warpmeter*' | grep -q . && complain 'a temporary file was left'

# No room for it: the old file stays, and nothing is left beside it.
echo old >out.json
try sh -c 'ulimit -f 1; exec warpmeter convert in.json out.json'
expect_status 4
expect_one_error
expect_error "warpmeter: cannot write 'out.json': File too large"
[ "$(cat out.json)" = old ] || complain 'the old file was harmed'
find . -name '.warpmeter*' | grep -q . && complain 'a temporary file was left'

# The input is no place for the output, whatever it is called.
cp in.json kept.json
ln in.json hard.json
ln -s in.json soft.json
for name in in.json ./in.json hard.json soft.json; do
    try warpmeter convert in.json "$name" --to csv
    expect_refused "warpmeter: 'in.json' and '$name' are the same file; convert needs another name to write to"
    expect_same in.json kept.json
done

try warpmeter convert in.json out.xml
expect_refused "warpmeter: the suffix of 'out.xml' gives no format"
[ ! -e out.xml ] || complain 'out.xml was made'
try warpmeter convert in.json -
expect_refused 'warpmeter: writing to standard output needs --to with the name of a format'
try warpmeter convert in.json out.json --to xml
expect_refused "warpmeter: --to takes text, csv, json, gbench-json or markdown, not 'xml'"

# Places that cannot be written.
try warpmeter convert in.json nowhere/out.json
expect_status 4
expect_one_error
expect_error "warpmeter: cannot write 'nowhere/out.json': No such file or directory"
mkdir folder.json
try warpmeter convert in.json folder.json
expect_status 4
expect_error "warpmeter: cannot write 'folder.json': Is a directory"
try warpmeter convert in.json in.json/out.json
expect_status 4
expect_error "warpmeter: cannot write 'in.json/out.json': Not a directory"
try warpmeter convert in.json /dev/full --to csv
expect_status 4
expect_one_error
expect_error "warpmeter: cannot write '/dev/full': No space left on device"
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked
    chmod 555 locked
    try warpmeter convert in.json locked/out.json
    expect_status 4
    expect_error "warpmeter: cannot write 'locked/out.json': Permission denied"
fi

# The context of a CSV file is a part of it, on either side.
cp out.csv kept.csv && cp out.csv.context.json kept.csv.context.json
try warpmeter convert kept.csv ./kept.csv.context.json
expect_refused "warpmeter: './kept.csv.context.json' lies beside 'kept.csv' as its context"
expect_same kept.csv.context.json out.csv.context.json
cp in.json new.csv.context.json
try warpmeter convert new.csv.context.json new.csv
expect_refused "warpmeter: 'new.csv.context.json' lies beside 'new.csv' as its context"
expect_same new.csv.context.json in.json

# Of two programs that write the same file at once, one writes the table and what lies beside it last.
try bench_cli -b manual -a n=1 -q -o one.json
try bench_cli -b manual -a n=2 -q -o two.json
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    warpmeter convert one.json both.csv &
    warpmeter convert two.json both.csv
    wait
    told=$(grep -o -- '-a n=[12]' both.csv.context.json)
    grep -q "^manual,slow.*,${told#-a }," both.csv || complain "the context says $told: $(cat both.csv)"
done
