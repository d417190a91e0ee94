# shellcheck shell=sh
# bench/device/run: what it reads and how it judges, on a machine that is made up.
command -v python3 >/dev/null || skip 'there is no python3'
# Started some hundred times: without a search for the interpreter, and without its packages.
python=$(python3 -c 'import sys; print(sys.executable)')
sed "1s|.*|#!$python -IS|" "$SOURCE/tests/cli/data/device/fake" >fake
chmod +x fake
mkdir programs
for name in bars crossover doctor launch memory state sweep ncu nvidia-smi warpmeter; do
    ln -s ../fake programs/$name
done
PATH="$PWD/programs:$PATH"

# judge WORDS [PARTS]: run the script, or parts of it, while the programs do as the words say
judge() {
    try env FAKE="$1" "$python" "$SOURCE/bench/device/run" programs --quick --out raw ${2:+--only "$2"}
}
# expect_rows N VERDICT: so many rows end with the verdict
expect_rows() {
    [ "$(grep -cE "  $2\$" ../stdout)" -eq "$1" ] || complain "expected $1 rows that end with $2"
}

# Close to ncu and below each bar.
judge ''
expect_status 0
expect_rows 42 yes
expect_rows 0 NO
expect_rows 3 -
expect_line 'GPU, driver: NVIDIA H200, 580.0'
expect_line 'ncu: Version 2025.3.1.0'
expect_line '  libcupti: 13.0 at /opt/libcupti.so'
expect_line '  counters: not permitted'
expect_line "  groups: $SOURCE/metrics"
refuse_line 'of no interest'
# At another clock cycles count: 169.425 us * 1.6 / 1.5 = 180.72 us.
expect_line '169.43 us at 1.600 GHz, ncu 180.00 at 1.500: +0.40 %, +0.72 us as cycles (timer profiler); kernel_time 168.43 us (timer cupti)  yes'
expect_line '125.50 us at 1.900 GHz, ncu 125.00 at 1.900: +0.40 %, +0.50 us (timer profiler); kernel_time 124.50 us (timer cupti)'
expect_line '265.32 MB, ncu 268.00: -1.00 %'
expect_line '88.10, ncu 90.00: -1.90'
expect_match '45\.10, ncu 47\.00: -1\.90 \(written [0-9.]+ MB, ncu [0-9.]+\)'
expect_match '^softmax 8192x1024: DRAM % where ncu replays the kernel +- +ncu 50\.00 \(written 7\.0 MB\) +-$'
expect_match '^written by a kernel that writes nothing +- +ncu 2\.80 MB, warpmeter 0\.04 MB +-$'
expect_line '104,857,600'
expect_line '1.20 us over 3.00 (ratio 1.40); collecting afterwards 0.25 us a kernel'
expect_line '2.19 s: making 0.12, running 2.04, table 0.03'
expect_match 'ncu +- +[0-9.]+ s, [0-9]+ ms a kernel: [0-9.]+ times warm, [0-9.]+ times cold'
expect_line 'auto 0.36 s, stacked 0.30, window 1.00: +19 %'
expect_line 'auto 1.19 s, stacked 5.00, window 1.00: +19 %'
expect_line '199 B a kernel, 190 MiB in all'
expect_line '+0.90 % of 1.000 s (from -0.10 to +2.00)'
expect_line '300 W, at rest 190'
expect_line '40.0 degC, at rest 37.5'
expect_line '1.900 GHz, at rest 1.950; memory 3.200'
expect_line '655 J, mean power x time 600: +9.2 %'
expect_line '183.42 us, ncu 180.00: +1.90 %, +3.42 us'
refuse_line 'missed'
grep -q '^001 nvidia-smi --query-gpu' raw/commands.txt || complain 'expected the commands in raw/commands.txt'
grep -q 'timer cupti' raw/table.txt || complain 'expected the table in raw/table.txt'

# Just over each bar: none passes but what has no bar.
judge over
expect_status 1
expect_rows 0 yes
expect_rows 42 NO
expect_line '42 of 42 bars missed'
expect_match ' 44\.90, ncu 47\.00: -2\.10 \(written .*\) +NO$' # what is judged
expect_line '104,857,601'

# A value that is missing is a bar that is missed, and the reason is told.
judge null kernels,sweeps,state
expect_status 1
expect_rows 8 NO
expect_line 'gpu_energy_j: no-sensor'
expect_line 'sm__throughput.avg.pct_of_peak_sustained_elapsed: device-busy'
expect_line '1 of 18 values are missing: b: device-busy'

# What no bar hangs on may be missing.
judge unbarred kernels
expect_status 0
expect_rows 12 yes
expect_rows 0 NO
expect_line '+0.50 us (timer profiler); kernel_time: device-busy'
expect_match '^softmax 8192x1024: DRAM % .* 45\.10, ncu 47\.00: -1\.90 .*yes$'
expect_match '^written by a kernel that writes nothing +- +not measured \(1\) +-$'
expect_line '(1) ncu: No kernels were profiled'

# Without cuBLAS the rows of the product are skipped, and pass for nothing.
judge no-cublas kernels,counts
expect_status 0
expect_rows 10 yes
expect_match 'GEMM 4096 fp16: time .* skipped \(1\) +-$'
expect_line '(1) cuBLAS was not found'

# Programs that fail, and ncu's own complaint.
judge hidden kernels,launch,sweeps
expect_status 1
expect_rows 1 yes
expect_match '^\([0-9]\) bars: the counters are not permitted$'
expect_match '^\([0-9]\) ncu: ERR_NVGPUCTRPERM - not permitted$'
expect_match '^\([0-9]\) sweep ended with status 1$'

# Kernels that one side did not see.
judge 'few lost' kernels,launch,sweeps
expect_status 1
expect_line 'ncu has 9 values of gpu__time_duration.sum for 10 runs'
expect_line 'ncu has 59 values of gpu__time_duration.sum for 60 runs'
expect_line '99,999 of 100,000 kernels were recorded'

# Programs that are not there.
rm programs/launch programs/doctor
judge '' launch
expect_status 1
expect_line 'launch: No such file or directory'
expect_line 'warpmeter finds: not known:'

# One part alone; without the folder of metrics beside the script none is named.
cp "$SOURCE/bench/device/run" alone
ln -s ../fake programs/doctor
try "$python" alone programs --quick --out raw --only memory
expect_status 0
expect_rows 1 yes
expect_line '  groups: those installed'
try "$python" alone programs --only nothing
expect_status 2
expect_error "there is no part 'nothing'; there are kernels, counts, launch, sweeps, crossover, memory, state, evidence"
