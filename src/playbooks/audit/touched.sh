# Answers how many commits touched the largest file.
#
#   sh touched.sh "the largest file: <its name, as largest.sh --name gives it>"
#
# Without a name after those words, it finds the largest file itself.

. "$(dirname "$0")/common.sh"
enter_repository
make_scratch

question=${1-}
name=${question#*the largest file: }
[ "$name" = "$question" ] && name=$(sh "$here/largest.sh" --name)

count=0
if [ -n "$name" ]; then
  touched_files true >"$scratch/touched" || stop "git cannot read all commits."
  count=$(grep -cxF -e "$name" "$scratch/touched")
fi
if [ "$count" = 1 ]; then unit=commit; else unit=commits; fi
printf 'The largest file was touched by %s %s.\n' "$count" "$unit"
