# shellcheck shell=sh
# Kernel times: what is measured of launches of every form, and whose it is.
# shellcheck source=tests/cli/fake_gpu
. "$SOURCE/tests/cli/fake_gpu"

# ---- whose kernel ----

# What is launched before the region is not in it. No kernel is no value, but a count of 0.
measure -b kernels --metrics kernel_time,kernel_count
expect_status 0
expect_rows n,metric,mean,samples,status,kernel,kernels <<END
0,kernel_time,,0,missing,,
0,kernel_count,0,3,ok,,
1,kernel_time,1000,3,ok,alpha,3
1,kernel_count,1,3,ok,alpha,3
3,kernel_time,7000,3,ok,"alpha, beta, gamma",9
3,kernel_count,3,3,ok,"alpha, beta, gamma",9
END
expect_line '0  work    (no-kernel)'
expect_line 'kernel_time missing: no kernel was launched there'

measure -b regions -b nested --metrics kernel_time
expect_rows region,mean,samples,kernel,timer,device <<END
small,1000,3,alpha,cupti,NVIDIA Fake H200
large,6000,3,"gamma, beta",cupti,NVIDIA Fake H200
outer,3000,3,"alpha, beta",cupti,NVIDIA Fake H200
outer/inner,2000,3,beta,cupti,NVIDIA Fake H200
END

# One of two regions that cross goes on after the other has ended.
measure -b crossing --metrics kernel_time,kernel_count
expect_rows metric,mean table.json region=first/second <<END
kernel_time,6000
kernel_count,2
END

# An end too many spoils one row.
measure -b unmatched --metrics kernel_time
expect_status 0
expect_rows region,mean,status <<END
twice,1000,error
good,2000,ok
END

# Every form of a launch is seen, and once.
measure -b calls --metrics kernel_count,kernel_time
expect_rows call,metric,mean <<END
kernel,kernel_count,1
kernel,kernel_time,1000
ptsz,kernel_count,1
ptsz,kernel_time,1000
ex,kernel_count,1
ex,kernel_time,1000
ex_ptsz,kernel_count,1
ex_ptsz,kernel_time,1000
cooperative,kernel_count,1
cooperative,kernel_time,1000
END

# Threads without a region work for the only one that is open in the process, if that is wanted.
measure -b worker --metrics kernel_count,kernel_time
expect_rows metric,mean <<END
kernel_count,3
kernel_time,3000
END
measure -b worker --metrics kernel_count,kernel_time --scope thread
expect_status 0
expect_rows metric,mean,status,reason <<END
kernel_count,0,ok,
kernel_time,,missing,no kernel was launched there
END
measure -b ambiguous --metrics kernel_count,kernel_time --kernels k.json
expect_status 3
expect_error 'nothing was measured'
expect_line 'kernel_count and 1 more missing: a launch from a thread without a region while several were open'
expect_rows region,run,kernel,duration_ns,reason k.json <<END
,0,alpha,1000,ambiguous
,0,alpha,1000,ambiguous
,0,alpha,1000,ambiguous
,1,alpha,1000,ambiguous
,1,alpha,1000,ambiguous
,1,alpha,1000,ambiguous
END
measure -b ambiguous --metrics kernel_count --scope thread
expect_rows region,mean <<END
first,0
second,0
END

# ---- which time ----

# The region is left long before its kernel ends.
measure -b patient --metrics time,kernel_time
expect_rows mean table.json metric=kernel_time <<END
1000000000000
END
expect_rows benchmark table.json 'metric=time,mean<1000000000000' <<END
patient
END

# On two streams at once, one of them a stream that does not block: 2 x 4 us, begun 0.5 us apart.
measure -b overlap --metrics kernel_time,kernel_union,kernel_gap
expect_rows metric,mean <<END
kernel_time,8000
kernel_union,4500
kernel_gap,0
END

# 10 us of rest, a call of 0.5 us and a latency of 0.2 us between two kernels.
measure -b gap --metrics kernel_time,kernel_union,kernel_gap,launch_latency
expect_rows metric,mean <<END
kernel_time,2000
kernel_union,2000
kernel_gap,10700
launch_latency,700
END

# Copies and sets are no kernels.
measure -b copies --metrics kernel_count,copy_time,copy_bytes,memset_time,memset_bytes --filter 'bytes=6400'
expect_rows region,metric,mean,unit <<END
copy,kernel_count,0,""
copy,copy_time,200,ns
copy,copy_bytes,6400,B
copy,memset_time,0,ns
copy,memset_bytes,0,B
set,kernel_count,0,""
set,copy_time,0,ns
set,copy_bytes,0,B
set,memset_time,200,ns
set,memset_bytes,6400,B
END

# A graph's kernels are where it is launched, not where it was captured.
measure -b graphs --metrics kernel_count,kernel_time --warmup 0
expect_rows region,metric,mean,samples,kernels <<END
capture,kernel_count,0,2,
capture,kernel_time,,0,
replay,kernel_count,2,2,4
replay,kernel_time,3000,1,4
END

# The first launch of a kernel is no steady state.
measure -b regions --metrics kernel_time,first_kernel_time,kernel_count --warmup 0
expect_status 0
expect_rows region,metric,mean,samples <<END
small,kernel_time,1000,2
small,first_kernel_time,1000,1
small,kernel_count,1,3
large,kernel_time,6000,2
large,first_kernel_time,6000,1
large,kernel_count,2,3
END
measure -b regions --metrics kernel_time --warmup 0 --runs 1
expect_status 3
expect_line '(first-launch)'
expect_line 'kernel_time missing: the first launch of a kernel, which loads and compiles it'

# ---- several kernels ----

while read -r how mean; do
    measure -b regions --metrics kernel_time --combine "$how"
    expect_status 0
    expect_rows mean table.json region=large <<END
$mean
END
done <<END
auto 6000
sum 6000
mean 3000
weighted 3333.3333333333335
max 4000
min 2000
END
measure -b regions --metrics kernel_time,kernel_union --combine kernel_time=one
expect_rows region,metric,mean,status,reason <<END
small,kernel_time,1000,ok,
small,kernel_union,1000,ok,
large,kernel_time,,missing,"several kernels ran: gamma, beta; --combine says what to make of them"
large,kernel_union,6000,ok,
END

try bench_gpu -b regions --metrics kernel_time --combine kernel_tiem=max
expect_refused "bench_gpu: --combine: there is no metric 'kernel_tiem'; did you mean kernel_time?"
measure -b regions --metrics kernel_time --combine kernel_count=max,kernel_time=max
expect_status 0

measure -b regions --metrics kernel_time,kernel_count --ignore-kernels 'bet?,nothing*'
expect_rows region,metric,mean,kernel <<END
small,kernel_time,1000,alpha
small,kernel_count,1,alpha
large,kernel_time,4000,gamma
large,kernel_count,1,gamma
END

# ---- every kernel ----

for file in k.csv k.json; do
    measure -b regions --metrics kernel_time --runs 2 --ignore-kernels beta --kernels $file
    expect_status 0
    expect_rows region,run,ordinal,kind,kernel,duration_ns,launch_latency_ns,grid_x,block_x,stream,first,ignored \
        $file <<END
small,0,0,kernel,alpha,1000,700,1,128,7,false,false
large,0,0,kernel,gamma,4000,1200,8,128,7,false,false
large,0,1,kernel,beta,2000,4700,8,128,7,false,true
small,1,0,kernel,alpha,1000,700,1,128,7,false,false
large,1,0,kernel,gamma,4000,1200,8,128,7,false,false
large,1,1,kernel,beta,2000,4700,8,128,7,false,true
END
done
head -n 1 k.csv >../stdout
expect_line benchmark,region,run,ordinal,kind,kernel,kernel_full,kernel_binary,device,stream,thread,launch_ns,\
begin_ns,duration_ns,launch_latency_ns,grid_x,grid_y,grid_z,block_x,block_y,block_z,registers,\
static_shared_bytes,dynamic_shared_bytes,bytes,first,graph,ignored,reason,config_key,nulls
measure -b graphs --metrics kernel_time --runs 1 --kernels k.csv
expect_rows region,kernel,graph,duration_ns k.csv <<END
replay,alpha,true,1000
replay,beta,true,2000
END
measure -b copies --metrics kernel_count --filter 'bytes=64$' --runs 1 --kernels k.csv
expect_rows region,kind,kernel,bytes,duration_ns k.csv <<END
copy,copy,,64,101
set,set,,64,101
END

# ---- with other options ----

# What evicts the caches is in no number.
measure -b regions --metrics kernel_time,kernel_count --cache-control all --kernels k.csv --runs 1
expect_status 0
expect_rows region,metric,mean,kernel <<END
small,kernel_time,1000,alpha
small,kernel_count,1,alpha
large,kernel_time,6000,"gamma, beta"
large,kernel_count,2,"gamma, beta"
END
expect_rows kernel k.csv <<END
alpha
gamma
beta
END

measure -b kernels --metrics kernel_time --order interleaved
expect_rows n,mean,samples <<END
0,,0
1,1000,3
3,7000,3
END

measure -b regions --metrics kernel_time --samples s.csv --runs 2
expect_rows region,run,pass,value s.csv metric=kernel_time,region!=regions <<END
large,0,0,6000
small,0,0,1000
large,1,0,6000
small,1,0,1000
END

# What the device is, and what it is on paper. The driver's own version is that of this machine, if any.
facts() { sed -n 's/^  {"key": "\(\(gpu\|cupti\)[a-z0-9_]*\)".*"value": \([^,}]*\).*/\1 \3/p' table.json | grep -v '^gpu_driver '; }
FAKE_GPU=devices=2 measure -b regions --metrics kernel_time
facts >../stdout
cat >facts <<END
gpu "NVIDIA Fake H200"
gpu_uuid "GPU-00010203-0405-0607-0809-0a0b0c0d0e00"
gpu_chip "GH100"
gpu_rated_hz 1980000000
gpu_memory_rated_hz 3201000000
gpu_memory_bytes 151397597184
gpu_2 "NVIDIA Fake H200"
gpu_2_uuid "GPU-00010203-0405-0607-0809-0a0b0c0d0e01"
gpu_2_chip "GH100"
gpu_2_rated_hz 1980000000
gpu_2_memory_rated_hz 3201000000
gpu_2_memory_bytes 151397597184
gpu_driver_cuda "13.0"
cupti "13.0.1"
END
expect_same ../stdout facts
measure -b host --metrics time
[ -z "$(facts)" ] || complain "facts of a device that was not measured: $(facts)"

measure -b regions --metrics kernel_time --normalize-against small
expect_rows region,ratio <<END
small,1
large,6
END

# ---- how often ----

# A region in which nothing is launched is no reason to go on, and neither is one whose values are all 0.
measure -b kernels --metrics kernel_time --max-noise 5% --min-time 1us
expect_rows n,samples,stop_reason <<END
0,0,min-time
1,10,max-noise
3,10,max-noise
END
measure -b copies --metrics copy_time,memset_time --target-ci 1% --filter 'bytes=64$'
expect_rows region,metric,mean,samples,stop_reason <<END
copy,copy_time,101,10,target-ci
copy,memset_time,0,10,target-ci
set,copy_time,0,10,target-ci
set,memset_time,101,10,target-ci
END
# 7 us of kernels in a run.
measure -b regions --metrics kernel_time --min-time 1ms
expect_rows region,samples,stop_reason <<END
small,143,min-time
large,143,min-time
END
