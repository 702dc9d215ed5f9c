# Counts again and compares the figures with the report.
#
#   sh check.sh <path of the report>

. "$(dirname "$0")/common.sh"

report=${1-}
[ -f "$report" ] || stop "there is no report to check."
total=0
right=0
for script in inventory largest todo tests; do
  headline=$(sh "$here/$script.sh" | head -n 1)
  total=$((total + 1))
  if grep -qxF -e "$headline" "$report"; then right=$((right + 1)); fi
done
if [ "$right" = "$total" ]; then
  printf 'Counted again: all %d figures of the report hold.\n' "$total"
else
  printf 'Counted again: only %d of %d figures hold; the repository changed meanwhile.\n' "$right" "$total"
fi
