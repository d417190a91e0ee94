# shellcheck shell=sh disable=SC2034
# Every option that a program knows is in its manual page, and every option there is one it knows.
pages=$SOURCE/docs/man

# options_of COMMAND...: the long options that --help lists, one a line.
options_of() {
    "$@" --help | grep -oE -e '^ +(-[a-z], )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u
}
# options_in PAGE: those that begin an item of a list there.
options_in() {
    grep -E '^\.It .*Fl -' "$1" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl /-/' | sort -u
}
# same_options PAGE COMMAND...
same_options() {
    page=$pages/$1
    shift
    tried="$page and $*"
    status=0
    options_of "$@" >known
    options_in "$page" >described
    [ -s known ] || complain 'no option was found in --help'
    : >../stderr
    diff known described >../stdout || complain 'the options in --help (<) and in the page (>) differ'
}
same_options warpmeter-benchmark.1 bench_cli
for command in doctor show convert compare metrics ncu; do
    same_options "warpmeter-$command.1" warpmeter "$command"
done

# The letters, too.
bench_cli --help | grep -oE '^ +-[a-z],' | tr -d ' ,' | sort >known
grep -E '^\.It Fl [a-z] ,' "$pages/warpmeter-benchmark.1" | sed 's/^.It Fl \(.\).*/-\1/' | sort >described
tried='letters of options'
diff known described >../stdout || complain 'the letters in --help (<) and in the page (>) differ'

# The tool's page names every command, and every command has a page.
warpmeter | sed -n 's/^  \([a-z]*\)  .*/\1/p' >commands
[ "$(wc -l <commands)" -eq 7 ] || complain 'expected seven commands'
while read -r command; do
    tried="the page of $command"
    [ -f "$pages/warpmeter-$command.1" ] || complain 'there is no page'
    grep -q "^\.It Xr warpmeter-$command 1" "$pages/warpmeter.1" || complain 'warpmeter.1 does not name it'
done <commands
