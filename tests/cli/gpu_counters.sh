# shellcheck shell=sh
# Counters: in how many passes, in which way, of which kernels. The fake GPU counts 1000 of everything for
# each kernel, and 50 % of every peak; sm__throughput takes it 8 passes, its triage form 2.
# shellcheck source=tests/cli/fake_gpu
. "$SOURCE/tests/cli/fake_gpu"
bytes=dram__bytes_read.sum
sm=sm__throughput.avg.pct_of_peak_sustained_elapsed

# plan OPTIONS...: show the plan for regions, of which nothing runs
plan() {
    rm -f calls
    try env FAKE_GPU=calls=calls bench_gpu -b regions --dry-run "$@"
    expect_status 0
    expect_uncalled cuLaunch
    expect_uncalled cuCtxCreate
}

# ---- passes ----

plan --metrics kernel_time,kernel_count
expect_match '^passes +1$'
expect_match '^regions +kernel_time +ns +cuda +0 +configuration +false$'
plan --metrics $bytes --replay stacked
expect_match '^passes +2$'
expect_match "^regions +$bytes +B +cuda +1 +configuration +true\$"
plan --metrics time,$sm --replay stacked
expect_match '^passes +9$'
expect_match "^regions +$sm +% +cuda +8 +configuration +true\$"
plan --metrics $sm --replay window
expect_match '^passes +9$'
expect_match "^regions +$sm +% +cuda +8 +run +true\$"
plan --metrics $sm --replay kernel # for which no time is needed
expect_match '^passes +1$'
expect_match "^regions +$sm +% +cuda +0 +run +true\$"
plan --metrics kernel_time,$sm --replay kernel
expect_match '^passes +2$'
expect_match "^regions +$sm +% +cuda +1 +configuration +true\$"
plan --metrics $sm --replay range
expect_match '^passes +9$'

# The warm-up, three runs for times, and three for each of 8 passes.
rm -f calls
FAKE_GPU=calls=calls measure -b regions --metrics kernel_time,$sm --replay stacked
cp calls ../stdout
expect_line "cuLaunchKernel $((3 * (1 + 3 + 8 * 3)))"
rm -f calls
FAKE_GPU=calls=calls measure -b regions --metrics kernel_time,$sm --replay stacked --counter-runs 1
cp calls ../stdout
expect_line "cuLaunchKernel $((3 * (1 + 3 + 8)))"
expect_rows region,metric,mean,samples <<END
small,kernel_time,1000,3
small,$sm,50,1
large,kernel_time,6000,3
large,$sm,50,1
END
rm -f calls
FAKE_GPU=calls=calls measure -b regions --metrics kernel_time,$sm --replay kernel
cp calls ../stdout
expect_line "cuLaunchKernel $((3 * (1 + 3 + 3)))"

# Without times the program runs no more often than it is asked to.
rm -f calls
FAKE_GPU=calls=calls measure -b regions --metrics $sm,$bytes --replay kernel --warmup 0
cp calls ../stdout
expect_line "cuLaunchKernel $((3 * 3))"
expect_rows region,metric,mean,samples,kernel,kernels <<END
small,$sm,50,3,alpha,3
small,$bytes,1000,3,alpha,3
large,$sm,50,3,"gamma, beta",6
large,$bytes,2000,3,"gamma, beta",6
END

# ---- values ----

for how in auto stacked window kernel range; do
    measure -b regions --metrics kernel_time,$bytes,$sm --replay $how
    expect_status 0
    expect_rows region,metric,mean,unit,samples,kernel <<END
small,kernel_time,1000,ns,3,alpha
small,$bytes,1000,B,3,alpha
small,$sm,50,%,3,alpha
large,kernel_time,6000,ns,3,"gamma, beta"
large,$bytes,2000,B,3,"gamma, beta"
large,$sm,50,%,3,"gamma, beta"
END
done
for how in auto stacked window kernel; do
    measure -b nested --metrics $bytes,$sm --replay $how
    expect_rows region,metric,mean <<END
outer,$bytes,2000
outer,$sm,50
outer/inner,$bytes,1000
outer/inner,$sm,50
END
done
measure -b worker --metrics $bytes
expect_rows region,mean,samples <<END
work,3000,2
END
measure -b worker --metrics $bytes --scope thread
expect_status 3
expect_rows region,mean,reason <<END
work,,no kernel was launched there
END
measure -b overlap --metrics kernel_time,$bytes
expect_rows metric,mean <<END
kernel_time,8000
$bytes,2000
END
measure -b copies --metrics kernel_count,$bytes --filter 'bytes=64$'
expect_rows region,metric,mean,status,reason <<END
copy,kernel_count,0,ok,
copy,$bytes,,missing,no kernel was launched there
set,kernel_count,0,ok,
set,$bytes,,missing,no kernel was launched there
END
measure -b graphs --metrics kernel_time,$bytes
expect_rows metric,mean table.json region=replay <<END
kernel_time,3000
$bytes,2000
END

for how in "" "--replay window" "--replay range" "--cache-control all"; do
    # shellcheck disable=SC2086 # an option and its value
    measure -b anew --metrics kernel_time,$bytes $how
    ! grep '"key": "warning.*context' table.json >../rows || complain "a warning: $(cat ../rows)"
    expect_rows n,metric,mean,samples <<END
1,kernel_time,1000,2
1,$bytes,1000,2
2,kernel_time,1000,2
2,$bytes,1000,2
END
done

# Taking turns is for times alone.
measure -b kernels --metrics kernel_time,$bytes --order interleaved
expect_rows n,metric,mean,samples <<END
0,kernel_time,,0
0,$bytes,,0
1,kernel_time,1000,3
1,$bytes,1000,3
3,kernel_time,7000,3
3,$bytes,3000,3
END

# The clock that kernels ran at, and the pass that read it.
expect_rows sm_clock_hz,sm_clock_pass,pass_time_ratio table.json n=3,metric=kernel_time <<END
1500000000,1,1
END

measure -b regions --metrics kernel_count,$bytes --cache-control all
expect_rows region,metric,mean <<END
small,kernel_count,1
small,$bytes,1000
large,kernel_count,2
large,$bytes,2000
END

measure -b regions --metrics kernel_count,$bytes --ignore-kernels beta
expect_rows region,metric,mean,kernel <<END
small,kernel_count,1,alpha
small,$bytes,1000,alpha
large,kernel_count,1,gamma
large,$bytes,1000,gamma
END

while read -r how mean; do
    measure -b regions --metrics $bytes --combine "$how"
    expect_rows mean table.json region=large <<END
$mean
END
done <<END
auto 2000
sum 2000
mean 1000
max 1000
$bytes=weighted 1000
END
measure -b regions --metrics $bytes,$sm --combine one
expect_rows region,metric,mean,reason <<END
small,$bytes,1000,
small,$sm,50,
large,$bytes,,"several kernels ran: gamma, beta; --combine says what to make of them"
large,$sm,,"several kernels ran: gamma, beta; --combine says what to make of them"
END
expect_line "$bytes and 1 more missing: several kernels ran: gamma, beta"

# Values that come late are among the raw samples, too.
measure -b regions -b nested --metrics kernel_time,$bytes --runs 1 --samples s.csv
expect_rows region,metric,run,pass,value s.csv "metric=$bytes" <<END
large,$bytes,0,1,2000
small,$bytes,0,1,1000
regions,$bytes,0,1,3000
outer/inner,$bytes,0,1,1000
outer,$bytes,0,1,2000
nested,$bytes,0,1,2000
END

# ---- passes that differ ----

# 5 runs a pass, of another number of kernels each: nothing fits.
for how in stacked window; do
    measure -b varies --metrics $bytes,$sm --runs 5 --replay $how
    expect_status 3
    expect_rows metric,mean,status,reason <<END
$bytes,,missing,"passes launched different kernels, so their counters do not belong together"
$sm,,missing,"passes launched different kernels, so their counters do not belong together"
END
    expect_line "$bytes and 1 more missing: passes launched different kernels"
done
# Then the driver replays each kernel; its own replay has no passes that could differ.
measure -b varies --metrics $bytes,$sm --runs 5
expect_status 0
expect_rows metric,mean,samples table.json metric=$sm <<END
$sm,50,5
END
measure -b varies --metrics $bytes,$sm --runs 6 --replay kernel
expect_rows metric,mean,samples <<END
$bytes,2000,6
$sm,50,6
END

# More kernels than there is room for.
measure -b grows --metrics kernel_count,$bytes
expect_status 0
expect_rows metric,mean,status,reason <<END
kernel_count,1,ok,
$bytes,,missing,more kernels ran than the counters had room for
END

# ---- groups ----

measure -b regions --metrics group:quick
expect_rows metric,mean,bound table.json region=small <<END
kernel_time,1000,"latency-bound: compute 50.0 %, memory 50.0 % (neither near its peak)"
TriageCompute.sm__throughput.avg.pct_of_peak_sustained_elapsed,50,"latency-bound: compute 50.0 %, memory 50.0 % \
(neither near its peak)"
dram__throughput.avg.pct_of_peak_sustained_elapsed,50,"latency-bound: compute 50.0 %, memory 50.0 % \
(neither near its peak)"
LTS.TriageCompute.lts__throughput.avg.pct_of_peak_sustained_elapsed,50,"latency-bound: compute 50.0 %, memory 50.0 \
% (neither near its peak)"
END
expect_match '^small .* latency-bound: compute 50\.0 %, memory 50\.0 % \(neither near its peak\)$'
measure -b regions --metrics group:speed-of-light
expect_rows metric,mean table.json region=large <<END
kernel_time,6000
$sm,50
dram__throughput.avg.pct_of_peak_sustained_elapsed,50
lts__throughput.avg.pct_of_peak_sustained_elapsed,50
END
# 1000 of each instruction and of each kind of tensor operation, by their weights; 2000 bytes.
measure -b regions --metrics group:roofline
expect_rows metric,mean,unit table.json 'region=small,metric~^(fp|tensor|kernel|dram_byte_rate|arith)' <<END
kernel_time,1000,ns
fp64_flops,4000,FLOP
fp32_flops,4000,FLOP
fp16_flops,8000,FLOP
tensor_fp64_flops,1000,FLOP
tensor_tf32_flops,1000,FLOP
tensor_16bit_flops,2000,FLOP
tensor_8bit_flops,1000,FLOP
kernel_flops,21000,FLOP
kernel_flop_rate,21000000000,FLOP/s
dram_byte_rate,2000000000,B/s
arithmetic_intensity,10.5,FLOP/B
END

# ---- names that are wrong: found before anything runs ----

# refuse METRIC TEXT
refuse() {
    rm -f calls table.json
    try env FAKE_GPU=calls=calls bench_gpu -b regions --metrics "$1" --out table.json
    expect_refused "bench_gpu: $2"
    expect_uncalled cuLaunch
    [ ! -e table.json ] || complain 'there is a table'
}
refuse a,b "unknown metric 'a'"
refuse "$bytes,b" "unknown metric 'b'"
refuse bogus__x.sum "GH100 has no metric 'bogus__x.sum'"
refuse dram__byte_read.sum "GH100 has no metric 'dram__byte_read.sum'; did you mean dram__bytes_read"
refuse dram__bytes_read.smu "dram__bytes_read has no '.smu'; did you mean .sum?"
refuse sm__throughput "sm__throughput needs a rollup: $sm is usual"
refuse kernel_tim "unknown metric 'kernel_tim'; did you mean kernel_time"
refuse TriageA.sm__throughput.avg.pct_of_peak_sustained_elapsed \
    "GH100 has no metric 'TriageA.sm__throughput.avg.pct_of_peak_sustained_elapsed'; it is one of TU"

# Counters are read when the number of runs has been found.
try bench_gpu -b regions --metrics $bytes --max-noise 5%
expect_refused "--max-noise looks at what is read in the first pass, and '$bytes' is read in a later one: add \
kernel_time to --metrics"
measure -b regions --metrics $bytes,kernel_time --max-noise 5%
expect_rows region,metric,samples,stop_reason table.json metric=$bytes <<END
small,$bytes,10,max-noise
large,$bytes,10,max-noise
END
