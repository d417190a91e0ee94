# shellcheck shell=sh
# What a benchmark program prints and writes, and with which status it ends.

try bench_cli -b manual -q --format csv
expect_status 0
expect_no_error
expect_line 'benchmark,region,metric,unit,mean'
expect_match '^manual,slow,time,ns,100,0,100,100,100,100,100,4,'
expect_match '^manual,slow,flop_rate,FLOP/s,2000000000,'
expect_match '^manual,quick,time,ns,100,.*,slow,0.5,0.5,0.5,ok,'

# Every format says the same of one row, in base units.
try bench_cli -b manual -q --filter 'n=2$' -o t.csv -o t.json -o t.gbench.json -o t.md -o t.txt
expect_status 0
expect_silent
for file in t.csv t.json t.gbench.json t.md t.txt; do
    [ -s "$file" ] || complain "$file is missing or empty"
done
[ -s t.csv.context.json ] || complain 't.csv has no context beside it'
grep -q '"mean": 200,' t.json || complain 't.json has no mean of 200 ns'
try warpmeter show t.csv --columns region,metric,mean,n --format csv
expect_line 'slow,time,200,2'
cp ../stdout from_csv
try warpmeter show t.json --columns region,metric,mean,n --format csv
expect_same ../stdout from_csv

# Whoever forgets to have a program optimised is told.
try bench_cli -b manual --format json
if grep -q '"program_build", .*, not optimised"' ../stdout; then
    expect_error 'bench_cli: warning: the program was compiled without optimisation: compile it with -O2'
    expect_match '"warning(_[0-9])?", .*"the program was compiled without optimisation'
else
    expect_match '"program_build", .*, optimised"'
    refuse_error 'without optimisation'
fi
try bench_cli -b manual -q
expect_no_error
refuse_line 'warning'

# A failed and a skipped configuration are rows, and the status is 1.
try bench_cli -b mixed -q --format csv
expect_status 1
expect_match '^mixed,mixed,time,ns,100,.*,ok,'
expect_match ',failed,no result for n = 2,'
expect_match ',skipped,n = 3 is too large,'
try bench_cli -b mixed
expect_error 'mixed n=2 failed: no result for n = 2'

# Nothing measured: 3.
try bench_cli -b mixed -a n=3
expect_status 3
expect_error 'nothing was measured'
echo old >old.csv
try bench_cli -b manual --filter 'matches nothing' --out old.csv
expect_status 3
expect_one_error
expect_error "nothing was measured: no configuration matches --filter 'matches nothing'"
[ "$(cat old.csv)" = old ] || complain 'old.csv was written over'

# A result that cannot be written: 4, and it is said.
try sh -c 'bench_cli -b manual >/dev/full'
expect_status 4
expect_error 'No space left on device'
try_closed bench_cli -b manual
expect_status 4
expect_error 'Broken pipe'

try sh -c 'ulimit -f 1; exec bench_cli -b manual -a n=[1:200] --format csv'
expect_status 4
expect_error 'File too large'

# No device worked: a table of kernels without rows.
try bench_cli -b manual -q --filter 'n=1$' --out t.json --kernels k.csv
expect_status 0
expect_silent
[ "$(wc -l <k.csv)" -eq 1 ] || complain 'k.csv is not a header alone'
grep -q '"kind": "kernels"' k.csv.context.json || complain 'k.csv has no context beside it'
grep -q '"key": "command", .*--kernels k.csv' k.csv.context.json || complain 'k.csv does not know its command'
try warpmeter convert k.csv k.json
expect_status 0
try bench_cli -b manual -q --filter 'n=1$' --out t.json --kernels /dev/full
expect_status 2
try sh -c 'ln -sf /dev/full full.csv; bench_cli -b manual -q --filter "n=1$" --out t.json --kernels full.csv'
expect_status 4
expect_error 'No space left on device'

# A stream that is closed does not lend its number to a file.
try sh -c 'bench_cli -b mixed --samples closed.csv <&- 2>&-'
expect_status 1
try sh -c 'bench_cli -b mixed -q --samples open.csv'
expect_same closed.csv open.csv
try sh -c 'bench_cli -b mixed -q --samples closed.csv >&-'
expect_status 4
expect_error 'Bad file descriptor'
expect_same closed.csv open.csv

# A link to standard output is standard output, and there is no place beside it.
ln -s /proc/self/fd/1 link.csv
try bench_cli -b rising -q --samples link.csv --format json
expect_match '^rising,rising,time,ns,4,0,50,'
expect_line '"kind": "results"'
try bench_cli -b rising -q --out link.csv
expect_match '^rising,rising,time,ns,30,'
[ ! -e link.csv.context.json ] || complain 'a context beside standard output'

# What a program recorded under a wrong name or unit is not mixed with other values.
try bench_cli -b refused -q --format csv
expect_status 1
expect_match ',failed,wm_record needs the name of a metric,.*,n=0,'
expect_match ',failed,wm_record needs the name of a metric,.*,n=1,'
expect_match ",failed,\"wm_record takes a name of its own, and 'time' is a metric already\",.*,n=2,"
expect_match ",failed,\"wm_record takes a name of its own, and 'item_rate' is a metric already\",.*,n=3,"
expect_match ",failed,\"wm_record takes a name of its own, and 'twice' is a metric already\",.*,n=4,"
expect_match ",failed,wm_record has 'hits' in 'ns' here and in 'hit' before,.*,n=5,"
expect_match '^refused,refused,seen,hit,1,.*,ok,.*,n=6,'
expect_match ",failed,wm_record has 'seen' in 's' here and in 'hit' before,.*,n=7,"

# A benchmark that ends the program takes its table along: that is said.
try bench_cli -b leaves --out leaves.csv --samples leaves_samples.csv
expect_silent
expect_error 'benchmark leaves ended the program, so there is no table'
[ ! -e leaves.csv ] || complain 'a table was written'
[ "$(grep -c '^leaves,leaves,time,ns,' leaves_samples.csv)" -eq 2 ] || complain 'not the two samples'

# Files are still written when standard output is closed.
try sh -c 'bench_cli -b manual -o kept.json >/dev/full'
expect_status 4
try warpmeter show kept.json --columns region --format csv
expect_status 0

# No escape bytes when it is no terminal; with --color always there are.
try bench_cli -b manual
! grep -q "$(printf '\033')" ../stdout ../stderr || complain 'escape bytes'
try bench_cli -b manual --color always
grep -q "$(printf '\033')" ../stdout || complain 'no escape bytes with --color always'

# Plain ASCII where the locale is not UTF-8.
try env LC_ALL=C bench_cli -b manual
LC_ALL=C grep -q '[^ -~]' ../stdout && complain 'bytes beyond ASCII'
try bench_cli -b manual
expect_line '±'

# A comma for a decimal point is never written.
if locale -a 2>/dev/null | grep -qix 'de_DE.utf-\{0,1\}8'; then
    try env LC_ALL=de_DE.UTF-8 bench_cli -b manual -q --format csv
    expect_match '^manual,quick,time,ns,50,'
    expect_match ',0.5,0.5,0.5,ok,'
fi

# Raw samples, every one, also of the configuration that fails later.
try bench_cli -b rising -q --samples s.csv --format csv
expect_status 0
[ "$(grep -c '^rising,rising,time,ns,' s.csv)" -eq 5 ] || complain "s.csv: $(cat s.csv)"
grep -q '^rising,rising,time,ns,4,0,50,' s.csv || complain 'the fifth sample is not 50'
try warpmeter show s.csv --format csv --columns run,value --filter 'value>30'
expect_line '3,40'
expect_line '4,50'
refuse_line '2,30'

# The context lies beside them, from the start and with what was found while measuring.
grep -q '"key": "command", .*rising -q --samples s.csv' s.csv.context.json || complain 's.csv has no context'
try bench_cli -b repeat -q --cache-control all --samples s.csv
grep -q '"key": "warning.*WM_REPEAT' s.csv.context.json || complain 'the context of s.csv has no warning'
try warpmeter convert s.csv s.json
try warpmeter convert s.json again.csv
cmp s.csv again.csv || complain 's.csv is not read back to an equal table'
cmp s.csv.context.json again.csv.context.json || complain 'its context is not read back to an equal one'
try bench_cli -b leaves -q --samples l.csv
grep -q '"key": "command"' l.csv.context.json || complain 'l.csv has no context'
try bench_cli -b rising --out s.csv.context.json --samples s.csv
expect_refused 's.csv.context.json'
mkdir d.csv.context.json
echo kept >d.csv
try bench_cli -b rising --samples d.csv
expect_refused 'd.csv.context.json'
[ "$(cat d.csv)" = kept ] || complain 'd.csv was overwritten'

# A full disk costs the samples, is said, and nothing else is lost.
ln -s /dev/full full.csv
try bench_cli -b rising --samples full.csv
expect_error 'No space left on device'
expect_status 2
expect_silent

# Two programs cannot mix their samples in one file.
try flock s.csv bench_cli -b rising --samples s.csv
expect_refused 's.csv'

# Listings measure nothing.
export CALLS="$PWD/calls"
for option in --list --help-axes --list-metrics --help --version --dry-run; do
    try bench_cli "$option"
    expect_status 0
    expect_no_error
    [ -s ../stdout ] || complain "$option prints nothing"
done
[ ! -e "$CALLS" ] || complain 'a listing called a function'
for option in --list --help-axes; do
    try bench_cli -b nosuch "$option"
    expect_refused nosuch
done
for option in --list-metrics --dry-run; do
    try bench_cli "$option" --format gbench-json
    expect_refused gbench-json
done
try bench_cli --list
expect_match '^manual  --axis n=\[1,2\]'
try bench_cli --version
expect_match '^warpmeter [0-9]+\.[0-9]+\.[0-9]+$'

# The plan counts passes and calls, and tells what cannot be had.
try bench_cli -b manual --metrics time,cpu_time --runs 5 --warmup 2 --dry-run
expect_match '^calls_max +24$'
expect_match '^passes +2$'

# --profile calls everything once and measures nothing.
try bench_cli -b manual --profile
expect_status 0
expect_silent
[ "$(cat "$CALLS")" = "manual n=1
manual n=2" ] || complain "calls: $(cat "$CALLS")"
