# shellcheck shell=sh
# Google Benchmark's own compare.py reads what gbench-json writes.
compare=/usr/share/benchmark/compare.py
[ -e $compare ] || skip 'libbenchmark-tools is not installed'
# What it imports differs between versions; some want more than SciPy.
/usr/bin/python3 $compare --help >../help 2>&1 || skip "compare.py does not start: $(tail -n 1 ../help)"

try bench_cli -b manual -q -o a.gbench.json
try bench_cli -b manual -q -a 'n=[1,2]' -o b.gbench.json --runs 6
try /usr/bin/python3 $compare --no-color benchmarks a.gbench.json b.gbench.json
expect_status 0
expect_match '^manual/slow/n:1 +\+0\.0000 +[+-][0-9.]+ +100 +100 '
expect_match '^manual/quick/n:2_median +\+0\.0000 +[+-][0-9.]+ +100 +100 '

try /usr/bin/python3 $compare --no-color filters a.gbench.json slow quick
expect_status 0
expect_match '\[slow vs\. quick\].* -0\.5000 '

# A failed configuration does not stop it.
try bench_cli -b mixed -q -o c.gbench.json
try /usr/bin/python3 $compare --no-color benchmarks c.gbench.json c.gbench.json
expect_status 0
expect_match '^mixed/n:1'
