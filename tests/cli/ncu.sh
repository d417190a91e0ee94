# shellcheck shell=sh
# warpmeter ncu, on an ncu that is made up (tests/fakes/ncu) and the made-up GPU.
# shellcheck source=tests/cli/fake_gpu
. "$SOURCE/tests/cli/fake_gpu"

[ -x "$fakes/ncu" ] || skip "this build has no NVTX"
WARPMETER_NCU=$(cd "$fakes" && pwd)/ncu
listener=$(cd "$fakes" && pwd)/fakenvtx.so
export WARPMETER_NCU
unset FAKE_NCU FAKE_NCU_WORDS FAKE_NVTX_LOG NVTX_INJECTION64_PATH WARPMETER_PROFILE WARPMETER_OUT

# profile OPTIONS... -- PROGRAM...: under ncu; the table is in table.json, ncu's words in the file words.
profile() {
    rm -f table.json words
    FAKE_NCU_WORDS=words try warpmeter ncu --out table.json "$@"
}

# expect_words: those of ncu's first call, up to the program, are what stands on standard input.
expect_words() {
    cat >../expected
    sed '\|/bench_|,$d' words >../rows
    diff -u ../expected ../rows >../diff || complain "other words: $(cat ../diff)"
}

# ---- ranges: what a tool that listens is shown ----

# ranges OPTIONS...: run bench_gpu with a listener; its calls are in the file calls.
ranges() {
    rm -f calls
    NVTX_INJECTION64_PATH=$listener FAKE_NVTX_LOG=calls try bench_gpu "$@"
}
expect_ranges() {
    cat >../expected
    grep '^start' calls | cut -d ' ' -f 3- >../rows
    diff -u ../expected ../rows >../diff || complain "other ranges: $(cat ../diff)"
}

# Not the warm-up; each configuration is a step of its own.
ranges -b kernels --axis n='[1,2]' --profile
expect_status 0
expect_ranges <<END
warpmeter.steps @0/0 kernels n=1
warpmeter work
warpmeter.steps @1/0 kernels n=2
warpmeter work
END
[ "$(grep -c '^end' calls)" -eq 4 ] || complain 'a range was not ended'

WARPMETER_PROFILE=ncu:2 ranges -b nested
expect_status 0
[ ! -s ../stdout ] || complain 'a table was printed'
expect_ranges <<END
warpmeter.steps @0/0 nested 
warpmeter outer
warpmeter inner
warpmeter.steps @0/1 nested 
warpmeter outer
warpmeter inner
END

# They cross, as the regions do.
ranges -b crossing --profile
sed -n 's/ [^ ]*$//; s/^\(start\|end\) \([123]\).*/\1 \2/p' calls >order
printf 'start 1\nstart 2\nend 1\nend 2\n' >expected
diff expected order >../diff || complain "another order: $(cat ../diff)"

# While something is measured, too; and a region that is entered in another thread.
ranges -b ambiguous --metrics kernel_time --runs 1
expect_ranges <<END
warpmeter.steps @0/0 ambiguous 
warpmeter first
warpmeter second
END

WARPMETER_PROFILE=nsys try bench_gpu -b nested
expect_status 2
expect_error "WARPMETER_PROFILE is ncu or ncu:RUNS, not 'nsys'"

# ---- a program that plans for itself ----

profile --runs 2 -- bench_gpu -b regions -b nested --metrics kernel_time,dram__bytes.sum,time --out unwritten.json
expect_status 0
expect_words <<END
--nvtx
--nvtx-include
regex:^warpmeter\$@.+
--metrics
gpu__time_duration.sum,dram__bytes.sum
--cache-control
none
--clock-control
none
-f
-o
bench_gpu
--log-file
bench_gpu.log
END
expect_rows region,metric,mean,unit,samples,kernel,kernels,backend,timer,device <<END
small,gpu__time_duration.sum,1000,ns,2,alpha,2,ncu,profiler,NVIDIA Fake H200
small,dram__bytes.sum,1000,B,2,alpha,2,ncu,,NVIDIA Fake H200
large,gpu__time_duration.sum,6000,ns,2,"gamma, beta",4,ncu,profiler,NVIDIA Fake H200
large,dram__bytes.sum,2000,B,2,"gamma, beta",4,ncu,,NVIDIA Fake H200
outer,gpu__time_duration.sum,3000,ns,2,"alpha, beta",4,ncu,profiler,NVIDIA Fake H200
outer,dram__bytes.sum,2000,B,2,"alpha, beta",4,ncu,,NVIDIA Fake H200
outer/inner,gpu__time_duration.sum,2000,ns,2,beta,2,ncu,profiler,NVIDIA Fake H200
outer/inner,dram__bytes.sum,1000,B,2,beta,2,ncu,,NVIDIA Fake H200
END
[ -e bench_gpu.ncu-rep ] || complain 'there is no report'
[ -e bench_gpu.log ] || complain 'there is no log'
[ ! -e unwritten.json ] || complain 'the program wrote a table of what it did not measure'

# The report can be looked at again; a share is weighted by time; parameters have their types.
try warpmeter show bench_gpu.ncu-rep --format csv --columns region,mean
expect_status 0
expect_line small,1000
try warpmeter convert bench_gpu.ncu-rep again.json
expect_status 0
try warpmeter compare bench_gpu.ncu-rep again.json
expect_line '0 better, 0 worse, 8 same, 0 undecided'

profile --runs 1 -- bench_gpu -b kernels --metrics dram__throughput.avg.pct_of_peak_sustained_elapsed,dram__bytes.sum.per_second
expect_rows n,metric,mean,unit,better <<END
1,dram__throughput.avg.pct_of_peak_sustained_elapsed,50,%,higher
1,dram__bytes.sum.per_second,1500000000,B/s,higher
3,dram__throughput.avg.pct_of_peak_sustained_elapsed,50,%,higher
3,dram__bytes.sum.per_second,1500000000,B/s,higher
END

# A region that goes on after the one around it keeps its path.
profile --runs 1 -- bench_gpu -b crossing --metrics kernel_time
expect_rows region,mean <<END
first,3000
first/second,6000
END

# A kernel that another thread launches belongs to what is open in the process.
profile --runs 1 -- bench_gpu -b worker --metrics kernel_time
expect_rows region,mean,kernels <<END
work,3000,3
END

# Options of ncu's take the place of ours.
profile -o other --metrics kernel_time -- bench_gpu -b nested --cache-control all
expect_words <<END
--nvtx
--nvtx-include
regex:^warpmeter\$@.+
--metrics
gpu__time_duration.sum
--cache-control
all
--clock-control
none
-f
-o
other
--log-file
other.log
END
profile --clock-control base --cache-control none --replay-mode application -o 'per%cent' -- bench_gpu -b nested --cache-control all
expect_words <<END
--nvtx
--nvtx-include
regex:^warpmeter\$@.+
--metrics
gpu__time_duration.sum
-f
-o
per%%cent
--log-file
per%cent.log
--clock-control
base
--cache-control
none
--replay-mode
application
END

# A metric that ncu does not know has a row that says so.
profile -o odd --runs 1 --metrics kernel_time,smsp__unknown.sum -- bench_gpu -b nested
expect_rows metric,mean,status table.json region=outer <<END
gpu__time_duration.sum,3000,ok
smsp__unknown.sum,,missing
END

# ---- beside what the program measures itself ----

profile --compare --runs 1 -- bench_gpu -b nested --metrics kernel_time,dram__bytes.sum,time
expect_status 0
expect_line 'baseline: ncu; contender: the program by itself'
expect_rows region,metric,baseline_mean,contender_mean,difference,verdict <<END
outer,kernel_time,3000,3000,0,undecided
outer,dram__bytes.sum,2000,2000,0,undecided
outer/inner,kernel_time,2000,2000,0,undecided
outer/inner,dram__bytes.sum,1000,1000,0,undecided
END

try warpmeter ncu --compare --runs 1 --format csv -- bench_gpu -b nested --metrics kernel_time
expect_status 0
refuse_line 'contender: '

# ---- other programs ----

# What the program is matters not, as long as it shows ranges.
cat >script <<END
#!/bin/sh
exec bench_gpu -b nested "\$@"
END
chmod +x script
profile --metrics dram__bytes.sum -- ./script
expect_status 0
expect_rows region,metric,mean,samples <<END
outer,dram__bytes.sum,2000,3
outer/inner,dram__bytes.sum,1000,3
END
[ -e script.ncu-rep ] || complain 'the report has another name'

try warpmeter ncu --compare -- ./script
expect_status 2
expect_error 'has no wm_main'

# A report without our ranges: each kernel is a region, each launch a run.
FAKE_NCU=foreign profile --runs 1 -- bench_gpu -b kernels --metrics kernel_time
expect_rows benchmark,region,mean,samples,config_key <<END
fake,alpha,1000,2,""
fake,beta,2000,1,""
fake,gamma,4000,1,""
END

# ---- what goes wrong ----

FAKE_NCU=permission profile -- bench_gpu -b nested
expect_status 2
expect_error 'NVreg_RestrictProfilingToAdminUsers=0'
[ ! -e table.json ] || complain 'there is a table'

profile -- bench_gpu -b host
expect_status 3
expect_error 'no kernel was profiled: none ran in a region; bench_gpu.log has what ncu said'

FAKE_NCU=crash profile -- bench_gpu -b nested
expect_status 1
expect_error 'the program failed under ncu: application returned an error code (134)'

profile -- bench_gpu -b nested --axis
expect_status 1
expect_error 'the program ended with status 2 before ncu began'

FAKE_NCU=truncated profile -- bench_gpu -b nested
expect_status 2
expect_error "ncu could not read 'bench_gpu.ncu-rep': Failed to load report file"

FAKE_NCU=old profile -- bench_gpu -b nested
expect_status 2
expect_error "unrecognised option '--print-kernel-base'"

WARPMETER_NCU=$PWD/none profile -- bench_gpu -b nested
expect_status 2
expect_error "none', which is no program"

# ---- doctor ----

try warpmeter doctor --format csv
expect_status 0
expect_line "tools,ncu,ok,2025.3.1.0 ($WARPMETER_NCU),,"
expect_line 'tools,nvtx,ok,built in,,'
WARPMETER_NCU=/bin/true try warpmeter doctor --format csv
expect_line "tools,ncu,absent,,'/bin/true --version' tells no version,\"install Nsight Compute, or set WARPMETER_NCU to its path; only \
warpmeter ncu needs it\""
WARPMETER_NCU=$PWD/none try warpmeter doctor --format csv
expect_match '^tools,ncu,absent,,"WARPMETER_NCU is .*/none.,'

WARPMETER_NCU='' PATH=$BIN:/usr/bin:/bin
if ! command -v ncu >/dev/null && [ ! -e /usr/local/cuda/bin/ncu ] && [ ! -e /opt/nvidia/nsight-compute ]; then
    : >some.ncu-rep
    try warpmeter show some.ncu-rep
    expect_status 2
    expect_error 'reading .ncu-rep needs ncu: install Nsight Compute, or set WARPMETER_NCU to its path'
    try warpmeter ncu -- bench_gpu -b nested
    expect_status 2
    expect_error 'there is no ncu: install Nsight Compute, or set WARPMETER_NCU to its path'
    try warpmeter doctor --format csv
    expect_match '^tools,ncu,absent,,it was not found,"install Nsight Compute, '
fi
try warpmeter show missing.ncu-rep
expect_status 2
expect_error "cannot read 'missing.ncu-rep': No such file or directory"

# ---- words ----

try warpmeter ncu bench_gpu
expect_status 2
expect_error 'ncu needs a program; usage: warpmeter ncu [options] [options of ncu] -- PROGRAM [ARGS]'
try warpmeter ncu --runs 0 -- bench_gpu
expect_status 2
expect_error "--runs takes a whole number of at least 1, not '0'"
try warpmeter ncu --format nice -- bench_gpu
expect_status 2
expect_error "--format takes text, csv, json, gbench-json or markdown, not 'nice'"
try warpmeter ncu -- ./nothing
expect_status 2
expect_error "'./nothing' is no program"
