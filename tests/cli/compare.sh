# shellcheck shell=sh
# warpmeter compare: two files row by row. The two files hold one pair of rows for each verdict.
for file in before after other; do cp "$SOURCE/tests/cli/data/$file.json" .; done
summary='2 better, 1 worse, 1 same, 1 undecided, 1 changed, 1 missing, 1 only in A, 1 only in B'

try warpmeter compare before.json after.json
expect_status 0
expect_no_error
expect_golden tool/compare.txt
expect_line "$summary"
try warpmeter compare before.json after.json --format markdown
expect_status 0
expect_golden tool/compare.md
try warpmeter compare before.json after.json --format csv
expect_status 0
expect_error "$summary"
# The intervals are Fieller's with Welch's degrees of freedom, computed by other means.
expect_match '^sum,n=1,fast,time,ns,1000,800,0\.8,0\.79421019228[0-9]*,0\.80582269776[0-9]*,better,,'
expect_match '^sum,n=1,slow,time,ns,2000,2400,1\.2,1\.19294606307[0-9]*,1\.20710322119[0-9]*,worse,,'
expect_match '^sum,n=1,even,time,ns,500,500\.5,1\.001,1\.00072101405[0-9]*,1\.00127906380[0-9]*,same,,'
expect_match '^sum,n=1,noisy,time,ns,100,105,1\.05,0\.67634429976[0-9]*,1\.64614310278[0-9]*,undecided,,'
expect_match '^sum,n=1,fast,item_rate,item/s,1000000000,1250000000,1\.25,1\.24276786305[0-9]*,1\.25728352765[0-9]*,better,,'
expect_match '^sum,n=1,fast,pages,"",10,20,2,1\.94981051351[0-9]*,2\.05228897180[0-9]*,changed,,'
expect_match '^sum,n=1,gone,time,ns,100,,,,,only-baseline,,'
expect_match '^sum,n=2,fast,time,ns,,700,,,,missing,baseline: failed: out of luck,'
expect_match '^sum,n=1,"new, ""µ""",time,ns,,100,,,,only-contender,,'
try warpmeter compare before.json after.json --format json
expect_status 0
expect_error "$summary"
cp ../stdout comparison.json
try warpmeter show comparison.json --filter verdict=worse --columns region,ratio --format csv
expect_line slow,1.2,

# A warning says from which file it is.
sed 's/"context": \[/&\n  {"key": "warning", "type": "string", "value": "hot"},/' after.json >hot.json
try warpmeter compare before.json hot.json
expect_line 'warning: contender: hot'
refuse_line 'warning: baseline'
try warpmeter compare hot.json before.json --format markdown
expect_line '> **Warning:** baseline: hot'

# A file is the same as itself; where only the threshold decides, it does.
try warpmeter compare before.json before.json --only same
expect_line '0 better, 0 worse, 4 same, 3 undecided, 1 missing'
try warpmeter compare before.json after.json --threshold 30%
expect_line '0 better, 0 worse, 4 same, 1 undecided'
try warpmeter compare before.json after.json --threshold 0
expect_line '2 better, 2 worse, 0 same'

# Rows that are not shown count all the same.
try warpmeter compare before.json after.json --only better,worse
expect_status 0
expect_golden tool/compare_only.txt
try warpmeter compare before.json before.json --only better
expect_status 0
expect_line 'no rows'

try warpmeter compare before.json after.json --fail-on worse
expect_status 1
expect_no_error
expect_golden tool/compare.txt
try warpmeter compare before.json after.json --only better --fail-on missing,only-baseline --format csv
expect_status 1
try warpmeter compare before.json before.json --fail-on better,worse,changed
expect_status 0

try warpmeter compare before.json other.json
expect_refused 'warpmeter: the tables have no row in common'
warpmeter doctor --format json >doctor.json
try warpmeter compare before.json doctor.json
expect_refused 'warpmeter: the contender is a table of doctor; compare takes tables of results'
try warpmeter compare doctor.json before.json
expect_refused 'warpmeter: the baseline is a table of doctor; compare takes tables of results'

for threshold in x '' 1 100% -1 -0.1 0.01x 1%% 0x1 nan inf 1e; do
    try warpmeter compare before.json after.json --threshold "$threshold"
    expect_refused "warpmeter: --threshold takes a ratio of at least 0 and below 1, as 0.01 or 1%, not '$threshold'"
done
try warpmeter compare before.json after.json --only bettr
expect_refused "warpmeter: unknown verdict 'bettr'; did you mean better?"
try warpmeter compare before.json after.json --fail-on worse,
expect_refused "warpmeter: unknown verdict ''; --fail-on takes better, worse, same, undecided, only-baseline, only-contender, changed or missing"
