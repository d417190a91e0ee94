# shellcheck shell=sh
# Wrong words on a benchmark program's command line: status 2, one line, and nothing runs.
export CALLS="$PWD/calls"

# refuse TEXT WORDS...
refuse() {
    text=$1
    shift
    try bench_cli -b manual "$@"
    expect_refused "$text"
    [ ! -e "$CALLS" ] || complain 'the function was called'
}

refuse "--runs takes a whole number of at least 1, not '0'" --runs 0
refuse "--runs takes a whole number of at least 1, not 'x'" --runs x
refuse 'there is no option --rnus; the nearest is --runs' --rnus 3
refuse 'nothing follows it' --metrics
refuse "only options are taken, and 'stray' is none" stray
refuse "axis 'n=[1,2'" --axis 'n=[1,2'
refuse 'the step of a range must not be 0' -a 'n=[1:10:0]'
refuse 'exponents from 0 to 62' -a 'n[pow2]=[70]'
refuse "--zip names 'a', which is no axis here" --zip a,b
refuse 'the name n is there twice' --config n=1,n=2
refuse "unknown metric 'tme'; did you mean time?" --metrics tme
refuse 'group' --metrics group:nothing
refuse "'q'" --derive 'x = q/time'
refuse 'a value is missing' --derive 'x = time/'
refuse "no benchmark 'manul'; did you mean manual?" -b manul
refuse '--order takes sequential, interleaved or random' --order up
refuse '--seed takes' --seed -1
refuse '--filter takes' --filter '['
refuse '--threads takes' --threads 0
refuse 'there is no processor 60000' --pin 60000
refuse '--cache-control takes none or all' --cache-control some
refuse '--timeout takes a length of time' --timeout 5parsecs
refuse '--max-noise takes' --max-noise 0
refuse '--format takes text, csv, json, gbench-json or markdown' --format yaml
refuse '--color takes' --color blue
refuse 'the suffix' --out table.xyz
refuse "cannot write '/nonexistent/t.csv'" --out /nonexistent/t.csv
refuse '--samples takes a file that ends in .csv' --samples s.json
refuse 'the suffix' --kernels table.xyz
refuse "--kernels 'k.gbench.json': gbench-json holds tables of results only" --kernels k.gbench.json
refuse "cannot write '/nonexistent/k.csv'" --kernels /nonexistent/k.csv
refuse "--out and --kernels name the same file, 't.csv'" --out t.csv --kernels t.csv
refuse "--samples 't.csv' and --kernels './t.csv' are the same file" --samples t.csv --kernels ./t.csv
refuse '--scope takes process or thread' --scope gpu
refuse '--replay takes auto, stacked, window, kernel or range' --replay twice
refuse '--combine takes HOW or METRIC=HOW' --combine a=b
refuse "--out 't.csv' is there twice" --out t.csv --out t.csv
refuse "--out and --samples name the same file, 't.csv'" --out t.csv --samples t.csv
refuse 'it may read time, flop_rate, byte_rate, item_rate, n' --derive 'x = q/time'

# The benchmark is named where the same words suit another one.
refuse "benchmark manual: 'x = n*q' reads 'q'" --derive 'x = n*q'
try bench_cli -b rising -b manual --derive 'x = n*time'
expect_refused "benchmark rising: 'x = n*time' reads 'n'"
refuse "benchmark manual: --zip names 'a'" --zip n,a

# One file under two names: one of the two tables would be lost.
ln -s t.csv link.csv
refuse "--out 't.csv' and --out './t.csv' are the same file" --out t.csv --out ./t.csv
refuse "--out 't.csv' and --out 'link.csv' are the same file" --out t.csv --out link.csv
refuse "--out 'link.csv' and --samples 't.csv' are the same file" --out link.csv --samples t.csv
refuse "--out './t.csv.context.json' is the file for the context of 't.csv'" --out t.csv --out ./t.csv.context.json
refuse "--out 't.csv.context.json' is the file for the context of 't.csv'" --out t.csv.context.json --out t.csv
[ ! -e t.csv ] || complain 't.csv was made'

# So it would be where the program's own streams go.
for option in --out --samples; do
    echo kept >stream.csv
    try sh -c "bench_cli -b manual $option stream.csv >>stream.csv"
    expect_refused "$option 'stream.csv' is the file that standard output goes to"
    [ "$(cat stream.csv)" = kept ] || complain 'stream.csv was changed'
done

: >plain
refuse "cannot write 'plain/t.json'" --out plain/t.json
mkdir folder.csv
refuse "cannot write 'folder.csv'" --out folder.csv

# An existing file is left as it was.
echo old >keep.csv
refuse 'unknown metric' --out keep.csv --metrics tme
[ "$(cat keep.csv)" = old ] || complain 'keep.csv was changed'

# A file that may not be written. Root may write everything, so only others can be tested.
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w keep.csv
    refuse "cannot write 'keep.csv'" --out keep.csv
fi

WARPMETER_TIMER=sundial
export WARPMETER_TIMER
refuse 'WARPMETER_TIMER' --runs 1
unset WARPMETER_TIMER

WARPMETER_METRICS=/nonexistent
export WARPMETER_METRICS
refuse "WARPMETER_METRICS takes folders separated by ':', and '/nonexistent' is none" --runs 1
try warpmeter doctor
expect_refused "WARPMETER_METRICS takes folders separated by ':', and '/nonexistent' is none"
unset WARPMETER_METRICS

# A library that was asked for and is not there is named beside the name that it would know.
WARPMETER_LIBPFM4=/nonexistent
export WARPMETER_LIBPFM4
refuse 'WARPMETER_LIBPFM4' --metrics NO_SUCH_EVENT_ANYWHERE
unset WARPMETER_LIBPFM4
