# shellcheck shell=sh
# warpmeter show: one file as a table.
cp "$SOURCE/tests/cli/data/before.json" "$SOURCE/tests/cli/data/after.json" .

try warpmeter show before.json
expect_status 0
expect_no_error
expect_golden tool/show.txt
try warpmeter show after.json
expect_golden tool/show_after.txt
try warpmeter show before.json --format markdown
expect_golden tool/show.md
try warpmeter show before.json --format csv
expect_golden tool/show.csv
try warpmeter show before.json --format json
expect_status 0
expect_same ../stdout before.json
try warpmeter show before.json --format gbench-json
expect_status 0
expect_line '"name": "sum/fast/n:1"'

# Columns, rows and their order. Values keep their units, whether they share one or not.
try warpmeter show before.json --filter metric=time --columns region,n,mean,reason --sort -mean
expect_status 0
expect_golden tool/show_chosen.txt
try warpmeter show before.json --columns region,mean
expect_golden tool/show_units.txt
try warpmeter show before.json --columns region,mean --format csv
expect_line fast,1000,
expect_line fast,1000000000,
refuse_line unit
try warpmeter show before.json --columns=region --sort=-region --filter='mean>=1000,metric=time' --format csv
expect_status 0
printf 'region,nulls\r\nslow,\r\nfast,\r\n' | tr -d '\r' >wanted
tr -d '\r' <../stdout >got
expect_same got wanted
try warpmeter show before.json --filter region~^none
expect_status 0
expect_line 'no rows'

# Standard input, and a file whose suffix does not tell.
warpmeter show - --from json <before.json >../stdout 2>../stderr || complain 'standard input failed'
expect_golden tool/show.txt
# shellcheck disable=SC2002
cat before.json | warpmeter show - --from json >../stdout 2>../stderr || complain 'a pipe failed'
expect_golden tool/show.txt
cp before.json before.dat
try warpmeter show before.dat --from json
expect_status 0
expect_golden tool/show.txt
try warpmeter show -
expect_refused 'warpmeter: reading standard input needs --from csv or --from json'
try warpmeter show before.dat
expect_refused "warpmeter: the suffix of 'before.dat' gives no format: it takes "

# What no table can do.
try warpmeter show before.json --columns meen
expect_refused "warpmeter: there is no column 'meen'; near it: mean or min"
try warpmeter show before.json --columns zzzzzz
expect_refused "warpmeter: there is no column 'zzzzzz'; there are: benchmark, region, metric, unit, mean"
try warpmeter show before.json --columns mean,mean
expect_refused "warpmeter: column 'mean' is chosen twice"
try warpmeter show before.json --columns ''
expect_refused 'warpmeter: the list of columns is empty: it takes names joined by commas'
try warpmeter show before.json --sort region,zzzzzz
expect_refused "warpmeter: there is no column 'zzzzzz'"
try warpmeter show before.json --filter mean
expect_refused "warpmeter: filter 'mean' is no condition: it takes name=value, !=, <, <=, >, >= or name~regex"
try warpmeter show before.json --filter 'mean>fast'
expect_refused "warpmeter: filter 'mean>fast': 'fast' is not a number, which the column holds"
try warpmeter show before.json --filter 'region~('
expect_refused "warpmeter: filter 'region~(': '(' is no extended regular expression"

# An unstable row says how many of its samples lie far out.
sed '/"noisy"/s/"outliers": 0/"outliers": 2/' "$SOURCE/tests/cli/data/before.json" >outliers.json
try warpmeter show outliers.json
expect_match 'noisy .* unstable, 2 outliers$'
