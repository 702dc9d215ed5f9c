# Says whether the report may be written: a file that no audit wrote is never replaced.
#
#   sh guard.sh <path of the report>

. "$(dirname "$0")/common.sh"

report=${1-}
case $report in
/*) ;;
*) stop "the report's path is not absolute." ;;
esac

if [ ! -e "$report" ] && [ ! -L "$report" ]; then
  [ -d "$(dirname "$report")" ] || stop "the directory of the report is not there."
  printf 'report: is new\n'
  exit
fi
if [ -L "$report" ] || [ ! -f "$report" ]; then stop "something that is no file stands where the report would be."; fi
first=
IFS= read -r first <"$report"
[ "$first" = "$marker" ] || stop "a file that no audit wrote stands where the report would be; it stays as it is."
printf 'report: replaces an older one\n'
