# shellcheck shell=sh
# The state of a GPU beside its times, and its clocks: what sensors say, and what is said where they do not.
# shellcheck source=tests/cli/fake_gpu
. "$SOURCE/tests/cli/fake_gpu"

# with WORDS COMMAND...: run it on a GPU of which the words of FAKE_GPU are true
with() {
    words=$1
    shift
    rm -f calls table.json
    try env FAKE_GPU="calls=calls $words" "$@"
}

# ---- what sensors say ----

with 'sm-clock=1410 temperature=71 margin=16 utilization=40 throttle=36' bench_gpu -b regions \
    --metrics kernel_time --state on --out table.json
expect_status 0
expect_rows region,mean,gpu_clock_hz,gpu_temperature_c,gpu_headroom_c,gpu_utilization,gpu_throttle,throttled <<END
small,1000,1410000000,71,16,0.4,"power,thermal",3
large,6000,1410000000,71,16,0.4,"power,thermal",3
END

# Off means off.
with '' bench_gpu -q -b regions --metrics kernel_time --state off --thermal off
expect_status 0
expect_uncalled nvml

# ---- sensors that are not there ----

with nvmlDeviceGetTotalEnergyConsumption=3 bench_gpu -b regions --metrics kernel_time --state on --out table.json
expect_status 0
expect_error 'warning: gpu_energy_j cannot be read: '
expect_rows region,mean,gpu_clock_hz,gpu_energy_j <<END
small,1000,1980000000,
large,6000,1980000000,
END
WARPMETER_LIBNVML=/nowhere
with '' bench_gpu -b regions --metrics kernel_time --out table.json
expect_status 0
refuse_error gpu_
expect_rows region,mean,gpu_clock_hz <<END
small,1000,
large,6000,
END
with '' warpmeter doctor --format csv
expect_match '^cuda,libnvidia-ml,absent,'
WARPMETER_LIBNVML=$(cd "$fakes" && pwd)/libnvidia-ml.so.1

# "GPU is lost" at the first call, the tenth, the twentieth: times are there all the same.
for from in 1 10 20; do
    with "nvml=15@$from" bench_gpu -b regions --metrics kernel_time --state on --out table.json
    expect_status 0
    expect_rows region,mean,status <<END
small,1000,ok
large,6000,ok
END
done

# ---- which GPU ----

with 'calls=calls' bench_gpu -q -b regions --metrics kernel_time --thermal-device 1
expect_status 2
expect_error 'bench_gpu: --thermal-device 1: no GPU has that number; warpmeter doctor lists them'
expect_uncalled cuLaunchKernel
with '' bench_gpu -q -b regions --metrics kernel_time --thermal-device 1 --thermal off
expect_status 0
with '' bench_gpu -q -b regions --metrics kernel_time --thermal-device 0
expect_status 0

# ---- clocks ----

with bind=80 bench_gpu -b regions --metrics kernel_time --state on --lock-clocks 1410MHz --out table.json
expect_status 0
expect_rows region,mean,clock_requested_hz,gpu_clock_hz <<END
small,1000,1410000000,1128000000
large,6000,1410000000,1128000000
END
grep -q '^nvmlDeviceResetGpuLockedClocks 1$' calls || complain 'the clocks were not given back once'
cat "$WARPMETER_RUN_DIR"/GPU-*.clocks >held
lock=$WARPMETER_RUN_DIR/GPU-00010203-0405-0607-0809-0a0b0c0d0e00.clocks
[ -e "$lock" ] || complain 'no file said that they were held'
[ ! -s "$lock" ] || complain 'the file says that they still are'

# refused TEXT: one line that holds it, nothing ran, and the table says that there are no samples
refused() {
    expect_status 1
    expect_match 'missing: no sample was taken'
    expect_error "$1"
    [ "$(wc -l <../stderr)" -eq 1 ] || complain 'expected one line on stderr'
    expect_uncalled cuLaunchKernel
}
with forbidden bench_gpu -q -b regions --metrics kernel_time --lock-clocks base
refused 'bench_gpu: --lock-clocks: clocks are for administrators to hold (nvmlDeviceSetGpuLockedClocks: Insuff'
expect_error 'run as root or with CAP_SYS_ADMIN'
with forbidden bench_gpu -b regions --metrics kernel_time --lock-clocks try:base --out table.json
expect_status 0
expect_error 'warning: clocks are not held: clocks are for administrators to hold'
warpmeter show table.json --columns note --format csv >../stdout
expect_match '^.?clocks were not held: clocks are for administrators'
with '' bench_gpu -q -b regions --metrics kernel_time --lock-clocks 1411MHz
refused 'bench_gpu: --lock-clocks: the GPU has no clock of 1411 MHz: the nearest are 1410 MHz and 1425 MHz'

# A program that is told to end gives them back first, while it waits, too. It holds them when the file says so.
for signal in TERM HUP; do
    FAKE_GPU=margin=5 bench_gpu -q -b regions --metrics kernel_time --thermal manual --lock-clocks base \
        >../stdout 2>../stderr &
    pid=$!
    tries=0
    until [ -s "$lock" ] || [ "$tries" -eq 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -s "$signal" "$pid"
    ended=0
    wait "$pid" || ended=$?
    [ "$(kill -l "$ended")" = "$signal" ] || complain "it ended with $ended, not by $signal"
    expect_error 'ending after this run, to give the clocks back'
    expect_error 'interrupted while waiting for the GPU to cool'
    [ ! -s "$lock" ] || complain "the clocks are held after $signal"
done

# ---- doctor ----

with '' warpmeter doctor --format csv
expect_status 0
expect_match '^cuda,libnvidia-ml,ok,"NVML 13\.580\.1, driver 580\.1 \('
expect_match '^cuda,sensors,ok,"0: clock_hz, memory_clock_hz, temperature_c, headroom_c, pstate, utilization, power_w'
expect_match '^cuda,clocks,'
expect_uncalled cuCtxCreate
refuse_line 'clock lock'

# A lock that a process left which is gone: its number never comes back, for none is so large.
echo '99999999 12345 base' >"$lock"
with '' warpmeter doctor --format csv
expect_match '^cuda,clock lock,limited,0: base,"process 99999999, which is gone, left the clocks held at base"'
expect_line "nvidia-smi -i GPU-00010203-0405-0607-0809-0a0b0c0d0e00 -rgc"
with '' bench_gpu -q -b regions --metrics kernel_time --lock-clocks base
expect_status 0
with '' warpmeter doctor --format csv
refuse_line 'clock lock'

# One of a process that lives: the shell's own.
read -r _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ start _ <"/proc/$$/stat"
echo "$$ $start base" >"$lock"
with '' bench_gpu -q -b regions --metrics kernel_time --lock-clocks base
refused "bench_gpu: --lock-clocks: process $$ holds the GPU's clocks, at base; wait for its end"
with '' warpmeter doctor --format csv
expect_match "^cuda,clock lock,limited,0: base,\"process $$ holds the clocks, at base\""

# Another program keeps the file to itself, then a pipe stands in its place: neither is waited for.
if command -v flock >/dev/null; then
    : >"$lock"
    exec 9<"$lock"
    flock -s 9
    with '' timeout 60 bench_gpu -q -b regions --metrics kernel_time --lock-clocks base
    refused 'the file that says who holds the GPU'
    expect_error 'Resource temporarily unavailable'
    exec 9<&-
fi
rm -f "$lock"
mkfifo "$lock"
with '' timeout 60 warpmeter doctor --format csv
expect_status 0
refuse_line 'clock lock'
with '' timeout 60 bench_gpu -q -b regions --metrics kernel_time --lock-clocks base
refused 'the file that says who holds the GPU'
rm -f "$lock"
