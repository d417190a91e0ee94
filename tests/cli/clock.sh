# shellcheck shell=sh
# Clocks that misbehave, and a program that is killed.
[ -e "$BIN/../lib/libfakeclock.so" ] || skip 'libfakeclock.so is not built with the sanitizers'

with_clock() {
    env FAKE_CLOCK="$1" LD_PRELOAD="$BIN/../lib/libfakeclock.so" WARPMETER_TIMER=monotonic "$BIN/bench_cli" \
        -q --format csv "$2" "$3"
}

# A clock that never advances: the program ends, rows say why they have no time, and nothing divides by it.
for benchmark in fast empty repeat; do
    try with_clock stopped -b $benchmark
    expect_status 3
    expect_match '^[a-z]+,[a-z]+,time,ns,.*,missing,shorter than the clock can resolve,'
done
try with_clock stopped -b fast
expect_match '^fast,work,item_rate,item/s,.*,missing,shorter than the clock can resolve,'

# Wall-clock time that steps back changes nothing.
try with_clock back -b manual
expect_status 0
expect_match '^manual,quick,time,ns,50,'
try with_clock back -b fast
expect_status 0
expect_match '^fast,work,time,ns,[0-9]+'

# A program that is killed leaves what it wrote behind. In the midst of a write the kill may cut the last line,
# which `show` then leaves out.
try timeout -s KILL 1 "$BIN/bench_cli" -q -b fast --runs 100000000 --samples killed.csv -o never.csv
[ ! -e never.csv ] || complain 'a table was written'
try warpmeter show killed.csv --format csv --columns run,value
expect_status 0
expect_match '^0,[0-9]'
