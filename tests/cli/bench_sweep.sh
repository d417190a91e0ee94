# shellcheck shell=sh
# How a benchmark program sweeps: axes, order, stop rules, threads, repetition, parameters.
export CALLS="$PWD/calls"

# calls_are TEXT: the calls since the last look, on one line.
calls_are() {
    calls=$(tr '\n' ' ' <"$CALLS")
    rm -f "$CALLS"
    [ "$calls" = "$1" ] || complain "calls: $calls"
}

try bench_cli -q -b manual --runs 2 --warmup 0
calls_are 'manual n=1 manual n=1 manual n=2 manual n=2 '
try bench_cli -q -b manual --runs 2 --warmup 0 --order interleaved
calls_are 'manual n=1 manual n=2 manual n=1 manual n=2 '
try bench_cli -q -b manual --runs 1 --warmup 0 -a 'n=[0:9:3]'
calls_are 'manual n=0 manual n=3 manual n=6 manual n=9 '
try bench_cli -q -b manual --runs 1 --warmup 0 -a 'n[pow2]=[3:7:2]'
calls_are 'manual n=8 manual n=32 manual n=128 '
try bench_cli -q -b manual --runs 1 --warmup 0 -a 'n=[1,2,3]' -a 'm=[7,8,9]' --zip n,m --format csv
calls_are 'manual n=1 manual n=2 manual n=3 '
expect_match ',"n=3,m=9",'
try bench_cli -q -b manual --runs 1 --warmup 0 --config n=5 --filter 'n=(2|5)$'
calls_are 'manual n=2 manual n=5 '
try bench_cli -q -b lifecycle
calls_are 'setup n=1 run n=1 run n=1 run n=1 teardown n=1 setup n=2 run n=2 run n=2 run n=2 teardown n=2 '

# The same seed gives the same order, and every round holds each configuration once.
try bench_cli -q -b manual --runs 2 --warmup 0 -a 'n=[1:8]' --order random --seed 3
cp "$CALLS" first && rm "$CALLS"
try bench_cli -q -b manual --runs 2 --warmup 0 -a 'n=[1:8]' --order random --seed 3 --format json
expect_same "$CALLS" first
expect_match '"key": "seed", "type": "int64", "value": 3'
[ "$(head -n 8 first | sort -u | wc -l)" -eq 8 ] || complain 'a round repeats a configuration'
rm "$CALLS"

# Stop rules.
try bench_cli -q -b manual --target-ci 1% --min-runs 3 --format csv
expect_match '^manual,slow,time,ns,100,.*,ok,,target-ci,'
[ "$(grep -c 'n=1' "$CALLS")" -eq 4 ] || complain 'not 3 runs and a warm-up'
try bench_cli -q -b rising --max-noise 1% --max-runs 7 --format csv
expect_match '^rising,rising,time,ns,40,.*,ok,,max-runs,'
try bench_cli -q -b rising --runs 5 --timeout 1ns --warmup 1 --format csv
expect_match ',missing,.*,timeout,'
expect_status 3

# Statistics of 10, 20, 30, 40, 50.
try bench_cli -q -b rising --format csv
expect_match '^rising,rising,time,ns,30,15\.811388300841896,10,50,30,12,48,5,10\.3675683852244[0-9]*,49\.632431614775[0-9]*,0\.5270462766947299,false,0,lower,'

# Typed parameters, recorded values, threads, repetition.
try bench_cli -q -b typed --format csv
expect_status 0
expect_match ',ok,'
try bench_cli -q -b record --format csv
expect_match '^record,record,widgets,widget,10,0,'
expect_match '^record,record,"odd, ""name""","",1,0,1,1,1,1,1,2,'
try bench_cli -q -b asks --format csv
expect_status 1
expect_match ",failed,there is no parameter 'm',"
try bench_cli -q -b threaded --format csv
expect_match '^threaded,work,time,ns,.*,6,2,,cpu,'
expect_match '^threaded,threaded,index,"",1,0,'
try bench_cli -q -b repeat --format csv
expect_match '^repeat,add,time,ns,0\.[0-9]+,|^repeat,add,time,ns,[0-9]+\.?[0-9]*,'
try bench_cli -b repeat --cache-control all --runs 2
expect_error 'exclude each other'

# Marks without a partner are errors of their own rows.
try bench_cli -q -b unmatched --format csv
expect_match '^unmatched,fine,time,ns,.*,ok,'
expect_match '^unmatched,never,time,ns,.*,error,'
expect_match '^unmatched,open,time,ns,.*,error,'

# Derived metrics, sample by sample.
try bench_cli -q -b manual --derive 'gflops = 200*n/time [GFLOP/s]' --derive 'double = 2*gflops' --format csv
expect_match '^manual,slow,gflops,GFLOP/s,2,.*,samples,'
expect_match '^manual,slow,double,"",4,'

# A software event is counted; one that this machine lacks is a null that says why.
try bench_cli -q -b fast --metrics page-faults,cpu_time --format csv --runs 2
expect_match '^fast,work,cpu_time,ns,[0-9]'

# -v says what ended each configuration and which were skipped; -vv also when each was set up.
try bench_cli -b mixed -b rising -v
expect_error 'bench_cli: mixed n=1 ended after 3 runs (runs)'
expect_error 'bench_cli: mixed n=3 skipped: n = 3 is too large'
expect_error 'bench_cli: rising ended after 5 runs (runs)'
refuse_error 'is set up'
try bench_cli -b mixed -vv
expect_error 'bench_cli: mixed n=3 is set up'
try bench_cli -b mixed
refuse_error 'ended after'
