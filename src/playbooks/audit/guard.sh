# Prints whether the report may be written. A file that no audit wrote is never replaced.
#
#   sh guard.sh <path of the report>

. "$(dirname "$0")/common.sh"

report=${1-}
case $report in
/*) ;;
*) stop "the report's path is not absolute." ;;
esac

if [ ! -e "$report" ] && [ ! -L "$report" ]; then
  [ -d "$(dirname "$report")" ] || stop "the directory of the report does not exist."
  printf 'report: is new\n'
  exit
fi
if [ -L "$report" ] || [ ! -f "$report" ]; then stop "the report's path is not a regular file."; fi
first=
IFS= read -r first <"$report"
[ "$first" = "$marker" ] || stop "the file at the report's path was not written by an audit; it was not replaced."
printf 'report: replaces an older one\n'
