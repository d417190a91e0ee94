# shellcheck shell=sh
# What is missing, forbidden, busy or broken is said by name, and never looks like a measurement.
# shellcheck source=tests/cli/fake_gpu
. "$SOURCE/tests/cli/fake_gpu"
bytes=dram__bytes_read.sum

# with WORDS COMMAND...: run it on a GPU of which the words of FAKE_GPU are true
with() {
    words=$1
    shift
    rm -f calls
    try env FAKE_GPU="calls=calls $words" "$@"
}

# ---- nothing to measure with: said before anything runs, and the CPU is measured all the same ----

# refuse WORDS TEXT
refuse() {
    with "$1" bench_gpu -b regions --metrics "kernel_time,$bytes" --out refused.json
    expect_refused "bench_gpu: $2"
    [ ! -e refused.json ] || complain 'there is a table'
    expect_uncalled cuLaunch
    with "$1" bench_gpu -q -b host --metrics time
    expect_status 0
    expect_no_error
    expect_match '^work +[0-9]'
}
refuse devices=0 "'kernel_time' is measured on a GPU: cuInit: CUDA_ERROR_NO_DEVICE (the driver finds no device; "
expect_uncalled cupti
refuse stub "'kernel_time' is measured on a GPU: cuInit: CUDA_ERROR_STUB_LIBRARY (this libcuda is the stub of a \
toolkit, "
refuse subscriber "cannot see launches: cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (another \
profiler is in this process, "
refuse cuptiActivityRegisterCallbacks=999 \
    'cannot record kernels: cuptiActivityRegisterCallbacks: CUPTI_ERROR_UNKNOWN ('
refuse cuInit=802 "'kernel_time' is measured on a GPU: cuInit: CUDA_ERROR_SYSTEM_NOT_READY ("
refuse chip=XX999 "'$bytes' is measured on a GPU: CUPTI 13.0.1 knows no chip 'XX999'"
good=$WARPMETER_LIBCUDA
WARPMETER_LIBCUDA=/nonexistent
refuse '' "'kernel_time' is measured on a GPU: libcuda could not be opened from WARPMETER_LIBCUDA: /nonexistent: "
WARPMETER_LIBCUDA=$good
good=$WARPMETER_LIBCUPTI
WARPMETER_LIBCUPTI=/nonexistent
refuse '' "'$bytes' is measured on a GPU: libcupti could not be opened from WARPMETER_LIBCUPTI: /nonexistent: "
WARPMETER_LIBCUPTI=$good

# ---- run for another profiler: it may hold CUPTI, so nothing of it is touched ----

with subscriber bench_gpu -q -b regions --metrics "kernel_time,$bytes" --derive 'twice = 2*kernel_time' --profile
expect_status 0
expect_no_error
expect_uncalled cupti

# ---- switched off: CUPTI is not called at all, and not without need either ----

export WARPMETER_CUDA=off
with '' bench_gpu -q -b regions --metrics time
expect_status 0
expect_uncalled cupti
grep -q '^cuLaunchKernel 12$' calls || complain 'the program launched something else'
refuse '' "'kernel_time' is measured on a GPU: CUDA is switched off: WARPMETER_CUDA is off"
expect_uncalled cupti
with '' warpmeter doctor
expect_status 0
[ ! -e calls ] || complain "called: $(cat calls)"
unset WARPMETER_CUDA
with '' bench_gpu -q -b regions --metrics time
expect_uncalled cupti

# ---- no counters: times go on ----

# refused REASON: kernel times are there, counters are not, for that reason
refused() {
    expect_status 0
    expect_rows region,metric,mean,status <<END
small,kernel_time,1000,ok
small,$bytes,,missing
large,kernel_time,6000,ok
large,$bytes,,missing
END
    expect_match "^small +1\\.000 µs .* \\($1\\) "
}
# without WORDS REASON TEXT
without() {
    rm -f table.json
    with "$1" bench_gpu -b regions --metrics "kernel_time,$bytes" --out table.json
    refused "$2"
    expect_error "bench_gpu: warning: $3"
    grep '"key": "warning' table.json >../stdout
    expect_line "$3"
}
without cuptiRangeProfilerEnable=35 permission 'cannot enable the counters: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES'
expect_error '(RmProfilingAdminOnly: 1)'
expect_error 'NVreg_RestrictProfilingToAdminUsers=0'
expect_error 'CAP_SYS_ADMIN'
without cuptiRangeProfilerEnable=26 device-busy 'cannot enable the counters: CUPTI_ERROR_HARDWARE_BUSY'
expect_error 'dcgmi profpause'
for call in SetConfig Start Stop DecodeData; do
    without cuptiRangeProfiler$call=999 backend 'cannot '
    expect_error 'CUPTI_ERROR_UNKNOWN'
done
none='NVIDIA Fake H200 has no counters: '
without unsupported=architecture no-device "${none}the device is older than the interface of its counters"
without unsupported=sli no-device "${none}the device is coupled with others (SLI) (CUPTI's flag sli); switch SLI off"
without unsupported=vGpu no-device "${none}the device is a virtual one (vGPU), which has no counters"
without unsupported=confidentialCompute no-device "${none}the device computes in confidence"
without unsupported=cmp no-device "${none}the device is made for mining (CMP)"
without unsupported=wsl no-device "${none}this is Windows' Linux (WSL)"
without unsupported=isSupported no-device "${none}CUPTI says that the device is not supported"
without 'name=NVIDIA_H200_MIG_1g.18gb unsupported=isSupported' no-device \
    'NVIDIA H200 MIG 1g.18gb has no counters: the device is a part of a GPU (MIG)'

# With counters alone nothing is left.
with cuptiRangeProfilerEnable=35 bench_gpu -q -b regions --metrics $bytes
expect_status 3
expect_error 'bench_gpu: nothing was measured'
expect_match "^small +\\(permission\\) +0 +alpha +$bytes missing: the system does not permit it\$"

# ---- records that are missing, lost or wrong ----

with no-records bench_gpu -b regions --metrics kernel_time,kernel_union,kernel_count --out table.json
expect_status 0
expect_rows region,metric,mean,status,reason <<END
small,kernel_time,,missing,a launch was seen but no record of it came
small,kernel_union,,missing,a launch was seen but no record of it came
small,kernel_count,1,ok,
large,kernel_time,,missing,a launch was seen but no record of it came
large,kernel_union,,missing,a launch was seen but no record of it came
large,kernel_count,2,ok,
END
expect_line 'kernel_time and 1 more missing: a launch was seen but no record of it came'
with no-records bench_gpu -q -b regions --metrics kernel_time
expect_status 3
expect_error 'bench_gpu: nothing was measured'

# Room for 2 records in a run: of 4 launches 2 are recorded and 2 dropped.
export WARPMETER_KERNEL_RECORDS=2
measure -b kernels --metrics kernel_count,kernel_time --runs 1 --kernels k.csv
expect_status 0
expect_error 'kernel records were dropped'
expect_rows n,metric,mean,status,reason table.json 'n>0' <<END
1,kernel_count,1,ok,
1,kernel_time,1000,ok,
3,kernel_count,3,ok,
3,kernel_time,,missing,a launch was seen but no record of it came
END
expect_rows region,ordinal,kernel,stream,duration_ns,grid_x,reason k.csv n=3 <<END
,0,setup,7,1000,1,
work,0,alpha,7,1000,3,
work,1,,,,,no-record
work,2,,,,,no-record
END
unset WARPMETER_KERNEL_RECORDS

export WARPMETER_CUDA_BUFFER=3000000000 WARPMETER_KERNEL_RECORDS=many
measure -b regions --metrics kernel_time
expect_status 0
expect_error "WARPMETER_CUDA_BUFFER takes a number from 65536 to 1073741824, not '3000000000': 1073741824 is used"
expect_error "WARPMETER_KERNEL_RECORDS takes a number from 1 to "
expect_error ", not 'many': 4000000 is used"
expect_rows mean <<END
1000
6000
END
unset WARPMETER_CUDA_BUFFER WARPMETER_KERNEL_RECORDS

# Times that cannot be true: that run has no time, the other two have.
measure -b untrue --metrics kernel_time,kernel_count --samples s.csv
expect_status 0
expect_rows times,metric,mean,max,samples <<END
zeros,kernel_time,3000,3000,2
zeros,kernel_count,2,2,3
backwards,kernel_time,3000,3000,2
backwards,kernel_count,2,2,3
huge,kernel_time,3000,3000,2
huge,kernel_count,2,2,3
END
expect_rows times,run,reason s.csv 'region=work,metric=kernel_time,reason~.' <<END
zeros,1,invalid-record
backwards,1,invalid-record
huge,1,invalid-record
END

# ---- it breaks off ----

with cuptiActivityEnable=999 bench_gpu -q -b regions --metrics kernel_time
expect_status 1
expect_error 'bench_gpu: cannot record kernels: cuptiActivityEnable: CUPTI_ERROR_UNKNOWN'
with cuptiActivityFlushAll=999 bench_gpu -q -b regions --metrics kernel_time
expect_status 1
expect_error 'bench_gpu: cannot read the records of kernels: cuptiActivityFlushAll: CUPTI_ERROR_UNKNOWN'
with cuLaunchKernel=719 bench_gpu -q -b regions --metrics kernel_time
expect_status 1
expect_line 'failed: CUDA_ERROR_LAUNCH_FAILED'

# A program that ends in the third run: the loss is said, and what was measured before is on the disk.
for by in exit _exit; do
    rm -f s.csv k.json
    measure -b quits --filter "by=$by\$" --metrics "kernel_time,$bytes" --samples s.csv --kernels k.json
    expect_silent
    [ $by = _exit ] || expect_error 'bench_gpu: benchmark quits ended the program, so there is no table'
    expect_rows region,metric,run,value s.csv region=work <<END
work,kernel_time,0,1000
work,kernel_time,1,1000
END
    for file in table.json k.json; do [ ! -e $file ] || complain "there is a file $file"; done
done

# ---- doctor says the same ----

# doctor WORDS LINE
doctor() {
    with "$1" warpmeter doctor --format csv
    expect_status 0
    expect_match "$2"
}
doctor devices=0 '^cuda,libcuda,absent,.*the driver finds no device'
doctor stub '^cuda,libcuda,absent,.*the stub of a toolkit'
doctor unsupported=wsl "^cuda,counters,absent,.*CUPTI's flag wsl"
doctor devices=2 '^cuda,device,ok,"1: NVIDIA Fake H200, GH100, '

# Somebody else's work may be in every number of a device that is shared.
mkdir mps
mkfifo mps/control
export CUDA_MPS_PIPE_DIRECTORY="$PWD/mps"
measure -b regions --metrics kernel_time
expect_rows region,mean,shared <<END
small,1000,true
large,6000,true
END
