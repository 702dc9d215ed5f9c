# Prints the path of the report and its main figures for the lead's result.
#
#   sh figures.sh <path of the report>

. "$(dirname "$0")/common.sh"

report=${1-}
[ -f "$report" ] || stop "there is no report."
printf 'The audit is done. Its report: %s\n\n' "$report"
for title in 'Tracked files' 'Lines of text' 'Lines with TODO or FIXME' 'Largest file' 'Commits' 'Most touched file' \
  'Test files'; do
  sed -n "s/^    \($title: .*\)/\1/p" "$report" | head -n 1
done
