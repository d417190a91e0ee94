# shellcheck shell=sh
# Columns of what collectors said: those of a benchmark, and those of --collect.
export CALLS="$PWD/calls"

# ---- a benchmark's own ----

try bench_cli -b collects -o t.csv -o t.json --samples s.csv
expect_status 0
expect_error "warning: benchmark collects: the collector 'number' had no value"
[ "$(grep -c "'number'" ../stderr)" -eq 1 ] || complain 'not one warning'
refuse_line text # for people tables stay as they are
# Runs 0 and 2 have values: their mean is 1, their deviations are -1 and 1.
cat >expected <<'END'
region,n,text,size_avg,size_std,size_min,size_max,number_avg,number_std,number_min,number_max,where,nulls
outer,4,"a, ""b""",4,,4,4,1,1.4142135623730951,0,2,outer,size_std=few-samples
outer/inner,4,"a, ""b""",4,,4,4,1,1.4142135623730951,0,2,outer/inner,size_std=few-samples
outer,8,"a, ""b""",8,,8,8,1,1.4142135623730951,0,2,outer,size_std=few-samples
outer/inner,8,"a, ""b""",8,,8,8,1,1.4142135623730951,0,2,outer/inner,size_std=few-samples
END
columns=region,n,text,size_avg,size_std,size_min,size_max,number_avg,number_std,number_min,number_max,where
for file in t.csv t.json; do
    try warpmeter show $file --columns $columns --format csv
    expect_same ../stdout expected
done
try warpmeter show t.csv --columns region,text,number_avg
expect_match '^ *outer/inner +a, "b" +1$'

# The header of the file of samples is there before anything was collected.
try warpmeter show s.csv --columns region,run,text,size,number,where --filter n=8,region=outer --format csv
cat >expected <<'END'
region,run,text,size,number,where,nulls
outer,0,"a, ""b""",8,0,outer,
outer,1,"a, ""b""",8,,outer,number=not-collected
outer,2,"a, ""b""",8,2,outer,
END
expect_same ../stdout expected
grep -q '"name": "number", "type": "int64"' s.csv.context.json || complain 'the type of a column is not known'

# As a parameter of the benchmark, a collector cannot be called.
rm -f calls
try bench_cli -b collects -a where=1
expect_refused "the collector 'where' would have the column of the parameter 'where'"
[ ! -e calls ] || complain 'the function was called'

# ---- --collect ----

export COLLECT_A='x, y'
unset COLLECT_B
try bench_cli -q -b rising -b manual --collect env:COLLECT_A,env:COLLECT_B -o e.csv
expect_status 0
try warpmeter show e.csv --columns benchmark,env_COLLECT_A,env_COLLECT_B --filter benchmark=rising --format csv
cat >expected <<'END'
benchmark,env_COLLECT_A,env_COLLECT_B,nulls
rising,"x, y",,env_COLLECT_B=not-collected
END
expect_same ../stdout expected

rm -f calls
for word in gti env: env:A=B ''; do
    try bench_cli -b rising --collect "git,$word"
    expect_status 2
    expect_one_error
done
try bench_cli -b rising --collect gti
expect_refused "--collect takes driver, gpu, uuid, git and env:NAME, not 'gti'; did you mean git?"
[ ! -e calls ] || complain 'the function was called'

# ---- git ----

# expect_commit TEXT: what the column has, when the program runs in this folder.
expect_commit() {
    try bench_cli -q -b rising --collect git -o ../g.csv --format csv
    expect_status 0
    try warpmeter show ../g.csv --columns git_commit --format csv
    [ "$(sed -n 2p ../stdout)" = "$1," ] || complain "the commit is not $1"
}

mkdir repository none
GIT_CEILING_DIRECTORIES=$PWD
export GIT_CEILING_DIRECTORIES
cd none || exit 1
try bench_cli -b rising --collect git --format csv
expect_error 'warning: no git commit: '
expect_match 'git_commit=not-collected'
PATH=$BIN "$BIN/bench_cli" -b rising --collect git --format csv >../stdout 2>../stderr </dev/null ||
    complain 'without git it failed'
expect_error 'warning: no git commit: there is no program git'
cd .. || exit 1

if command -v git >/dev/null; then
    cd repository || exit 1
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
    git init -q . && echo one >file && git add file && git commit -q -m one && git tag -a -m tag v1
    hash=$(git rev-parse HEAD)
    expect_commit "$hash"
    touch untracked
    expect_commit "$hash"
    echo two >file
    expect_commit "$hash-dirty"
    cd .. || exit 1
fi

# ---- a GPU ----

fakes=$BIN/../fakes
WARPMETER_LIBCUDA=/nonexistent/libcuda.so.1
export WARPMETER_LIBCUDA
try bench_cli -q -b rising --collect gpu,uuid -o n.csv
expect_status 0
try warpmeter show n.csv --columns gpu,uuid --format csv
[ "$(sed -n 2p ../stdout)" = ',,gpu=no-device uuid=no-device' ] || complain 'without a GPU it has one'
if [ -e "$fakes/libcupti.so.13" ]; then
    WARPMETER_LIBCUPTI=$(cd "$fakes" && pwd)/libcupti.so.13
    WARPMETER_LIBCUDA=$(cd "$fakes" && pwd)/libcuda.so.1
    export WARPMETER_LIBCUPTI
    # expect_gpu N WORDS...: the device that the program is said to use has the UUID number N.
    expect_gpu() {
        want=$1
        shift
        try "$@" -q -b kernels --metrics kernel_time --collect gpu,uuid,driver -o gpu.csv --samples gpu_s.csv
        expect_status 0
        try warpmeter show gpu.csv --columns gpu,uuid --format csv
        uuid=$(sed -n '2s/^NVIDIA Fake H200,\(GPU-[0-9a-f-]*\),$/\1/p' ../stdout)
        [ "$uuid" = "$want" ] || complain "the UUID is '$uuid', not '$want'"
        try warpmeter show gpu_s.csv --columns uuid --format csv
        [ "$(sed 1d ../stdout | sort -u)" = "$want," ] || complain 'samples have another UUID'
    }
    first=GPU-00010203-0405-0607-0809-0a0b0c0d0e00 second=GPU-00010203-0405-0607-0809-0a0b0c0d0e01
    expect_gpu "$first" env FAKE_GPU='devices=2' bench_gpu
    expect_gpu "$second" env FAKE_GPU='devices=2' BENCH_DEVICE=1 bench_gpu
    expect_gpu "$second" env FAKE_GPU='devices=2' bench_gpu --thermal-device 1
fi
