# shellcheck shell=sh
# warpmeter metrics and doctor: what is here differs between machines, so that only what is
# everywhere is looked for.

try warpmeter metrics 'time*'
expect_status 0
expect_no_error
expect_match '^time +ns +cpu +lower +true +'
expect_match '^time_sum +ns +cpu +lower +true +'
refuse_line cpu_time
try warpmeter metrics
expect_status 0
for metric in time cpu_time page-faults instructions group:cache; do expect_match "^$metric "; done
cp ../stdout all
try warpmeter metrics '*'
expect_same ../stdout all
try warpmeter metrics cycles --format csv
expect_status 0
expect_match '^metric,unit,backend,better,available,reason,text'
expect_match '^cycles,"?"?,cpu,lower,(true|false),'
try warpmeter metrics 'time*' --format json
cp ../stdout metrics.json
try warpmeter show metrics.json --columns metric --format csv
expect_line time_sum,

try warpmeter metrics 'zzz*'
expect_refused "warpmeter: no metric's name matches 'zzz*'; patterns are a shell's, such as '*fault*', and --chip"
try warpmeter metrics ''
expect_refused "warpmeter: no metric's name matches ''"

# Metrics of chips that are not here, from a made-up libcupti.
fakes=$BIN/../fakes
if [ -e "$fakes/libcupti.so.13" ]; then
    export WARPMETER_LIBCUPTI="$fakes/libcupti.so.13" WARPMETER_LIBCUDA="$fakes/libcuda.so.1"
    export FAKE_GPU=devices=0
    try warpmeter metrics --chip TU104 'dram__*'
    expect_status 0
    expect_no_error
    expect_match '^dram__bytes_read\.sum +B +cuda +true +# of bytes read from DRAM$'
    expect_match '^dram__throughput\.avg\.pct_of_peak_sustained_elapsed +% +cuda +higher +true +DRAM throughput$'
    refuse_line 'dram__bytes_read.avg'
    refuse_line 'time '
    try warpmeter metrics --chip gh100 'dram__throughput.*' --format csv
    expect_match '^dram__throughput\.max\.pct_of_peak_sustained_active,%,cuda,higher,true,'
    try warpmeter metrics --chip GH100 'kernel_*'
    expect_match '^kernel_time +ns +cuda +lower +true +'
    try warpmeter metrics --chip GH100 'group:*'
    expect_match '^group:quick +true +'
    refuse_line group:cache
    try warpmeter metrics --chip XX999
    expect_refused "warpmeter: CUPTI 13.0.1 knows no chip 'XX999'"
    try warpmeter metrics --chip GH100 'zzz*'
    expect_refused "warpmeter: no metric's name matches 'zzz*'"

    try warpmeter metrics --chip GH100 --plan kernel_time,group:speed-of-light
    expect_status 0
    expect_match '^chip +GH100$'
    expect_match '^passes +9$'
    expect_match '^counter_passes +8$'
    expect_match '^kernel_time +ns +cuda +0 +configuration +false$'
    expect_match '^sm__throughput\.avg\.pct_of_peak_sustained_elapsed +% +cuda +8 +'
    try warpmeter metrics --chip GH100 --plan group:quick
    expect_match '^counter_passes +2$'
    expect_match '^TriageCompute\.sm__throughput\.avg'
    try warpmeter metrics --chip GA100 --plan group:quick --format csv
    expect_match '^,sm__throughput\.avg\.pct_of_peak_sustained_elapsed,'
    refuse_line Triage
    try warpmeter metrics --chip GH100 --plan sm__throughput
    expect_refused 'warpmeter: sm__throughput needs a rollup: sm__throughput.avg.pct_of_peak_sustained_elapsed is usual'
    try warpmeter metrics --chip GH100 --plan time
    expect_refused "warpmeter: 'time' is no metric of a GPU"
    try warpmeter metrics --chip GH100 --plan group:cach
    expect_refused "warpmeter: there is no group of metrics 'cach'"
    try warpmeter metrics --plan kernel_time
    expect_refused "warpmeter: 'kernel_time' is measured on a GPU: "
    try warpmeter metrics 'kernel_time'
    expect_match '^kernel_time +ns +cuda +lower +false +'
    unset WARPMETER_LIBCUPTI WARPMETER_LIBCUDA FAKE_GPU
else
    try warpmeter metrics --chip GH100
    expect_refused 'warpmeter: this build knows no chips'
    try warpmeter metrics --plan kernel_time
    expect_refused "warpmeter: unknown metric 'kernel_time'; --list-metrics shows those there are, and none of a GPU"
fi
try warpmeter metrics --plan time,time,page-faults
expect_status 0
expect_match '^passes +2$'
expect_match '^counter_passes +1$'
expect_match '^time +ns +cpu +0 +'
try warpmeter metrics --plan ''
expect_refused 'warpmeter: --metrics takes'
try warpmeter metrics --plan time 'time*'
expect_refused "warpmeter: --plan takes the metrics itself: 'time*' is one word too many"

# Groups of one's own. One that cannot be read is listed with its reason.
mkdir groups
printf 'text: Wall time alone\nmetrics: time\n' >groups/mine.metrics
printf 'text: More than there is\nmetrics: time, zzz\n' >groups/more.metrics
printf 'what is this\n' >groups/bad.metrics
export WARPMETER_METRICS="$PWD/groups"
try warpmeter metrics 'group:*' --format csv
expect_status 0
expect_line 'group:mine,,,,true,,Wall time alone'
expect_match "^group:more,,,,false,\"?unknown metric 'zzz'.*,More than there is"
expect_match '^group:bad,,,,false,.+'
expect_match '^group:faults,'
export WARPMETER_METRICS="$PWD/nowhere"
try warpmeter metrics
expect_refused "warpmeter: WARPMETER_METRICS takes folders separated by ':', and '$PWD/nowhere' is none"
unset WARPMETER_METRICS

try warpmeter doctor
expect_status 0
expect_no_error
expect_match '^timer$'
expect_match '^machine$'
expect_match '^  ok +muParser +[0-9]'
try warpmeter doctor --format csv
expect_status 0
expect_match '^component,item,state,value,reason,remedy'
expect_match '^timer,source,(ok|limited),(tsc|cntvct|monotonic),'
try warpmeter doctor --format json
expect_status 0
cp ../stdout doctor.json
try warpmeter show doctor.json --filter component=formulas --columns item,state --format csv
expect_line muParser,ok,

try env WARPMETER_TIMER=monotonic warpmeter doctor --format csv
expect_status 0
expect_line 'timer,source,limited,monotonic,WARPMETER_TIMER asks for it'
try env WARPMETER_TIMER=sundial warpmeter doctor
expect_refused "warpmeter: WARPMETER_TIMER takes tsc or monotonic, not 'sundial'"
try env WARPMETER_MUPARSER=/dev/null warpmeter doctor --format csv
expect_status 0
expect_match '^formulas,muParser,absent,'
