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
expect_refused "warpmeter: no metric's name matches 'zzz*'; patterns are a shell's, such as '*fault*'"
try warpmeter metrics ''
expect_refused "warpmeter: no metric's name matches ''"

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
